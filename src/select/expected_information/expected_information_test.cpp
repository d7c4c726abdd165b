#include "select/expected_information/expected_information.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/open_crowd.hpp"

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

}  // namespace
}  // namespace wisecrowd::expected_information_selector
