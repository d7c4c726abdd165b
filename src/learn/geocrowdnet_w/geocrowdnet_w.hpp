#pragma once

#include <memory>
#include <vector>

#include "learn/shared/coupled_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::geocrowdnet_w {

struct Options {
  TrainingOptions training;
  TableOptions tables;
  double strength = 0.01;
};

/// Coupled cross-entropy that prefers worker tables which tell the classes apart.
class GeoCrowdNetW final : public GradientLearner {
 public:
  explicit GeoCrowdNetW(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

/// −strength · log det Σ_j th_j th_jᵀ. The sum over all workers is kept up to date as single tables change, so that a
/// step never passes over all of them.
class TableVolumeModel final : public CoupledTables {
 public:
  using Options = geocrowdnet_w::Options;
  TableVolumeModel(const TrainingSet& set, const Options& options);
  void begin_epoch(const Epoch& epoch) override;
  void refresh(WorkerId worker) override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override {
    return std::make_unique<TableVolumeModel>(*this);
  }
  [[nodiscard]] const std::vector<double>& gram() const noexcept { return gram_; }

 protected:
  double penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double> probabilities,
                 MatrixView<double> gradients) override;

 private:
  void add_to_gram(WorkerId worker, double sign);
  void sum_gram();

  double strength_;
  std::vector<double> gram_;  // Σ_j th_j th_jᵀ
  std::size_t steps_ = 0, collapsed_ = 0;
};

}  // namespace wisecrowd::geocrowdnet_w
