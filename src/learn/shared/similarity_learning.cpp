#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/parameter_visitor.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/pair_belief.hpp"
#include "learn/shared/pair_start.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kFolds = 5;           ///< no item's prior comes from a network that was trained on it
constexpr std::size_t kPassesPerRound = 5;  ///< of messages
constexpr std::size_t kTrialRounds = 2;     ///< after so many the starts are compared
constexpr std::size_t kPatience = 5;        ///< so many rounds in a row may fail to improve on the best
constexpr std::size_t kLastRounds = 2;      ///< with the hidden pairs among the others
constexpr std::size_t kItemsPerStep = 64;   ///< at most; fewer where there are few items
constexpr std::size_t kLeastSteps = 32;     ///< of a pass over the items, if these suffice
constexpr double kStartShare = 0.8;         ///< of an item's probability on the cluster that it starts in
constexpr double kLeastPrior = 1e-6;        ///< no network is surer than that

void similarity_parameters(ParameterVisitor& v, SimilarityLearningOptions& o) {
  v.integer("clusters", o.clusters, 1, 4096, "outputs of the networks; some may stay unused");
  v.integer("rounds", o.rounds, 1, 1e6, "of networks and beliefs by turns; the best by hidden pairs is kept");
  v.integer("epochs", o.epochs, 1, 1e6, "passes over the items, of each network of a round");
  v.real("learning_rate", o.learning_rate, 1e-8, 10, "of Adam");
  v.integer("restarts", o.restarts, 1, 1000, "starts; the best by hidden pairs is kept");
  v.integer("start_steps", o.start_steps, 1, 1e9, "by which a start is trained on the answers alone");
  v.integer("batch", o.batch, 1, 1e6, "answers per step of a start");
  v.real("collapse_penalty", o.collapse_penalty, 0, 1e3, "keeps the outputs of a start from being all alike");
  v.real("hidden_share", o.hidden_share, 0, 0.5,
         "share of the pairs by which round and start are chosen, and whether features help");
}

/// Some pairs are hidden whole; all items, pairs and workers stay known.
struct PartedAnswers {
  SimilarityAnswers seen;
  std::vector<SimilarityAnswer> hidden;
};

PartedAnswers part(const SimilarityAnswers& answers, double hidden_share, const RunContext& context) {
  PartedAnswers parted;
  std::vector<SimilarityAnswer> seen;
  const auto offsets = answers.task_offsets();
  Rng rng = context.rng("hidden pairs");
  for (std::uint32_t p = 0; p < answers.task_count(); ++p) {
    auto& side = rng.bernoulli(hidden_share) ? parted.hidden : seen;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
      side.push_back({TaskId(p), answers.workers()[a], answers.same()[a] != 0});
    }
  }
  parted.seen = with_answers(answers, seen);
  return parted;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// What all networks of a run share.
struct ClusterNetworks {
  const ItemRows& rows;
  const NetworkSpec& spec;
  const SimilarityLearningOptions& options;
  const RunContext& context;

  /// Trained on the probabilities (items × clusters) of these items.
  [[nodiscard]] std::unique_ptr<Network> trained(std::span<const std::uint32_t> items, std::span<const double> member,
                                                 std::size_t clusters, Rng rng) const {
    auto network = make_network(spec, rows.inputs, clusters, rng.fork("network").next(), context);
    network->work_with(context.pool());
    network->reseed(rng.fork("dropout").next());
    Optimiser optimiser({.learning_rate = options.learning_rate}, network->parameters().size());
    Rng order = rng.fork("order");
    std::vector<std::uint32_t> shuffled(items.begin(), items.end()), chosen;
    const std::size_t size = std::clamp<std::size_t>(items.size() / kLeastSteps, 1, kItemsPerStep);
    std::vector<float> outputs;
    std::vector<double> f(clusters);
    for (std::size_t e = 0; e < options.epochs && !context.cancelled(); ++e) {
      order.shuffle(std::span(shuffled));
      for (std::size_t begin = 0; begin < shuffled.size(); begin += size) {
        const auto batch = std::span(shuffled).subspan(begin, std::min(size, shuffled.size() - begin));
        chosen.clear();
        for (const std::uint32_t item : batch) chosen.push_back(rows.row(item));
        outputs.resize(batch.size() * clusters);
        network->forward(rows.inputs, chosen, Network::Mode::train, outputs);
        for (std::size_t b = 0; b < batch.size(); ++b) {
          float* const out = outputs.data() + b * clusters;
          std::copy(out, out + clusters, f.begin());
          softmax(f);
          for (std::size_t k = 0; k < clusters; ++k) {
            out[k] = static_cast<float>((f[k] - member[batch[b] * clusters + k]) / static_cast<double>(batch.size()));
          }
        }
        network->backward(outputs);
        optimiser.step(network->parameters(), network->gradients(), 1, context.pool());
      }
    }
    return network;
  }
};

