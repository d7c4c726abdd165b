#include "wisecrowd/number_answers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "data/content_hash.hpp"
#include "data/graph_build.hpp"
#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "data/number_column.hpp"
#include "wisecrowd/number_data.hpp"
#include "wisecrowd/number_limits.hpp"

namespace wisecrowd {
namespace {

/// An answer within its bucket; its numbers stay where they are until the end.
class NumberPacking {
 public:
  using Payload = std::uint32_t;
  struct Word {
    std::uint32_t place, worker, row;
  };
  using Entry = std::uint32_t;

  NumberPacking(std::span<const double> values, std::size_t dimensions) : values_(values), dimensions_(dimensions) {}

  static Word pack(std::uint32_t place, std::uint32_t worker, std::uint32_t row) noexcept {
    return {place, worker, row};
  }
  static std::size_t place_of(const Word& answer) noexcept { return answer.place; }
  static std::uint32_t worker_of(const Word& answer) noexcept { return answer.worker; }
  static Entry entry_of(const Word& answer) noexcept { return answer.row; }
  [[nodiscard]] bool before(const Word& a, const Word& b) const {
    if (a.worker != b.worker) return a.worker < b.worker;
    const auto left = numbers(a), right = numbers(b);
    return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
  }
  [[nodiscard]] bool same(const Word& a, const Word& b) const {
    const auto left = numbers(a), right = numbers(b);
    return std::equal(left.begin(), left.end(), right.begin());
  }

 private:
  [[nodiscard]] std::span<const double> numbers(const Word& answer) const {
    return values_.subspan(answer.row * dimensions_, dimensions_);
  }
  std::span<const double> values_;
  std::size_t dimensions_;
};

/// What keeps a number from being an answer or gold, with the remedy; empty if nothing does.
std::string number_problem(double value) {
  if (!std::isfinite(value)) return fmt::format("{} is not a finite number", value);
  if (std::abs(value) <= kLargestNumber) return {};
  return fmt::format("{:g} is beyond ±{:g}, where squares overflow: choose another unit", value, kLargestNumber);
}

}  // namespace

NumberAnswers::NumberAnswers() {
  static const auto empty = [] {
    auto column = std::make_shared<Column>();
    const std::vector<std::string> names{"value"};
    column->dimensions = NameTable(names);
    return column;
  }();
  column_ = empty;
}
NumberAnswers::NumberAnswers(AnswerGraph graph, std::shared_ptr<const Column> column)
    : AnswerGraph(std::move(graph)), column_(std::move(column)) {}

std::size_t NumberAnswers::dimensions() const noexcept { return column_->dimensions.size(); }
const NameTable& NumberAnswers::dimension_names() const noexcept { return column_->dimensions; }
std::span<const double> NumberAnswers::values() const noexcept { return column_->values; }
std::span<const double> NumberAnswers::value(AnswerIndex answer) const noexcept {
  return values().subspan(answer * dimensions(), dimensions());
}

std::uint64_t NumberAnswers::content_hash() const {
  std::call_once(column_->hash_once, [this] {
    const auto hash_of = [](const NumberAnswers& answers) {
      ContentHash hash;
      hash.add_graph(answers);
      hash.add(answers.values().data(), answers.values().size_bytes());
      hash.add_names(answers.task_names());
      hash.add_names(answers.worker_names());
      hash.add_names(answers.dimension_names());
      return hash.value();
    };
    ThreadPool pool(1);
    if (ranks_in_order(task_names(), pool).empty() && ranks_in_order(worker_names(), pool).empty()) {
      column_->hash = hash_of(*this);
      return;
    }
    NumberAnswerNames names{task_names(), worker_names(), dimension_names()};
    std::vector<NumberPiece> pieces(1);
    copy_edges(*this, pieces[0]);
    for (std::uint32_t a = 0; a < answer_count(); ++a) pieces[0].payload.push_back(a);
    put_in_order(names.tasks, names.workers, pieces, pool);
    column_->hash = hash_of(
        build_number_answers(std::move(pieces), values(), std::move(names), DuplicatePolicy::repeat, pool, nullptr));
  });
  return column_->hash;
}

NumberAnswers build_number_answers(std::vector<NumberPiece> pieces, std::span<const double> values,
                                   NumberAnswerNames names, DuplicatePolicy policy, ThreadPool& pool,
                                   BuildReport* report, std::vector<RepeatedPair>* repeated) {
  const std::size_t dimensions = names.dimensions.size();
  const NumberPacking packing(values, dimensions);
  GraphBuild<NumberPacking> build(packing, std::move(pieces), names.tasks.size(), policy, pool);
  build.graph->task_names = std::move(names.tasks);
  build.graph->worker_names = std::move(names.workers);
  build.run();
  build.refuse_repeats(repeated);
  if (report != nullptr) *report = build.report;
  auto column = std::make_shared<NumberAnswers::Column>();
  column->dimensions = std::move(names.dimensions);
  column->values.resize(build.column.size() * dimensions);
  const Blocks blocks{build.column.size(), kAnswersPerBlock};
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t a = blocks.begin(b); a < blocks.end(b); ++a) {
      std::copy_n(values.data() + build.column[a] * dimensions, dimensions, column->values.data() + a * dimensions);
    }
  });
  return {AnswerGraph(std::move(build.graph)), std::move(column)};
}

