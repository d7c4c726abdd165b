#include "wisecrowd/category_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <thread>

#include "base/hash.hpp"
#include "data/build.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

NameTable::NameTable(std::span<const std::string> names) {
  offsets_.reserve(names.size() + 1);
  for (const auto& name : names) {
    characters_ += name;
    offsets_.push_back(characters_.size());
  }
}

NameTable::NameTable(std::string characters, std::vector<std::uint64_t> offsets)
    : characters_(std::move(characters)), offsets_(std::move(offsets)) {}

CategoryAnswers::CategoryAnswers() {
  auto storage = std::make_shared<Storage>();
  storage->task_offsets.assign(1, 0);
  storage_ = std::move(storage);
}
CategoryAnswers::CategoryAnswers(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}

std::size_t CategoryAnswers::task_count() const noexcept { return storage_->names.tasks.size(); }
std::size_t CategoryAnswers::worker_count() const noexcept { return storage_->names.workers.size(); }
std::size_t CategoryAnswers::class_count() const noexcept { return storage_->names.classes.size(); }
std::size_t CategoryAnswers::answer_count() const noexcept { return storage_->workers.size(); }
const NameTable& CategoryAnswers::task_names() const noexcept { return storage_->names.tasks; }
const NameTable& CategoryAnswers::worker_names() const noexcept { return storage_->names.workers; }
const NameTable& CategoryAnswers::class_names() const noexcept { return storage_->names.classes; }
std::span<const AnswerIndex> CategoryAnswers::task_offsets() const noexcept { return storage_->task_offsets; }
std::span<const WorkerId> CategoryAnswers::workers() const noexcept { return storage_->workers; }
std::span<const ClassId> CategoryAnswers::labels() const noexcept { return storage_->labels; }
bool CategoryAnswers::has_repeats() const noexcept { return storage_->has_repeats; }

std::span<const WorkerId> CategoryAnswers::workers_of(TaskId task) const noexcept {
  const auto begin = storage_->task_offsets[index(task)];
  return workers().subspan(begin, storage_->task_offsets[index(task) + 1] - begin);
}
std::span<const ClassId> CategoryAnswers::labels_of(TaskId task) const noexcept {
  const auto begin = storage_->task_offsets[index(task)];
  return labels().subspan(begin, storage_->task_offsets[index(task) + 1] - begin);
}

namespace {

/// Each thread takes a range of workers, reads all answers and writes only its own: no synchronisation, and the result
/// does not depend on the number of ranges.
void build_by_worker(const CategoryAnswers::Storage& s) {
  const std::size_t workers = s.names.workers.size();
  const std::size_t tasks = s.names.tasks.size();
  s.worker_offsets.assign(workers + 1, 0);
  for (const WorkerId w : s.workers) ++s.worker_offsets[index(w) + 1];
  for (std::size_t w = 0; w < workers; ++w) s.worker_offsets[w + 1] += s.worker_offsets[w];
  s.worker_tasks.resize(s.workers.size());
  s.worker_answers.resize(s.workers.size());
  HugeVector<AnswerIndex> cursor(s.worker_offsets.begin(), s.worker_offsets.end() - 1);
  const std::size_t parts = s.workers.size() < 1'000'000 ? 1 : std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  ThreadPool pool(static_cast<unsigned>(parts));
  pool.for_each_block(parts, [&](std::size_t part, unsigned) {
    const auto bound = [&](std::size_t p) {
      const auto at = std::lower_bound(s.worker_offsets.begin(), s.worker_offsets.end(), s.workers.size() * p / parts);
      return p == parts ? workers : static_cast<std::size_t>(at - s.worker_offsets.begin());
    };
    const auto first = static_cast<std::uint32_t>(bound(part));
    const auto span = static_cast<std::uint32_t>(bound(part + 1)) - first;
    for (std::size_t t = 0; t < tasks; ++t) {
      for (AnswerIndex a = s.task_offsets[t]; a < s.task_offsets[t + 1]; ++a) {
        const auto w = static_cast<std::uint32_t>(s.workers[a]);
        if (w - first >= span) continue;
        const AnswerIndex to = cursor[w]++;
        s.worker_tasks[to] = TaskId{static_cast<std::uint32_t>(t)};
        s.worker_answers[to] = a;
      }
    }
  });
}

}  // namespace

