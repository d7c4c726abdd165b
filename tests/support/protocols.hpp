#pragma once

#include <string>
#include <vector>

#include "support/learning.hpp"

namespace wisecrowd::testing {

/// One setting of deepBP's experiments (G2): binary tasks, each answered by `per_task` workers, each worker by
/// `per_worker` tasks, accuracies from Beta(true_right, true_wrong); `spammers` answer every task at random. Of 20
/// features one tells the classes apart, by ±separation.
struct SparseProtocol {
  std::size_t tasks = 1000, per_task = 3, per_worker = 4, spammers = 0, test_rows = 2000;
  double true_right = 2, true_wrong = 1;
  double separation = 1;
};
[[nodiscard]] FeatureCrowd sparse_crowd(const SparseProtocol& protocol, std::uint64_t seed);

/// The substitute for BayesDGC's data (G9): nine workers with sensitivities in [.6, .9] and specificities in [.7, .95],
/// a rare class 1, Gaussian features, a share of the answers kept. `bent`: features from which a line tells nothing,
/// class 0 around two opposite corners of a square and class 1 around the other two.
[[nodiscard]] FeatureCrowd unbalanced_crowd(std::size_t tasks, double rate, double kept, std::uint64_t seed,
                                            bool bent = false);

/// Runs an aggregator by name with settings in text.
[[nodiscard]] CategoryFit run_aggregator(const CategoryData& data, const std::string& name,
                                         const std::vector<std::pair<std::string, std::string>>& settings);

/// Mean and half the width of its 99 % interval over seeds.
struct Spread {
  double mean = 0, half = 0;
};
[[nodiscard]] Spread spread(const std::vector<double>& values);

/// Seeds per setting: `usual`, unless the environment says WISECROWD_SEEDS.
[[nodiscard]] std::size_t seeds(std::size_t usual);

}  // namespace wisecrowd::testing
