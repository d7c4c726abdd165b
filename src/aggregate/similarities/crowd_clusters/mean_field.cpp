#include "aggregate/similarities/crowd_clusters/mean_field.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::crowd_clusters {
namespace {

constexpr double kStartShare = 0.8;  ///< of an item's probability on the cluster that it starts in

double dot(std::span<const double> a, std::span<const double> b) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

void update_same(const Crowd& crowd, State& state) {
  const auto pairs = crowd.graph.pairs();
  const State& known = state;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    state.same[p] = dot(known.row(pairs[p].left), known.row(pairs[p].right));
  }
}

/// Dirichlet prior of one item per cluster.
void update_shares(State& state) {
  std::fill(state.share.begin(), state.share.end(), 1.0);
  for (std::size_t at = 0; at < state.member.size(); at += state.clusters) {
    for (std::size_t k = 0; k < state.clusters; ++k) state.share[k] += state.member[at + k];
  }
  normalise(state.share);
}

double known_weight(bool same) noexcept { return same ? similarities::kKnownWeight : -similarities::kKnownWeight; }

/// E[ln P(answers, clusters)] + entropy + ln priors, all but constants.
double bound_of(const Crowd& crowd, const State& state, std::span<const double> weights) {
  const SimilarityAnswers& answers = crowd.data.answers;
  double bound = 0;
  for (std::size_t p = 0; p < weights.size(); ++p) bound += weights[p] * state.same[p];
  // The weights are relative to "different".
  std::vector<double> different(2 * answers.worker_count());
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    different[2 * w] = math::log1p(-state.rates.false_same[w]);
    different[2 * w + 1] = math::log(state.rates.false_same[w]);
    bound += similarities::log_prior(state.rates.false_different[w], state.rates.false_same[w]);
  }
  const auto offsets = answers.task_offsets();
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    if (!crowd.hidden.empty() && crowd.hidden[p] != 0) continue;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
      bound += different[2 * index(answers.workers()[a]) + (answers.same()[a] != 0 ? 1 : 0)];
    }
  }
  std::vector<double> log_share(state.clusters);
  for (std::size_t k = 0; k < state.clusters; ++k) bound += log_share[k] = math::log(state.share[k]);
  for (std::size_t at = 0; at < state.member.size(); at += state.clusters) {
    for (std::size_t k = 0; k < state.clusters; ++k) {
      const double q = state.member[at + k];
      if (q > 0) bound += q * (log_share[k] - math::log(q));
    }
  }
  return bound;
}

/// One item after the other; the largest change of a probability.
double sweep(const Crowd& crowd, std::span<const double> weights, State& state) {
  std::vector<double> log_share(state.clusters), scores(state.clusters);
  for (std::size_t k = 0; k < state.clusters; ++k) log_share[k] = math::log(state.share[k]);
  double most = 0;
  for (std::size_t i = 0; i < crowd.graph.item_count(); ++i) {
    if (crowd.pinned(i)) continue;
    scores = log_share;
    for (const auto& link : crowd.graph.links_of(i)) {
      const double weight = weights[link.pair];
      if (weight == 0) continue;
      const double* const other = state.member.data() + link.other * state.clusters;
      for (std::size_t k = 0; k < state.clusters; ++k) scores[k] += weight * other[k];
    }
    softmax(scores);
    const auto own = state.row(i);
    for (std::size_t k = 0; k < state.clusters; ++k) {
      most = std::max(most, std::abs(own[k] - scores[k]));
      own[k] = scores[k];
    }
  }
  return most;
}

}  // namespace

State::State(const Crowd& crowd, std::size_t count)
    : clusters(count),
      member(crowd.graph.item_count() * count, 0.0),
      share(count, 1 / static_cast<double>(std::max<std::size_t>(count, 1))),
      rates(crowd.data.answers.worker_count()),
      same(crowd.graph.pair_count(), 0.0) {}

State start_from(const Crowd& crowd, std::span<const std::uint32_t> cluster, std::size_t clusters) {
  State state(crowd, clusters);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const auto own = state.row(i);
    const bool pinned = crowd.pinned(i);
    const double rest = pinned || clusters == 1 ? 0 : (1 - kStartShare) / static_cast<double>(clusters - 1);
    std::fill(own.begin(), own.end(), rest);
    own[pinned ? crowd.data.gold[i] : cluster[i]] = pinned || clusters == 1 ? 1 : kStartShare;
  }
  return state;
}

void ascend(const Crowd& crowd, const Limits& limits, const RunContext& context, State& state) {
  std::vector<double> weights(crowd.graph.pair_count());
  const std::size_t answered = crowd.data.answers.task_count();
  for (std::size_t p = answered; p < weights.size(); ++p) {
    weights[p] = known_weight(crowd.data.gold_pairs[p - answered].same);
  }
  state.converged = false;
  update_same(crowd, state);
  for (std::size_t iteration = 0; iteration < limits.max_iterations && !context.cancelled(); ++iteration) {
    similarities::estimate_rates(crowd.data.answers, state.same, crowd.hidden, state.rates);
    similarities::weigh_pairs(crowd.data.answers, state.rates, crowd.hidden, std::span(weights).first(answered));
    update_shares(state);
    const double change = sweep(crowd, weights, state);
    update_same(crowd, state);
    state.trace.push_back(bound_of(crowd, state, weights));
    ++state.iterations;
    if (change < limits.tolerance) {
      state.converged = true;
      break;
    }
  }
}

double evidence_of(const State& state) {
  double evidence = state.bound();
  std::vector<double> sizes(state.clusters, 0);
  for (std::size_t at = 0; at < state.member.size(); ++at) sizes[at % state.clusters] += state.member[at];
  const auto room = static_cast<double>(state.clusters);
  const double items = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  // The prior is Dirichlet(2, 2, …): ln Γ(2 K) − ln Γ(2 K + N) + Σ ln Γ(N_k + 2).
  evidence += log_gamma(2 * room) - log_gamma(2 * room + items);
  std::size_t used = 0;
  for (std::size_t k = 0; k < state.clusters; ++k) {
    evidence += log_gamma(sizes[k] + 2) - (sizes[k] + 1) * math::log(state.share[k]);
    used += sizes[k] > 0.5 ? 1 : 0;
  }
  return evidence + log_gamma(room + 1) - log_gamma(room - static_cast<double>(used) + 1);
}

std::vector<double> hidden_logs(const Crowd& crowd, const State& state) {
  const SimilarityAnswers& answers = crowd.data.answers;
  const auto offsets = answers.task_offsets();
  std::vector<double> logs;
  for (std::size_t p = 0; p < crowd.hidden.size(); ++p) {
    if (crowd.hidden[p] == 0) continue;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
      const std::size_t w = index(answers.workers()[a]);
      logs.push_back(similarities::log_answer(answers.same()[a] != 0, state.same[p], state.rates.false_different[w],
                                              state.rates.false_same[w]));
    }
  }
  return logs;
}

std::vector<std::uint32_t> most_probable(const State& state) {
  std::vector<std::uint32_t> cluster;
  for (std::size_t at = 0; at < state.member.size(); at += state.clusters) {
    const auto begin = state.member.begin() + static_cast<std::ptrdiff_t>(at);
    cluster.push_back(static_cast<std::uint32_t>(
        std::max_element(begin, begin + static_cast<std::ptrdiff_t>(state.clusters)) - begin));
  }
  return cluster;
}

}  // namespace wisecrowd::crowd_clusters
