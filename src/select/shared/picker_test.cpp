#include "select/shared/picker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/numeric.hpp"
#include "select/shared/candidate_workers.hpp"
#include "support/open_crowd.hpp"

namespace wisecrowd::selecting {
namespace {

using wisecrowd::testing::OpenCrowd;

/// H(q) − Σ_l P(l) H(q | l), as it is defined.
double slow_information(std::span<const double> q, std::span<const double> table) {
  const std::size_t classes = q.size();
  double gain = entropy(q);
  for (std::size_t l = 0; l < classes; ++l) {
    std::vector<double> after(classes);
    double p = 0;
    for (std::size_t k = 0; k < classes; ++k) p += after[k] = q[k] * table[k * classes + l];
    if (p <= 0) continue;
    for (double& x : after) x /= p;
    gain -= p * entropy(after);
  }
  return gain;
}

TEST(InformationTables, InformationIsThatOfTheDefinition) {
  const OpenCrowd crowd(3, 40, 10, 4);
  const CrowdView view = crowd.view();
  const InformationTables tables = InformationTables::means(view, RunContext());
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 10; ++j) {
      EXPECT_NEAR(tables.information(crowd.q(i), WorkerId(j)), slow_information(crowd.q(i), crowd.table(j)), 1e-12);
      EXPECT_NEAR(expected_information(crowd.q(i), crowd.table(j)), slow_information(crowd.q(i), crowd.table(j)),
                  1e-12);
    }
  }
}

TEST(InformationTables, DrawsHaveTheMeanOfTheirCounts) {
  const OpenCrowd crowd(4, 2, 3, 2);
  const CrowdView view = crowd.view();
  std::vector<double> mean(12, 0);
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    const InformationTables tables = InformationTables::drawn(view, static_cast<std::uint64_t>(round), RunContext());
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t cell = 0; cell < 4; ++cell) mean[j * 4 + cell] += tables.table(WorkerId(j))[cell] / kRounds;
    }
  }
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t cell = 0; cell < 4; ++cell) EXPECT_NEAR(mean[j * 4 + cell], crowd.table(j)[cell], 0.02);
  }
}

/// The pairs that greedy search over everything finds, one per task.
TEST(Picker, JointChoiceIsTheGreedyOneOverAllPairs) {
  const OpenCrowd crowd(5, 50, 20, 3);
  const CrowdView view = crowd.view();
  std::vector<WorkerOffer> offers(20);
  for (std::size_t j = 0; j < 20; ++j) offers[j] = {1 + 0.1 * static_cast<double>(j % 5), 3, true};
  SelectionRequest request;
  request.pairs = 30;
  request.offers = offers;
  const RunContext context;
  const PairRule rule(view, request, {.rule = WorkerRule::information, .epsilon = 0, .epsilon_later = 0}, context);
  const Selection selection = pick(rule, view.posterior, {TaskOrder::Kind::pairs, {}}, {}, context);
  std::vector<std::size_t> used(20, 0);
  std::vector<char> done(50, 0);
  for (const Choice& choice : selection.choices) {
    double best = -1;
    for (std::size_t i = 0; i < 50; ++i) {
      for (std::size_t j = 0; j < 20 && !done[i]; ++j) {
        if (used[j] == 3 ||
            view.asked(TaskId{static_cast<std::uint32_t>(i)}, WorkerId{static_cast<std::uint32_t>(j)})) {
          continue;
        }
        best = std::max(best, slow_information(crowd.q(i), crowd.table(j)) / offers[j].cost);
      }
    }
    EXPECT_NEAR(choice.expected_gain / choice.cost, best, 1e-12);
    done[index(choice.task)] = 1;
    ++used[index(choice.worker)];
  }
  EXPECT_EQ(selection.choices.size(), 30U);
}

/// A second worker on the same task is worth what it adds: I(z; y1, y2) − I(z; y1).
TEST(Picker, SecondAnswerIsValuedGivenTheFirst) {
  const OpenCrowd crowd(6, 1, 4, 3);
  CrowdView view = crowd.view();
  view.asked = {};
  SelectionRequest request;
  request.pairs = 2;
  const RunContext context;
  const PairRule rule(view, request, {.rule = WorkerRule::information, .epsilon = 0, .epsilon_later = 0}, context);
  PickLimits limits;
  limits.per_task = 2;
  const Selection selection = pick(rule, view.posterior, {TaskOrder::Kind::pairs, {}}, limits, context);
  ASSERT_EQ(selection.choices.size(), 2U);
  EXPECT_NE(selection.choices[0].worker, selection.choices[1].worker);
  const auto a = crowd.table(index(selection.choices[0].worker)), b = crowd.table(index(selection.choices[1].worker));
  double both = entropy(crowd.q(0));
  for (std::size_t l = 0; l < 3; ++l) {
    for (std::size_t m = 0; m < 3; ++m) {
      std::vector<double> after(3);
      double p = 0;
      for (std::size_t k = 0; k < 3; ++k) p += after[k] = crowd.q(0)[k] * a[k * 3 + l] * b[k * 3 + m];
      for (double& x : after) x /= p;
      both -= p * entropy(after);
    }
  }
  EXPECT_NEAR(selection.choices[0].expected_gain + selection.choices[1].expected_gain, both, 1e-12);
}

