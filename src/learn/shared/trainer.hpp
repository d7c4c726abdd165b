#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parameter_visitor.hpp"
#include "learn/shared/answer_model.hpp"
#include "learn/shared/optimiser.hpp"

namespace wisecrowd {

/// How a network is trained; the same names for every learner.
struct TrainingOptions {
  enum class Schedule { constant, cosine, one_cycle };

  std::size_t epochs = 60;
  std::size_t batch = 64;  ///< tasks per step; 0: all
  OptimiserOptions optimiser;
  /// Share of every weight that fades per epoch, where features are many (see memorisation_risk).
  double decoupled_decay = 0.05;
  Schedule schedule = Schedule::constant;
  double input_dropout = 0.5;  ///< share of the inputs that a step does not see, where there are many
  double average_epochs = 5;   ///< memory of the running mean of the weights, in epochs, at most a twelfth of all
  double held_out = 0.1;       ///< share of the tasks whose answers are hidden to choose the epoch; 0: the last one
  std::size_t patience = 0;    ///< stop after so many epochs without a better held-out likelihood; 0: never
  double answer_power = 0;     ///< weight of the answers beside the classifier in a posterior; 0: learned
  bool standardise = true;
};

/// The parameters of training; a learner has its own before them.
void training_parameters(ParameterVisitor& v, TrainingOptions& options);
/// The same for learners of numbers, who have no posterior of classes in which answers stand beside the network.
void number_training_parameters(ParameterVisitor& v, TrainingOptions& options);

/// Trains a network by a model of answers: a run on part of the tasks chooses the epoch by the likelihood of the hidden
/// answers, a second run sees everything and is kept at that epoch.
[[nodiscard]] Learned train(const LearningData& data, const NetworkSpec& network, const TrainingOptions& options,
                            const AnswerModelFactory& make_model, const RunContext& context);

/// How far a network with so many inputs can learn the answers to so many tasks by heart, from 0 to 1: what guards
/// against that (decoupled decay, dropped inputs) is scaled by it.
[[nodiscard]] double memorisation_risk(std::size_t inputs, std::size_t tasks);

/// By how many standard errors the answers to hidden tasks must be predicted better to count as clearly better: by
/// another way to begin the same learner, and by another learner. The second is larger because some learners are
/// trained on just this likelihood and predict answers better than they classify.
inline constexpr double kClearAdvantage = 2, kClearAdvantageOfALearner = 3;

/// One of several ways to begin, or to go on, between which the hidden answers decide. The first is preferred.
struct Candidate {
  std::string name;
  AnswerModelFactory make_model;
  /// By how many standard errors it must beat the best before it, whose model at its chosen epoch this is. Negative: it
  /// takes the place unless it is worse by so many. Nothing: it is not even tried. Unset: kClearAdvantage.
  std::function<std::optional<double>(const AnswerModel& best)> must_win_by = {};
};

/// The same for one of the candidates: each in turn takes the place of the best before it if it predicts the answers
/// to hidden tasks clearly better.
[[nodiscard]] Learned train(const LearningData& data, const NetworkSpec& network, const TrainingOptions& options,
                            std::span<const Candidate> candidates, const RunContext& context);

/// How a learner trains by gradients: which models there are, between which the hidden answers decide. The learner, the
/// data and the context that it was made with outlive it.
struct Recipe {
  Recipe(TrainingOptions options, std::vector<Candidate> ways) : training(options), candidates(std::move(ways)) {}
  Recipe(TrainingOptions options, AnswerModelFactory only) : training(options), candidates{{"", std::move(only)}} {}

  TrainingOptions training;
  std::vector<Candidate> candidates;  ///< the first is preferred
};

/// A learner that is a loss on the network's outputs. Whoever trains the network otherwise can take its recipe alone.
class GradientLearner : public Learner {
 public:
  [[nodiscard]] Learned fit(const LearningData& data, const NetworkSpec& network,
                            const RunContext& context) const final;
  [[nodiscard]] virtual Recipe recipe(const LearningData& data, const NetworkSpec& network,
                                      const RunContext& context) const = 0;
};

/// By how many standard errors the first predicts the same hidden tasks better than the second (log probabilities per
/// task): chance alone must not choose.
[[nodiscard]] double advantage(std::span<const double> these, std::span<const double> those);

/// All tasks that can be trained on; throws bad_input if no answer is among them.
[[nodiscard]] TrainingSet tasks_to_learn_from(const LearningData& data);

/// What a model makes of the network's outputs for all rows (rows × outputs): class probabilities of every row, and the
/// posterior of every answered task. `answer_power` weighs the answers beside the classifier.
void predict_all(const AnswerModel& model, std::span<const double> outputs, const LearningData& data,
                 double answer_power, std::vector<double>& row_probabilities, std::vector<double>& posterior);
/// Labels of the posterior in `learned`, and what the model knows of workers and tasks.
void describe_crowd(const AnswerModel& model, std::span<const double> outputs, const LearningData& data,
                    Learned& learned);

class TrainingRun;
struct Snapshot;

/// The end of every learner: what the run's network and model say of rows, tasks and workers, now and at the chosen
/// state (if there is one), put into the result (`answer_power` weighs the answers beside the classifier), and the
/// classifier, which takes the run's network.
void conclude(TrainingRun& run, const Snapshot* chosen, const LearningData& data, const NetworkSpec& network,
              const Scaling& scaling, double answer_power, Learned& learned);

}  // namespace wisecrowd