std::span<const AnswerIndex> CategoryAnswers::worker_offsets() const {
  std::call_once(storage_->by_worker_once, [this] { build_by_worker(*storage_); });
  return storage_->worker_offsets;
}
std::span<const TaskId> CategoryAnswers::tasks_of(WorkerId worker) const {
  const auto offsets = worker_offsets();
  return std::span(storage_->worker_tasks)
      .subspan(offsets[index(worker)], offsets[index(worker) + 1] - offsets[index(worker)]);
}
std::span<const AnswerIndex> CategoryAnswers::answers_of(WorkerId worker) const {
  const auto offsets = worker_offsets();
  return std::span(storage_->worker_answers)
      .subspan(offsets[index(worker)], offsets[index(worker) + 1] - offsets[index(worker)]);
}

namespace {

/// Answers in their order as one piece; ids are the same numbers.
AnswerPiece piece_of(const CategoryAnswers::Storage& storage) {
  AnswerPiece piece;
  piece.tasks.reserve(storage.workers.size());
  piece.workers.reserve(storage.workers.size());
  piece.labels.reserve(storage.workers.size());
  for (std::uint32_t t = 0; t + 1 < storage.task_offsets.size(); ++t) {
    for (AnswerIndex a = storage.task_offsets[t]; a < storage.task_offsets[t + 1]; ++a) piece.tasks.push_back(t);
  }
  for (const WorkerId worker : storage.workers) piece.workers.push_back(static_cast<std::uint32_t>(worker));
  for (const ClassId label : storage.labels) piece.labels.push_back(static_cast<std::uint16_t>(label));
  return piece;
}

std::uint64_t hash_of(const CategoryAnswers::Storage& storage) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  const auto add = [&](const void* data, std::size_t bytes) {
    const std::uint64_t size = bytes;
    XXH3_64bits_update(state, &size, sizeof size);
    XXH3_64bits_update(state, data, bytes);
  };
  add(storage.task_offsets.data(), storage.task_offsets.size() * sizeof(AnswerIndex));
  add(storage.workers.data(), storage.workers.size() * sizeof(WorkerId));
  add(storage.labels.data(), storage.labels.size() * sizeof(ClassId));
  for (const NameTable* names : {&storage.names.tasks, &storage.names.workers, &storage.names.classes}) {
    const std::uint64_t count = names->size();
    XXH3_64bits_update(state, &count, sizeof count);
    for (std::size_t i = 0; i < names->size(); ++i) add((*names)[i].data(), (*names)[i].size());
  }
  const std::uint64_t hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return hash;
}

}  // namespace

std::uint64_t CategoryAnswers::content_hash() const {
  std::call_once(storage_->hash_once, [this] {
    ThreadPool pool(1);
    if (ranks_in_order(task_names(), pool).empty() && ranks_in_order(worker_names(), pool).empty()) {
      storage_->hash = hash_of(*storage_);
      return;
    }
    // Programs that number tasks and workers themselves have an order of their own.
    CategoryAnswerNames names = storage_->names;
    std::vector<AnswerPiece> pieces;
    pieces.push_back(piece_of(*storage_));
    put_in_order(names, pieces, pool);
    const CategoryAnswers ordered =
        build_annotations(std::move(pieces), std::move(names), DuplicatePolicy::repeat, pool, nullptr);
    storage_->hash = hash_of(*ordered.storage_);
  });
  return storage_->hash;
}

CategoryAnswers make_category_answers(std::span<const CategoryAnswer> answers, CategoryAnswerNames names,
                                      DuplicatePolicy policy, BuildReport* report) {
  if (names.classes.size() > kMaxClasses) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} classes are more than the {} that labels can name", names.classes.size(), kMaxClasses));
  }
  AnswerPiece piece;
  piece.tasks.reserve(answers.size());
  piece.workers.reserve(answers.size());
  piece.labels.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const CategoryAnswer& a = answers[i];
    const auto check = [&](std::size_t value, std::size_t size, const char* what) {
      if (value >= size) {
        throw Error(ErrorCode::bad_input,
                    fmt::format("answer {}: {} index {} is out of range: there are {} of them", i, what, value, size));
      }
    };
    check(index(a.task), names.tasks.size(), "task");
    check(index(a.worker), names.workers.size(), "worker");
    check(index(a.label), names.classes.size(), "class");
    piece.tasks.push_back(static_cast<std::uint32_t>(a.task));
    piece.workers.push_back(static_cast<std::uint32_t>(a.worker));
    piece.labels.push_back(static_cast<std::uint16_t>(a.label));
  }
  ThreadPool pool(1);
  std::vector<AnswerPiece> pieces;
  pieces.push_back(std::move(piece));
  return build_annotations(std::move(pieces), std::move(names), policy, pool, report);
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