/// Networks and beliefs by turns.
class Rounds {
 public:
  Rounds(const ClusterNetworks& networks, std::size_t clusters) : networks_(networks), clusters_(clusters) {
    // Folds are drawn once, so that what an item's own answers say never comes back to it through a network.
    const auto& items = networks.rows.items;
    folds_ = std::min(kFolds, items.size());
    std::vector<std::uint32_t> order(items.begin(), items.end());
    networks.context.rng("folds of items").shuffle(std::span(order));
    fold_of_.resize(networks.rows.row_of_item.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) fold_of_[order[i]] = static_cast<std::uint32_t>(i % folds_);
  }

  /// One round: networks by what is believed, then beliefs with these networks' prior.
  void turn(PairBelief& belief, Rng rng) {
    train(belief.member(), rng);
    const std::vector<double> prior = log_prior();
    for (std::size_t t = 0; t < kPassesPerRound && !networks_.context.cancelled(); ++t) {
      belief.pass(prior, networks_.context);
      belief.estimate_rates();
    }
  }
  void train(std::span<const double> member, Rng rng) {
    trained_.clear();
    std::vector<std::uint32_t> others;
    for (std::uint32_t fold = 0; fold < folds_; ++fold) {
      others.clear();
      for (const std::uint32_t item : networks_.rows.items) {
        if (fold_of_[item] != fold || folds_ == 1) others.push_back(item);
      }
      trained_.push_back(networks_.trained(others, member, clusters_, rng.fork("fold", fold)));
    }
  }
  /// The mean of all networks of the last round, for every row.
  [[nodiscard]] std::vector<double> row_probabilities() {
    std::vector<std::uint32_t> rows(networks_.rows.inputs.rows);
    std::iota(rows.begin(), rows.end(), 0U);
    std::vector<double> mean(rows.size() * clusters_, 0);
    for (const auto& network : trained_) {
      const auto own = membership(*network, networks_.rows.inputs, rows);
      for (std::size_t at = 0; at < own.size(); ++at) mean[at] += own[at] / static_cast<double>(trained_.size());
    }
    return mean;
  }

 private:
  /// Of items without features, the mean of the others.
  [[nodiscard]] std::vector<double> log_prior() {
    const ItemRows& rows = networks_.rows;
    std::vector<double> prior(rows.row_of_item.size() * clusters_, 0), mean(clusters_, 0);
    std::vector<std::uint32_t> items, chosen;
    for (std::uint32_t fold = 0; fold < folds_; ++fold) {
      items.clear();
      chosen.clear();
      for (const std::uint32_t item : rows.items) {
        if (fold_of_[item] != fold) continue;
        items.push_back(item);
        chosen.push_back(rows.row(item));
      }
      const auto said = membership(*trained_[fold], rows.inputs, chosen);
      for (std::size_t at = 0; at < said.size(); ++at) {
        prior[items[at / clusters_] * clusters_ + at % clusters_] = said[at];
        mean[at % clusters_] += said[at];
      }
    }
    normalise(mean);
    for (std::size_t at = 0; at < prior.size(); ++at) {
      const bool known = rows.row_of_item[at / clusters_] != kNoRow;
      prior[at] = math::log(std::max(known ? prior[at] : mean[at % clusters_], kLeastPrior));
    }
    return prior;
  }

  const ClusterNetworks& networks_;
  std::size_t clusters_;
  std::size_t folds_ = 1;
  std::vector<std::uint32_t> fold_of_;  ///< per item
  std::vector<std::unique_ptr<Network>> trained_;
};

/// What was best so far, judged by hidden answers.
struct Judged {
  PairBelief belief;
  double score = 0;
  std::size_t round = 0;
};

/// Most of each item's probability on its cluster; where there are more clusters than room, the rest say nothing.
std::vector<double> member_of(std::span<const std::uint32_t> cluster, std::size_t clusters) {
  const auto room = static_cast<double>(clusters);
  std::vector<double> member(cluster.size() * clusters, 1 / room);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (cluster[i] >= clusters || clusters == 1) continue;
    const auto own = std::span(member).subspan(i * clusters, clusters);
    std::fill(own.begin(), own.end(), (1 - kStartShare) / (room - 1));
    own[cluster[i]] = kStartShare;
  }
  return member;
}

