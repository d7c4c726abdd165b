#pragma once

#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::stal {

struct Options {
  TrainingOptions training;
  std::size_t components = 10;
  std::size_t mixture_iterations = 50;
  double variance_floor = 1e-3;
  double ridge = 0.3;
  std::size_t warm_up = 3;
};

/// Self-taught active learning's model: workers know some regions of the features, found by a mixture, better than
/// others.
class Stal final : public GradientLearner {
 public:
  explicit Stal(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::stal
