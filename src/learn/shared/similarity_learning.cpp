#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/parameter_visitor.hpp"
#include "base/rng.hpp"
#include "data/similarity_rates.hpp"
#include "learn/shared/network.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/pair_loss.hpp"
#include "wisecrowd/learn_similarities.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kRowsAtOnce = 1024;  ///< when all rows are predicted

void similarity_parameters(ParameterVisitor& v, SimilarityLearningOptions& o) {
  v.integer("clusters", o.clusters, 1, 4096, "outputs of the network; some may stay unused");
  v.integer("epochs", o.epochs, 1, 1e6, "passes over the answers; the best by hidden pairs is kept");
  v.integer("batch", o.batch, 1, 1e6, "answers per step");
  v.real("learning_rate", o.learning_rate, 1e-8, 10, "of Adam");
  v.real("collapse_penalty", o.collapse_penalty, 0, 1e3, "keeps outputs from being all alike");
  v.integer("restarts", o.restarts, 1, 1000, "networks that are trained; the best by hidden pairs is kept");
  v.real("hidden_share", o.hidden_share, 0, 0.5, "share of the pairs by which epoch and restart are chosen");
}

/// An answer to a pair of items that both have features.
struct LearnedAnswer {
  std::uint32_t pair, worker;
  bool same;
};

/// What all restarts share.
struct PairSet {
  const SimilarityData& data;
  const Features inputs;  ///< scaled
  std::span<const std::uint32_t> row_of_item;
  std::vector<LearnedAnswer> seen, hidden;
};

PairSet pair_set(const SimilarityData& data, const Features& features, std::span<const std::uint32_t> row_of_item,
                 double hidden_share, const RunContext& context) {
  std::vector<std::uint32_t> used;
  for (const std::uint32_t row : row_of_item) {
    if (row != kNoRow) used.push_back(row);
  }
  if (used.empty()) throw Error(ErrorCode::bad_input, "no item has features: are items and rows named alike?");
  std::sort(used.begin(), used.end());
  PairSet set{data, scaled(features, standardise(features, used)), row_of_item, {}, {}};
  const SimilarityAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  Rng rng = context.rng("hidden pairs");
  for (std::uint32_t p = 0; p < answers.task_count(); ++p) {
    const SimilarPair pair = answers.pairs()[p];
    const bool hide = rng.bernoulli(hidden_share);
    if (row_of_item[pair.left] == kNoRow || row_of_item[pair.right] == kNoRow) continue;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
      (hide ? set.hidden : set.seen)
          .push_back({p, static_cast<std::uint32_t>(answers.workers()[a]), answers.same()[a] != 0});
    }
  }
  if (set.seen.empty()) throw Error(ErrorCode::bad_input, "no answered pair has features of both items");
  return set;
}

/// One network on its way.
class PairTraining {
 public:
  PairTraining(const PairSet& set, const NetworkSpec& spec, const SimilarityLearningOptions& options,
               std::size_t restart, const RunContext& context)
      : set_(set),
        options_(options),
        context_(context),
        rates_(set.data.answers.worker_count()),
        network_(make_network(spec, set.inputs, options.clusters,
                              context.rng("pair network", restart).fork("network").next(), context)),
        optimiser_({.learning_rate = options.learning_rate}, network_->parameters().size()),
        order_(context.rng("pair network", restart).fork("order")) {
    network_->work_with(context.pool());
    network_->reseed(context.rng("pair network", restart).fork("dropout").next());
    member_.resize(set.inputs.rows * options.clusters);
  }

  /// One pass over the answers; then the workers' rates by what the network says now.
  void epoch() {
    std::vector<std::uint32_t> order(set_.seen.size());
    std::iota(order.begin(), order.end(), 0U);
    order_.shuffle(std::span(order));
    for (std::size_t begin = 0; begin < order.size() && !context_.cancelled(); begin += options_.batch) {
      step(std::span(order).subspan(begin, std::min(options_.batch, order.size() - begin)));
    }
    predict_all();
    estimate_rates();
  }

  [[nodiscard]] double score() const {
    const auto& judged = set_.hidden.empty() ? set_.seen : set_.hidden;
    double sum = 0;
    for (const LearnedAnswer& answer : judged) {
      sum += similarities::log_answer(answer.same, same(answer.pair), rates_.false_different[answer.worker],
                                      rates_.false_same[answer.worker]);
    }
    return sum / static_cast<double>(judged.size());
  }
  [[nodiscard]] double same(std::uint32_t pair) const {
    const SimilarPair items = set_.data.answers.pairs()[pair];
    const std::size_t left = set_.row_of_item[items.left], right = set_.row_of_item[items.right];
    double sum = 0;
    for (std::size_t k = 0; k < options_.clusters; ++k) {
      sum += member_[left * options_.clusters + k] * member_[right * options_.clusters + k];
    }
    return sum;
  }
  [[nodiscard]] const std::vector<double>& member() const noexcept { return member_; }
  [[nodiscard]] const similarities::ErrorRates& rates() const noexcept { return rates_; }