class ClusterLearning {
 public:
  ClusterLearning(const SimilarityData& data, const ClusterNetworks& networks)
      : data_(data),
        networks_(networks),
        options_(networks.options),
        context_(networks.context),
        parted_(part(data.answers, networks.options.hidden_share, networks.context)),
        rounds_(networks, networks.options.clusters) {}

  [[nodiscard]] SimilarityLearned learned() {
    find_without_features();
    compare_starts();
    if (!best_) return nothing_yet();
    // The best start goes on.
    PairBelief belief = best_->belief;
    for (std::size_t r = best_->round + 1; r <= options_.rounds && r <= best_->round + kPatience; ++r) {
      if (context_.cancelled()) break;
      rounds_done_ = r;
      rounds_.turn(belief, context_.rng("cluster networks", r));
      judge(belief, r);
    }
    if (!context_.cancelled() && !parted_.hidden.empty() && without_score_ > best_->score) return by_answers();
    return by_features();
  }

 private:
  /// Clusters by the answers alone: a start, and what features must beat.
  void find_without_features() {
    SimilarityData seen;
    seen.answers = parted_.seen;
    without_ = aggregate(seen, default_method_of<Similarities>(),
                         Parameters(method_of<Similarities>(default_method_of<Similarities>()).parameters), context_);
    if (parted_.hidden.empty() || context_.cancelled()) return;
    std::vector<double> logs;
    for (const SimilarityAnswer& answer : parted_.hidden) {
      const std::size_t w = index(answer.worker);
      logs.push_back(similarities::log_answer(answer.same, without_.same[index(answer.task)],
                                              without_.false_different[w], without_.false_same[w]));
    }
    without_score_ = mean_of(logs);
  }

  void compare_starts() {
    std::optional<Judged> best;
    for (std::size_t r = 0; r < options_.restarts && !context_.cancelled(); ++r) {
      const Rng rng = context_.rng("cluster start", r);
      const bool by_clusters = r == 0 && without_.cluster_count() > 1;
      PairStart start = by_clusters ? PairStart{member_of(without_.cluster, options_.clusters), rates_of(without_)}
                                    : pair_start(networks_.rows, parted_.seen, networks_.spec, options_, rng, context_);
      PairBelief belief(parted_.seen, options_.clusters, std::move(start.member), std::move(start.rates));
      best_.reset();
      trace_.clear();
      for (std::size_t t = 1; t <= std::min(kTrialRounds, options_.rounds) && !context_.cancelled(); ++t) {
        rounds_.turn(belief, rng.fork("round", t));
        judge(belief, t);
      }
      if (best_ && (!best || best_->score > best->score)) {
        best = std::move(best_);
        best_trace_ = trace_;
      }
    }
    best_ = std::move(best);
    trace_ = std::move(best_trace_);
    rounds_done_ = best_ ? best_->round : 0;
    trace_.resize(std::min(trace_.size(), rounds_done_));
  }

  static similarities::ErrorRates rates_of(const SimilarityFit& fit) {
    similarities::ErrorRates rates(fit.worker_count);
    rates.false_different = fit.false_different;
    rates.false_same = fit.false_same;
    return rates;
  }

  void judge(const PairBelief& belief, std::size_t round) {
    const double score =
        parted_.hidden.empty() ? static_cast<double>(round) : mean_of(belief.log_answers(parted_.hidden));
    if (!parted_.hidden.empty()) trace_.push_back(score);
    context_.report({.stage = "learning",
                     .done = static_cast<double>(round),
                     .total = static_cast<double>(options_.rounds),
                     .objective = score});
    if (!best_ || score > best_->score) best_ = Judged{belief, score, round};
  }

