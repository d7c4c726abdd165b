#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>

#include "base/rng.hpp"
#include "support/learning.hpp"

namespace wisecrowd {
namespace {

using testing::FeatureCrowd;
using testing::gaussian_crowd;

/// Every line of learners.def runs through this.
class EveryLearner : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const LearnerInfo& info() const { return learning_method(GetParam()); }
  [[nodiscard]] NetworkSpec network() const {
    return info().linear_only ? NetworkSpec{.kind = "linear"}
                              : NetworkSpec{.kind = "mlp", .hidden = 16, .dropout = 0.2};
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> quick() const {
    std::vector<std::pair<std::string, std::string>> settings;
    for (const ParameterSpec& spec : info().parameters) {
      if (spec.name == "epochs") settings.emplace_back("epochs", "4");
    }
    return settings;
  }
  [[nodiscard]] Learned run(const LearningData& data, std::uint64_t seed = 1, unsigned threads = 1) const {
    return testing::run_learner(data, GetParam(), quick(), network(), seed, threads);
  }
};

FeatureCrowd ordinary(std::uint64_t seed = 5) {
  return gaussian_crowd(
      seed, 120, 40, 2, 1.5,
      {{{.8, .2, .2, .8}, -1}, {{.7, .3, .1, .9}, -1}, {{.6, .4, .4, .6}, -1}, {{.9, .1, .3, .7}, -1}}, 0.7);
}

void expect_whole(const Learned& learned, const LearningData& data) {
  const std::size_t classes = data.crowd.answers.class_count(), tasks = data.crowd.answers.task_count();
  ASSERT_EQ(learned.row_probabilities.size(), data.features.rows * classes);
  ASSERT_EQ(learned.final_row_probabilities.size(), data.features.rows * classes);
  ASSERT_EQ(learned.crowd.posterior.size(), tasks * classes);
  ASSERT_EQ(learned.final_posterior.size(), tasks * classes);
  ASSERT_EQ(learned.crowd.labels.size(), tasks);
  const auto sums_to_one = [&](const std::vector<double>& rows) {
    for (std::size_t r = 0; r < rows.size() / classes; ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        EXPECT_GE(rows[r * classes + k], 0);
        sum += rows[r * classes + k];
      }
      EXPECT_NEAR(sum, 1, 1e-9);
    }
  };
  sums_to_one(learned.row_probabilities);
  sums_to_one(learned.final_row_probabilities);
  sums_to_one(learned.crowd.posterior);
  sums_to_one(learned.final_posterior);
  if (!learned.crowd.confusion.empty()) {
    EXPECT_EQ(learned.crowd.confusion.size(), data.crowd.answers.worker_count() * classes * classes);
    sums_to_one(learned.crowd.confusion);
  }
  EXPECT_EQ(learned.crowd.class_prior.size(), classes);
  if (!learned.answer_reliability.empty()) {
    EXPECT_EQ(learned.answer_reliability.size(), data.crowd.answers.answer_count());
  }
  EXPECT_GE(learned.chosen_epoch, 1U);
  EXPECT_LE(learned.chosen_epoch, learned.epochs);
}

TEST_P(EveryLearner, SaysWhatItIs) {
  EXPECT_FALSE(info().title.empty());
  EXPECT_FALSE(info().summary.empty());
  EXPECT_FALSE(info().when_to_use.empty());
  EXPECT_FALSE(info().reference.empty());
  EXPECT_FALSE(info().assumptions.empty());
  EXPECT_FALSE(info().cost.empty());
  for (const ParameterSpec& spec : info().parameters) EXPECT_FALSE(spec.help.empty()) << spec.name;
}

TEST_P(EveryLearner, GivesAWholeResultThatLearnedSomething) {
  const FeatureCrowd crowd = ordinary();
  const Learned learned = run(crowd.data);
  expect_whole(learned, crowd.data);
  EXPECT_GT(testing::task_accuracy(crowd, learned.crowd.posterior), 0.6);
}

TEST_P(EveryLearner, TheClassifierSaysWhatTheResultSays) {
  const FeatureCrowd crowd = ordinary();
  const Learned learned = run(crowd.data);
  ASSERT_TRUE(learned.classifier);
  const std::vector<double> again = learned.classifier->predict(crowd.data.features, RunContext({.threads = 1}));
  ASSERT_EQ(again.size(), learned.row_probabilities.size());
  for (std::size_t cell = 0; cell < again.size(); ++cell) {
    EXPECT_NEAR(again[cell], learned.row_probabilities[cell], 1e-6);
  }
}

/// The same features with the zeros left out.
Features as_sparse(const Features& dense) {
  Features sparse;
  sparse.rows = dense.rows;
  sparse.shape = dense.shape;
  sparse.offsets = {0};
  for (std::size_t r = 0; r < dense.rows; ++r) {
    for (std::size_t c = 0; c < dense.columns(); ++c) {
      if (dense.row(r)[c] < 0) continue;  // some must be missing
      sparse.indices.push_back(static_cast<std::uint32_t>(c));
      sparse.values.push_back(dense.row(r)[c]);
    }
    sparse.offsets.push_back(sparse.indices.size());
  }
  return sparse;
}

/// A model that was saved and read back gives answered rows the posterior that learn gave them: of tasks whose answers
/// were not learned from, and of the others too, unless a learner knows more of these than its tables.
TEST_P(EveryLearner, ASavedModelKeepsWhatItKnowsOfTheWorkers) {
  FeatureCrowd crowd = gaussian_crowd(6, 150, 20, 3, 1.5,
                                      {{{.8, .1, .1, .2, .7, .1, .1, .3, .6}, -1},
                                       {{.6, .2, .2, .1, .8, .1, .3, .3, .4}, -1},
                                       {{.7, .2, .1, .1, .6, .3, .0, .2, .8}, -1},
                                       {{.4, .3, .3, .3, .5, .2, .2, .2, .6}, -1}},
                                      0.7);
  for (std::size_t t = 110; t < 150; ++t) crowd.data.split[t] = Split::test;
  const CategoryAnswers& answers = crowd.data.crowd.answers;
  const RunContext context({.threads = 1});
  const auto folder =
      std::filesystem::temp_directory_path() / ("wisecrowd_memory_" + GetParam() + std::to_string(getpid()));
  for (const bool sparse : {false, true}) {
    if (sparse) crowd.data.features = as_sparse(crowd.data.features);
    const Learned learned = run(crowd.data);
    std::filesystem::create_directories(folder);
    learned.classifier->save(folder.string());
    const auto model = load_classifier(folder.string(), context);
    std::filesystem::remove_all(folder);
    EXPECT_EQ(why_no_workers(*model).empty(), GetParam() != "doctor_net") << why_no_workers(*model);
    if (!why_no_workers(*model).empty()) {
      EXPECT_THROW((void)posterior(*model, crowd.data.features, {}, context), Error);
      EXPECT_THROW((void)reliability(*model, crowd.data.features, {}, context), Error);
      continue;
    }
    const MatchedAnswers matched = match_answers(*model, answers, crowd.data.row_names);
    EXPECT_TRUE(matched.unknown_tasks.empty() && matched.unknown_workers.empty());
    EXPECT_EQ(matched.answers.size(), answers.answer_count());
    const std::vector<double> found = posterior(*model, crowd.data.features, matched.answers, context);
    for (std::size_t t = GetParam() == "deep_bp" ? 110 : 0; t < 150; ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(found[t * 3 + k], learned.crowd.posterior[t * 3 + k], 1e-9) << t << (sparse ? " sparse" : "");
      }
    }
    std::vector<RowWorker> pairs;
    for (const RowAnswer& answer : matched.answers) pairs.push_back({answer.row, answer.worker});
    const std::vector<double> eta = reliability(*model, crowd.data.features, pairs, context);
    for (std::size_t a = 0; a < eta.size(); ++a) {
      EXPECT_TRUE(eta[a] >= 0 && eta[a] <= 1);
      if (!learned.answer_reliability.empty()) EXPECT_NEAR(eta[a], learned.answer_reliability[a], 1e-6) << a;
    }
  }
}

