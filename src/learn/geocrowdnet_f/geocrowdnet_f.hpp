#pragma once

#include <memory>

#include "learn/shared/coupled_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::geocrowdnet_f {

struct Options {
  TrainingOptions training;
  TableOptions tables;
  double strength = 1e-3;
};

/// Coupled cross-entropy that prefers class probabilities which span a large volume.
class GeoCrowdNetF final : public GradientLearner {
 public:
  explicit GeoCrowdNetF(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

class VolumeModel final : public CoupledTables {
 public:
  using Options = geocrowdnet_f::Options;
  VolumeModel(const TrainingSet& set, const Options& options)
      : CoupledTables(set, options.tables), strength_(options.strength) {}
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<VolumeModel>(*this); }
  [[nodiscard]] std::size_t collapsed_steps() const noexcept { return collapsed_; }

 protected:
  double penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double> probabilities,
                 MatrixView<double> gradients) override;

 private:
  double strength_;
  std::size_t steps_ = 0, collapsed_ = 0;
};

}  // namespace wisecrowd::geocrowdnet_f
