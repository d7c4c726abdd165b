#include "learn/crowd_regression/crowd_regression.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/intervals.hpp"
#include "learn/shared/epochs.hpp"
#include "learn/shared/number_learner_entry.hpp"
#include "learn/shared/regressor.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::crowd_regression {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

constexpr auto kLayerNames = enum_names<Layer>({{Layer::automatic, "automatic"},
                                                {Layer::none, "none"},
                                                {Layer::scale, "S"},
                                                {Layer::bias, "B"},
                                                {Layer::scale_bias, "S+B"},
                                                {Layer::bias_scale, "B+S"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("layer", o.layer, kLayerNames,
           "what a worker does to the truth z: nothing, s z, z + b, s z + b, or s (z + b); z is counted from the mean "
           "of all answers. automatic: B, or S+B where that predicts the answers to held-out tasks clearly better");
  v.flag("own_noise", o.own_noise, "whether workers differ in how far their answers scatter");
  v.flag("task_error", o.task_error,
         "whether what the network does not know of a task is in all answers to it; without, each answer is off by "
         "itself, as in the paper, and a task's estimate is the network's");
  v.real("prior_answers", o.prior_answers, 0, 1e6,
         "answers that fit the truth and scatter as all do, added to every worker's own");
  number_training_parameters(v, o.training);
}

/// What the run that chose the epoch says of the hidden tasks at it.
struct HiddenWord {
  std::vector<double> error_variance;  ///< by dimension; empty if nothing was hidden
  bool no_better_than_the_mean = false;
};

/// The layer that was asked for, or chosen, with its epoch.
struct ChosenLayer {
  Options options;
  EpochChoice epoch;
  HiddenWord hidden;
};

/// What every run on the same data shares.
struct Ground {
  const TrainingSet& all;
  const Features& inputs;
  const StandardAnswers& standard;
  const NetworkSpec& network;
  const RunContext& context;

  [[nodiscard]] BatchModelFactory models(const Options& options) const {
    return [this, &options](const TrainingSet& set, Rng) {
      return std::make_unique<LayerModel>(set, standard, options, context);
    };
  }
};

/// The epoch of a given layer, by the answers to hidden tasks.
ChosenLayer choose_epoch_of(const Ground& ground, const HiddenTasks& parts, const Options& options) {
  ChosenLayer chosen{options, {}, {}};
  const auto look = [&](const BatchModel& model, std::span<const double> outputs) {
    const auto& layer = static_cast<const LayerModel&>(model);
    const auto density = [&](std::span<const double> of) {
      const auto tasks = layer.answer_likelihoods(parts.hidden, of);
      return std::accumulate(tasks.begin(), tasks.end(), 0.0);
    };
    const std::vector<double> nothing(outputs.size(), 0);
    chosen.hidden.no_better_than_the_mean = density(outputs) <= density(nothing);
    chosen.hidden.error_variance = layer.error_of(parts.hidden, outputs).variance;
  };
  chosen.epoch = choose_epoch(parts, ground.inputs, ground.network, options.training, ground.models(options),
                              ground.context, look);
  chosen.epoch.model.reset();  // it looks at the hidden tasks, which end before it would
  return chosen;
}

/// With layer=automatic, S+B where the answers to hidden tasks call for it: it asks for more answers per worker.
ChosenLayer choose_layer(const Ground& ground, Options options, NumberFit& fit) {
  const bool automatic = options.layer == Layer::automatic;
  if (automatic) options.layer = Layer::bias;
  const std::optional<HiddenTasks> parts = hide_tasks(ground.all, options.training.held_out, ground.context);
  if (!parts) return {options, last_epoch(options.training), {}};
  ChosenLayer best = choose_epoch_of(ground, *parts, options);
  if (!automatic || ground.context.cancelled()) return best;
  options.layer = Layer::scale_bias;
  ChosenLayer other = choose_epoch_of(ground, *parts, options);
  const bool both = other.epoch.per_task.size() == best.epoch.per_task.size();  // none has come to nothing
  const double lead = both ? advantage(other.epoch.per_task, best.epoch.per_task) : 0;
  const bool clear = lead >= kClearAdvantage;
  fit.explanation = fmt::format(
      "Chose layer {}: S+B {} the answers to held-out tasks clearly better than B (z = {:.1f}, threshold {:g}).",
      clear ? "S+B" : "B", clear ? "predicts" : "does not predict", lead, kClearAdvantage);
  return clear ? std::move(other) : std::move(best);
}

/// Outputs for all rows; throws Diverged for one that is not finite.
std::vector<double> outputs_of_rows(TrainingRun& run, const NumberLearningData& data) {
  std::vector<std::uint32_t> rows(data.features.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  std::vector<double> outputs = run.outputs(rows);
  const auto bad = std::find_if(outputs.begin(), outputs.end(), [](double x) { return !std::isfinite(x); });
  if (bad == outputs.end()) return outputs;
  const std::size_t row = static_cast<std::size_t>(bad - outputs.begin()) / run.model().outputs();
  throw Diverged(
      fmt::format("the trained network gives {} for the features of task '{}': lower learning_rate; if it is this row "
                  "alone, its features are far outside of the others: mend or leave out the row",
                  *bad, data.row_names[row]));
}

/// Estimates of tasks and rows, and lines of workers, in the units of the answers.
void describe(const LayerModel& model, const StandardAnswers& standard, const NumberLearningData& data,
              std::span<const double> outputs, bool task_error, LearnedNumbers& learned) {
  const NumberAnswers& answers = data.crowd.answers;
  const std::size_t dimensions = standard.dimensions, rows = data.features.rows;
  NumberFit& fit = learned.crowd;
  fit.task_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.dimensions = dimensions;
  for (auto* values : {&fit.estimate, &fit.deviation, &fit.low, &fit.high}) {
    values->assign(fit.task_count * dimensions, kUnknown);
  }
  learned.row_estimate.resize(rows * dimensions);
  std::vector<double> values;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const double centre = standard.centre[d], unit = standard.unit[d];
    double mean = 0, squares = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const double o = model.truth(outputs[r * dimensions + d], d);
      learned.row_estimate[r * dimensions + d] = centre + unit * o;
      mean += o / static_cast<double>(rows);
      squares += o * o / static_cast<double>(rows);
    }
    const double error_variance = model.error_variance()[d];
    learned.row_deviation.push_back(task_error ? unit * std::sqrt(error_variance) : kUnknown);
    for (std::size_t t = 0; t < fit.task_count; ++t) {
      const auto workers = answers.workers_of(TaskId(t));
      const std::uint32_t row = data.row_of_task[t];
      if (workers.empty() && row == kNoRow) continue;
      values.clear();
      for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
        values.push_back(standard.value[a * dimensions + d]);
      }
      // Of a task without features the network knows what it knows of any: its mean, and how far rows differ.
      const bool known = row != kNoRow;
      const double o = known ? model.truth(outputs[row * dimensions + d], d) : mean;
      const double variance = error_variance + (known ? 0 : std::max(squares - mean * mean, 0.0));
      const TaskPosterior found = model.posterior(o, variance, workers, values, d);
      const std::size_t at = t * dimensions + d;
      fit.estimate[at] = centre + unit * (o + found.shift);
      if (!task_error && known) continue;
      fit.deviation[at] = unit * std::sqrt(found.variance);
      fit.low[at] = fit.estimate[at] - kNormal95 * fit.deviation[at];
      fit.high[at] = fit.estimate[at] + kNormal95 * fit.deviation[at];
    }
  }
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const Line& own = model.line(w, d);
      fit.slope.push_back(own.slope);
      fit.bias.push_back(standard.unit[d] * own.bias);
      fit.scale.push_back(standard.unit[d] * std::sqrt(own.variance));
    }
  }
}

