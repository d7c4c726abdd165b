#include "learn/shared/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/answer_power.hpp"
#include "learn/shared/classifier.hpp"
#include "learn/shared/epochs.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr auto kScheduleNames =
    enum_names<TrainingOptions::Schedule>({{TrainingOptions::Schedule::constant, "constant"},
                                           {TrainingOptions::Schedule::cosine, "cosine"},
                                           {TrainingOptions::Schedule::one_cycle, "one_cycle"}});

/// What the classifier says of the tasks whose outputs these are, tasks × classes.
std::vector<double> classified(const AnswerModel& model, const TrainingSet& set, std::span<const double> outputs) {
  const std::size_t classes = set.class_count, width = model.outputs();
  std::vector<double> f(set.task_count() * classes);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    model.classify(outputs.subspan(i * width, width), std::span(f).subspan(i * classes, classes));
  }
  return f;
}

/// The model of a run of this trainer, whose answers are classes.
const AnswerModel& answer_model(const TrainingRun& run) { return static_cast<const AnswerModel&>(run.model()); }

/// The choice for one way to begin, and what the hidden tasks say at its epoch.
struct JudgedChoice : EpochChoice {
  double answer_power = 1;
  std::vector<double> probabilities;  ///< of the hidden tasks by the classifier, tasks × classes
  bool no_better_than_guessing = false;
};

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

JudgedChoice judge_epochs(const HiddenTasks& parts, const Features& inputs, const NetworkSpec& network,
                          const TrainingOptions& options, const AnswerModelFactory& make_model,
                          const RunContext& context) {
  JudgedChoice choice;
  static_cast<EpochChoice&>(choice) = choose_epoch(parts, inputs, network, options, make_model, context,
                                                   [&](const BatchModel& batch_model, std::span<const double> outputs) {
                                                     const auto& model = static_cast<const AnswerModel&>(batch_model);
                                                     choice.probabilities = classified(model, parts.hidden, outputs);
                                                     if (options.answer_power == 0)
                                                       choice.answer_power =
                                                           learned_power(model, parts.hidden, outputs);
                                                   });
  if (choice.per_task.empty()) return choice;
  std::vector<double> guessed;
  for (std::size_t i = 0; i < parts.hidden.task_count(); ++i) {
    guessed.push_back(-math::log(static_cast<double>(parts.hidden.class_count)) *
                      static_cast<double>(parts.hidden.labels_of(i).size()));
  }
  choice.no_better_than_guessing = mean(choice.per_task) <= mean(guessed);
  return choice;
}

/// The choice among the ways to begin, and in words why, if there are several. One that diverges is passed over, as
/// long as another does not.
JudgedChoice choose(const TrainingSet& all, const Features& inputs, const NetworkSpec& network,
                    const TrainingOptions& options, std::span<const Candidate> candidates, const RunContext& context,
                    const Candidate*& candidate, std::string& explanation) {
  const std::optional<HiddenTasks> parts = hide_tasks(all, options.held_out, context);
  if (!parts) return JudgedChoice{last_epoch(options)};
  std::optional<JudgedChoice> choice;
  std::vector<std::string> told;
  for (const Candidate& next : candidates) {
    const bool last_hope = !choice && &next == &candidates.back();
    std::optional<double> must_win_by = kClearAdvantage;
    if (choice && next.must_win_by) must_win_by = next.must_win_by(static_cast<const AnswerModel&>(*choice->model));
    if (!must_win_by) continue;
    try {
      JudgedChoice its = judge_epochs(*parts, inputs, network, options, next.make_model, context);
      if (its.per_task.empty()) {  // cancelled
        if (!choice) choice = std::move(its);
        break;
      }
      told.push_back(fmt::format("{} {:.4f}", next.name, mean(its.per_task)));
      if (!choice || advantage(its.per_task, choice->per_task) > *must_win_by) {
        choice = std::move(its);
        candidate = &next;
      }
    } catch (const Diverged&) {
      if (last_hope) throw;
      told.push_back(next.name + " diverged");
    }
  }
  if (told.size() > 1) {
    explanation = fmt::format("chose {}: log probability of the answers to a held-out task: {}", candidate->name,
                              fmt::join(told, ", "));
  }
  choice->model.reset();  // it looks at tasks that end here
  return std::move(*choice);
}

