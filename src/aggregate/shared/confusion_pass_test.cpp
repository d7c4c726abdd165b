#include "aggregate/shared/confusion_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using Layout = ConfusionPass::Layout;

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
    std::vector<double> n(classes * scattered.stride()), m(n.size());
    for (std::size_t w = 0; w < 40; ++w) {
      scattered.take_counts(w, n.data());
      gathered.take_counts(w, m.data());
      for (std::size_t c = 0; c < n.size(); ++c) ASSERT_NEAR(n[c], m[c], 1e-3);
    }
    scattered.sweep_votes();
    gathered.sweep_votes();
    for (std::size_t w = 0; w < 40; ++w) {
      scattered.take_counts(w, n.data());
      gathered.take_counts(w, m.data());
      for (std::size_t c = 0; c < n.size(); ++c) ASSERT_NEAR(n[c], m[c], 1e-4);
    }
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
      std::vector<double> all, counts(3 * pass.stride());
      all.push_back(pass.sweep_votes().class_mass[1]);
      for (std::size_t w = 0; w < 50; ++w) {
        pass.take_counts(w, counts.data());
        all.insert(all.end(), counts.begin(), counts.end());
      }
      seen.push_back(std::move(all));
    }
    EXPECT_EQ(seen[0], seen[1]);
  }
}

/// Many workers with few answers each: the layout is chosen by size, and the counts of all answers are there.
TEST(ConfusionPass, ChoosesTheLayoutBySize) {
  std::vector<Answer> answers;
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
  const Dataset data{
      make_annotations(answers, {NameTable(tasks), NameTable(workers), NameTable(classes)}, DuplicatePolicy::repeat),
      {},
      {}};
  const RunContext context({.threads = 2});
  ConfusionPass pass(data, context);
  EXPECT_TRUE(pass.gathered());
  pass.sweep_votes();
  double sum = 0;
  std::vector<double> counts(10 * pass.stride());
  for (std::size_t w = 0; w < kWorkers; ++w) {
    pass.take_counts(w, counts.data());
    for (const double c : counts) sum += c;
  }
  EXPECT_NEAR(sum, 3.0 * kTasks, 1e-2);
}

}  // namespace
}  // namespace wisecrowd