std::shared_ptr<const Regressor> regressor_of(TrainingRun& run, const StandardAnswers& standard,
                                              const NumberLearningData& data, const NetworkSpec& network,
                                              const Scaling& scaling, const std::vector<double>& deviation) {
  const auto& model = static_cast<const LayerModel&>(run.model());
  RegressorParts parts;
  for (std::size_t d = 0; d < standard.dimensions; ++d) {
    parts.factor.push_back(standard.unit[d] * model.alpha(d));
    parts.offset.push_back(standard.centre[d] + standard.unit[d] * model.beta(d));
    if (std::isfinite(deviation[d])) parts.deviation.push_back(deviation[d]);
  }
  ClassifierParts& saved = parts.network;
  saved.classes = data.crowd.answers.dimension_names();
  saved.memory.why_none = "it predicts numbers";
  saved.network = run.release_network();
  saved.spec = network;
  saved.input_shape = data.features.shape;
  saved.sparse = data.features.is_sparse();
  saved.scaling = scaling;
  saved.recipe = data.recipe;
  return make_regressor(std::move(parts));
}

}  // namespace

LearnedNumbers CrowdRegression::fit(const NumberLearningData& data, const NetworkSpec& network,
                                    const RunContext& context) const {
  const TrainingOptions& training = options_.training;
  TrainingSet all = number_training_set(data);
  const Scaling scaling = training.standardise ? standardise(data.features, all.row) : Scaling{};
  const Features inputs = scaled(data.features, scaling);
  all.inputs = &inputs;
  const StandardAnswers standard = standard_answers(data.crowd.answers, all);
  const Ground ground{all, inputs, standard, network, context};
  LearnedNumbers learned;
  NumberFit& fit = learned.crowd;
  const ChosenLayer chosen = choose_layer(ground, options_, fit);
  const auto& [options, choice, hidden_word] = chosen;

  TrainingRun run(all, inputs, network, training, ground.models(options), "training", context);
  RunHistory history = run_epochs(run, choice, context);
  learned.curve = std::move(history.curve);
  learned.epochs = history.epochs;
  learned.chosen_epoch = history.chosen_epoch;
  learned.held_out_per_task = choice.per_task;
  fit.iterations = learned.curve.size();
  fit.seconds_per_iteration = history.seconds_per_epoch;
  fit.status = context.cancelled() ? Status::cancelled : Status::iteration_limit;
  fit.objective_name = "loss";
  for (const CurvePoint& point : learned.curve) fit.trace.push_back(point.objective);
  run.end();
  if (history.chosen) run.restore(*history.chosen);

  auto& model = static_cast<LayerModel&>(run.model());
  // Tasks that were learned from make the network look better than it is; the hidden ones know.
  if (options_.task_error && !hidden_word.error_variance.empty()) model.error_variance() = hidden_word.error_variance;
  describe(model, standard, data, outputs_of_rows(run, data), options_.task_error, learned);
  for (std::size_t d = 0; options_.task_error && d < standard.dimensions; ++d) {
    fit.learned.emplace_back(
        standard.dimensions == 1 ? "task_error" : fmt::format("task_error_{}", data.crowd.answers.dimension_names()[d]),
        learned.row_deviation[d]);
  }
  warn_of_trouble(history, fit.warnings);
  if (hidden_word.no_better_than_the_mean) {
    fit.warnings.push_back(
        {"no_better_than_guessing",
         "even at the best epoch the network predicts the answers to held-out tasks no better than their mean would, "
         "so what it says of rows is not to be trusted",
         fmt::format("lower learning_rate (it is {}), train longer, or look for other features.",
                     training.optimiser.learning_rate),
         Severity::serious});
  }
  learned.regressor = regressor_of(run, standard, data, network, scaling, learned.row_deviation);
  return learned;
}

NumberLearnerEntry learner() {
  LearnerInfo info;
  info.title = "Crowd regression";
  info.summary = "Trains a network for numbers through a line per worker: a slope, a bias and a noise of its own.";
  info.when_to_use = "Answers are numbers, and workers are off by an amount, or a factor, of their own.";
  info.reference = "Rodrigues, Pereira: Deep learning from crowds, AAAI 2018 (its layers for regression)";
  info.assumptions = "Errors are normal and independent given the truth; a bias that all workers share stays.";
  info.cost = "O(S) per epoch and dimension beside the network; memory O(S + M)";
  return NumberLearnerEntry::of<CrowdRegression, parameters>(std::move(info));
}

}  // namespace wisecrowd::crowd_regression
