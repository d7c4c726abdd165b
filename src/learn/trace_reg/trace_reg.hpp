#pragma once

#include <memory>

#include "learn/shared/coupled_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::trace_reg {

struct Options {
  enum class Penalty { trace, log };
  TrainingOptions training;
  TableOptions tables;
  Penalty penalty = Penalty::trace;
  double strength = 0.01;
};

/// Coupled cross-entropy with a penalty on the traces of the tables: errors are put down to the workers.
class TraceReg final : public GradientLearner {
 public:
  explicit TraceReg(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

class TraceModel final : public CoupledTables {
 public:
  using Options = trace_reg::Options;
  TraceModel(const TrainingSet& set, const Options& options) : CoupledTables(set, options.tables), options_(options) {}
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<TraceModel>(*this); }

 protected:
  double penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double> probabilities,
                 MatrixView<double> gradients) override;

 private:
  Options options_;
};

}  // namespace wisecrowd::trace_reg
