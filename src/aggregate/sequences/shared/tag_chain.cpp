#include "aggregate/sequences/shared/tag_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hpp"

namespace wisecrowd::sequences {
namespace {

/// Weights farther than this below the largest count as this far: no probability becomes exactly 0 by evidence alone.
constexpr double kFarthest = -600;
/// A predicted probability below this cannot be divided by.
constexpr double kSmallest = 1e-290;
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

}  // namespace

void TagChain::predict(const double* filtered, double* predicted) const {
  const std::size_t K = tags();
  std::fill_n(predicted, K, 0.0);
  for (std::size_t previous = 0; previous < K; ++previous) {
    const double* const row = transitions_.row(previous);
    const double share = filtered[previous];
    for (std::size_t k = 0; k < K; ++k) predicted[k] += share * row[k];
  }
}

double TagChain::filter(std::span<const double> log_weights, std::span<const TagId> gold) {
  const std::size_t K = tags();
  tokens_ = log_weights.size() / K;
  filtered_.resize(tokens_ * K);
  predicted_.resize(tokens_ * K);
  restarts_.assign(tokens_, 0);
  double total = 0;
  for (std::size_t t = 0; t < tokens_; ++t) {
    double* const predicted = predicted_.data() + t * K;
    double* const filtered = filtered_.data() + t * K;
    if (t == 0) {
      std::copy_n(transitions_.row(index(kOutside)), K, predicted);
    } else {
      predict(filtered - K, predicted);
    }
    const double* const speaks = log_weights.data() + t * K;
    if (!gold.empty() && gold[t] != kNoTag) {
      const std::size_t k = index(gold[t]);
      std::fill_n(filtered, K, 0.0);
      filtered[k] = 1;
      restarts_[t] = predicted[k] < kSmallest ? 1 : 0;
      total += speaks[k] + (restarts_[t] != 0 ? 0 : math::log(predicted[k]));
      continue;
    }
    double most = kImpossible;
    for (std::size_t k = 0; k < K; ++k) {
      if (predicted[k] >= kSmallest) most = std::max(most, speaks[k]);
    }
    double sum = 0;
    for (std::size_t k = 0; k < K; ++k) {
      filtered[k] = predicted[k] < kSmallest ? 0 : predicted[k] * math::exp(std::max(speaks[k] - most, kFarthest));
      sum += filtered[k];
    }
    for (std::size_t k = 0; k < K; ++k) filtered[k] /= sum;
    total += most + math::log(sum);
  }
  return total;
}

void TagChain::smooth(std::span<double> posterior, std::span<double> counts) {
  const std::size_t K = tags();
  if (tokens_ == 0) return;
  ratio_.resize(K);
  std::copy_n(filtered_.data() + (tokens_ - 1) * K, K, posterior.data() + (tokens_ - 1) * K);
  for (std::size_t t = tokens_ - 1; t > 0; --t) {
    const double* const after = posterior.data() + t * K;
    const double* const predicted = predicted_.data() + t * K;
    const double* const filtered = filtered_.data() + (t - 1) * K;
    double* const own = posterior.data() + (t - 1) * K;
    if (restarts_[t] != 0) {
      std::copy_n(filtered, K, own);
      continue;
    }
    for (std::size_t k = 0; k < K; ++k) ratio_[k] = predicted[k] < kSmallest ? 0 : after[k] / predicted[k];
    for (std::size_t previous = 0; previous < K; ++previous) {
      const double* const row = transitions_.row(previous);
      double sum = 0;
      for (std::size_t k = 0; k < K; ++k) sum += row[k] * ratio_[k];
      own[previous] = filtered[previous] * sum;
      if (counts.empty()) continue;
      double* const count = counts.data() + previous * K;
      for (std::size_t k = 0; k < K; ++k) count[k] += filtered[previous] * row[k] * ratio_[k];
    }
  }
  for (std::size_t k = 0; k < K && !counts.empty() && restarts_[0] == 0; ++k) {
    counts[index(kOutside) * K + k] += posterior[k];
  }
}

double TagChain::span_probability(const Span& span, TagId begin, std::span<const double> posterior) const {
  const std::size_t K = tags();
  const auto inside = index(inside_tag(span.type));
  const auto tag_at = [&](std::size_t t) { return t == span.first ? index(begin) : inside; };
  /// P(z_{t-1} = previous | z_t = k, all answers).
  const auto came_from = [&](std::size_t t, std::size_t previous, std::size_t k) {
    if (restarts_[t] != 0) return posterior[(t - 1) * K + previous];
    const double predicted = predicted_[t * K + k];
    return predicted < kSmallest ? 0 : filtered_[(t - 1) * K + previous] * transitions_.row(previous)[k] / predicted;
  };
  const std::size_t last = span.end - 1;
  double probability = posterior[last * K + tag_at(last)];
  if (span.end < tokens_) {
    probability -= came_from(span.end, tag_at(last), inside) * posterior[span.end * K + inside];
  }
  for (std::size_t t = last; t > span.first; --t) probability *= came_from(t, tag_at(t - 1), tag_at(t));
  return std::clamp(probability, 0.0, 1.0);
}

void TagChain::best_path(std::span<const double> log_weights, std::span<const TagId> gold, std::span<TagId> tags_out) {
  const std::size_t K = tags();
  const std::size_t tokens = log_weights.size() / K;
  if (tokens == 0) return;
  log_transitions_.resize(K * K);
  std::transform(transitions_.weight.begin(), transitions_.weight.end(), log_transitions_.begin(),
                 [](double weight) { return weight > 0 ? math::log(weight) : kImpossible; });
  best_.assign(tokens * K, kImpossible);
  from_.assign(tokens * K, 0);
  for (std::size_t t = 0; t < tokens; ++t) {
    double* const own = best_.data() + t * K;
    const bool known = !gold.empty() && gold[t] != kNoTag;
    for (std::size_t k = 0; k < K; ++k) {
      if (known && k != index(gold[t])) continue;
      if (t == 0) {
        own[k] = log_transitions_[index(kOutside) * K + k] + log_weights[k];
      } else {
        const double* const before = own - K;
        std::size_t from = 0;
        for (std::size_t p = 1; p < K; ++p) {
          if (before[p] + log_transitions_[p * K + k] > before[from] + log_transitions_[from * K + k]) from = p;
        }
        own[k] = before[from] + log_transitions_[from * K + k] + log_weights[t * K + k];
        from_[t * K + k] = static_cast<std::uint16_t>(from);
      }
    }
    const bool dead = *std::max_element(own, own + K) == kImpossible;
    if (known && dead) {  // what is known is so, whatever came before
      const std::size_t k = index(gold[t]);
      const double* const before = own - K;
      own[k] = log_weights[t * K + k] + (t == 0 ? 0 : *std::max_element(before, before + K));
      from_[t * K + k] = static_cast<std::uint16_t>(t == 0 ? 0 : std::max_element(before, before + K) - before);
    }
  }
  const double* const end = best_.data() + (tokens - 1) * K;
  auto k = static_cast<std::size_t>(std::max_element(end, end + K) - end);
  for (std::size_t t = tokens; t-- > 0;) {
    tags_out[t] = TagId(k);
    k = from_[t * K + k];
  }
}

}  // namespace wisecrowd::sequences
