#pragma once

#include <memory>
#include <vector>

#include "learn/shared/feature_dependent_tables.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::instance_dependent {

struct Options {
  enum class Variant { schedule, anchors };
  TrainingOptions training;
  TableOptions tables{.start_accuracy = 0.9, .warm_up = 5};
  Variant variant = Variant::schedule;
  double trace_strength = 0.01;
  std::size_t table_epochs = 5;  ///< between the release of the tables and that of their dependence on the row
  std::size_t row_width = 16;    ///< numbers of a row that the tables depend on
  std::size_t embedding = 8;     ///< numbers per worker that say how
  double row_decay = 1e-3;       ///< weight decay of the dependence on the row
  double anchor_confidence = 0.95;
};

/// Worker tables that depend on the row, kept identifiable by a penalty on their traces and a schedule, or by anchors.
class InstanceDependent final : public GradientLearner {
 public:
  explicit InstanceDependent(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

/// T_j(x) = softmax over each row of A_j + H tanh(τ(x) + V e_j), truth × label.
class InstanceModel final : public FeatureDependentTables {
 public:
  using Options = instance_dependent::Options;
  InstanceModel(const TrainingSet& set, const Options& options, Rng rng);
  void begin_epoch(const Epoch& epoch) override;
  void step(double pace) override;
  void table_at(std::span<const double> further, WorkerId worker, std::span<double> table) const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<InstanceModel>(*this); }

  /// For checks of gradients: H (classes² × row width), V (row width × embedding), e_j.
  [[nodiscard]] BlockAdam& row_head() noexcept { return head_; }
  [[nodiscard]] BlockAdam& mixing() noexcept { return mixing_; }
  [[nodiscard]] BlockAdam& embeddings() noexcept { return embeddings_; }
  void release_rows() noexcept { rows_move_ = true; }
  /// Stage of the anchor variant: the network and plain tables, tables at anchors, the network with tables fixed.
  enum class Stage { joint, anchors, network };
  /// Enters a stage with the network's outputs for all tasks of the training set.
  void enter(Stage stage, std::span<const double> all_outputs);
  [[nodiscard]] std::size_t anchor_count() const noexcept;

 protected:
  double answer_loss(const Term& term) override;
  void gradients_to_logits() override {}  // answer_loss is there already

 private:
  /// tanh(τ + V e_j) and the table that follows.
  void forward(std::span<const double> further, WorkerId worker, std::span<double> hidden,
               std::span<double> table) const;
  /// From the gradient at the table (overwritten) to A_j, H, V, e_j and τ.
  void backward(const Term& term, std::span<double> at_table);

  Options options_;
  BlockAdam head_, mixing_, embeddings_;
  bool rows_move_ = false;
  Stage stage_ = Stage::joint;
  std::vector<std::uint32_t> anchor_;  // per task: its sure class, or none
  std::vector<double> kept_rows_;      // stage network: τ of every task
  std::vector<double> hidden_, table_, at_table_, at_hidden_;
};

}  // namespace wisecrowd::instance_dependent