TEST_P(EveryLearner, SameSeedSameBitsForAnyNumberOfThreads) {
  const FeatureCrowd crowd = ordinary();
  const Learned one = run(crowd.data, 3, 1), again = run(crowd.data, 3, 1), two = run(crowd.data, 3, 2);
  EXPECT_EQ(one.row_probabilities, again.row_probabilities);
  EXPECT_EQ(one.crowd.posterior, again.crowd.posterior);
  EXPECT_EQ(one.row_probabilities, two.row_probabilities);
  EXPECT_EQ(one.crowd.posterior, two.crowd.posterior);
  EXPECT_EQ(one.crowd.confusion, two.crowd.confusion);
}

TEST_P(EveryLearner, SameBitsForAnyOrderOfRows) {
  const FeatureCrowd crowd = ordinary();
  const CategoryAnswers& answers = crowd.data.crowd.answers;
  const auto offsets = answers.task_offsets();
  std::vector<std::pair<std::size_t, AnswerIndex>> rows;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) rows.emplace_back(t, a);
  }
  // As read_learning_data does: rows are found by the names of tasks.
  const auto as_read = [&] {
    CategoryAnswersBuilder builder;
    for (const auto& [t, a] : rows) {
      builder.add(answers.task_names()[t], answers.worker_names()[index(answers.workers()[a])],
                  answers.class_names()[index(answers.labels()[a])]);
    }
    LearningData data = crowd.data;
    data.crowd.answers = builder.build();
    data.row_of_task.clear();
    for (std::size_t t = 0; t < data.crowd.answers.task_count(); ++t) {
      const auto name = data.crowd.answers.task_names()[t];
      for (std::uint32_t row = 0; row < data.row_names.size(); ++row) {
        if (data.row_names[row] == name) data.row_of_task.push_back(row);
      }
    }
    return data;
  };
  const Learned expected = run(as_read());
  Rng rng(16);
  for (int shuffle = 0; shuffle < 2; ++shuffle) {
    rng.shuffle(std::span(rows));
    const Learned learned = run(as_read());
    EXPECT_EQ(learned.crowd.labels, expected.crowd.labels);
    EXPECT_EQ(learned.crowd.posterior, expected.crowd.posterior);
    EXPECT_EQ(learned.row_probabilities, expected.row_probabilities);
  }
}

