// Every learner on crowds over Gaussian features with a linear classifier (G7): experts who err independently (4.1),
// with naive juniors (4.2), with juniors who copy (4.3), good (H) and weak (L), and the crowd whose majority copies a
// coin (E.2). bench/quality/gaussian_page.py makes the page of it; alone: WISECROWD_SEEDS=10 wisecrowd_tests
// --gtest_filter=*GaussianSuite*

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <numeric>

#include "support/protocols.hpp"

namespace wisecrowd {
namespace {

using testing::FeatureCrowd;
using testing::PlannedWorker;

struct Case {
  std::string name;
  std::size_t classes = 2;
  double separation = 1.3;
  std::vector<PlannedWorker> workers;
  std::size_t most_seeds = 1000;
};

/// Ten experts of five classes who are right in 30 %, with 15 naive juniors (4.2) or 8 who copy the first or the third.
std::vector<PlannedWorker> five_class_workers(int which) {
  constexpr std::size_t kClasses = 5;
  std::vector<PlannedWorker> workers(10);
  for (PlannedWorker& worker : workers) {
    worker.table.assign(kClasses * kClasses, 0.7 / (kClasses - 1));
    for (std::size_t k = 0; k < kClasses; ++k) worker.table[k * kClasses + k] = 0.3;
  }
  std::vector<double> naive(kClasses * kClasses, 0.0);
  for (std::size_t k = 0; k < kClasses; ++k) naive[k * kClasses] = 1;
  for (int j = 0; which == 2 && j < 15; ++j) workers.push_back({naive, -1});
  for (int j = 0; which == 3 && j < 8; ++j) workers.push_back({{}, j < 4 ? 0 : 2});
  return workers;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char skill : {'H', 'L'}) {
    for (const int which : {1, 2, 3}) {
      all.push_back({fmt::format("{} 4.{}", skill, which), 2, 1.3, testing::max_mig_workers(skill, which)});
    }
  }
  for (const int which : {1, 2, 3})
    all.push_back({fmt::format("5-class 4.{}", which), 5, 2.5, five_class_workers(which)});
  // One who knows, and a hundred who all say what one coin said.
  Case coin{"E.2", 2, 3, {{{1, 0, 0, 1}, -1}, {{.5, .5, .5, .5}, -1}}, 3};
  for (int j = 1; j < 100; ++j) coin.workers.push_back({{}, 1});
  all.push_back(std::move(coin));
  const char* const only = std::getenv("WISECROWD_CASE");
  if (only != nullptr) std::erase_if(all, [&](const Case& one) { return one.name.find(only) == std::string::npos; });
  return all;
}

/// Answers to the test rows become answers to tasks of the test split: learners never train on those, but say what the
/// classifier and these answers together make of them.
void add_test_answers(FeatureCrowd& crowd) {
  const CategoryAnswers& old = crowd.data.crowd.answers;
  std::vector<CategoryAnswer> answers;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    for (auto a = old.task_offsets()[t]; a < old.task_offsets()[t + 1]; ++a) {
      answers.push_back({TaskId(t), old.workers()[a], old.labels()[a]});
    }
  }
  for (std::size_t i = 0; i < crowd.test_answers.size(); ++i) {
    for (const auto& [worker, label] : crowd.test_answers[i]) {
      answers.push_back({TaskId(crowd.tasks + i), WorkerId(worker), ClassId(label)});
    }
  }
  crowd.data.crowd.answers =
      make_category_answers(answers, {crowd.data.row_names, old.worker_names(), old.class_names()});
  crowd.data.row_of_task.resize(crowd.truth.size());
  std::iota(crowd.data.row_of_task.begin(), crowd.data.row_of_task.end(), 0U);
}

Learned run(const FeatureCrowd& crowd, const std::string& name,
            std::vector<std::pair<std::string, std::string>> settings, std::uint64_t seed) {
  for (const ParameterSpec& spec : learning_method(name).parameters) {
    if (spec.name == "learning_rate") settings.emplace_back(spec.name, "0.01");
  }
  return testing::run_learner(crowd.data, name, settings, {.kind = "linear"}, seed);
}

/// What stands in one row of the table.
struct Contestant {
  std::string name, learner;
  std::vector<std::pair<std::string, std::string>> settings;
  bool knows_truth = false;
};

