#pragma once

#include <memory>
#include <vector>

#include "learn/shared/feature_dependent_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::conal {

struct Options {
  TrainingOptions training;
  TableOptions tables;
  std::size_t gate_width = 16;  ///< numbers per row and per worker that the gate compares
  double strength = 1e-5;       ///< keeps the common table away from the workers' own
};

/// A common source of confusion beside each worker's own, and a gate that says which one spoke.
class CoNal final : public GradientLearner {
 public:
  explicit CoNal(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

class GateModel final : public FeatureDependentTables {
 public:
  using Options = conal::Options;
  GateModel(const TrainingSet& set, const Options& options, Rng rng);
  void step(double pace) override;
  void table_at(std::span<const double> further, WorkerId worker, std::span<double> table) const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<GateModel>(*this); }

  /// For checks of gradients.
  [[nodiscard]] BlockAdam& common_logits() noexcept { return common_logits_; }
  [[nodiscard]] BlockAdam& gates() noexcept { return gates_; }
  void refresh_common();

 protected:
  double answer_loss(const Term& term) override;
  double penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double> probabilities,
                 MatrixView<double> gradients) override;
  void gradients_to_logits() override;

 private:
  /// How much of an answer the common table makes.
  [[nodiscard]] double gate(std::span<const double> further, WorkerId worker) const;

  Options options_;
  BlockAdam common_logits_;  // one owner: truth × label
  BlockAdam gates_;          // v_j
  std::vector<double> common_;
};

}  // namespace wisecrowd::conal
