#include "aggregate/categories/shared/confusion_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using Layout = ConfusionPass::Layout;

/// The counts of all workers, one after the other.
std::vector<double> taken_counts(ConfusionPass& pass) {
  const std::size_t cells = pass.class_count() * pass.stride();
  std::vector<double> all(pass.worker_count() * cells);
  pass.take_counts([&](std::size_t, std::size_t worker, const double* counts) {
    std::copy_n(counts, cells, all.begin() + static_cast<std::ptrdiff_t>(worker * cells));
  });
  return all;
}

/// Random tables, one sweep; both layouts must see the same posteriors, likelihood, masses and counts.
TEST(ConfusionPass, BothLayoutsAgree) {
  for (const std::size_t classes : {2U, 3U, 7U, 10U, 16U, 19U, 33U}) {
    auto crowd = testing::small_crowd(classes, 5000, 40, classes, 3);
    crowd.data.gold.assign(5000, kNoClass);
    for (std::size_t t = 0; t < 5000; t += 50) crowd.data.gold[t] = crowd.truth[t];
    const RunContext context({.threads = 2});
    ConfusionPass scattered(crowd.data, context, 2.0, Layout::scattered);
    ConfusionPass gathered(crowd.data, context, 2.0, Layout::gathered);
    EXPECT_FALSE(scattered.gathered());
    EXPECT_TRUE(gathered.gathered());
    Rng rng(3);
    const std::vector<double> flat(classes, 1.0);
    std::vector<double> draw(classes), rows(classes * scattered.stride(), 0.0), log_prior(classes);
    for (std::size_t w = 0; w < 40; ++w) {
      for (std::size_t k = 0; k < classes; ++k) {
        rng.dirichlet(flat, draw);
        for (std::size_t l = 0; l < classes; ++l) rows[l * scattered.stride() + k] = std::log(draw[l]);
      }
      scattered.set_log_rows(w, rows.data());
      gathered.set_log_rows(w, rows.data());
    }
    rng.dirichlet(flat, draw);
    for (std::size_t k = 0; k < classes; ++k) log_prior[k] = std::log(draw[k]);
    scattered.set_log_prior(log_prior);
    gathered.set_log_prior(log_prior);

    std::vector<double> one(5000 * classes), other(one.size());
    const auto a = scattered.sweep(true, one);
    const auto b = gathered.sweep(true, other);
    EXPECT_NEAR(a.log_likelihood, b.log_likelihood, 1e-8 * std::abs(a.log_likelihood));
    EXPECT_NEAR(a.answered_tasks, b.answered_tasks, 1e-9 * a.answered_tasks);
    for (std::size_t e = 0; e < one.size(); ++e) ASSERT_NEAR(one[e], other[e], 1e-5);
    const auto expect_same_counts = [&](double tolerance) {
      const auto n = taken_counts(scattered), m = taken_counts(gathered);
      for (std::size_t c = 0; c < n.size(); ++c) ASSERT_NEAR(n[c], m[c], tolerance);
    };
    expect_same_counts(1e-3);
    scattered.sweep_votes();
    gathered.sweep_votes();
    expect_same_counts(1e-4);
  }
}

/// Counts are sums over a worker's answers, whoever adds them.
TEST(ConfusionPass, ThreadsDoNotChangeABit) {
  const auto crowd = testing::small_crowd(1, 30000, 50, 3, 3);
  for (const Layout layout : {Layout::scattered, Layout::gathered}) {
    std::vector<std::vector<double>> seen;
    for (const unsigned threads : {1U, 3U}) {
      const RunContext context({.threads = threads});
      ConfusionPass pass(crowd.data, context, 1.0, layout);
      const double mass = pass.sweep_votes().class_mass[1];
      seen.push_back(taken_counts(pass));
      seen.back().push_back(mass);
    }
    EXPECT_EQ(seen[0], seen[1]);
  }
}

/// A worker with more answers than single precision can add up exactly.
TEST(ConfusionPass, GatheredCountsOfABusyWorker) {
  std::vector<CategoryAnswer> answers;
  constexpr std::uint32_t kTasks = 60000;
  for (std::uint32_t t = 0; t < kTasks; ++t) {
    answers.push_back({TaskId{t}, WorkerId{1}, ClassId{static_cast<std::uint16_t>(t % 2)}});
    answers.push_back({TaskId{t}, WorkerId{t % 10 == 0 ? 0U : 2U}, ClassId{0}});
  }
  const std::vector<std::string> tasks(kTasks), workers(3);
  const std::vector<std::string> classes = {"a", "b", "c"};
  const CategoryData data{make_category_answers(answers, {NameTable(tasks), NameTable(workers), NameTable(classes)},
                                                DuplicatePolicy::repeat),
                          {},
                          {}};
  const RunContext context({.threads = 2});
  ConfusionPass pass(data, context, 1.0, Layout::gathered);
  EXPECT_EQ(pass.worker_blocks(), 3U);
  pass.sweep_votes();
  const auto counts = taken_counts(pass);
  const std::size_t cells = 3 * pass.stride();
  EXPECT_NEAR(counts[cells + 0], 30000, 1e-9);              // says a: truth a by both votes
  EXPECT_NEAR(counts[cells + pass.stride()], 15000, 1e-9);  // says b: half the vote is for a
  EXPECT_NEAR(counts[cells + pass.stride() + 1], 15000, 1e-9);
  EXPECT_NEAR(counts[0], 6000 * 1.0, 1e-9);
}

/// Many workers with few answers each: the layout is chosen by size, and the counts of all answers are there.
TEST(ConfusionPass, ChoosesTheLayoutBySize) {
  std::vector<CategoryAnswer> answers;
  constexpr std::uint32_t kTasks = 20000, kWorkers = 60000;
  Rng rng(2);
  for (std::uint32_t t = 0; t < kTasks; ++t) {
    for (int r = 0; r < 3; ++r) {
      answers.push_back({TaskId{t}, WorkerId{static_cast<std::uint32_t>(rng.below(kWorkers))},
                         ClassId{static_cast<std::uint16_t>(rng.below(10))}});
    }
  }
  std::vector<std::string> classes;
  for (int k = 0; k < 10; ++k) classes.push_back(std::to_string(k));
  const std::vector<std::string> tasks(kTasks), workers(kWorkers);
  const CategoryData data{make_category_answers(answers, {NameTable(tasks), NameTable(workers), NameTable(classes)},
                                                DuplicatePolicy::repeat),
                          {},
                          {}};
  const RunContext context({.threads = 2});
  ConfusionPass pass(data, context);
  EXPECT_TRUE(pass.gathered());
  pass.sweep_votes();
  double sum = 0;
  for (const double c : taken_counts(pass)) sum += c;
  EXPECT_NEAR(sum, 3.0 * kTasks, 1e-2);
}

}  // namespace
}  // namespace wisecrowd
