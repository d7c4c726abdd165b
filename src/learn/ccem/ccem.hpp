#pragma once

#include <memory>

#include "learn/shared/coupled_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::ccem {

struct Options {
  TrainingOptions training;
  TableOptions tables{.solver = TableOptions::Solver::em};
};

/// Coupled cross-entropy minimisation: network and worker tables together, each answer a draw of its own.
class Ccem final : public GradientLearner {
 public:
  explicit Ccem(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::ccem