TEST_P(EveryLearner, TinyAndOddCrowds) {
  using Workers = std::vector<testing::PlannedWorker>;
  const Workers one{{{.8, .2, .2, .8}, -1}};
  const Workers silent{{{.8, .2, .2, .8}, -1}, {{.5, .5, .5, .5}, -1}};
  std::vector<FeatureCrowd> crowds;
  crowds.push_back(gaussian_crowd(1, 1, 0, 2, 1, one));                    // one task
  crowds.push_back(gaussian_crowd(1, 30, 5, 2, 1, one));                   // one worker
  crowds.push_back(gaussian_crowd(1, 30, 5, 2, 1, {{{1, 0, 1, 0}, -1}}));  // one class is never said
  crowds.push_back(gaussian_crowd(1, 40, 0, 2, 1, silent, 0.1));           // tasks and perhaps workers without answers
  for (FeatureCrowd& crowd : crowds) expect_whole(run(crowd.data), crowd.data);
  // Tasks without features, tasks of the test split, features that never change.
  FeatureCrowd crowd = ordinary();
  for (std::size_t t = 0; t < 10; ++t) crowd.data.row_of_task[t] = kNoRow;
  for (std::size_t t = 10; t < 20; ++t) crowd.data.split[t] = Split::test;
  for (std::size_t r = 0; r < crowd.data.features.rows; ++r) crowd.data.features.dense[r * 2 + 1] = 7;
  expect_whole(run(crowd.data), crowd.data);
}

