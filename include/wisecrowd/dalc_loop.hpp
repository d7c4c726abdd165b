#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/estimate.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

struct NetworkSpec;

/// The loop of DALC on a recorded crowd: ask about tasks that the network is unsure of, and ask the workers who know
/// their kind. Its four policies, from "neither" to "both".
struct DalcPolicy {
  std::string name;  ///< rd, ac, ad, dalc
  bool chooses_task = false;
  bool chooses_worker = false;
};
[[nodiscard]] std::span<const DalcPolicy> dalc_policies();
/// Throws bad_parameter that lists the names.
[[nodiscard]] const DalcPolicy& dalc_policy(const std::string& name);

struct DalcCurve {
  std::string policy;
  std::vector<std::vector<double>> accuracy, auc;  ///< seeds × points
  std::vector<double> mean_accuracy, mean_auc;     ///< per point
  std::vector<Estimate> interval;  ///< of the mean accuracy per point: 95 % by Student's t, NaN with one seed
  std::vector<std::vector<CategoryAnswer>> bought;  ///< seeds × answers after the first ones, in the order of buying
  /// Mean accuracy over the answers, from the first point to the last; 95 % by Student's t over seeds, NaN with one.
  Estimate area;
  bool reaches = false;         ///< whether the mean curve reaches the mean of the reference
  double answers_to_reach = 0;  ///< straight between points
  Estimate saved;               ///< share of all answers that was not needed; 95 % by bootstrap over seeds
};

struct DalcLoop {
  std::vector<std::size_t> answers;  ///< bought at each point, the same for all policies and seeds
  std::vector<DalcCurve> curves;     ///< in the order of the policies asked for
  // The model with all answers to the same tasks, per seed.
  std::vector<double> reference_accuracy, reference_auc;
  double all_answers = 0;  ///< that it saw, mean over seeds
  std::size_t pool_tasks = 0, past_tasks = 0, test_rows = 0;
  std::size_t seeds = 0;  ///< that were finished
  Status status = Status::converged;
};

/// The parameters of the loop itself.
[[nodiscard]] std::vector<ParameterSpec> dalc_loop_parameters();

/// Plays the policies on a recorded crowd. Tasks to train with answers are divided by chance into those of the past,
/// from which the reliabilities are learned, and a pool, whose answers are bought one by one; `row_truth` (one per row,
/// kNoClass where unknown) scores the test rows and nothing else. `model` are the parameters of the learner "dalc". All
/// policies of a seed start from the same state and the same first answers. The same for any number of threads.
[[nodiscard]] DalcLoop play_dalc_loop(const LearningData& data, std::span<const ClassId> row_truth,
                                      const Parameters& parameters, const Parameters& model, const NetworkSpec& network,
                                      std::span<const std::string> policies, std::size_t seeds,
                                      const RunContext& context);

}  // namespace wisecrowd
