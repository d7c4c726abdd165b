#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/parameter_visitor.hpp"
#include "base/rng.hpp"
#include "data/pair_labels.hpp"
#include "data/score_fit.hpp"
#include "learn/shared/network.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/regressor.hpp"
#include "learn/shared/score_loss.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/learn_comparisons.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kRowsAtOnce = 1024;      ///< when many rows are predicted
constexpr double kAverageEpochs = 2;           ///< of steps, which scores are the mean of
constexpr std::size_t kStepsOfEm = 3;          ///< of the reliabilities, after each epoch
constexpr double kFirstReliability = 0.9;      ///< of every worker
constexpr std::size_t kPatientEpochs = 20;     ///< so many in a row may fail to improve on the best
constexpr std::size_t kFewHiddenAnswers = 30;  ///< with fewer, chance would choose the epoch

void score_parameters(ParameterVisitor& v, ComparisonLearningOptions& o) {
  v.integer("epochs", o.epochs, 1, 1e6, "passes over the comparisons at most; the best by hidden pairs is kept");
  v.integer("batch", o.batch, 1, 1e6, "comparisons per step");
  v.real("learning_rate", o.learning_rate, 1e-8, 10, "of Adam");
  v.real("weight_decay", o.weight_decay, 0, 10, "added to the gradient: weight_decay times the weight");
  v.flag("reliability", o.reliability, "workers have reliabilities of their own; false: every answer counts alike");
  v.real("prior_right", o.prior_right, 1, 1e6, "Beta distribution of a worker's reliability beforehand: a");
  v.real("prior_wrong", o.prior_wrong, 1, 1e6, "Beta distribution of a worker's reliability beforehand: b");
  v.real("hidden_share", o.hidden_share, 0, 0.5, "share of the pairs by which the epoch is chosen");
}

/// An answer by the rows of its items.
struct ComparedRows {
  std::uint32_t first, second, worker;
  Outcome outcome;  ///< `left`: the first is better
};

/// What all runs share.
struct ScoreSet {
  Scaling scaling;
  Features inputs;  ///< scaled
  std::size_t workers = 0;
  std::vector<ComparedRows> seen, hidden;
};

ScoreSet score_set(const ComparisonData& data, const Features& features, std::span<const std::uint32_t> row_of_item,
                   double hidden_share, const RunContext& context) {
  std::vector<std::uint32_t> used(row_of_item.begin(), row_of_item.end());
  std::sort(used.begin(), used.end());
  ScoreSet set;
  set.scaling = standardise(features, used);
  set.inputs = scaled(features, set.scaling);
  const ComparisonAnswers& answers = data.answers;
  set.workers = answers.worker_count();
  const auto offsets = answers.task_offsets();
  Rng rng = context.rng("hidden pairs");
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const ItemPair pair = answers.pairs()[t];
    auto& part = rng.bernoulli(hidden_share) ? set.hidden : set.seen;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      part.push_back({row_of_item[index(pair.first)], row_of_item[index(pair.second)],
                      static_cast<std::uint32_t>(answers.workers()[a]),
                      ComparisonAnswers::outcome_of(answers.codes()[a])});
    }
  }
  if (set.hidden.size() < kFewHiddenAnswers) {
    set.seen.insert(set.seen.end(), set.hidden.begin(), set.hidden.end());
    set.hidden.clear();
  }
  return set;
}

/// One network on its way.
class ScoreTraining {
 public:
  ScoreTraining(const ScoreSet& set, std::vector<ComparedRows> answers, const NetworkSpec& spec,
                const ComparisonLearningOptions& options, const RunContext& context)
      : set_(set),
        options_(options),
        context_(context),
        answers_(std::move(answers)),
        reliability_(set.workers, options.reliability ? kFirstReliability : 1),
        network_(make_network(spec, set.inputs, 1, context.rng("score network").next(), context)),
        optimiser_({.learning_rate = options.learning_rate, .weight_decay = options.weight_decay},
                   network_->parameters().size()),
        order_(context.rng("order of comparisons")),
        score_(set.inputs.rows, 0) {
    network_->work_with(context.pool());
    network_->reseed(context.rng("dropout of scores").next());
    average_.assign(network_->parameters().begin(), network_->parameters().end());
  }