NumberAnswers make_number_answers(std::span<const NumberAnswer> answers, NumberAnswerNames names,
                                  DuplicatePolicy policy, BuildReport* report) {
  const std::size_t dimensions = names.dimensions.size();
  if (dimensions == 0) throw Error(ErrorCode::bad_input, "answers that are numbers need at least one dimension");
  std::vector<NumberPiece> pieces(1);
  NumberPiece& piece = pieces[0];
  piece.reserve(answers.size());
  std::vector<double> values;
  values.reserve(answers.size() * dimensions);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const NumberAnswer& a = answers[i];
    require_index(i, index(a.task), names.tasks.size(), "task");
    require_index(i, index(a.worker), names.workers.size(), "worker");
    if (a.value.size() != dimensions) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("answer {} has {} numbers: there are {} dimensions", i, a.value.size(), dimensions));
    }
    for (const double v : a.value) {
      const std::string problem = number_problem(v);
      if (!problem.empty()) throw Error(ErrorCode::bad_input, fmt::format("answer {}: {}", i, problem));
      values.push_back(v == 0 ? 0.0 : v);  // minus zero is zero, for the fingerprint too
    }
    piece.tasks.push_back(static_cast<std::uint32_t>(a.task));
    piece.workers.push_back(static_cast<std::uint32_t>(a.worker));
    piece.payload.push_back(static_cast<std::uint32_t>(i));
  }
  ThreadPool pool(1);
  return build_number_answers(std::move(pieces), values, std::move(names), policy, pool, report);
}

struct NumberAnswersBuilder::State {
  std::vector<std::string> dimensions;
  Interner tasks, workers;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::vector<double> values;
};

NumberAnswersBuilder::NumberAnswersBuilder(std::vector<std::string> dimensions) : state_(std::make_unique<State>()) {
  if (dimensions.empty()) throw Error(ErrorCode::bad_parameter, "answers that are numbers need at least one dimension");
  state_->dimensions = std::move(dimensions);
}
NumberAnswersBuilder::~NumberAnswersBuilder() = default;
NumberAnswersBuilder::NumberAnswersBuilder(NumberAnswersBuilder&&) noexcept = default;
NumberAnswersBuilder& NumberAnswersBuilder::operator=(NumberAnswersBuilder&&) noexcept = default;

NumberAnswersBuilder& NumberAnswersBuilder::add(std::string_view task, std::string_view worker, double value) {
  return add(task, worker, std::span(&value, 1));
}

NumberAnswersBuilder& NumberAnswersBuilder::add(std::string_view task, std::string_view worker,
                                                std::span<const double> value) {
  if (value.size() != state_->dimensions.size()) {
    throw Error(ErrorCode::bad_input, fmt::format("worker '{}' gave {} numbers for task '{}': there are {} dimensions",
                                                  worker, value.size(), task, state_->dimensions.size()));
  }
  for (const double v : value) {
    const std::string problem = number_problem(v);
    if (!problem.empty()) {
      throw Error(ErrorCode::bad_input, fmt::format("worker '{}' on task '{}': {}", worker, task, problem));
    }
  }
  state_->edges.emplace_back(state_->tasks.intern(task), state_->workers.intern(worker));
  state_->values.insert(state_->values.end(), value.begin(), value.end());
  return *this;
}

NumberAnswersBuilder& NumberAnswersBuilder::add_task(std::string_view task) {
  state_->tasks.intern(task);
  return *this;
}
NumberAnswersBuilder& NumberAnswersBuilder::add_worker(std::string_view worker) {
  state_->workers.intern(worker);
  return *this;
}

NumberAnswers NumberAnswersBuilder::build(DuplicatePolicy policy, BuildReport* report) const {
  NumberAnswerNames names{state_->tasks.table(), state_->workers.table(), NameTable(state_->dimensions)};
  ThreadPool pool(1);
  const auto tasks = ranks_in_order(names.tasks, pool), workers = ranks_in_order(names.workers, pool);
  names.tasks = reordered(std::move(names.tasks), tasks, pool);
  names.workers = reordered(std::move(names.workers), workers, pool);
  const std::size_t dimensions = state_->dimensions.size();
  std::vector<NumberAnswer> answers;
  answers.reserve(state_->edges.size());
  for (std::size_t i = 0; i < state_->edges.size(); ++i) {
    const auto [task, worker] = state_->edges[i];
    answers.push_back({TaskId{tasks.empty() ? task : tasks[task]}, WorkerId{workers.empty() ? worker : workers[worker]},
                       std::span(state_->values).subspan(i * dimensions, dimensions)});
  }
  return make_number_answers(answers, std::move(names), policy, report);
}

void validate(const NumberData& data) {
  if (data.gold.empty()) return;
  const std::size_t dimensions = data.answers.dimensions();
  if (data.gold.size() != data.answers.task_count() * dimensions) {
    throw Error(ErrorCode::bad_input,
                fmt::format("gold has {} numbers: {} tasks with {} dimensions need {}", data.gold.size(),
                            data.answers.task_count(), dimensions, data.answers.task_count() * dimensions));
  }
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    const auto row = data.gold_of(TaskId(t));
    const auto unknown = std::count_if(row.begin(), row.end(), [](double v) { return std::isnan(v); });
    if (unknown != 0 && unknown != static_cast<std::ptrdiff_t>(dimensions)) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("gold of task {} must be known in all of its {} dimensions, or in none", t, dimensions));
    }
    for (std::size_t d = 0; d < dimensions && unknown == 0; ++d) {
      const std::string problem = number_problem(row[d]);
      if (!problem.empty()) throw Error(ErrorCode::bad_input, fmt::format("gold of task {}: {}", t, problem));
    }
  }
}

}  // namespace wisecrowd
