// Every method for similarities runs through this, by its line in src/aggregate/similarities/methods.def.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate_similarities.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/similarity_aggregator.hpp"
#include "wisecrowd/simulate_similarities.hpp"

namespace wisecrowd {
namespace {

class EverySimilarityAggregator : public ::testing::TestWithParam<std::string> {
 protected:
  /// Easy enough that every method finds the clusters.
  [[nodiscard]] static SimilaritySimulation crowd(std::size_t items = 60) {
    Parameters parameters(similarity_simulation_parameters());
    parameters.set("false_different", "0.05");
    parameters.set("false_same", "0.05");
    return simulate_similarities({.items = items, .workers = 8, .clusters = 3, .answers_per_item = 60}, parameters,
                                 RunContext({.seed = 5}));
  }
  /// Without the truth that was drawn.
  [[nodiscard]] static SimilarityData answers_of(const SimilaritySimulation& simulation) {
    SimilarityData data;
    data.answers = simulation.data.answers;
    return data;
  }
  [[nodiscard]] SimilarityFit fit(const SimilarityData& data, unsigned threads = 1) const {
    return aggregate(data, GetParam(), Parameters(method_of<Similarities>(GetParam()).parameters),
                     RunContext({.threads = threads}));
  }
  /// The same answers by names, with items and workers renamed and each pair the other way round.
  template <class ItemName, class WorkerName>
  [[nodiscard]] static SimilarityData renamed(const SimilarityAnswers& answers, const ItemName& item,
                                              const WorkerName& worker, bool swapped) {
    SimilarityAnswersBuilder builder;
    const auto offsets = answers.task_offsets();
    for (std::size_t p = 0; p < answers.task_count(); ++p) {
      const SimilarPair pair = answers.pairs()[p];
      for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
        const std::string left = item(pair.left), right = item(pair.right);
        builder.add(worker(index(answers.workers()[a])), swapped ? right : left, swapped ? left : right,
                    answers.same()[a] != 0);
      }
    }
    SimilarityData data;
    data.answers = builder.build();
    return data;
  }
};

TEST_P(EverySimilarityAggregator, IsWellFormedAndFindsEasyClusters) {
  const SimilaritySimulation simulation = crowd();
  const SimilarityFit result = fit(answers_of(simulation));
  ASSERT_EQ(result.cluster.size(), 60U);
  ASSERT_EQ(result.probability.size(), 60U);
  ASSERT_EQ(result.same.size(), simulation.data.answers.task_count());
  ASSERT_EQ(result.false_different.size(), 8U);
  ASSERT_EQ(result.false_same.size(), 8U);
  std::vector<std::size_t> sizes(result.cluster_count(), 0);
  for (const std::uint32_t own : result.cluster) ++sizes.at(own);
  EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));  // the largest first
  EXPECT_GT(sizes.back(), 0U);
  for (const auto* values : {&result.probability, &result.same, &result.false_different, &result.false_same}) {
    for (const double value : *values) {
      EXPECT_GE(value, 0);
      EXPECT_LE(value, 1 + 1e-12);
    }
  }
  EXPECT_GT(evaluate_similarities(result.cluster, simulation.data).accuracy.value, 0.95);
}

TEST_P(EverySimilarityAggregator, EmptyAndTinyData) {
  EXPECT_TRUE(fit({}).cluster.empty());
  SimilarityData data;
  data.answers = SimilarityAnswersBuilder().add("w", "a", "b", true).build();
  EXPECT_EQ(fit(data).cluster, (std::vector<std::uint32_t>{0, 0}));
  data.answers = SimilarityAnswersBuilder().add("w", "a", "b", false).build();
  const SimilarityFit two = fit(data);
  for (const double p : two.probability) EXPECT_TRUE(p > 0 && p <= 1);
  SimilarityAnswersBuilder bare;
  bare.add("u", "a", "b", true).add_item("c").add_worker("v");
  data.answers = bare.build();
  const SimilarityFit result = fit(data);
  EXPECT_EQ(result.cluster.size(), 3U);
  EXPECT_EQ(result.warnings.at(0).code, "items_without_answers");
  data.answers = SimilarityAnswersBuilder().add_item("a").add_worker("v").build();
  EXPECT_EQ(fit(data).cluster.size(), 1U);
}

TEST_P(EverySimilarityAggregator, SameBitsForAnyNumberOfThreads) {
  const SimilaritySimulation simulation = crowd(200);
  const SimilarityFit one = fit(answers_of(simulation), 1), many = fit(answers_of(simulation), 3);
  EXPECT_EQ(one.cluster, many.cluster);
  EXPECT_EQ(one.probability, many.probability);
  EXPECT_EQ(one.same, many.same);
  EXPECT_EQ(one.false_different, many.false_different);
}

