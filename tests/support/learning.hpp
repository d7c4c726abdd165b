#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "learn/shared/answer_model.hpp"
#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd::testing {

/// Answers over Gaussian features, with rows that nobody answered for testing.
struct FeatureCrowd {
  LearningData data;           ///< rows 0 … tasks-1 are the tasks, split train; then the test rows
  std::vector<ClassId> truth;  ///< of every row
  std::size_t tasks = 0;
  /// Answers to the test rows by the same workers, test task i first: for forecasters. Not part of `data`.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> test_answers;
};

/// One worker who answers every task: P(label | truth), truth × label; or copies an earlier worker.
struct PlannedWorker {
  std::vector<double> table;
  int copies = -1;
};

/// x ~ N(±separation e1, I₂) for two classes, N(separation e_z, I_K) for more (G1.6). Each worker answers each task
/// with probability `share`.
[[nodiscard]] FeatureCrowd gaussian_crowd(std::uint64_t seed, std::size_t tasks, std::size_t test_rows,
                                          std::size_t classes, double separation,
                                          const std::vector<PlannedWorker>& workers, double share = 1);

/// Max-MIG's experts for two classes (G8): skill 'H' or 'L', case 1 (seniors alone), 2 (and naive juniors) or 3 (and
/// juniors who copy).
[[nodiscard]] std::vector<PlannedWorker> max_mig_workers(char skill, int which);

/// Share of the test rows that the probabilities (rows × classes) get right; of the tasks, for a posterior.
[[nodiscard]] double test_accuracy(const FeatureCrowd& crowd, const std::vector<double>& row_probabilities);
[[nodiscard]] double task_accuracy(const FeatureCrowd& crowd, const std::vector<double>& posterior);

/// Runs a learner by name with settings in text, as the command line does.
[[nodiscard]] Learned run_learner(const LearningData& data, const std::string& name,
                                  const std::vector<std::pair<std::string, std::string>>& settings,
                                  const NetworkSpec& network, std::uint64_t seed, unsigned threads = 1);

/// The largest relative difference between the model's gradient, carried through a two-layer network in double
/// precision to its weights, and central differences of its loss. The model is copied for every evaluation.
[[nodiscard]] double gradient_error(const BatchModel& model, const TrainingSet& set, std::uint64_t seed);

/// The same for parameters of the model itself: `at` gives the place of parameter p in a clone (and is followed by
/// `refresh`), `gradient` is what the model says.
[[nodiscard]] double own_gradient_error(const AnswerModel& model, const TrainingSet& set, std::uint64_t seed,
                                        std::size_t parameters,
                                        const std::function<void(AnswerModel&, std::size_t p, double change)>& move,
                                        const std::function<double(AnswerModel&, std::size_t p)>& gradient);

}  // namespace wisecrowd::testing
