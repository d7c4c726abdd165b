#pragma once

#include <span>
#include <vector>

namespace wisecrowd::worker_types {

/// The answers of one task in one dimension, and where its truth comes from: y_j = z + N(0, v of the worker's type),
/// z ~ N(mean, variance); variance 0 where z is known.
struct TaskView {
  std::span<const double> answers;
  double mean = 0;
  double variance = 1;
};

/// The most combinations of the other workers' types that a message is summed over.
inline constexpr std::size_t kMostCombinations = 4096;
/// Whether messages of a task with so many answers are summed over all combinations.
[[nodiscard]] bool is_exact(std::size_t answers, std::size_t types);

/// The density of the answers by combination of types (the first answer's changes fastest), over the largest one. One
/// view per dimension.
void combination_densities(std::span<const TaskView> views, std::span<const double> variances,
                           std::vector<double>& densities);

/// What a task says of its workers' types, answers × types, each row up to a constant: its largest entry is 0.
/// `beliefs`, answers × types, are what each worker's other tasks say; rows sum to 1.
void exact_messages(std::span<const double> densities, std::span<const double> beliefs, std::size_t types,
                    std::span<double> log_messages);
/// The same where combinations are too many: every other worker is taken by its expected precision.
void approximate_messages(std::span<const TaskView> views, std::span<const double> beliefs,
                          std::span<const double> variances, std::span<double> log_messages);

/// Mean and variance of z by dimension, given what each worker's other tasks say.
struct TaskEstimate {
  std::vector<double> mean, variance;
};
[[nodiscard]] TaskEstimate estimate_task(std::span<const TaskView> views, std::span<const double> beliefs,
                                         std::span<const double> variances);

}  // namespace wisecrowd::worker_types