  /// One pass over the answers; then the reliabilities by what the network says now.
  void epoch() {
    std::vector<std::uint32_t> order(answers_.size());
    std::iota(order.begin(), order.end(), 0U);
    order_.shuffle(std::span(order));
    for (std::size_t begin = 0; begin < order.size() && !context_.cancelled(); begin += options_.batch) {
      step(std::span(order).subspan(begin, std::min(options_.batch, order.size() - begin)));
    }
    predict();
    for (std::size_t t = 0; t < kStepsOfEm && options_.reliability; ++t) estimate_reliability();
  }

  /// Mean log probability of such answers.
  [[nodiscard]] double log_probability(std::span<const ComparedRows> answers) const {
    std::vector<ScoreAnswer> judged;
    for (const ComparedRows& answer : answers) {
      judged.push_back({answer.first, answer.second, answer.outcome, reliability_[answer.worker]});
    }
    return -score_loss(score_, judged) / static_cast<double>(answers.size());
  }

  [[nodiscard]] const std::vector<double>& score() const noexcept { return score_; }
  [[nodiscard]] const std::vector<double>& reliability() const noexcept { return reliability_; }
  /// Makes it the one that the scores are by.
  [[nodiscard]] std::unique_ptr<Network> release_network() {
    std::copy(average_.begin(), average_.end(), network_->parameters().begin());
    return std::move(network_);
  }

 private:
  void step(std::span<const std::uint32_t> chosen) {
    // Each row once, however many of the answers are about it.
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t at : chosen) {
      rows.push_back(answers_[at].first);
      rows.push_back(answers_[at].second);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const auto place = [&](std::uint32_t row) {
      return static_cast<std::uint32_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
    };
    std::vector<ScoreAnswer> batch;
    for (const std::uint32_t at : chosen) {
      const ComparedRows& answer = answers_[at];
      batch.push_back({place(answer.first), place(answer.second), answer.outcome, reliability_[answer.worker]});
    }
    std::vector<float> outputs(rows.size());
    network_->forward(set_.inputs, rows, Network::Mode::train, outputs);
    const std::vector<double> scores(outputs.begin(), outputs.end());
    std::vector<double> gradient(scores.size(), 0);
    (void)score_loss(scores, batch, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      outputs[i] = static_cast<float>(gradient[i] / static_cast<double>(batch.size()));
    }
    network_->backward(outputs);
    ++steps_;
    const double per_epoch = std::ceil(static_cast<double>(answers_.size()) / static_cast<double>(options_.batch));
    const double share = 1 / std::min(static_cast<double>(steps_), std::max(kAverageEpochs * per_epoch, 1.0));
    optimiser_.step(network_->parameters(), network_->gradients(), 1, average_, share, context_.pool());
  }

