#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learn/shared/answer_model.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/number_data.hpp"

namespace wisecrowd::crowd_regression {

/// What a worker does to the truth z: nothing, s z, z + b, s z + b, or s (z + b); automatic chooses between z + b and
/// s z + b before there is a model.
enum class Layer { automatic, none, scale, bias, scale_bias, bias_scale };

struct Options {
  Layer layer = Layer::automatic;
  bool own_noise = true;     ///< each worker has a variance of its own
  bool task_error = true;    ///< what the network does not know of a task is in all answers to it
  double prior_answers = 2;  ///< per worker: that fit the truth, and scatter as all answers do
  TrainingOptions training;
};

/// The answers to a training set in standard units: around their mean, over their deviation.
struct StandardAnswers {
  std::size_t dimensions = 1;
  std::vector<double> centre, unit;  ///< by dimension
  std::vector<double> value;         ///< answers of the data (not of the set) × dimensions
};
[[nodiscard]] StandardAnswers standard_answers(const NumberAnswers& answers, const TrainingSet& set);

/// Tasks with a row of the train split and an answer; throws bad_input if there are none.
[[nodiscard]] TrainingSet number_training_set(const NumberLearningData& data);

/// y = slope · z + bias + noise. bias_scale is the same line with bias = s b.
struct Line {
  double slope = 1, bias = 0, variance = 1;
};

/// What the answers to a task say, given the network's word o for it: its truth is o + shift, give or take the root of
/// `variance`; and the log density of the answers.
struct TaskPosterior {
  double shift = 0, variance = 0, log_density = 0;
};

/// How far the network is off on some tasks, by dimension: τ², or, without errors of tasks, what the workers'
/// variances are to be multiplied by.
struct NetworkError {
  std::vector<double> variance, noise;
};

/// The layer between network and answers. The truth is z = o + error, o = α output + β, error ~ N(0, τ²); a worker's
/// answer is its line of z. The error is integrated out, so that answers to a task that the network cannot know are
/// taken together before the network is asked to follow them.
class LayerModel final : public BatchModel {
 public:
  LayerModel(const TrainingSet& set, const StandardAnswers& answers, const Options& options, const RunContext& context);

  [[nodiscard]] std::size_t outputs() const override { return answers_->dimensions; }
  double loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
              MatrixView<double> output_gradients) override;
  /// The workers' lines and τ², each at its best given the other and the network: a few steps of EM; then the gauge.
  void end_epoch(const Epoch& epoch) override;
  /// Of other tasks than those learned from, which make the network look better than it is, the more so the longer it
  /// is trained: with the error under which the answers are most likely.
  [[nodiscard]] std::vector<double> answer_likelihoods(const TrainingSet& set,
                                                       std::span<const double> outputs) const override;
  /// With a given error.
  [[nodiscard]] std::vector<double> likelihoods(const TrainingSet& set, std::span<const double> outputs,
                                                const NetworkError& error) const;
  /// The error under which the answers to these tasks are most likely.
  [[nodiscard]] NetworkError error_of(const TrainingSet& set, std::span<const double> outputs) const;
  [[nodiscard]] std::unique_ptr<BatchModel> copy() const override { return std::make_unique<LayerModel>(*this); }

  /// The network's word for the truth of an output, in standard units.
  [[nodiscard]] double truth(double output, std::size_t dimension) const {
    return alpha_[dimension] * output + beta_[dimension];
  }
  /// `values` are answers in standard units, of one dimension; variances of workers are multiplied by `noise`.
  [[nodiscard]] TaskPosterior posterior(double o, double error_variance, std::span<const WorkerId> workers,
                                        std::span<const double> values, std::size_t dimension, double noise = 1) const;
  /// One step of EM on the outputs of the set's tasks (tasks × dimensions).
  void step_of_em(std::span<const double> outputs);
  /// Σ n_j s_j = Σ n_j and Σ n_j b_j = 0; α and β take up what that takes off, so no expected answer changes.
  void fix_gauge();

  [[nodiscard]] Line& line(std::size_t worker, std::size_t dimension) {
    return lines_[worker * answers_->dimensions + dimension];
  }
  [[nodiscard]] const Line& line(std::size_t worker, std::size_t dimension) const {
    return lines_[worker * answers_->dimensions + dimension];
  }
  [[nodiscard]] std::vector<double>& error_variance() noexcept { return error_variance_; }
  [[nodiscard]] const std::vector<double>& error_variance() const noexcept { return error_variance_; }
  [[nodiscard]] double alpha(std::size_t dimension) const { return alpha_[dimension]; }
  [[nodiscard]] double beta(std::size_t dimension) const { return beta_[dimension]; }

 private:
  /// What the M-step of a worker is made of, in one dimension: sums over its answers.
  struct Sums {
    double n = 0, z = 0, zz = 0, y = 0, zy = 0, yy = 0;
  };
  [[nodiscard]] bool has_slope() const { return layer_ != Layer::none && layer_ != Layer::bias; }
  [[nodiscard]] bool has_bias() const { return layer_ != Layer::none && layer_ != Layer::scale; }
  void gather(const TrainingSet& set, std::size_t task, std::size_t dimension, std::vector<double>& values) const;
  [[nodiscard]] double fit_line(const Sums& sums, Line& line) const;

  const TrainingSet* set_;
  const StandardAnswers* answers_;
  Layer layer_;
  bool own_noise_, task_error_;
  double prior_answers_;
  std::vector<Line> lines_;             // workers × dimensions
  std::vector<double> count_;           // answers by worker
  std::vector<double> error_variance_;  // τ² by dimension
  std::vector<double> alpha_, beta_;    // by dimension
};

}  // namespace wisecrowd::crowd_regression
