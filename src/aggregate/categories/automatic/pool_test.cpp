#include "aggregate/categories/automatic/pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/rng.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

using automatic::Automatic;
using automatic::Options;

double learned(const CategoryFit& fit, const std::string& name) {
  for (const auto& [key, value] : fit.learned) {
    if (key == name) return value;
  }
  return -1;
}

double share_right(const CategoryFit& fit, const std::vector<ClassId>& truth) {
  double right = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) right += fit.labels[t] == truth[t] ? 1 : 0;
  return right / static_cast<double>(truth.size());
}

/// Hard tasks, on which everybody guesses, so that no model of workers fits; and workers who always say class 0.
struct Planted {
  CategoryData data;
  std::vector<ClassId> truth;
};
Planted hard_crowd(std::uint64_t seed, int constant_workers) {
  Rng rng(seed);
  Planted crowd;
  CategoryAnswersBuilder builder({"0", "1", "2"});
  for (int t = 0; t < 400; ++t) {
    const auto truth = static_cast<int>(rng.below(3));
    crowd.truth.push_back(ClassId(static_cast<std::uint16_t>(truth)));
    const bool hard = rng.bernoulli(0.3);
    const auto task = std::to_string(1000 + t);
    for (int w = 0; w < 8; ++w) {
      const int label = rng.bernoulli(hard ? 0.4 : 0.9) ? truth : static_cast<int>(rng.below(3));
      builder.add(task, "w" + std::to_string(100 + w), std::to_string(label));
    }
    for (int w = 0; w < constant_workers; ++w) builder.add(task, "x" + std::to_string(100 + w), "0");
  }
  crowd.data.answers = builder.build();
  return crowd;
}

TEST(Pool, IsToldWhatItIsMadeOf) {
  const auto fit = Automatic().fit(hard_crowd(4, 0).data, RunContext());
  ASSERT_EQ(learned(fit, "misfit"), 1);
  EXPECT_EQ(learned(fit, "pool_share"), 1);
  for (const char* member : {"hierarchical_dawid_skene", "mace", "worker_clusters", "wawa"}) {
    EXPECT_EQ(learned(fit, std::string("pool_") + member), 1) << member;
  }
  const double r = 8.0 / 3;
  EXPECT_NEAR(learned(fit, "answers_per_task_and_class"), r, 1e-12);
  EXPECT_NEAR(learned(fit, "pool_minimax_entropy"), r * r / 25, 1e-12);
  EXPECT_NEAR(learned(fit, "diversity"), 1, 0.05);
  EXPECT_EQ(learned(fit, "workers_set_aside"), 0);
  EXPECT_NE(fit.explanation.find("a pool of several: hierarchical_dawid_skene 1, mace 1"), std::string::npos)
      << fit.explanation;
  EXPECT_EQ(learned(Automatic(Options{.pool = false}).fit(hard_crowd(4, 0).data, RunContext()), "pool_share"), -1);
}