void warn(const JudgedChoice& choice, const RunHistory& history, const TrainingOptions& options, Learned& learned) {
  warn_of_trouble(history, learned.crowd.warnings);
  if (choice.no_better_than_guessing) {
    learned.crowd.warnings.push_back(
        {"no_better_than_guessing",
         "even at the best epoch the network predicts the answers to held-out tasks no better than guessing "
         "would, so its labels are not to be trusted",
         fmt::format("lower learning_rate (it is {}), train longer, or look for other features.",
                     options.optimiser.learning_rate),
         Severity::serious});
  }
}

void require_finite_outputs(std::span<const double> outputs, std::size_t width, const LearningData& data) {
  const auto bad = std::find_if(outputs.begin(), outputs.end(), [](double x) { return !std::isfinite(x); });
  if (bad == outputs.end()) return;
  throw Diverged(
      fmt::format("the trained network gives {} for the features of task '{}': lower learning_rate; if it is this row "
                  "alone, its features are far outside of the others: mend or leave out the row",
                  *bad, data.row_names[static_cast<std::size_t>(bad - outputs.begin()) / width]));
}

/// The network's outputs for all rows of the data.
std::vector<double> outputs_of_rows(TrainingRun& run, const LearningData& data) {
  std::vector<std::uint32_t> all_rows(data.features.rows);
  std::iota(all_rows.begin(), all_rows.end(), 0U);
  return run.outputs(all_rows);
}

}  // namespace

void predict_all(const AnswerModel& model, std::span<const double> outputs, const LearningData& data,
                 double answer_power, std::vector<double>& row_probabilities, std::vector<double>& posterior) {
  const CategoryAnswers& answers = data.crowd.answers;
  const std::size_t classes = answers.class_count(), width = model.outputs(), rows = data.features.rows;
  require_finite_outputs(outputs, width, data);
  row_probabilities.resize(rows * classes);
  for (std::size_t r = 0; r < rows; ++r) {
    model.classify(outputs.subspan(r * width, width), std::span(row_probabilities).subspan(r * classes, classes));
  }
  posterior.assign(answers.task_count() * classes, 0.0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto target = std::span(posterior).subspan(t * classes, classes);
    if (const ClassId gold = data.crowd.gold_of(TaskId(t)); gold != kNoClass) {
      target[index(gold)] = 1;
      continue;
    }
    const std::uint32_t row = data.row_of_task[t];
    const auto task_outputs = row == kNoRow ? std::span<const double>() : outputs.subspan(row * width, width);
    model.posterior(task_outputs, {answers.workers_of(TaskId(t)), answers.labels_of(TaskId(t)), TaskId(t), row},
                    target);
    if (answer_power != 1 && row != kNoRow && model.can_be_tempered()) {
      temper(std::span<const double>(row_probabilities).subspan(row * classes, classes), answer_power, target);
    }
  }
}

void describe_crowd(const AnswerModel& model, std::span<const double> outputs, const LearningData& data,
                    Learned& learned) {
  CategoryFit& crowd = learned.crowd;
  const std::size_t width = model.outputs(), classes = crowd.class_count;
  crowd.labels.resize(crowd.task_count);
  for (std::size_t t = 0; t < crowd.task_count; ++t) {
    const auto row = crowd.posterior_of(TaskId(t));
    crowd.labels[t] = ClassId(std::max_element(row.begin(), row.end()) - row.begin());
  }
  model.describe(learned, data, [&](std::size_t task, std::span<double> out) {
    const std::uint32_t row = data.row_of_task[task];
    if (row == kNoRow) return false;
    std::copy_n(outputs.begin() + static_cast<std::ptrdiff_t>(row * width), width, out.begin());
    return true;
  });
  if (crowd.class_prior.empty()) {
    crowd.class_prior.assign(classes, 0.0);
    for (std::size_t t = 0; t < crowd.task_count; ++t) {
      for (std::size_t k = 0; k < classes; ++k) crowd.class_prior[k] += crowd.posterior[t * classes + k];
    }
    normalise(crowd.class_prior);
  }
}

