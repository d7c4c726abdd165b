#pragma once

#include <string>
#include <vector>

#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::auto_learner {

struct Options {
  TrainingOptions training;
  double margin = kClearAdvantageOfALearner;  ///< standard errors by which a later candidate must be better
};

/// The learners among which is chosen, the preferred one first.
[[nodiscard]] std::vector<std::string> candidates();

/// Trains several learners and keeps the one that predicts hidden answers best.
class AutoLearner final : public Learner {
 public:
  explicit AutoLearner(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Learned fit(const LearningData& data, const NetworkSpec& network,
                            const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::auto_learner