// The mean of its members, after classes that nobody chose were damped, done by hand.
TEST(Pool, IsTheMeanOfItsMembers) {
  const CategoryData data = hard_crowd(4, 0).data;
  const auto fit = Automatic(Options{.calibrate = false}).fit(data, RunContext());
  ASSERT_EQ(learned(fit, "pool_share"), 1);
  std::vector<double> sum(fit.posterior.size(), 0.0);
  double weights = 0;
  for (const char* member : {"hierarchical_dawid_skene", "mace", "worker_clusters", "wawa", "minimax_entropy"}) {
    const double weight = learned(fit, std::string("pool_") + member);
    weights += weight;
    const auto part = aggregate(data, member).posterior;
    for (std::uint32_t t = 0; t < fit.task_count; ++t) {
      std::set<std::size_t> said;
      for (const ClassId label : data.answers.labels_of(TaskId{t})) said.insert(index(label));
      std::array<double, 3> row{};
      double total = 0;
      for (std::size_t k = 0; k < 3; ++k) total += row[k] = part[t * 3 + k] * (said.contains(k) ? 1 : 0.1);
      for (std::size_t k = 0; k < 3; ++k) sum[t * 3 + k] += weight * row[k] / total;
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(fit.posterior[i], sum[i] / weights, 1e-9);
}

TEST(Pool, CalibrationChangesNoLabel) {
  for (const int constant : {0, 4}) {
    const CategoryData data = hard_crowd(5, constant).data;
    const auto plain = Automatic(Options{.calibrate = false}).fit(data, RunContext());
    const auto calibrated = Automatic().fit(data, RunContext());
    EXPECT_EQ(plain.labels, calibrated.labels);
    EXPECT_NE(plain.posterior, calibrated.posterior);
    for (std::uint32_t t = 0; t < plain.task_count; ++t) {
      const auto row = calibrated.posterior_of(TaskId{t});
      EXPECT_GE(row[index(calibrated.labels[t])] + 1e-9, *std::max_element(row.begin(), row.end()));
      double sum = 0;
      for (const double p : row) sum += p;
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  }
}

// Sixteen workers who always say 0 outvote eight who look.
TEST(Pool, ConstantWorkersAreSetAside) {
  const Planted crowd = hard_crowd(6, 16);
  const auto fit = Automatic().fit(crowd.data, RunContext({.threads = 2}));
  EXPECT_EQ(learned(fit, "workers_set_aside"), 16);
  EXPECT_NE(fit.explanation.find("16 workers who always say the same are set aside."), std::string::npos);
  const auto clean = Automatic().fit(hard_crowd(6, 0).data, RunContext());
  EXPECT_NEAR(share_right(fit, crowd.truth), share_right(clean, crowd.truth), 0.006);
  EXPECT_EQ(fit.confusion.size(), 24U * 9);
  const auto table = fit.confusion_of(WorkerId{23});  // says 0 whatever the truth
  for (std::size_t k = 0; k < 3; ++k) EXPECT_GT(table[k * 3], 0.99);
  for (const Warning& warning : fit.warnings) EXPECT_NE(warning.code, "silent_workers");
}

TEST(Pool, TasksOfConstantWorkersAloneAreLabelled) {
  Planted crowd = hard_crowd(7, 2);
  std::vector<CategoryAnswer> kept;
  const CategoryAnswers& all = crowd.data.answers;
  for (std::uint32_t t = 0; t < all.task_count(); ++t) {
    const auto workers = all.workers_of(TaskId{t});
    const auto labels = all.labels_of(TaskId{t});
    for (std::size_t a = 0; a < workers.size(); ++a) {
      if (t >= 5 || index(workers[a]) >= 8) kept.push_back({TaskId{t}, workers[a], labels[a]});
    }
  }
  crowd.data.answers = make_category_answers(kept, {all.task_names(), all.worker_names(), all.class_names()});
  const auto fit = Automatic().fit(crowd.data, RunContext());
  ASSERT_EQ(learned(fit, "workers_set_aside"), 2);
  for (std::uint32_t t = 0; t < 5; ++t) EXPECT_LT(fit.posterior[t * 3], 1) << "their word alone is no certainty";
}

// Six rules, each of which says one class or nothing: those for class 1 are right, of class 0 half.
TEST(Pool, RulesAreVotes) {
  Rng rng(8);
  CategoryAnswersBuilder builder({"0", "1"});
  std::vector<ClassId> truth;
  for (int t = 0; t < 600; ++t) {
    const bool one = rng.bernoulli(0.5);
    truth.push_back(ClassId(static_cast<std::uint16_t>(one ? 1 : 0)));
    const auto task = std::to_string(1000 + t);
    for (int w = 0; w < 3; ++w) {
      if (rng.bernoulli(one ? 0.6 : 0.05)) builder.add(task, "one" + std::to_string(w), "1");
      if (rng.bernoulli(one ? 0.1 : 0.5)) builder.add(task, "zero" + std::to_string(w), "0");
    }
    builder.add_task(task);
  }
  const CategoryData data{builder.build(), {}, {}};
  const auto fit = Automatic().fit(data, RunContext());
  EXPECT_EQ(fit.explanation.find("votes, and a little of"), 0U) << fit.explanation;
  EXPECT_EQ(learned(fit, "diversity"), 0);
  EXPECT_GT(share_right(fit, truth), 0.8);
}

}  // namespace
}  // namespace wisecrowd
