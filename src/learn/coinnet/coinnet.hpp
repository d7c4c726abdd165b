#pragma once

#include <memory>
#include <optional>

#include "learn/shared/coupled_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::coinnet {

struct Options {
  TrainingOptions training;
  TableOptions tables;
  double outlier_strength = 1;    ///< mu1
  double volume_strength = 1e-3;  ///< mu2
  double power = 0.4;             ///< p
  double outlier_learning_rate = 1e-2;
};

/// Coupled tables plus a sparse correction per answer: tasks that do not fit any table are found and set aside.
class CoinNet final : public GradientLearner {
 public:
  explicit CoinNet(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

class OutlierModel final : public CoupledTables {
 public:
  using Options = coinnet::Options;
  OutlierModel(const TrainingSet& set, const Options& options);
  void begin_epoch(const Epoch& epoch) override;
  void step(double pace) override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<OutlierModel>(*this); }

  /// Σ_j |e_ij|² of a task of the training set.
  [[nodiscard]] double outlier_score(std::size_t task) const;
  /// For checks of gradients: the free numbers E of answer a, whose mean is taken off.
  [[nodiscard]] BlockAdam& corrections() noexcept { return corrections_; }
  void set_softening(double zeta) noexcept { zeta_ = zeta; }

 protected:
  double answer_loss(const Term& term) override;
  double penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double> probabilities,
                 MatrixView<double> gradients) override;

 private:
  void centred(std::uint32_t answer, std::span<double> e) const;

  Options options_;
  BlockAdam corrections_;  // owner: an answer of the training set
  double zeta_;
  bool corrections_move_ = true;
  std::optional<std::size_t> first_epoch_;  // in which corrections move
  std::size_t steps_ = 0, collapsed_ = 0;
  std::vector<double> mixed_, slope_, e_;
};

}  // namespace wisecrowd::coinnet
