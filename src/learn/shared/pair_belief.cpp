#include "learn/shared/pair_belief.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

constexpr double kDamping = 0.3;     ///< of a message stays what it was: opposite messages must not swing
constexpr double kMostWeight = 25;   ///< as good as certain
constexpr double kLeastSame = 1e-9;  ///< and as much below 1
constexpr std::size_t kPairsPerBlock = 4096, kItemsPerBlock = 64;

}  // namespace

PairBelief::PairBelief(const SimilarityAnswers& answers, std::size_t clusters, std::vector<double> member,
                       similarities::ErrorRates rates)
    : answers_(answers),
      clusters_(clusters),
      member_(std::move(member)),
      rates_(std::move(rates)),
      same_(answers.task_count(), 0),
      offsets_(answers.item_count() + 1, 0),
      sides_(2 * answers.task_count()),
      own_(sides_.size() * clusters),
      heard_(own_.size()) {
  const auto pairs = answers.pairs();
  for (const SimilarPair pair : pairs) {
    ++offsets_[pair.left + 1];
    ++offsets_[pair.right + 1];
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  std::vector<std::uint64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    sides_[next[pairs[p].left]++] = 2 * p;
    sides_[next[pairs[p].right]++] = 2 * p + 1;
    const auto left = row(pairs[p].left), right = row(pairs[p].right);
    std::copy(left.begin(), left.end(), own_.begin() + static_cast<std::ptrdiff_t>(2 * p * clusters));
    std::copy(right.begin(), right.end(), own_.begin() + static_cast<std::ptrdiff_t>((2 * p + 1) * clusters));
  }
}

void PairBelief::pass(std::span<const double> log_prior, const RunContext& context) {
  std::vector<double> weights(answers_.task_count());
  similarities::weigh_pairs(answers_, rates_, {}, weights);
  for (double& weight : weights) weight = std::clamp(weight, -kMostWeight, kMostWeight);
  tell_pairs(weights, context);
  tell_items(log_prior, context);
  weigh_same(weights, context);
}

/// Σ_z' P(answers | z, z') own(z') = 1 + (e^w − 1) own(z), up to a factor.
void PairBelief::tell_pairs(std::span<const double> weights, const RunContext& context) {
  const Blocks blocks{weights.size(), kPairsPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t p = blocks.begin(b); p < blocks.end(b); ++p) {
      const double gain = math::expm1(weights[p]);
      const float* const left = own_.data() + 2 * p * clusters_;
      const float* const right = left + clusters_;
      float* const to_left = heard_.data() + 2 * p * clusters_;
      float* const to_right = to_left + clusters_;
      for (std::size_t k = 0; k < clusters_; ++k) {
        to_left[k] = static_cast<float>(log_positive(1 + gain * static_cast<double>(right[k])));
        to_right[k] = static_cast<float>(log_positive(1 + gain * static_cast<double>(left[k])));
      }
    }
  });
}

void PairBelief::tell_items(std::span<const double> log_prior, const RunContext& context) {
  const Blocks blocks{answers_.item_count(), kItemsPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    std::vector<double> all(clusters_), without(clusters_);
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      const auto prior = log_prior.subspan(i * clusters_, clusters_);
      std::copy(prior.begin(), prior.end(), all.begin());
      const auto sides = std::span(sides_).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
      for (const std::uint64_t side : sides) {
        const float* const heard = heard_.data() + side * clusters_;
        for (std::size_t k = 0; k < clusters_; ++k) all[k] += static_cast<double>(heard[k]);
      }
      for (const std::uint64_t side : sides) {
        const float* const heard = heard_.data() + side * clusters_;
        float* const own = own_.data() + side * clusters_;
        for (std::size_t k = 0; k < clusters_; ++k) without[k] = all[k] - static_cast<double>(heard[k]);
        softmax(without);
        for (std::size_t k = 0; k < clusters_; ++k) {
          own[k] = static_cast<float>(kDamping * static_cast<double>(own[k]) + (1 - kDamping) * without[k]);
        }
      }
      softmax(all);
      std::copy(all.begin(), all.end(), member_.begin() + static_cast<std::ptrdiff_t>(i * clusters_));
    }
  });
}

void PairBelief::weigh_same(std::span<const double> weights, const RunContext& context) {
  const Blocks blocks{weights.size(), kPairsPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t p = blocks.begin(b); p < blocks.end(b); ++p) {
      const float* const left = own_.data() + 2 * p * clusters_;
      const float* const right = left + clusters_;
      double s = 0;
      for (std::size_t k = 0; k < clusters_; ++k) s += static_cast<double>(left[k]) * static_cast<double>(right[k]);
      s = std::clamp(s, kLeastSame, 1 - kLeastSame);
      same_[p] = sigmoid(weights[p] + math::log(s) - math::log1p(-s));
    }
  });
}

std::vector<double> PairBelief::log_answers(std::span<const SimilarityAnswer> answers) const {
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const SimilarityAnswer& answer : answers) {
    const SimilarPair pair = answers_.pairs()[index(answer.task)];
    const auto left = row(pair.left), right = row(pair.right);
    const std::size_t w = index(answer.worker);
    logs.push_back(similarities::log_answer(answer.same,
                                            std::inner_product(left.begin(), left.end(), right.begin(), 0.0),
                                            rates_.false_different[w], rates_.false_same[w]));
  }
  return logs;
}

}  // namespace wisecrowd
