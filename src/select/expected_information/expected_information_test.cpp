#include "select/expected_information/expected_information.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/open_crowd.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::expected_information_selector {
namespace {

using testing::changed;
using testing::OpenCrowd;

TEST(ExpectedInformationSelector, GoldenValue) {
  const std::vector<double> table = {.7, .2, .1, .1, .8, .1, .2, .2, .6};
  EXPECT_NEAR(expected_information(std::vector<double>{.5, .3, .2}, table), .271246808889, 1e-12);
}

TEST(ExpectedInformationSelector, IsNeverNegativeAndZeroForSpammers) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> q(4), row(4), table(16);
    const std::vector<double> few(4, 0.5);
    rng.dirichlet(few, q);
    for (std::size_t k = 0; k < 4; ++k) rng.dirichlet(few, std::span(table).subspan(k * 4, 4));
    EXPECT_GE(expected_information(q, table), 0);
    rng.dirichlet(few, row);
    for (std::size_t cell = 0; cell < 16; ++cell) table[cell] = row[cell % 4];
    EXPECT_NEAR(expected_information(q, table), 0, 1e-14);  // rank one: the answer does not depend on the truth
  }
}

TEST(ExpectedInformationSelector, ValuesReliableAdversariesToo) {
  OpenCrowd crowd(2, 1, 2, 2);
  crowd.posterior = {.5, .5};
  crowd.counts = {60, 40, 40, 60, 5, 95, 95, 5};  // right in 60 %, wrong in 95 %
  CrowdView view = crowd.view();
  view.asked = {};
  SelectionRequest request;
  request.pairs = 1;
  const auto by = [&](const std::string& name, std::vector<std::pair<std::string, std::string>> changes) {
    return index(select(view, request, name, changed(name, std::move(changes)), RunContext()).choices.at(0).worker);
  };
  EXPECT_EQ(by("expected_information", {{"tables", "mean"}}), 1U);
  EXPECT_EQ(by("entropy", {{"worker", "accuracy"}}), 0U);
}

TEST(ExpectedInformationSelector, PriceCounts) {
  OpenCrowd crowd(2, 1, 2, 2);
  crowd.posterior = {.5, .5};
  crowd.counts = {80, 20, 20, 80, 90, 10, 10, 90};
  CrowdView view = crowd.view();
  view.asked = {};
  SelectionRequest request;
  request.pairs = 1;
  std::vector<WorkerOffer> offers = {{1, kUnlimited, true}, {3, kUnlimited, true}};
  const auto chosen = [&] {
    request.offers = offers;
    const auto parameters = changed("expected_information", {{"tables", "mean"}});
    return index(select(view, request, "expected_information", parameters, RunContext()).choices.at(0).worker);
  };
  EXPECT_EQ(chosen(), 0U);
  offers[1].cost = 1.2;
  EXPECT_EQ(chosen(), 1U);
}

TEST(ExpectedInformationSelector, TemperedPosteriorsAreFlatter) {
  const std::vector<double> q = {.8, .2, .5, .5};
  const auto half = tempered(q, 2, 0.5, RunContext());
  EXPECT_NEAR(half[0], std::sqrt(.8) / (std::sqrt(.8) + std::sqrt(.2)), 1e-12);
  EXPECT_NEAR(half[2], .5, 1e-12);
}

TEST(ExpectedInformationSelector, TempersWhatStandsOnAnEstimate) {
  OpenCrowd crowd(2, 1, 1, 2);
  crowd.posterior = {.9, .1};
  crowd.counts = {80, 20, 20, 80};
  CrowdView view = crowd.view();
  view.asked = {};
  const auto gain = [&](bool averaged, const std::string& temper) {
    view.posterior_is_averaged = averaged;
    const auto parameters = changed("expected_information", {{"temper", temper}, {"pilot", "0"}});
    return select(view, {}, "expected_information", parameters, RunContext()).choices.at(0).expected_gain;
  };
  const double plain = expected_information(crowd.q(0), crowd.table(0));
  const double flatter = expected_information(tempered(crowd.posterior, 2, 0.5, RunContext()), crowd.table(0));
  EXPECT_NEAR(gain(true, "0"), plain, 1e-12);
  EXPECT_NEAR(gain(false, "0"), flatter, 1e-12);
  EXPECT_NEAR(gain(true, "0.5"), flatter, 1e-12);
  EXPECT_NEAR(gain(false, "1"), plain, 1e-12);
}

TEST(ExpectedInformationSelector, AsksWhatTellsOfAWorkerWhoseWordIsInDoubt) {
  // Task 0 is open, and everybody has answered it who can. Task 1 is settled: worker 1 is the better one to ask, but
  // worker 0 has answered task 0, and how far to trust it decides there.
  OpenCrowd crowd(2, 2, 2, 2);
  crowd.posterior = {.5, .5, .99, .01};
  crowd.counts = {8, 2, 2, 8, 8.01, 2, 2, 8.01};
  CrowdView view = crowd.view();
  view.posterior_is_averaged = true;
  view.asked = [](TaskId task, WorkerId) { return index(task) == 0; };
  const std::vector<AnswerIndex> offsets = {0, 1, 1};
  const std::vector<WorkerId> workers = {WorkerId{0}};
  const std::vector<ClassId> labels = {ClassId{0}};
  const auto chosen = [&](const std::string& indirect) {
    const auto parameters = changed("expected_information", {{"indirect", indirect}, {"pilot", "0"}});
    return select(view, {}, "expected_information", parameters, RunContext()).choices.at(0);
  };
  EXPECT_EQ(chosen("1").worker, WorkerId{1}) << "who said what is not known";
  view.answers = {offsets, workers, labels};
  EXPECT_EQ(chosen("0").worker, WorkerId{1});
  EXPECT_EQ(chosen("1").worker, WorkerId{0});
  EXPECT_EQ(chosen("1").task, TaskId{1});
  EXPECT_GT(chosen("1").expected_gain, expected_information(crowd.q(1), crowd.table(0)));
}

TEST(ExpectedInformationSelector, RefusesAnswersThatDoNotFit) {
  const OpenCrowd crowd(2, 3, 2, 2);
  CrowdView view = crowd.view();
  const auto refused = [&](std::vector<AnswerIndex> offsets, unsigned worker, unsigned label) {
    const std::vector<WorkerId> workers = {WorkerId{worker}};
    const std::vector<ClassId> labels = {ClassId{static_cast<std::uint16_t>(label)}};
    view.answers = {offsets, workers, labels};
    try {
      (void)select(view, {}, "expected_information", changed("expected_information", {}), RunContext());
    } catch (const Error& error) {
      return error.code() == ErrorCode::bad_input;
    }
    return false;
  };
  EXPECT_FALSE(refused({0, 1, 1, 1}, 1, 1));
  EXPECT_TRUE(refused({0, 1}, 1, 1));
  EXPECT_TRUE(refused({0, 1, 1, 2}, 1, 1));
  EXPECT_TRUE(refused({0, 1, 0, 1}, 1, 1));
  EXPECT_TRUE(refused({0, 1, 1, 1}, 2, 1));
  EXPECT_TRUE(refused({0, 1, 1, 1}, 1, 2));
}

}  // namespace
}  // namespace wisecrowd::expected_information_selector
