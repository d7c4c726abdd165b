#pragma once

#include <vector>

#include "aggregate/numbers/shared/spread.hpp"
#include "base/parameter_visitor.hpp"

namespace wisecrowd::numbers {

struct PrecisionOptions {
  bool bias = true;          ///< workers have a bias each
  double degrees = 0;        ///< of freedom of Student's t, from which errors come; 0 for normal errors
  double prior_answers = 2;  ///< with the crowd's scatter, that are added to every worker's own
  std::size_t max_iterations = 1000;
  double tolerance = 1e-6;  ///< in standard deviations of one answer
};

void precision_parameters(ParameterVisitor& v, PrecisionOptions& o);

/// One dimension of the answers in units of the scatter within tasks, around the mean of all: what a method does then
/// follows shift and scale by itself, and no square overflows.
struct StandardColumn {
  double centre = 0;
  double unit = 0;            ///< 0 where answers to a task never differ, or none has two
  std::vector<double> value;  ///< per answer
  std::vector<double> gold;   ///< per task, NaN where unknown; or empty
};
[[nodiscard]] StandardColumn standard_column(const NumberData& data, const Spread& spread, std::size_t dimension);

/// Where the truth of all tasks comes from: N(mean, variance).
struct Truth {
  double mean = 0, variance = 1;
};
/// By the analysis of variance of tasks, in standard units; the variance is .01 at least.
[[nodiscard]] Truth truth_by_moments(const NumberAnswers& answers, const StandardColumn& column);

/// y_ij = z_i + b_j + e, z_i ~ N(mean, variance), e ~ N(0, v_j) or Student's t of width √v_j, v_j ~ inverse gamma,
/// b_j ~ N(0, bias_variance), in units of a StandardColumn. Unless gold says where 0 is, Σ_j n_j b_j = 0.
struct PrecisionModel {
  double mean = 0, variance = 1, bias_variance = 0;
  std::vector<double> bias, worker_variance;        ///< b_j, v_j
  std::vector<double> estimate, estimate_variance;  ///< of z_i given all answers
  std::vector<double> trace;  ///< log posterior of the parameters (normal errors), or a lower bound of it
  std::size_t iterations = 0;
  Status status = Status::converged;
};
[[nodiscard]] PrecisionModel fit_precision(const NumberAnswers& answers, const StandardColumn& column,
                                           const PrecisionOptions& options, const RunContext& context);

/// A fit by this model, each dimension for itself. Where answers to a task never differ, it is the mean's.
[[nodiscard]] NumberFit precision_fit(const NumberData& data, const PrecisionOptions& options,
                                      const RunContext& context);
[[nodiscard]] std::vector<double> precision_log_predictive(const NumberData& data,
                                                           std::span<const NumberAnswer> answers,
                                                           const PrecisionOptions& options, const RunContext& context);

/// What every model begins with: the mean of each task, which stays where a dimension has nothing to learn from.
struct MeanStart {
  NumberFit fit;
  Spread spread;
};
[[nodiscard]] MeanStart mean_start(const NumberData& data, const RunContext& context);

/// Writes estimate, deviation and the normal 95 % interval of one task, from standard units.
void set_estimate(NumberFit& fit, std::size_t task, std::size_t dimension, const StandardColumn& column,
                  double estimate, double variance);

}  // namespace wisecrowd::numbers
