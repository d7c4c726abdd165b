#include "wisecrowd/judge_data.hpp"

#include <fmt/core.h>

#include <cmath>
#include <tuple>

#include "base/math.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw Error(ErrorCode::bad_input, message);
}

void check_sizes(const JudgeData& data) {
  const std::size_t tasks = data.tasks.size(), classes = data.class_count();
  const auto fits = [](std::size_t size, std::size_t wanted) { return size == 0 || size == wanted; };
  require(classes >= 2, "there is one class alone, so there is nothing to judge: are all answers the same?");
  require(data.judges.size() == data.workers.size(), "what is known of workers is not of as many as there are");
  require(fits(data.gold.size(), tasks), "gold has not as many entries as there are tasks");
  require(fits(data.length.size(), tasks), "lengths are not of as many tasks as there are");
  const bool comparisons = data.kind == JudgedKind::comparisons;
  require(data.pairs.size() == (comparisons ? tasks : 0), "pairs of items are not of as many tasks as there are");
  require(!comparisons || classes == 3 || classes == 2, "a comparison has two outcomes, or three with ties");
  require(fits(data.item_family.size(), comparisons ? data.items.size() : tasks),
          "families of items are not of as many items as there are");
  require(data.log_probabilities.size() % classes == 0, "rows of probabilities have not one entry per class");
}

void check_probabilities(std::span<const double> row) {
  double sum = 0;
  for (const double log : row) {
    require(!std::isnan(log) && log <= 1e-9, fmt::format("{} is no logarithm of a probability", log));
    sum += math::exp(log);
  }
  require(std::abs(sum - 1) < 1e-6, fmt::format("probabilities sum to {}, not to 1", sum));
}

}  // namespace

void validate(const JudgeData& data) {
  check_sizes(data);
  const std::size_t classes = data.class_count(), rows = data.log_probabilities.size() / classes;
  const JudgeAnswer* before = nullptr;
  for (const JudgeAnswer& answer : data.answers) {
    require(index(answer.task) < data.tasks.size() && index(answer.worker) < data.workers.size(),
            "an answer is of a task or worker that is not there");
    require(index(answer.said) < classes, "an answer is of a class that is not there");
    require(answer.probabilities == JudgeAnswer::kHard || answer.probabilities < rows,
            "an answer has probabilities that are not there");
    require(before == nullptr || std::tuple(before->task, before->worker) <= std::tuple(answer.task, answer.worker),
            "answers are not in the order of tasks and workers");
    before = &answer;
  }
  for (std::size_t r = 0; r < rows; ++r) {
    check_probabilities(std::span(data.log_probabilities).subspan(r * classes, classes));
  }
  for (const ClassId gold : data.gold) {
    require(gold == kNoClass || index(gold) < classes, "gold is of a class that is not there");
  }
}

}  // namespace wisecrowd