  /// With all answers, from the best beliefs.
  [[nodiscard]] SimilarityLearned by_features() {
    PairBelief belief(data_.answers, options_.clusters, best_->belief.member(), best_->belief.rates());
    for (std::size_t t = 0; t < kLastRounds && (t == 0 || !context_.cancelled()); ++t) {
      rounds_.turn(belief, context_.rng("last networks", t));
    }
    SimilarityLearned out;
    SimilarityFit& fit = out.fit;
    const std::size_t clusters = options_.clusters;
    std::vector<std::uint32_t> cluster;
    for (std::size_t i = 0; i < data_.answers.item_count(); ++i) {
      const auto own = std::span(belief.member()).subspan(i * clusters, clusters);
      const auto most = std::max_element(own.begin(), own.end());
      cluster.push_back(static_cast<std::uint32_t>(most - own.begin()));
      fit.probability.push_back(*most);
    }
    fit.same = belief.same();
    fit.false_different = belief.rates().false_different;
    fit.false_same = belief.rates().false_same;
    auto places = cluster_places(cluster);
    places.resize(clusters, kNoCluster);
    const auto used = static_cast<std::size_t>(clusters) -
                      static_cast<std::size_t>(std::count(places.begin(), places.end(), kNoCluster));
    for (std::size_t c = 1; c <= used; ++c) fit.cluster_names.push_back(fmt::format("{}", c));
    for (const std::uint32_t own : cluster) fit.cluster.push_back(places[own]);
    const std::vector<double> rows = rounds_.row_probabilities();
    out.row_probabilities.assign(rows.size() / clusters * used, 0);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const std::uint32_t place = places[at % clusters];
      if (place != kNoCluster) out.row_probabilities[at / clusters * used + place] = rows[at];
    }
    describe(out);
    return out;
  }

  /// The clusters that answers alone give, with networks that tell them from the features.
  [[nodiscard]] SimilarityLearned by_answers() {
    const std::string_view method = default_method_of<Similarities>();
    SimilarityLearned out;
    out.fit = aggregate(data_, method, Parameters(method_of<Similarities>(method).parameters), context_);
    out.by_features = false;
    Rounds rounds(networks_, out.fit.cluster_count());
    rounds.train(member_of(out.fit.cluster, out.fit.cluster_count()), context_.rng("last networks"));
    out.row_probabilities = rounds.row_probabilities();
    describe(out);
    return out;
  }

  /// Cancelled before anything was learned.
  [[nodiscard]] SimilarityLearned nothing_yet() {
    SimilarityLearned out;
    out.fit = without_;
    out.by_features = false;
    const std::size_t clusters = std::max<std::size_t>(out.fit.cluster_count(), 1);
    out.row_probabilities.assign(networks_.rows.inputs.rows * clusters, 1 / static_cast<double>(clusters));
    out.fit.status = Status::cancelled;
    return out;
  }

  void describe(SimilarityLearned& out) {
    out.chosen_round = best_->round;
    SimilarityFit& fit = out.fit;
    fit.item_count = data_.answers.item_count();
    fit.worker_count = data_.answers.worker_count();
    fit.objective_name = "mean log probability of hidden answers";
    fit.objective_is_monotone = false;
    fit.trace = trace_;
    fit.iterations = rounds_done_;
    fit.status = context_.cancelled() ? Status::cancelled : Status::iteration_limit;
    fit.learned.clear();
    fit.learned.emplace_back("clusters", static_cast<double>(fit.cluster_count()));
    fit.learned.emplace_back("chosen_round", static_cast<double>(best_->round));
    if (parted_.hidden.empty()) return;
    fit.learned.emplace_back("hidden_log_probability", best_->score);
    fit.learned.emplace_back("hidden_log_probability_without_features", without_score_);
    fit.explanation = fmt::format(
        "Hidden answers have the mean log probability {:.4f} with features and {:.4f} without: {}.", best_->score,
        without_score_, out.by_features ? "features help" : "the clusters are those of the answers alone");
  }

  const SimilarityData& data_;
  const ClusterNetworks& networks_;
  const SimilarityLearningOptions& options_;
  const RunContext& context_;
  PartedAnswers parted_;
  Rounds rounds_;
  SimilarityFit without_;
  double without_score_ = 0;
  std::size_t rounds_done_ = 0;
  std::optional<Judged> best_;
  std::vector<double> trace_, best_trace_;
};

}  // namespace

const LearnerInfo& similarity_learner() {
  static const LearnerInfo info = [] {
    LearnerInfo own;
    own.name = "pair_network";
    own.title = "Networks and beliefs by turns";
    own.summary = "Networks tell clusters from features, and answers to pairs say how far they are right.";
    own.when_to_use = "Items have features, and too few answers to tell clusters without them.";
    own.reference = "our own; src/learn/shared/METHOD.md";
    own.assumptions = "Items of a cluster look alike to a network; a worker is as reliable with all pairs.";
    own.cost = "rounds · epochs passes over the items, two networks each; memory O(S + N·K)";
    own.parameters = declare_parameters(similarity_parameters);
    return own;
  }();
  return info;
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
  const ItemRows rows = item_rows(data.answers, features, row_of_item);
  return ClusterLearning(data, {rows, network, options, context}).learned();
}

}  // namespace wisecrowd