  /// By the mean of the weights of late: single steps follow single answers too far.
  void predict() {
    std::swap_ranges(average_.begin(), average_.end(), network_->parameters().begin());
    std::vector<std::uint32_t> rows(kRowsAtOnce);
    std::vector<float> outputs(kRowsAtOnce);
    for (std::size_t begin = 0; begin < score_.size(); begin += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, score_.size() - begin);
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
      network_->forward(set_.inputs, std::span<const std::uint32_t>(rows).first(count), Network::Mode::predict,
                        std::span(outputs).first(count));
      std::copy_n(outputs.begin(), count, score_.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    std::swap_ranges(average_.begin(), average_.end(), network_->parameters().begin());
    if (!std::all_of(score_.begin(), score_.end(), [](double s) { return std::isfinite(s); })) {
      throw Diverged("the network left the finite numbers: try a smaller learning_rate");
    }
  }

  /// One step of EM: how many of a worker's answers follow the scores, and how many their opposite.
  void estimate_reliability() {
    std::vector<double> with(set_.workers, options_.prior_right - 1);
    std::vector<double> all(set_.workers, options_.prior_right + options_.prior_wrong - 2);
    for (const ComparedRows& answer : answers_) {
      with[answer.worker] +=
          follows(score_[answer.first] - score_[answer.second], answer.outcome, reliability_[answer.worker]);
      all[answer.worker] += 1;
    }
    for (std::size_t w = 0; w < with.size(); ++w) reliability_[w] = all[w] > 0 ? with[w] / all[w] : kFirstReliability;
  }

  const ScoreSet& set_;
  const ComparisonLearningOptions& options_;
  const RunContext& context_;
  std::vector<ComparedRows> answers_;
  std::vector<double> reliability_;
  std::unique_ptr<Network> network_;
  Optimiser optimiser_;
  Rng order_;
  std::vector<float> average_;  ///< of the weights
  std::uint64_t steps_ = 0;
  std::vector<double> score_;  ///< per row
};

/// The epoch that foretells hidden answers best, and how well each did.
struct ChosenEpoch {
  std::size_t epoch = 0;
  std::vector<double> scores;
  [[nodiscard]] double best() const { return scores[epoch - 1]; }
};

ChosenEpoch choose_epoch(const ScoreSet& set, const NetworkSpec& network, const ComparisonLearningOptions& options,
                         const RunContext& context) {
  ChosenEpoch chosen;
  if (set.hidden.empty() || set.seen.empty()) {
    chosen.epoch = options.epochs;
    return chosen;
  }
  ScoreTraining training(set, set.seen, network, options, context);
  for (std::size_t e = 1; e <= std::min(options.epochs, chosen.epoch + kPatientEpochs); ++e) {
    if (context.cancelled()) break;
    training.epoch();
    chosen.scores.push_back(training.log_probability(set.hidden));
    if (chosen.epoch == 0 || chosen.scores.back() > chosen.best()) chosen.epoch = e;
    context.report({.stage = "choosing the epoch",
                    .done = static_cast<double>(e),
                    .total = static_cast<double>(options.epochs),
                    .objective = chosen.scores.back()});
  }
  return chosen;
}

/// The same answers are as probable with all scores turned round and every reliability om made 1 − om: of the two, the
/// one that the prior prefers.
bool is_turned(std::span<const double> reliability, const ComparisonLearningOptions& options) {
  double log_odds = 0;
  for (const double om : reliability) {
    log_odds += math::log(std::max(om, kProbabilityFloor)) - math::log(std::max(1 - om, kProbabilityFloor));
  }
  return options.reliability && (options.prior_right - options.prior_wrong) * log_odds < 0;
}

void fill_fit(const ComparisonData& data, std::span<const std::uint32_t> row_of_item, const ScoreTraining& training,
              bool turned, const RunContext& context, ComparisonLearned& learned) {
  ComparisonFit& fit = learned.fit;
  learned.row_score = training.score();
  if (turned) {
    for (double& s : learned.row_score) s = -s;
  }
  double mean = 0;
  for (const std::uint32_t row : row_of_item) mean += learned.row_score[row];
  mean /= static_cast<double>(std::max<std::size_t>(row_of_item.size(), 1));
  for (double& s : learned.row_score) s -= mean;
  for (std::size_t i = 0; i < fit.item_count; ++i) fit.score[i] = learned.row_score[row_of_item[i]];
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  fit.deviation.assign(fit.item_count, kUnknown);
  fit.low = fit.high = fit.deviation;
  fit.rank = comparisons::ranks_of(fit.score);
  fit.rank_low.assign(fit.item_count, 1);
  fit.rank_high.assign(fit.item_count, static_cast<double>(fit.item_count));
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    const double om = training.reliability()[w];
    fit.reliability[w] = turned ? 1 - om : om;
  }
  comparisons::label_pairs(data, fit, context);
}

void require_rows(const ComparisonData& data, const Features& features, std::span<const std::uint32_t> row_of_item) {
  const ComparisonAnswers& answers = data.answers;
  if (row_of_item.size() != answers.item_count()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} items have rows: there are {} items", row_of_item.size(), answers.item_count()));
  }
  for (std::size_t i = 0; i < row_of_item.size(); ++i) {
    if (row_of_item[i] < features.rows) continue;
    const auto without =
        std::count_if(row_of_item.begin(), row_of_item.end(), [&](std::uint32_t row) { return row >= features.rows; });
    throw Error(ErrorCode::bad_input,
                fmt::format("{} of {} items have no features, '{}' among them: give each item a row, or leave its "
                            "comparisons out",
                            without, row_of_item.size(), answers.item_names()[i]));
  }
  if (answers.answer_count() == 0) throw Error(ErrorCode::bad_input, "there are no comparisons to learn from");
}

}  // namespace