double advantage(std::span<const double> these, std::span<const double> those) {
  std::vector<double> gain(these.size());
  for (std::size_t i = 0; i < gain.size(); ++i) gain[i] = these[i] - those[i];
  const double count = static_cast<double>(gain.size()), centre = mean(gain);
  double squares = 0;
  for (const double g : gain) squares += (g - centre) * (g - centre);
  const double error = std::sqrt(squares / std::max(count - 1, 1.0) / count);
  return error > 0 ? centre / error : 0;
}

namespace {

void parameters_of_training(ParameterVisitor& v, TrainingOptions& o, bool weighs_answers) {
  v.integer("epochs", o.epochs, 1, 1e6, "passes over the training tasks");
  v.integer("batch", o.batch, 0, 1e9, "tasks per step of the optimiser; 0 takes all at once");
  v.choice("optimizer", o.optimiser.kind, kOptimiserNames, "how the network's weights move; sgd has momentum 0.9");
  v.real("learning_rate", o.optimiser.learning_rate, 0, 100, "size of the network's steps");
  v.real("weight_decay", o.optimiser.weight_decay, 0, 100,
         "weight_decay · w is added to the gradient of each weight w");
  v.real("decoupled_decay", o.decoupled_decay, 0, 1,
         "share of every weight that fades per epoch, beside the gradient: keeps the network from "
         "learning single answers by heart. The full share where features are at least half as many "
         "as tasks, in proportion less where they are fewer and the danger is small. Take 0 with "
         "batch=0: there Adam steps alike along all features, and the telling ones would fade most");
  v.formerly("fading");
  v.real("input_dropout", o.input_dropout, 0, 0.95,
         "share of the features that a step does not see, so that the network does not rely on any "
         "one of them; where there are 50 or more, and scaled like decoupled_decay");
  v.choice("schedule", o.schedule, kScheduleNames,
           "how the steps shrink over the epochs: not at all, along half a cosine, or up first and "
           "then down");
  v.real("average_epochs", o.average_epochs, 0, 1e6,
         "predict with a running mean of the weights whose memory is so many epochs, but at most a "
         "twelfth of all; 0: with the weights themselves");
  v.real("held_out", o.held_out, 0, 0.9,
         "share of the tasks that a first run does not see; the epoch at which it predicts their "
         "answers best is kept. 0: one run, its last epoch is kept");
  v.integer("patience", o.patience, 0, 1e6,
            "end training after so many epochs without a better held-out likelihood; 0: never");
  if (weighs_answers) {
    v.real("answer_power", o.answer_power, 0, 1,
           "how much each answer counts beside the network when a task's truth is inferred: 1 if workers "
           "err independently, less if they err on the same tasks; 0: learned from held-out answers");
  }
  v.flag("standardise", o.standardise,
         "bring each feature (of images, each channel) to mean 0 and "
         "deviation 1");
}

}  // namespace

void training_parameters(ParameterVisitor& v, TrainingOptions& o) { parameters_of_training(v, o, true); }
void number_training_parameters(ParameterVisitor& v, TrainingOptions& o) { parameters_of_training(v, o, false); }

TrainingSet tasks_to_learn_from(const LearningData& data) {
  TrainingSet all = training_set(data);
  if (all.answer_count() == 0) {
    throw Error(ErrorCode::bad_input,
                "there is nothing to learn from: no task of the train split has both features and an answer; check "
                "that the tasks of the answers and of the features have the same names");
  }
  return all;
}

