#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/features.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/number_fit.hpp"

namespace wisecrowd {

/// A trained network whose outputs are numbers, with all that it needs to predict.
class Regressor {
 public:
  virtual ~Regressor() = default;
  [[nodiscard]] virtual const NameTable& dimension_names() const = 0;
  /// How its features were made from files.
  [[nodiscard]] virtual const FeatureRecipe& recipe() const = 0;
  /// By dimension: how far predictions of new rows are off, as a standard deviation; empty if that is not known.
  [[nodiscard]] virtual const std::vector<double>& deviation() const = 0;
  /// rows × dimensions for features as read (not scaled). Throws bad_input when their shape is another one.
  [[nodiscard]] virtual std::vector<double> predict(const Features& features, const RunContext& context) const = 0;
  /// Writes the files that load_model reads into an existing folder.
  virtual void save(const std::string& folder) const = 0;
};

/// What a learner of numbers returns.
struct LearnedNumbers {
  /// Tasks with answers: network and answers together; workers; warnings; status.
  NumberFit crowd;
  std::vector<double> row_estimate;   ///< rows × dimensions: the network at the chosen epoch
  std::vector<double> row_deviation;  ///< by dimension: how far these are off, as a standard deviation; or NaN
  std::shared_ptr<const Regressor> regressor;

  std::vector<CurvePoint> curve;  ///< of the run that saw all answers, held_out from the run that chose the epoch
  std::size_t epochs = 0;
  std::size_t chosen_epoch = 0;  ///< counted from 1; equals epochs when nothing was held out
  /// Log density of the answers to each hidden task at the chosen epoch, by the run that did not see them.
  std::vector<double> held_out_per_task;
};

/// A method with its parameters fixed. `fit` is const.
class NumberLearner {
 public:
  virtual ~NumberLearner() = default;
  [[nodiscard]] virtual LearnedNumbers fit(const NumberLearningData& data, const NetworkSpec& network,
                                           const RunContext& context) const = 0;
};

/// All learners for answers that are numbers, in the order of number_learners.def; the first is the default.
[[nodiscard]] std::span<const LearnerInfo> number_learning_methods();
/// Throws bad_parameter that lists the candidates when there is no such learner.
[[nodiscard]] const LearnerInfo& number_learning_method(std::string_view name);
[[nodiscard]] std::string_view default_number_learning_method();

/// Checks data and network, makes the learner and fits it. What it returns is finite; throws Diverged when nothing
/// finite came of it.
[[nodiscard]] LearnedNumbers learn_numbers(const NumberLearningData& data, std::string_view method,
                                           const Parameters& parameters, const NetworkSpec& network,
                                           const RunContext& context);

/// A model folder of either kind: one of the two is there.
struct TrainedModel {
  std::shared_ptr<const Classifier> classifier;
  std::shared_ptr<const Regressor> regressor;
};
/// Reads what Classifier::save or Regressor::save wrote; otherwise like load_classifier, which refuses a regressor.
[[nodiscard]] TrainedModel load_model(const std::string& folder, const RunContext& context,
                                      const LoadOptions& options = {});

}  // namespace wisecrowd