 private:
  void step(std::span<const std::uint32_t> chosen) {
    // Each row once, however many of the answers are about it.
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t at : chosen) {
      const SimilarPair pair = set_.data.answers.pairs()[set_.seen[at].pair];
      rows.push_back(set_.row_of_item[pair.left]);
      rows.push_back(set_.row_of_item[pair.right]);
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const auto place = [&](std::uint32_t row) {
      return static_cast<std::uint32_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
    };
    std::vector<PairAnswer> answers;
    for (const std::uint32_t at : chosen) {
      const LearnedAnswer& answer = set_.seen[at];
      const SimilarPair pair = set_.data.answers.pairs()[answer.pair];
      answers.push_back({place(set_.row_of_item[pair.left]), place(set_.row_of_item[pair.right]), answer.same,
                         rates_.false_different[answer.worker], rates_.false_same[answer.worker]});
    }
    const std::size_t clusters = options_.clusters;
    std::vector<float> outputs(rows.size() * clusters);
    network_->forward(set_.inputs, rows, Network::Mode::train, outputs);
    std::vector<double> f(outputs.begin(), outputs.end()), gradient(f.size(), 0);
    for (std::size_t at = 0; at < f.size(); at += clusters) softmax(std::span(f).subspan(at, clusters));
    (void)pair_loss(f, clusters, answers, gradient);
    const double share = 1 / static_cast<double>(answers.size());
    for (double& g : gradient) g *= share;
    (void)collapse_loss(f, clusters, options_.collapse_penalty, gradient);
    for (std::size_t at = 0; at < f.size(); at += clusters) {
      double mean = 0;
      for (std::size_t k = 0; k < clusters; ++k) mean += f[at + k] * gradient[at + k];
      for (std::size_t k = 0; k < clusters; ++k) {
        outputs[at + k] = static_cast<float>(f[at + k] * (gradient[at + k] - mean));
      }
    }
    network_->backward(outputs);
    optimiser_.step(network_->parameters(), network_->gradients(), 1, context_.pool());
  }

  void predict_all() {
    const std::size_t clusters = options_.clusters;
    std::vector<std::uint32_t> rows;
    std::vector<float> outputs;
    for (std::size_t begin = 0; begin < set_.inputs.rows; begin += kRowsAtOnce) {
      const std::size_t count = std::min(kRowsAtOnce, set_.inputs.rows - begin);
      rows.resize(count);
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
      outputs.resize(count * clusters);
      network_->forward(set_.inputs, rows, Network::Mode::predict, outputs);
      std::copy(outputs.begin(), outputs.end(), member_.begin() + static_cast<std::ptrdiff_t>(begin * clusters));
    }
    for (std::size_t at = 0; at < member_.size(); at += clusters) softmax(std::span(member_).subspan(at, clusters));
  }

  /// One step of EM: whether a pair is the same is weighed by the answer itself.
  void estimate_rates() {
    std::vector<similarities::AnswerCounts> counts(set_.data.answers.worker_count());
    for (const LearnedAnswer& answer : set_.seen) {
      const double s = same(answer.pair), e1 = rates_.false_different[answer.worker];
      const double e0 = rates_.false_same[answer.worker];
      const double if_same = s * (answer.same ? 1 - e1 : e1), if_different = (1 - s) * (answer.same ? e0 : 1 - e0);
      counts[answer.worker].add(answer.same, if_same / std::max(if_same + if_different, kProbabilityFloor));
    }
    for (std::size_t w = 0; w < counts.size(); ++w) {
      similarities::estimate_rates(counts[w], rates_.false_different[w], rates_.false_same[w]);
    }
  }

  const PairSet& set_;
  const SimilarityLearningOptions& options_;
  const RunContext& context_;
  similarities::ErrorRates rates_;
  std::unique_ptr<Network> network_;
  Optimiser optimiser_;
  Rng order_;
  std::vector<double> member_;  ///< rows × clusters
};

