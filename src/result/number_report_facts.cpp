#include "result/number_report_facts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wisecrowd {
namespace {

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();
/// The median of |x − y| for two normal numbers of deviation 1.
constexpr double kMedianOfDifference = 0.953872552;

double middle_of(std::vector<double>& values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return *std::max_element(values.begin(), half) / 2 + *half / 2;
}

/// Of neighbours in the list of a task's answers: as many distances as degrees of freedom, whatever the sizes of tasks.
double robust_scatter(const NumberAnswers& answers, std::size_t dimension) {
  const auto offsets = answers.task_offsets();
  std::vector<double> distances;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t] + 1; a < offsets[t + 1]; ++a) {
      distances.push_back(std::abs(answers.value(a)[dimension] - answers.value(a - 1)[dimension]));
    }
  }
  if (distances.empty()) return kNoFigure;
  const double median = middle_of(distances);
  if (median > 0) return median / kMedianOfDifference;
  // Most answers are alike: what the others differ by, then.
  double squares = 0;
  for (const double distance : distances) squares += distance * distance;
  return std::sqrt(squares / (2 * static_cast<double>(distances.size())));
}

double correlation_of(const NumberResult& result, std::size_t dimension) {
  const NumberFit& fit = result.fit;
  double count = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const double x = fit.estimate[t * fit.dimensions + dimension];
    const double y = result.data.gold[t * fit.dimensions + dimension];
    if (std::isnan(x) || std::isnan(y)) continue;
    count += 1;
    const double off_x = x - mean_x, off_y = y - mean_y;
    mean_x += off_x / count;
    mean_y += off_y / count;
    xx += off_x * (x - mean_x);
    yy += off_y * (y - mean_y);
    xy += off_x * (y - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx) / std::sqrt(yy) : kNoFigure;
}

}  // namespace

OutlyingAnswers outlying_answers(const NumberAnswers& answers) {
  const std::size_t dimensions = answers.dimensions();
  const auto offsets = answers.task_offsets();
  OutlyingAnswers out;
  out.far.assign(answers.answer_count() * dimensions, 0);
  std::vector<double> values;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const double scatter = robust_scatter(answers, d);
    out.scatter.push_back(scatter);
    if (!(scatter > 0)) continue;
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      if (offsets[t + 1] - offsets[t] < 3) continue;  // of two, either may be the one that is off
      values.clear();
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) values.push_back(answers.value(a)[d]);
      const double middle = middle_of(values);
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        const bool far = std::abs(answers.value(a)[d] - middle) > OutlyingAnswers::kFar * scatter;
        out.far[a * dimensions + d] = far ? 1 : 0;
      }
    }
  }
  for (std::size_t a = 0; a < answers.answer_count(); ++a) {
    const auto own = std::span(out.far).subspan(a * dimensions, dimensions);
    out.count += std::any_of(own.begin(), own.end(), [](std::uint8_t far) { return far != 0; }) ? 1 : 0;
  }
  return out;
}

NumberReportFacts report_facts(const NumberResult& result) {
  NumberReportFacts facts;
  facts.description = describe(result.data.answers);
  facts.outlying = outlying_answers(result.data.answers);
  if (result.record.gold_use != "evaluation" || !result.data.has_gold()) return facts;
  const NumberFit& fit = result.fit;
  facts.evaluation = result.evaluation
                         ? *result.evaluation
                         : evaluate_numbers(fit.estimate, fit.low, fit.high, result.data.gold, fit.dimensions);
  if (facts.evaluation->tasks == 0) facts.evaluation.reset();
  for (std::size_t d = 0; facts.evaluation && d < fit.dimensions; ++d) {
    facts.correlation.push_back(correlation_of(result, d));
  }
  return facts;
}

}  // namespace wisecrowd