TEST(Picker, RandomPairsAreEquallyLikely) {
  const OpenCrowd crowd(8, 4, 3, 2);
  CrowdView view = crowd.view();
  const std::vector<std::vector<WorkerId>> askable = {
      {WorkerId{0}}, {WorkerId{0}, WorkerId{1}, WorkerId{2}}, {}, {WorkerId{1}, WorkerId{2}}};
  view.askable = [&](TaskId task) { return std::span<const WorkerId>(askable[index(task)]); };
  const RunContext context;
  // Random tasks with a random worker, and with the ε-greedy rule at ε = 1, are both plain random sampling.
  for (const WorkerRule which : {WorkerRule::random, WorkerRule::epsilon_greedy}) {
    std::map<std::pair<std::size_t, std::size_t>, int> first, second;
    constexpr int kRounds = 6000;
    for (int round = 0; round < kRounds; ++round) {
      SelectionRequest request;
      request.pairs = 2;
      request.round = static_cast<std::uint64_t>(round);
      const PairRule rule(view, request, {.rule = which, .epsilon = 1, .epsilon_later = 1}, context);
      PickLimits limits;
      limits.per_task = 0;
      const Selection selection = pick(rule, view.posterior, {TaskOrder::Kind::lots, {}}, limits, context);
      ASSERT_EQ(selection.choices.size(), 2U);
      ++first[{index(selection.choices[0].task), index(selection.choices[0].worker)}];
      ++second[{index(selection.choices[1].task), index(selection.choices[1].worker)}];
    }
    ASSERT_EQ(first.size(), 6U);
    ASSERT_EQ(second.size(), 6U);
    for (const auto& counts : {first, second}) {
      for (const auto& [pair, count] : counts) EXPECT_NEAR(count, kRounds / 6.0, 4.5 * std::sqrt(kRounds / 6.0));
    }
  }
}

TEST(CandidateWorkers, ShortListsFindTheBestWorker) {
  // Pairs enough that tasks look at short lists.
  const OpenCrowd crowd(10, 800, 3000, 4);
  CrowdView view = crowd.view();
  const RunContext context;
  SelectionRequest request;
  const PairRule rule(view, request, {.rule = WorkerRule::information, .epsilon = 0, .epsilon_later = 0}, context);
  const CandidateWorkers bench(rule, kUnlimited, context);
  const InformationTables tables = InformationTables::means(view, context);
  double found = 0, best = 0;
  for (std::size_t i = 0; i < 800; ++i) {
    double most = 0;
    for (std::size_t j = 0; j < 3000; ++j) most = std::max(most, tables.information(crowd.q(i), WorkerId(j)));
    const CandidateWorkers::Best choice = bench.best(TaskId(i), crowd.q(i), {});
    ASSERT_TRUE(choice.found);
    found += choice.value;
    best += most;
    EXPECT_GE(choice.value, 0.9 * most);
  }
  EXPECT_GE(found, 0.995 * best);
}

TEST(CandidateWorkers, GoesOnWhenWorkersAreUsedUp) {
  const OpenCrowd crowd(11, 1500, 1400, 2);
  CrowdView view = crowd.view();
  const RunContext context;
  std::vector<WorkerOffer> offers(1400);
  for (WorkerOffer& offer : offers) offer.capacity = 1;
  SelectionRequest request;
  request.pairs = 2000;
  request.offers = offers;
  const PairRule rule(view, request, {.rule = WorkerRule::information, .epsilon = 0, .epsilon_later = 0}, context);
  const Selection selection = pick(rule, view.posterior, {TaskOrder::Kind::pairs, {}}, {}, context);
  std::vector<char> used(1400, 0);
  for (const Choice& choice : selection.choices) EXPECT_FALSE(std::exchange(used[index(choice.worker)], 1));
  EXPECT_GE(selection.choices.size(), 1399U);  // everybody once; the last may be left with tasks that it knows
}

TEST(PairRule, KubeWithKnownAccuraciesPicksTheBestPerCost) {
  OpenCrowd crowd(12, 10, 6, 2);
  for (std::uint32_t& n : crowd.worker_answers) n = 2000000000;  // known: the bonus is nearly nothing
  CrowdView view = crowd.view();
  view.asked = {};
  std::vector<WorkerOffer> offers(6);
  for (std::size_t j = 0; j < 6; ++j) offers[j].cost = 1 + static_cast<double>(j) / 3;
  SelectionRequest request;
  request.offers = offers;
  request.pairs = 5;
  const RunContext context;
  const PairRule rule(view, request, {.rule = WorkerRule::kube}, context);
  std::vector<double> shares(2, 0);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t k = 0; k < 2; ++k) shares[k] += crowd.q(i)[k] / 10;
  }
  std::size_t best = 0;
  const auto index_of = [&](std::size_t j) {
    const auto table = crowd.table(j);
    return (shares[0] * table[0] + shares[1] * table[3]) / offers[j].cost;
  };
  for (std::size_t j = 1; j < 6; ++j) best = index_of(j) > index_of(best) ? j : best;
  const Selection selection =
      pick(rule, view.posterior, {TaskOrder::Kind::scores, std::vector<double>(10, 1)}, {}, context);
  for (const Choice& choice : selection.choices) EXPECT_EQ(index(choice.worker), best);
}

TEST(PairRule, OptimismTriesTheUnknownFirst) {
  OpenCrowd crowd(13, 5, 4, 2);
  crowd.worker_answers = {50, 0, 50, 50};
  CrowdView view = crowd.view();
  view.asked = {};
  SelectionRequest request;
  request.pairs = 5;
  const RunContext context;
  for (const WorkerRule which : {WorkerRule::ucb, WorkerRule::kube}) {
    const PairRule rule(view, request, {.rule = which}, context);
    const Selection selection =
        pick(rule, view.posterior, {TaskOrder::Kind::scores, std::vector<double>(5, 1)}, {}, context);
    for (const Choice& choice : selection.choices) EXPECT_EQ(index(choice.worker), 1U);
  }
}

}  // namespace
}  // namespace wisecrowd::selecting
