#include "wisecrowd/category_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "data/build.hpp"
#include "data/content_hash.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd {

CategoryAnswers::CategoryAnswers() {
  static const auto empty = std::make_shared<const Column>();
  column_ = empty;
}
CategoryAnswers::CategoryAnswers(AnswerGraph graph, std::shared_ptr<const Column> column)
    : AnswerGraph(std::move(graph)), column_(std::move(column)) {}

std::size_t CategoryAnswers::class_count() const noexcept { return column_->classes.size(); }
const NameTable& CategoryAnswers::class_names() const noexcept { return column_->classes; }
std::span<const ClassId> CategoryAnswers::labels() const noexcept { return column_->labels; }

std::span<const ClassId> CategoryAnswers::labels_of(TaskId task) const noexcept {
  const auto begin = graph_->task_offsets[index(task)];
  return labels().subspan(begin, graph_->task_offsets[index(task) + 1] - begin);
}

std::uint64_t CategoryAnswers::content_hash() const {
  std::call_once(column_->hash_once, [this] {
    const auto hash_of = [](const CategoryAnswers& answers) {
      ContentHash hash;
      hash.add_graph(answers);
      hash.add(answers.labels().data(), answers.labels().size_bytes());
      hash.add_names(answers.task_names());
      hash.add_names(answers.worker_names());
      hash.add_names(answers.class_names());
      if (is_ordered(answers)) hash.add("ordered", 7);
      return hash.value();
    };
    ThreadPool pool(1);
    if (ranks_in_order(task_names(), pool).empty() && ranks_in_order(worker_names(), pool).empty()) {
      column_->hash = hash_of(*this);
      return;
    }
    // Programs that number tasks and workers themselves have an order of their own.
    CategoryAnswerNames names{task_names(), worker_names(), class_names()};
    std::vector<CategoryPiece> pieces(1);
    copy_edges(*this, pieces[0]);
    for (const ClassId label : labels()) pieces[0].payload.push_back(static_cast<std::uint16_t>(label));
    put_in_order(names.tasks, names.workers, pieces, pool);
    column_->hash = hash_of(inherited(
        *this, build_category_answers(std::move(pieces), std::move(names), DuplicatePolicy::repeat, pool, nullptr)));
  });
  return column_->hash;
}

CategoryAnswers make_category_answers(std::span<const CategoryAnswer> answers, CategoryAnswerNames names,
                                      DuplicatePolicy policy, BuildReport* report) {
  if (names.classes.size() > kMaxClasses) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} classes are more than the {} that labels can name", names.classes.size(), kMaxClasses));
  }
  CategoryPiece piece;
  piece.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const CategoryAnswer& a = answers[i];
    require_index(i, index(a.task), names.tasks.size(), "task");
    require_index(i, index(a.worker), names.workers.size(), "worker");
    require_index(i, index(a.label), names.classes.size(), "class");
    piece.tasks.push_back(static_cast<std::uint32_t>(a.task));
    piece.workers.push_back(static_cast<std::uint32_t>(a.worker));
    piece.payload.push_back(static_cast<std::uint16_t>(a.label));
  }
  ThreadPool pool(1);
  std::vector<CategoryPiece> pieces;
  pieces.push_back(std::move(piece));
  return build_category_answers(std::move(pieces), std::move(names), policy, pool, report);
}

std::vector<std::uint32_t> class_order(std::span<const std::string_view> names) {
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<std::int64_t> numbers(names.size());
  bool all_integers = true;
  for (std::size_t i = 0; i < names.size() && all_integers; ++i) {
    const auto [end, code] = std::from_chars(names[i].data(), names[i].data() + names[i].size(), numbers[i]);
    all_integers = code == std::errc() && end == names[i].data() + names[i].size();
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (all_integers && numbers[a] != numbers[b]) return numbers[a] < numbers[b];
    return names[a] < names[b];
  });
  return order;
}

struct CategoryAnswersBuilder::State {
  std::optional<std::vector<std::string>> given_classes;
  Interner tasks, workers, classes;
  std::vector<CategoryAnswer> answers;
};

CategoryAnswersBuilder::CategoryAnswersBuilder() : state_(std::make_unique<State>()) {}
CategoryAnswersBuilder::CategoryAnswersBuilder(std::vector<std::string> classes) : CategoryAnswersBuilder() {
  for (const auto& name : classes) {
    if (state_->classes.find(name) != Interner::kAbsent) {
      throw Error(ErrorCode::bad_parameter, fmt::format("class '{}' is listed twice", name));
    }
    state_->classes.intern(name);
  }
  state_->given_classes = std::move(classes);
}
CategoryAnswersBuilder::~CategoryAnswersBuilder() = default;
CategoryAnswersBuilder::CategoryAnswersBuilder(CategoryAnswersBuilder&&) noexcept = default;
CategoryAnswersBuilder& CategoryAnswersBuilder::operator=(CategoryAnswersBuilder&&) noexcept = default;

CategoryAnswersBuilder& CategoryAnswersBuilder::add(std::string_view task, std::string_view worker,
                                                    std::string_view label) {
  std::uint32_t label_id = state_->classes.find(label);
  if (label_id == Interner::kAbsent) {
    if (state_->given_classes) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("label '{}' of worker '{}' on task '{}' is not one of the classes {}", label, worker,
                              task, fmt::join(*state_->given_classes, ", ")));
    }
    if (state_->classes.size() == kMaxClasses) {
      throw Error(ErrorCode::bad_input, fmt::format("more than {} different labels", kMaxClasses));
    }
    label_id = state_->classes.intern(label);
  }
  state_->answers.push_back({TaskId{state_->tasks.intern(task)}, WorkerId{state_->workers.intern(worker)},
                             ClassId{static_cast<std::uint16_t>(label_id)}});
  return *this;
}

CategoryAnswersBuilder& CategoryAnswersBuilder::add_task(std::string_view task) {
  state_->tasks.intern(task);
  return *this;
}
CategoryAnswersBuilder& CategoryAnswersBuilder::add_worker(std::string_view worker) {
  state_->workers.intern(worker);
  return *this;
}

CategoryAnswers CategoryAnswersBuilder::build(DuplicatePolicy policy, BuildReport* report) const {
  CategoryAnswerNames names{state_->tasks.table(), state_->workers.table(), state_->classes.table()};
  std::vector<CategoryAnswer> answers = state_->answers;
  if (!state_->given_classes) {
    std::vector<std::string_view> found;
    for (std::uint32_t k = 0; k < state_->classes.size(); ++k) found.push_back(state_->classes[k]);
    const auto order = class_order(found);
    std::vector<std::uint16_t> rank(order.size());
    std::vector<std::string> ordered;
    for (std::size_t r = 0; r < order.size(); ++r) {
      rank[order[r]] = static_cast<std::uint16_t>(r);
      ordered.emplace_back(found[order[r]]);
    }
    for (auto& answer : answers) answer.label = ClassId{rank[index(answer.label)]};
    names.classes = NameTable(ordered);
  }
  ThreadPool pool(1);
  const auto tasks = ranks_in_order(names.tasks, pool), workers = ranks_in_order(names.workers, pool);
  names.tasks = reordered(std::move(names.tasks), tasks, pool);
  names.workers = reordered(std::move(names.workers), workers, pool);
  for (auto& answer : answers) {
    if (!tasks.empty()) answer.task = TaskId{tasks[index(answer.task)]};
    if (!workers.empty()) answer.worker = WorkerId{workers[index(answer.worker)]};
  }
  return make_category_answers(answers, std::move(names), policy, report);
}

}  // namespace wisecrowd
