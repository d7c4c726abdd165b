#pragma once

#include <string>
#include <vector>

#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::auto_learner {

struct Options {
  enum class Combine { choice, pool };

  TrainingOptions training;
  Combine combine = Combine::choice;
  double margin = kClearAdvantageOfALearner;  ///< standard errors by which a later candidate must be better
};

/// The learners among which is chosen, the preferred one first.
[[nodiscard]] std::vector<std::string> candidates();
/// Those that are pooled: none of them multiplies answers as if workers did not copy each other.
[[nodiscard]] std::vector<std::string> members();

/// Trains several learners and keeps the one that predicts hidden answers best, or pools their networks.
class AutoLearner final : public Learner {
 public:
  explicit AutoLearner(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Learned fit(const LearningData& data, const NetworkSpec& network,
                            const RunContext& context) const override;

 private:
  [[nodiscard]] Learned choose(const LearningData& data, const NetworkSpec& network, const RunContext& context,
                               std::vector<std::string>& diverged) const;

  Options options_;
};

/// The learner's own defaults for what is its own, the caller's for training.
[[nodiscard]] Parameters parameters_of(const LearnerInfo& info, const TrainingOptions& training);

/// Trains the members and pools their networks; names those that left the finite numbers.
[[nodiscard]] Learned learn_pool(const LearningData& data, const NetworkSpec& network, const TrainingOptions& training,
                                 const RunContext& context, std::vector<std::string>& diverged);

}  // namespace wisecrowd::auto_learner
