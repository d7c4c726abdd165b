#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "wisecrowd/evaluate_numbers.hpp"

namespace wisecrowd {
namespace {

constexpr double kUnclear = std::numeric_limits<double>::quiet_NaN();

Distribution quartiles_of(std::vector<double> values) {
  if (values.empty()) return {kUnclear, kUnclear, kUnclear, kUnclear, kUnclear, kUnclear};
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto rank = static_cast<std::size_t>(place);
    const double upper = values[std::min(rank + 1, values.size() - 1)];
    return values[rank] + (place - static_cast<double>(rank)) * (upper - values[rank]);
  };
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  return {values.front(), quantile(0.25), quantile(0.5), mean, quantile(0.75), values.back()};
}

/// Sums of squares within and between tasks, of answers to tasks with at least two.
struct SquareSums {
  double within = 0, between = 0;
  double answers = 0, tasks = 0, squared_sizes = 0;
};

SquareSums sums_of(const NumberAnswers& answers, std::size_t dimension) {
  const auto offsets = answers.task_offsets();
  SquareSums sums;
  double total = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (offsets[t + 1] - offsets[t] < 2) continue;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) total += answers.value(a)[dimension];
    sums.answers += offsets[t + 1] - offsets[t];
  }
  const double mean = total / sums.answers;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const double size = offsets[t + 1] - offsets[t];
    if (size < 2) continue;
    double sum = 0;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) sum += answers.value(a)[dimension];
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      const double off = answers.value(a)[dimension] - sum / size;
      sums.within += off * off;
    }
    sums.between += size * (sum / size - mean) * (sum / size - mean);
    sums.tasks += 1;
    sums.squared_sizes += size * size;
  }
  return sums;
}

DimensionDescription describe_dimension(const NumberAnswers& answers, std::size_t dimension) {
  std::vector<double> values;
  values.reserve(answers.answer_count());
  for (AnswerIndex a = 0; a < answers.answer_count(); ++a) values.push_back(answers.value(a)[dimension]);
  DimensionDescription out;
  out.values = quartiles_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - out.values.mean) * (v - out.values.mean);
  out.deviation = values.size() < 2 ? kUnclear : std::sqrt(squares / static_cast<double>(values.size() - 1));
  out.deviation_within = out.alpha = out.icc = kUnclear;
  const SquareSums sums = sums_of(answers, dimension);
  if (sums.tasks == 0) return out;
  out.deviation_within = std::sqrt(sums.within / (sums.answers - sums.tasks));
  const double all = sums.within + sums.between;
  if (!(all > 0)) return out;
  // Krippendorff: pairs of answers to one task against pairs of any, each answer of m weighing 1 / (m − 1).
  double observed = 0;
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const double size = offsets[t + 1] - offsets[t];
    if (size < 2) continue;
    double sum = 0, own = 0;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) sum += answers.value(a)[dimension];
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      const double off = answers.value(a)[dimension] - sum / size;
      own += off * off;
    }
    observed += 2 * size * own / (size - 1);
  }
  out.alpha = 1 - (observed / sums.answers) / (2 * all / (sums.answers - 1));
  if (sums.tasks > 1) {
    const double between = sums.between / (sums.tasks - 1);
    const double within = out.deviation_within * out.deviation_within;
    const double size = (sums.answers - sums.squared_sizes / sums.answers) / (sums.tasks - 1);
    out.icc = (between - within) / (between + (size - 1) * within);
  }
  return out;
}

}  // namespace

NumberDescription describe(const NumberAnswers& answers) {
  NumberDescription description;
  static_cast<GraphDescription&>(description) = describe_graph(answers);
  const auto warn = [&](const char* code, std::string message, const char* remedy, Severity severity) {
    description.warnings.push_back({code, std::move(message), remedy, severity});
  };
  for (std::size_t d = 0; d < answers.dimensions(); ++d) {
    description.dimensions.push_back(describe_dimension(answers, d));
    const DimensionDescription& own = description.dimensions.back();
    if (description.answers > 1 && own.values.minimum == own.values.maximum) {
      warn("constant_answers",
           fmt::format("every answer in '{}' is {}, so there is nothing to decide.", answers.dimension_names()[d],
                       own.values.minimum),
           "Check that the right column is read.", Severity::serious);
    }
  }
  if (description.answers == 0) {
    warn("no_answers", "there are no answers, so nothing can be learned.", "Check that the file is the right one.",
         Severity::serious);
  } else if (description.answers_per_task.maximum <= 1) {
    warn("one_answer_per_task", "no task has a second answer, so nothing is known of how far answers scatter.",
         "Ask for a second answer to some tasks.", Severity::serious);
  }
  return description;
}

}  // namespace wisecrowd
