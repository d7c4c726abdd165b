#pragma once

#include <string>

#include "learn/shared/soft_label_model.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::two_stage {

struct Options {
  enum class Targets { automatic, hard, soft, confident, truth };

  TrainingOptions training;
  std::string aggregator = "automatic";
  Targets targets = Targets::automatic;
  bool doubt_features = false;  ///< a second training, in which rows count as far as features and crowd agree
};

/// First the labels by an aggregator, then a network trained on them as if they were the truth.
class TwoStage final : public Learner {
 public:
  explicit TwoStage(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Learned fit(const LearningData& data, const NetworkSpec& network,
                            const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::two_stage