namespace {

void conclude_with(std::vector<double> held_out_probabilities, TrainingRun& run, const Snapshot* chosen,
                   const LearningData& data, const NetworkSpec& network, const Scaling& scaling, double answer_power,
                   Learned& learned) {
  run.end();
  std::vector<double> outputs = outputs_of_rows(run, data);
  predict_all(answer_model(run), outputs, data, answer_power, learned.final_row_probabilities, learned.final_posterior);
  if (chosen != nullptr) {
    run.restore(*chosen);
    run.end();
    outputs = outputs_of_rows(run, data);
  }
  predict_all(answer_model(run), outputs, data, answer_power, learned.row_probabilities, learned.crowd.posterior);
  describe_crowd(answer_model(run), outputs, data, learned);
  ClassifierParts parts;
  parts.head = answer_model(run).head();
  parts.memory.why_none.clear();
  answer_model(run).remember(parts.memory);
  if (answer_model(run).can_be_tempered()) parts.memory.answer_power = answer_power;
  if (!parts.memory.empty()) parts.workers = data.crowd.answers.worker_names();
  parts.network = run.release_network();
  parts.spec = network;
  parts.input_shape = data.features.shape;
  parts.sparse = data.features.is_sparse();
  parts.scaling = scaling;
  parts.classes = data.crowd.answers.class_names();
  parts.recipe = data.recipe;
  parts.held_out_probabilities = std::move(held_out_probabilities);
  learned.classifier = make_classifier(std::move(parts));
}

}  // namespace

void conclude(TrainingRun& run, const Snapshot* chosen, const LearningData& data, const NetworkSpec& network,
              const Scaling& scaling, double answer_power, Learned& learned) {
  conclude_with({}, run, chosen, data, network, scaling, answer_power, learned);
}

Learned GradientLearner::fit(const LearningData& data, const NetworkSpec& network, const RunContext& context) const {
  const Recipe own = recipe(data, network, context);
  return train(data, network, own.training, own.candidates, context);
}

Learned train(const LearningData& data, const NetworkSpec& network, const TrainingOptions& options,
              const AnswerModelFactory& make_model, const RunContext& context) {
  const Candidate only{"", make_model};
  return train(data, network, options, std::span(&only, 1), context);
}

Learned train(const LearningData& data, const NetworkSpec& network, const TrainingOptions& options,
              std::span<const Candidate> candidates, const RunContext& context) {
  TrainingSet all = tasks_to_learn_from(data);
  const Scaling scaling = options.standardise ? standardise(data.features, all.row) : Scaling{};
  const Features inputs = scaled(data.features, scaling);
  all.inputs = &inputs;

  Learned learned;
  const Candidate* candidate = &candidates.front();
  std::string explanation;
  JudgedChoice choice = choose(all, inputs, network, options, candidates, context, candidate, explanation);
  learned.held_out_per_task = choice.per_task;

  TrainingRun run(all, inputs, network, options, candidate->make_model, "training", context);
  RunHistory history = run_epochs(run, choice, context);
  learned.curve = std::move(history.curve);
  learned.epochs = history.epochs;
  learned.chosen_epoch = history.chosen_epoch;
  CategoryFit& crowd = learned.crowd;
  crowd.task_count = data.crowd.answers.task_count();
  crowd.worker_count = all.worker_count;
  crowd.class_count = all.class_count;
  crowd.iterations = learned.curve.size();
  crowd.seconds_per_iteration = history.seconds_per_epoch;
  crowd.status = context.cancelled() ? Status::cancelled : Status::iteration_limit;
  crowd.objective_name = "loss";
  for (const CurvePoint& point : learned.curve) crowd.trace.push_back(point.objective);

  const double answer_power = options.answer_power == 0 ? choice.answer_power : options.answer_power;
  conclude_with(std::move(choice.probabilities), run, history.chosen.get(), data, network, scaling, answer_power,
                learned);
  warn(choice, history, options, learned);
  if (options.answer_power == 0 && !choice.held_out.empty()) crowd.learned.emplace_back("answer_power", answer_power);
  if (!explanation.empty()) {
    crowd.explanation = crowd.explanation.empty() ? explanation : explanation + "; " + crowd.explanation;
  }
  return learned;
}

}  // namespace wisecrowd
