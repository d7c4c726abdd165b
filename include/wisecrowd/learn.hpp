#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/entry_info.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/network_spec.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Training left the finite numbers, and no state is left that could be kept: bad_input, and the remedy.
class Diverged : public Error {
 public:
  explicit Diverged(const std::string& message) : Error(ErrorCode::bad_input, message) {}
};

/// One epoch of training.
struct CurvePoint {
  double objective = 0;  ///< what the method minimises, mean over its batches
  double held_out = 0;   ///< mean log probability of answers to hidden tasks; NaN when none were hidden
};

/// A trained network with all that it needs to predict: scaling, classes, and how its outputs become probabilities.
class Classifier {
 public:
  virtual ~Classifier() = default;
  [[nodiscard]] virtual std::size_t class_count() const = 0;
  [[nodiscard]] virtual const NameTable& class_names() const = 0;
  /// How its features were made from files.
  [[nodiscard]] virtual const FeatureRecipe& recipe() const = 0;
  /// rows × classes for features as read (not scaled). Throws bad_input when their shape is another one.
  [[nodiscard]] virtual std::vector<double> predict(const Features& features, const RunContext& context) const = 0;
  /// Writes the files that load_classifier reads into an existing folder.
  virtual void save(const std::string& folder) const = 0;
  /// Writes a TorchScript module that takes rows as read and gives logits. Needs libtorch.
  virtual void export_torchscript(const std::string& path) const = 0;
};

/// What a learner returns.
struct Learned {
  /// Tasks with answers: the posterior that combines classifier and answers; workers; warnings; status.
  CategoryFit crowd;
  std::vector<double> row_probabilities;  ///< rows × classes: the classifier at the chosen epoch
  std::vector<float> answer_reliability;  ///< P(answer is right) per answer in task order, or empty
  std::shared_ptr<const Classifier> classifier;

  std::vector<CurvePoint> curve;  ///< of the run that saw all answers, held_out from the run that chose the epoch
  std::size_t epochs = 0;
  std::size_t chosen_epoch = 0;  ///< counted from 1; equals epochs when nothing was held out
  /// Log probability of the answers to each hidden task at the chosen epoch, by the run that did not see them; empty
  /// when nothing was held out. Same data, seed and share: the same tasks in the same order for every learner.
  std::vector<double> held_out_per_task;
  // The same at the last epoch, for honest comparison.
  std::vector<double> final_posterior;
  std::vector<double> final_row_probabilities;
};

/// What a learner says about itself. `parameters` holds its own and those of training.
struct LearnerInfo : EntryInfo {
  bool linear_only = false;  ///< the theory wants a linear classifier; another network is refused
  std::size_t max_classes = 0;
};

/// A method with its parameters fixed. `fit` is const.
class Learner {
 public:
  virtual ~Learner() = default;
  [[nodiscard]] virtual Learned fit(const LearningData& data, const NetworkSpec& network,
                                    const RunContext& context) const = 0;
};

/// All learners, in the order of learners.def.
[[nodiscard]] std::span<const LearnerInfo> learning_methods();
/// Throws bad_parameter that lists the candidates when there is no such learner. "auto" is auto_learner.
[[nodiscard]] const LearnerInfo& learning_method(std::string_view name);
[[nodiscard]] std::string_view default_learning_method();
[[nodiscard]] std::unique_ptr<Learner> make_learner(std::string_view name, const Parameters& parameters);

/// Checks data and network, makes the learner and fits it. What it returns is finite; throws Diverged when nothing
/// finite came of it.
[[nodiscard]] Learned learn(const LearningData& data, std::string_view method, const Parameters& parameters,
                            const NetworkSpec& network, const RunContext& context);

struct LoadOptions {
  /// A model that was trained with a TorchScript module brings it along as network.pt. That is a program, which can do
  /// whatever the caller can do; it is only run for those who trust its maker.
  bool trust = false;
};

/// Reads what Classifier::save wrote. Throws bad_parameter when there is a network.pt and `options` do not trust it.
[[nodiscard]] std::shared_ptr<const Classifier> load_classifier(const std::string& folder, const RunContext& context,
                                                                const LoadOptions& options = {});

}  // namespace wisecrowd