TEST_P(EveryLearner, NothingToLearnFromIsSaid) {
  FeatureCrowd crowd = ordinary();
  std::fill(crowd.data.row_of_task.begin(), crowd.data.row_of_task.end(), kNoRow);
  EXPECT_THROW((void)run(crowd.data), Error);
}

/// Steps far too large end in a state that was finite, with a warning, or in an error that tells what to lower; never
/// in numbers that look like a result.
TEST_P(EveryLearner, StepsThatAreTooLargeAreSaid) {
  const auto has = [&](const char* name) {
    return std::any_of(info().parameters.begin(), info().parameters.end(),
                       [&](const ParameterSpec& spec) { return spec.name == name; });
  };
  for (const float scale : {1.0F, 1e4F, 1e30F}) {
    FeatureCrowd crowd = ordinary();
    for (float& value : crowd.data.features.dense) value *= scale;
    auto settings = quick();
    if (has("optimizer")) settings.emplace_back("optimizer", "sgd");
    if (has("learning_rate")) settings.emplace_back("learning_rate", "100");
    if (has("worker_learning_rate")) settings.emplace_back("worker_learning_rate", "100");
    if (scale != 1) settings.emplace_back("standardise", "false");
    try {
      const Learned learned = testing::run_learner(crowd.data, GetParam(), settings, network(), 1);
      expect_whole(learned, crowd.data);
      EXPECT_EQ(learned.curve.size(), learned.epochs);
      for (const CurvePoint& point : learned.curve) EXPECT_TRUE(std::isfinite(point.objective));
      const bool warned = std::any_of(
          learned.crowd.warnings.begin(), learned.crowd.warnings.end(),
          [](const Warning& w) { return w.code == "training_diverged" || w.code == "no_better_than_guessing"; });
      // Raykar takes no steps and hides nothing.
      const double predicted = has("held_out") ? learned.curve[learned.chosen_epoch - 1].held_out : 0;
      EXPECT_TRUE(warned || predicted > -std::log(2)) << scale << ": no better than guessing, and no warning";
      EXPECT_TRUE(learned.epochs == 4 || warned || !has("epochs")) << scale;
      EXPECT_NO_THROW((void)learned.classifier->predict(crowd.data.features, RunContext({.threads = 1})));
    } catch (const Diverged& error) {
      const std::string said = error.what();
      EXPECT_TRUE(said.find("lower learning_rate") != std::string::npos ||
                  said.find("set standardise=true") != std::string::npos)
          << said;
    }
  }
}

TEST_P(EveryLearner, CancelledGivesAWholeResult) {
  const FeatureCrowd crowd = ordinary();
  std::atomic<bool> cancel{true};
  Parameters parameters(info().parameters);
  const Learned learned =
      learn(crowd.data, GetParam(), parameters, network(), RunContext({.seed = 1, .threads = 1, .cancel = &cancel}));
  EXPECT_EQ(learned.crowd.status, Status::cancelled);
  EXPECT_EQ(learned.crowd.posterior.size(), crowd.data.crowd.answers.task_count() * 2);
}

TEST_P(EveryLearner, GoldIsPinnedOrRefused) {
  FeatureCrowd crowd = ordinary();
  crowd.data.crowd.gold.assign(crowd.data.crowd.answers.task_count(), kNoClass);
  for (std::size_t t = 0; t < 30; ++t) crowd.data.crowd.gold[t] = crowd.truth[t];
  if (!info().uses_gold) {
    EXPECT_THROW((void)run(crowd.data), Error);
    return;
  }
  const Learned learned = run(crowd.data);
  expect_whole(learned, crowd.data);
  for (std::size_t t = 0; t < 30; ++t) EXPECT_EQ(learned.crowd.labels[t], crowd.truth[t]);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const LearnerInfo& info : learning_methods()) all.push_back(info.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryLearner, ::testing::ValuesIn(names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace wisecrowd
