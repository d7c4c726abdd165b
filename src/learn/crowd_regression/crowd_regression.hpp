#pragma once

#include "learn/crowd_regression/layer_model.hpp"
#include "wisecrowd/learn_numbers.hpp"

namespace wisecrowd::crowd_regression {

/// A network for the truth, and a line per worker between it and the answers.
class CrowdRegression final : public NumberLearner {
 public:
  explicit CrowdRegression(Options options = {}) : options_(options) {}
  [[nodiscard]] LearnedNumbers fit(const NumberLearningData& data, const NetworkSpec& network,
                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::crowd_regression