const LearnerInfo& comparison_learner() {
  static const LearnerInfo info = [] {
    LearnerInfo own;
    own.name = "score_network";
    own.title = "Network for scores";
    own.summary = "A network gives scores to items by their features; each worker has a reliability.";
    own.when_to_use = "Items have features, and most of them few comparisons, or none.";
    own.reference =
        "Burges et al., Learning to rank using gradient descent, ICML 2005 (RankNet); Chen et al., WSDM 2013 "
        "(Crowd-BT)";
    own.assumptions = "The features say what makes an item better; a worker is as reliable with all pairs.";
    own.cost = "O(S) per epoch beside the network; memory O(S + M)";
    own.parameters = declare_parameters(score_parameters);
    return own;
  }();
  return info;
}

ComparisonLearningOptions comparison_learning_options(const Parameters& parameters) {
  return read_parameters(score_parameters, parameters);
}

ComparisonLearned learn_comparisons(const ComparisonData& data, const Features& features, const FeatureRecipe& recipe,
                                    std::span<const std::uint32_t> row_of_item, const NetworkSpec& network,
                                    const ComparisonLearningOptions& options, const RunContext& context) {
  validate(data);
  validate(network);
  require_finite(features);
  require_rows(data, features, row_of_item);
  const ScoreSet set = score_set(data, features, row_of_item, options.hidden_share, context);
  const ChosenEpoch chosen = choose_epoch(set, network, options, context);
  ComparisonLearned learned;
  learned.fit = comparisons::start_comparison_fit(data);
  ComparisonFit& fit = learned.fit;
  learned.epochs = chosen.scores.empty() ? options.epochs : chosen.scores.size();
  learned.chosen_epoch = chosen.epoch;
  std::vector<ComparedRows> all = set.seen;
  all.insert(all.end(), set.hidden.begin(), set.hidden.end());
  ScoreTraining training(set, all, network, options, context);
  for (std::size_t e = 1; e <= chosen.epoch && !context.cancelled(); ++e) {
    training.epoch();
    fit.trace.push_back(training.log_probability(all));
    context.report({.stage = "learning",
                    .done = static_cast<double>(e),
                    .total = static_cast<double>(chosen.epoch),
                    .objective = fit.trace.back()});
  }
  const bool turned = is_turned(training.reliability(), options);
  fill_fit(data, row_of_item, training, turned, context, learned);
  fit.objective_name = "mean log probability of the answers";
  fit.iterations = fit.trace.size();
  fit.status = context.cancelled() ? Status::cancelled : Status::iteration_limit;
  fit.learned.emplace_back("chosen_epoch", static_cast<double>(chosen.epoch));
  if (!chosen.scores.empty()) {
    fit.learned.emplace_back("hidden_log_probability", chosen.best());
    fit.explanation = fmt::format("Epoch {} of {} foretells hidden comparisons best (mean log probability {:.4f}).",
                                  chosen.epoch, chosen.scores.size(), chosen.best());
    if (chosen.best() <= math::log(0.5)) {
      fit.warnings.push_back(
          {"no_better_than_guessing",
           "even at the best epoch the network foretells hidden comparisons no better than a coin would, so what it "
           "says of items is not to be trusted",
           fmt::format("lower learning_rate (it is {}), train longer, or look for other features.",
                       options.learning_rate),
           Severity::serious});
    }
  }
  RegressorParts parts;
  parts.factor = {turned ? -1.0 : 1.0};
  parts.offset = {learned.row_score[row_of_item[0]] - parts.factor[0] * training.score()[row_of_item[0]]};
  parts.network.memory.why_none = "it predicts scores";
  parts.network.network = training.release_network();
  parts.network.spec = network;
  parts.network.input_shape = features.shape;
  parts.network.sparse = features.is_sparse();
  parts.network.scaling = set.scaling;
  parts.network.recipe = recipe;
  parts.network.classes = NameTable(std::vector<std::string>{"score"});
  learned.scorer = make_regressor(std::move(parts));
  return learned;
}

}  // namespace wisecrowd