std::vector<Contestant> contestants() {
  std::vector<Contestant> all{{"truth", "two_stage", {{"targets", "truth"}}, true}};
  for (const LearnerInfo& info : learning_methods()) {
    if (info.name != "two_stage") all.push_back({info.name, info.name, {}});
  }
  all.push_back({"two_stage_mv", "two_stage", {{"aggregator", "majority_vote"}}});
  all.push_back({"two_stage_ds", "two_stage", {{"aggregator", "dawid_skene"}}});
  all.push_back({"ccem_identity", "ccem", {{"start", "identity"}}});
  all.push_back({"max_mig_votes", "max_mig", {{"start", "votes"}}});
  return all;
}

using Means = std::map<std::string, testing::Spread>;

/// The thresholds of G7. `truth` is what training on the true labels gives.
void judge(const std::string& learner, const Means& test, const Means& with_answers, const Means& truth) {
  const auto mean = [](const Means& means, const char* name) { return means.at(name).mean; };
  if (learner == "max_mig" || learner == "auto_learner") {
    for (const char* name : {"H 4.1", "H 4.2", "H 4.3", "L 4.1", "L 4.2", "L 4.3"}) {
      EXPECT_GT(mean(test, name), mean(truth, name) - 0.01) << name;
      if (*name == 'H') {
        EXPECT_GT(mean(with_answers, name), mean(test, name)) << name;
      }
    }
  }
  if (learner == "raykar" || learner == "aggnet") {
    EXPECT_LT(mean(test, "H 4.3"), mean(test, "H 4.1") - 0.1);
  }
  if (learner == "crowd_layer") {
    EXPECT_LT(mean(test, "H 4.2"), 0.6);
    EXPECT_LT(mean(test, "L 4.2"), 0.6);
  }
}

class GaussianSuite : public ::testing::TestWithParam<Contestant> {};

TEST_P(GaussianSuite, Row) {
  if (testing::seeds(0) == 0) GTEST_SKIP() << "an experiment: say WISECROWD_SEEDS";
  const Contestant& contestant = GetParam();
  const bool beside_truth = contestant.learner == "max_mig" || contestant.learner == "auto_learner";
  Means test, with_answers, truth;
  for (const Case& one : cases()) {
    std::vector<double> alone, both, from_truth;
    double seconds = 0;
    for (std::uint64_t seed = 1; seed <= std::min(testing::seeds(0), one.most_seeds); ++seed) {
      FeatureCrowd crowd = testing::gaussian_crowd(seed, 3000, 5000, one.classes, one.separation, one.workers);
      add_test_answers(crowd);
      FeatureCrowd known = crowd;
      known.data.crowd.gold.assign(crowd.truth.size(), kNoClass);
      std::copy_n(crowd.truth.begin(), crowd.tasks, known.data.crowd.gold.begin());
      if (beside_truth) {
        from_truth.push_back(
            testing::test_accuracy(crowd, run(known, "two_stage", {{"targets", "truth"}}, seed).row_probabilities));
      }
      const std::clock_t begin = std::clock();
      const Learned learned =
          run(contestant.knows_truth ? known : crowd, contestant.learner, contestant.settings, seed);
      seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      alone.push_back(testing::test_accuracy(crowd, learned.row_probabilities));
      both.push_back(testing::test_accuracy(crowd, learned.crowd.posterior));
    }
    test[one.name] = testing::spread(alone);
    with_answers[one.name] = testing::spread(both);
    // For the page: contestant, case, seeds, mean and half a 99 % interval of the classifier, of both, seconds per
    // seed.
    fmt::print("suite;{};{};{};{:.4f};{:.4f};{:.4f};{:.4f};{:.2f}\n", contestant.name, one.name, alone.size(),
               test[one.name].mean, test[one.name].half, with_answers[one.name].mean, with_answers[one.name].half,
               seconds / static_cast<double>(alone.size()));
    std::fflush(stdout);
    if (beside_truth) truth[one.name] = testing::spread(from_truth);
  }
  if (std::getenv("WISECROWD_CASE") == nullptr) judge(contestant.name, test, with_answers, truth);
}

INSTANTIATE_TEST_SUITE_P(Experiment, GaussianSuite, ::testing::ValuesIn(contestants()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace wisecrowd