TEST_P(EverySimilarityAggregator, SwappingLeftAndRightChangesNothing) {
  const SimilarityAnswers answers = crowd().data.answers;
  const auto item = [&](std::uint32_t i) { return std::string(answers.item_names()[i]); };
  const auto worker = [&](std::size_t w) { return std::string(answers.worker_names()[w]); };
  const SimilarityData plain = renamed(answers, item, worker, false), swapped = renamed(answers, item, worker, true);
  EXPECT_EQ(plain.answers.content_hash(), swapped.answers.content_hash());
  const SimilarityFit before = fit(plain), after = fit(swapped);
  EXPECT_EQ(before.cluster, after.cluster);
  EXPECT_EQ(before.probability, after.probability);
}

TEST_P(EverySimilarityAggregator, RenamingPermutesAndChangesNothingElse) {
  const SimilarityAnswers answers = crowd().data.answers;
  const SimilarityFit before = fit(renamed(
      answers, [](std::uint32_t i) { return fmt::format("{:03}", i); },
      [](std::size_t w) { return fmt::format("{}", w); }, false));
  const SimilarityFit after = fit(renamed(
      answers, [](std::uint32_t i) { return fmt::format("{:03}", (i * 7 + 11) % 60); },
      [](std::size_t w) { return fmt::format("{}", 7 - w); }, false));
  for (std::uint32_t i = 0; i < 60; ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      const bool together = before.cluster[i] == before.cluster[j];
      EXPECT_EQ(together, after.cluster[(i * 7 + 11) % 60] == after.cluster[(j * 7 + 11) % 60]);
    }
    EXPECT_NEAR(before.probability[i], after.probability[(i * 7 + 11) % 60], 1e-3);
  }
  for (std::size_t w = 0; w < 8; ++w) EXPECT_NEAR(before.false_same[w], after.false_same[7 - w], 1e-3);
}

TEST_P(EverySimilarityAggregator, GoldIsTheCluster) {
  if (!method_of<Similarities>(GetParam()).uses_gold) GTEST_SKIP() << "does not use gold";
  SimilarityData data = crowd().data;
  for (std::size_t i = 10; i < data.gold.size(); ++i) data.gold[i] = kNoCluster;
  const SimilarityFit result = fit(data);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(result.cluster_names[result.cluster[i]], data.gold_clusters[data.gold[i]]);
    EXPECT_EQ(result.probability[i], 1);
  }
}

TEST_P(EverySimilarityAggregator, HiddenAnswersHaveAProbability) {
  const SimilarityData data = answers_of(crowd());
  const auto method = make_method<Similarities>(GetParam(), Parameters(method_of<Similarities>(GetParam()).parameters));
  const RunContext context;
  const HeldOut<Similarities> held_out(data, {.folds = 2, .share = 0.2}, context);
  ASSERT_GT(held_out.hidden_count(), 300U);
  const auto logs = held_out.log_probabilities(*method, context);
  ASSERT_EQ(logs.size(), held_out.hidden_count());
  double sum = 0;
  for (const double log : logs) {
    EXPECT_TRUE(std::isfinite(log) && log <= 0);
    sum += log;
  }
  EXPECT_GT(sum / static_cast<double>(logs.size()), -0.4);  // a constant guess gives −0.64
  // Both answers of a pair together are certain.
  for (const std::uint32_t p : {0U, 5U}) {
    const SimilarityAnswer both[] = {{TaskId{p}, WorkerId{1}, true}, {TaskId{p}, WorkerId{1}, false}};
    const auto two = method->log_predictive(data, both, context);
    EXPECT_NEAR(std::exp(two[0]) + std::exp(two[1]), 1, 1e-12);
  }
}

TEST_P(EverySimilarityAggregator, StopsWhenCancelled) {
  std::atomic<bool> stop{true};
  const RunContext context({.cancel = &stop});
  const SimilarityFit result =
      aggregate(answers_of(crowd()), GetParam(), Parameters(method_of<Similarities>(GetParam()).parameters), context);
  EXPECT_EQ(result.status, Status::cancelled);
  EXPECT_EQ(result.cluster.size(), 60U);
  EXPECT_EQ(result.same.size(), crowd().data.answers.task_count());
}

std::vector<std::string> similarity_methods() {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods_of<Similarities>()) names.push_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Registry, EverySimilarityAggregator, ::testing::ValuesIn(similarity_methods()),
                         [](const auto& info) { return info.param; });

TEST(SimilarityMethods, TheWrongKindIsSaid) {
  try {
    (void)method_of<Similarities>("dawid_skene");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("these answers are similarities"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace wisecrowd
