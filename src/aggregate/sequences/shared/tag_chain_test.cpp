#include "aggregate/sequences/shared/tag_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

using sequences::TagChain;
using sequences::Transitions;

/// All sequences of K tags over T tokens, with their weights: what forward–backward must agree with.
struct AllSequences {
  std::size_t K, T;
  double total = 0;
  std::vector<double> posterior, counts;
  std::vector<TagId> best;
  double best_weight = -1;

  AllSequences(const Transitions& transitions, const std::vector<double>& log_weights, const std::vector<TagId>& gold)
      : K(transitions.tags), T(log_weights.size() / K), posterior(T * K, 0), counts(K * K, 0) {
    visit(transitions, log_weights, gold, [&](const std::vector<TagId>& tags, double weight) {
      total += weight;
      if (weight > best_weight) {
        best_weight = weight;
        best = tags;
      }
      for (std::size_t t = 0; t < T; ++t) {
        posterior[t * K + index(tags[t])] += weight;
        counts[(t == 0 ? 0 : index(tags[t - 1])) * K + index(tags[t])] += weight;
      }
    });
    for (double& p : posterior) p /= total;
    for (double& c : counts) c /= total;
  }

  template <class Visit>
  static void visit(const Transitions& transitions, const std::vector<double>& log_weights,
                    const std::vector<TagId>& gold, const Visit& visitor) {
    const std::size_t K = transitions.tags, T = log_weights.size() / K;
    std::size_t all = 1;
    for (std::size_t t = 0; t < T; ++t) all *= K;
    std::vector<TagId> tags(T);
    for (std::size_t code = 0; code < all; ++code) {
      std::size_t rest = code;
      double weight = 1;
      for (std::size_t t = 0; t < T; ++t, rest /= K) {
        tags[t] = TagId(rest % K);
        weight *= transitions.row(t == 0 ? 0 : index(tags[t - 1]))[index(tags[t])] *
                  std::exp(log_weights[t * K + index(tags[t])]);
        if (!gold.empty() && gold[t] != kNoTag && gold[t] != tags[t]) weight = 0;
      }
      visitor(tags, weight);
    }
  }
};

Transitions some_transitions(std::size_t types, Rng& rng) {
  const std::size_t K = 2 * types + 1;
  Transitions out{K, {}};
  for (std::size_t p = 0; p < K; ++p) {
    for (std::size_t k = 0; k < K; ++k) out.weight.push_back(may_follow(TagId(p), TagId(k)) ? rng.uniform() : 0);
  }
  return out;
}

TEST(TagChain, AgreesWithAllSequences) {
  Rng rng(5);
  for (int world = 0; world < 20; ++world) {
    const std::size_t types = 1 + rng.below(2), T = 1 + rng.below(6), K = 2 * types + 1;
    const Transitions transitions = some_transitions(types, rng);
    std::vector<double> log_weights(T * K);
    for (double& w : log_weights) w = 3 * rng.normal();
    std::vector<TagId> gold;
    if (world % 3 == 0) {
      gold.assign(T, kNoTag);
      gold[rng.below(T)] = kOutside;
    }
    const AllSequences slow(transitions, log_weights, gold);
    TagChain chain(transitions);
    std::vector<double> posterior(T * K), counts(K * K, 0.0);
    EXPECT_NEAR(chain.filter(log_weights, gold), std::log(slow.total), 1e-10);
    chain.smooth(posterior, counts);
    for (std::size_t i = 0; i < posterior.size(); ++i) EXPECT_NEAR(posterior[i], slow.posterior[i], 1e-12);
    for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_NEAR(counts[i], slow.counts[i], 1e-11);
    std::vector<TagId> best(T);
    chain.best_path(log_weights, gold, best);
    EXPECT_EQ(best, slow.best);
    for (std::size_t t = 0; t < T; ++t) EXPECT_TRUE(may_follow(t == 0 ? kOutside : best[t - 1], best[t]));
  }
}

TEST(TagChain, ProbabilityOfASpanIsThatOfTheSequencesThatHaveIt) {
  Rng rng(6);
  for (int world = 0; world < 20; ++world) {
    const std::size_t T = 2 + rng.below(4), K = 5;
    const Transitions transitions = some_transitions(2, rng);
    std::vector<double> log_weights(T * K);
    for (double& w : log_weights) w = rng.normal();
    TagChain chain(transitions);
    (void)chain.filter(log_weights, {});
    std::vector<double> posterior(T * K);
    chain.smooth(posterior, {});
    for (std::uint32_t first = 0; first < T; ++first) {
      for (std::uint32_t end = first + 1; end <= T; ++end) {
        const Span span{TaskId{0}, first, end, 1};
        double weight = 0, total = 0;
        AllSequences::visit(transitions, log_weights, {}, [&](const std::vector<TagId>& tags, double own) {
          std::vector<Span> spans;
          append_spans(TaskId{0}, tags, spans);
          total += own;
          for (const Span& other : spans) weight += other == span ? own : 0;
        });
        EXPECT_NEAR(chain.span_probability(span, begin_tag(1), posterior), weight / total, 1e-12);
      }
    }
  }
}

/// Evidence of many workers makes weights that no double holds; probabilities are still right.
TEST(TagChain, NothingOverflowsOrVanishes) {
  Rng rng(7);
  const Transitions transitions = some_transitions(1, rng);
  const std::size_t T = 2000;
  std::vector<double> log_weights(T * 3);
  for (double& w : log_weights) w = -4000 * rng.uniform();
  TagChain chain(transitions);
  EXPECT_TRUE(std::isfinite(chain.filter(log_weights, {})));
  std::vector<double> posterior(T * 3), counts(9, 0.0);
  chain.smooth(posterior, counts);
  double all = 0;
  for (const double c : counts) all += c;
  EXPECT_NEAR(all, static_cast<double>(T), 1e-6);
  for (std::size_t t = 0; t < T; ++t) {
    EXPECT_NEAR(posterior[t * 3] + posterior[t * 3 + 1] + posterior[t * 3 + 2], 1, 1e-9);
  }
}

TEST(TagChain, GoldHoldsEvenAgainstTheScheme) {
  Rng rng(8);
  const Transitions transitions = some_transitions(1, rng);
  const std::vector<double> log_weights(4 * 3, 0.0);
  const std::vector<TagId> gold = {kOutside, inside_tag(0), kNoTag, kOutside};
  TagChain chain(transitions);
  EXPECT_TRUE(std::isfinite(chain.filter(log_weights, gold)));
  std::vector<double> posterior(12);
  chain.smooth(posterior, {});
  EXPECT_EQ(posterior[0], 1);
  EXPECT_EQ(posterior[3 + 2], 1);
  EXPECT_NEAR(posterior[6] + posterior[7] + posterior[8], 1, 1e-12);
  std::vector<TagId> best(4);
  chain.best_path(log_weights, gold, best);
  EXPECT_EQ(best[1], inside_tag(0));
  EXPECT_EQ(best[3], kOutside);
}

}  // namespace
}  // namespace wisecrowd
