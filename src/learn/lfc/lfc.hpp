#pragma once

#include "learn/shared/per_worker_logistic.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::lfc {

struct Options {
  TrainingOptions training;
  double ridge = 0.3;
  std::size_t warm_up = 3;
};

/// Yan et al.'s learning from crowds: a linear classifier, and for each worker a linear function of the features that
/// says how far that worker is right.
class Lfc final : public GradientLearner {
 public:
  explicit Lfc(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::lfc
