#pragma once

#include <vector>

#include "support/learning.hpp"

namespace wisecrowd::testing {

/// Many workers whose skill depends on the words of the task (G1.5): eta_ij = σ(u_j · F x_i) with u, F drawn from
/// U(−0.3, 0.6), x the counts of one to five words, the truth a linear function of x.
struct TaskDependentCrowd {
  FeatureCrowd crowd;
  std::vector<double> reliability;  ///< the true eta of each answer, in task order
  std::vector<double> expertise;    ///< of each worker: the mean of eta over all tasks
};

struct TaskDependentPlan {
  std::size_t tasks = 1000, workers = 1000, words = 100, rank = 10;
  double answers_per_task = 5;
  bool deterministic = true;  ///< an answer is right if eta > ½; otherwise with probability eta
};

[[nodiscard]] TaskDependentCrowd task_dependent_crowd(std::uint64_t seed, const TaskDependentPlan& plan);

/// What DALC with a linear network finds in such a crowd, everything at its default but for 30 epochs of the
/// specification's experiment.
struct TrustFound {
  double right = 0, vote = 0;  ///< share of the answers, and of the vote's labels, that are right
  double labels = 0;           ///< share of DALC's labels that are right
  double eta = 0;              ///< correlation of the reliability of answers with the true one
  double expertise = 0;        ///< of a worker's mean reliability over the own answers with the share that is right
  double expertise_everywhere = 0;  ///< of a worker's mean reliability over all tasks with the true one
};
[[nodiscard]] TrustFound find_trust(const TaskDependentCrowd& made, const std::string& reliability);

/// The correlation of two lists.
[[nodiscard]] double correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace wisecrowd::testing