/// What the best network says, as a fit.
SimilarityLearned finished(const PairSet& set, std::vector<double> member, const similarities::ErrorRates& rates,
                           std::size_t clusters) {
  const SimilarityData& data = set.data;
  const SimilarityAnswers& answers = data.answers;
  SimilarityLearned out;
  SimilarityFit& fit = out.fit;
  fit.item_count = answers.item_count();
  fit.worker_count = answers.worker_count();
  fit.false_different = rates.false_different;
  fit.false_same = rates.false_same;
  std::vector<double> mean(clusters, 0);
  for (std::size_t at = 0; at < member.size(); ++at) mean[at % clusters] += member[at];
  normalise(mean);
  const auto of_item = [&](std::size_t item) {
    const std::uint32_t row = set.row_of_item[item];
    return row == kNoRow ? std::span<const double>(mean)
                         : std::span<const double>(member).subspan(row * clusters, clusters);
  };
  std::vector<std::uint32_t> cluster;
  for (std::size_t i = 0; i < fit.item_count; ++i) {
    const auto own = of_item(i);
    const auto best = std::max_element(own.begin(), own.end());
    cluster.push_back(static_cast<std::uint32_t>(best - own.begin()));
    fit.probability.push_back(*best);
  }
  for (const SimilarPair pair : answers.pairs()) {
    const auto left = of_item(pair.left), right = of_item(pair.right);
    fit.same.push_back(std::inner_product(left.begin(), left.end(), right.begin(), 0.0));
  }
  auto places = cluster_places(cluster);
  places.resize(clusters, kNoCluster);
  std::uint32_t used = 0;
  for (const std::uint32_t place : places) used += place != kNoCluster ? 1 : 0;
  for (std::uint32_t c = 1; c <= used; ++c) fit.cluster_names.push_back(fmt::format("{}", c));
  for (const std::uint32_t own : cluster) fit.cluster.push_back(places[own]);
  out.row_probabilities.assign(set.inputs.rows * used, 0);
  for (std::size_t at = 0; at < member.size(); ++at) {
    const std::uint32_t place = places[at % clusters];
    if (place != kNoCluster) out.row_probabilities[at / clusters * used + place] = member[at];
  }
  return out;
}

}  // namespace

const std::vector<ParameterSpec>& similarity_learning_parameters() {
  static const std::vector<ParameterSpec> specs = declare_parameters(similarity_parameters);
  return specs;
}

SimilarityLearningOptions similarity_learning_options(const Parameters& parameters) {
  return read_parameters(similarity_parameters, parameters);
}

SimilarityLearned learn_similarities(const SimilarityData& data, const Features& features,
                                     std::span<const std::uint32_t> row_of_item, const NetworkSpec& network,
                                     const SimilarityLearningOptions& options, const RunContext& context) {
  validate(data);
  validate(network);
  require_finite(features);
  if (row_of_item.size() != data.answers.item_count()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} items have rows: there are {} items", row_of_item.size(), data.answers.item_count()));
  }
  const PairSet set = pair_set(data, features, row_of_item, options.hidden_share, context);
  double best = -std::numeric_limits<double>::infinity();
  std::vector<double> member, trace;
  similarities::ErrorRates rates(data.answers.worker_count());
  std::size_t chosen_epoch = 0;
  for (std::size_t r = 0; r < options.restarts && !context.cancelled(); ++r) {
    PairTraining training(set, network, options, r, context);
    std::vector<double> scores;
    bool is_best = false;
    for (std::size_t e = 1; e <= options.epochs && !context.cancelled(); ++e) {
      training.epoch();
      scores.push_back(training.score());
      context.report({.stage = "learning",
                      .done = static_cast<double>(r * options.epochs + e),
                      .total = static_cast<double>(options.restarts * options.epochs),
                      .objective = scores.back(),
                      .has_objective = true});
      if (!(scores.back() > best)) continue;
      best = scores.back();
      member = training.member();
      rates = training.rates();
      chosen_epoch = e;
      is_best = true;
    }
    if (is_best) trace = std::move(scores);
  }
  if (member.empty() && !context.cancelled()) {
    throw Diverged("the network left the finite numbers: try a smaller learning_rate");
  }
  if (member.empty()) member.assign(set.inputs.rows * options.clusters, 1 / static_cast<double>(options.clusters));
  SimilarityLearned learned = finished(set, std::move(member), rates, options.clusters);
  learned.chosen_epoch = chosen_epoch;
  SimilarityFit& fit = learned.fit;
  fit.objective_name = "mean log probability of hidden answers";
  fit.trace = std::move(trace);
  fit.iterations = fit.trace.size();
  fit.status = context.cancelled() ? Status::cancelled : Status::iteration_limit;
  fit.learned.emplace_back("clusters", static_cast<double>(fit.cluster_count()));
  fit.learned.emplace_back("chosen_epoch", static_cast<double>(chosen_epoch));
  fit.learned.emplace_back("hidden_log_probability", best);
  return learned;
}

}  // namespace wisecrowd
