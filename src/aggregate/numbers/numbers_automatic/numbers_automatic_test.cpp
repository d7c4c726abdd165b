#include "aggregate/numbers/numbers_automatic/numbers_automatic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/evaluate_numbers.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/simulate_numbers.hpp"

namespace wisecrowd {
namespace {

using numbers_automatic::calibrated;
using numbers_automatic::choose;
using numbers_automatic::NumbersAutomatic;

TEST(NumbersAutomatic, ValuesAreExpectedAsOftenAsTheyAreAnswered) {
  // Two kinds of rows; a density that puts too little on the last value, which is answered most.
  std::vector<double> log_density;
  std::vector<std::uint32_t> answered;
  for (int i = 0; i < 60; ++i) {
    const double off = i % 2 == 0 ? 0.0 : 1.0;
    for (const double value : {0.0, 1.0, 5.0}) log_density.push_back(-(value - off) * (value - off));
    answered.push_back(i % 3 == 0 ? static_cast<std::uint32_t>(i % 2) : 2U);
  }
  const auto logs = calibrated(log_density, answered, 3);
  double last = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) last += answered[i] == 2 ? std::exp(logs[i]) : 0;
  EXPECT_NEAR(last / 40, 40.0 / 60, 0.05);
  // A factor by value, and one by row, change nothing.
  std::vector<double> other = log_density;
  for (std::size_t i = 0; i < other.size(); ++i) other[i] += (i % 3 == 1 ? 4.0 : 0.0) + static_cast<double>(i / 3 % 7);
  const auto again = calibrated(other, answered, 3);
  for (std::size_t i = 0; i < logs.size(); ++i) EXPECT_NEAR(logs[i], again[i], 1e-2);
}

NumberData crowd(const char* bias, const char* spread) {
  Parameters parameters(number_simulation_parameters());
  parameters.set("bias", bias);
  parameters.set("noise_spread", spread);
  return {simulate_numbers({.tasks = 400, .workers = 20, .answers_per_task = 5, .dimensions = 1}, parameters,
                           RunContext({.seed = 2}))
              .data.answers,
          {}};
}

TEST(NumbersAutomatic, LikeWorkersGetASimpleMethodAndUnlikeOnesAModel) {
  const auto alike = choose(crowd("0", "0"), {}, RunContext());
  EXPECT_EQ(alike.method, "mean") << alike.explanation;
  const auto unlike = choose(crowd("5", "1"), {}, RunContext());
  EXPECT_EQ(unlike.method, "gaussian_em") << unlike.explanation;
}

TEST(NumbersAutomatic, HeavyTailsGetTheMedianOrStudentsErrors) {
  Rng rng(4);
  NumberAnswersBuilder builder;
  for (int t = 0; t < 400; ++t) {
    const double truth = 10 * rng.normal();
    for (int w = 0; w < 5; ++w) {
      const double wild = rng.uniform() < 0.1 ? 100 * rng.normal() : 0;
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), truth + rng.normal() + wild);
    }
  }
  const auto choice = choose({builder.build(), {}}, {}, RunContext());
  EXPECT_TRUE(choice.method == "median" || choice.method == "student_em") << choice.explanation;
}

TEST(NumbersAutomatic, IsTheMethodThatItChooses) {
  const NumberData data = crowd("5", "1");
  const NumberFit fit = NumbersAutomatic().fit(data, RunContext());
  const NumberFit chosen = aggregate(data, "gaussian_em");
  EXPECT_EQ(fit.estimate, chosen.estimate);
  EXPECT_EQ(fit.deviation, chosen.deviation);
  EXPECT_NE(fit.explanation.find("gaussian_em"), std::string::npos);
  EXPECT_EQ(fit.learned.size(), 4U);
}

TEST(NumbersAutomatic, WithoutSecondAnswersItIsTheMedian) {
  NumberAnswersBuilder builder;
  builder.add("a", "u", 1).add("b", "v", 2);
  EXPECT_EQ(choose({builder.build(), {}}, {}, RunContext()).method, "median");
}

/// The bars on real crowds; gold is only looked at here.
TEST(NumbersAutomatic, RealSets) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const RunContext context({.threads = 2});
  const auto read = [&](const std::string& set) {
    const std::string folder = *root + "/regression/" + set;
    return read_numbers(folder + "/labels.csv", folder + "/gold.csv", {}, context, nullptr);
  };
  const auto score = [&](const NumberData& data, const char* method) {
    const NumberFit fit =
        aggregate(NumberData{data.answers, {}}, method, Parameters(method_of<Numbers>(method).parameters), context);
    return evaluate_numbers(fit.estimate, fit.low, fit.high, data.gold, 1).dimensions[0];
  };
  EXPECT_LE(score(read("age"), "numbers_automatic").squared_error.value, 5.67);              // the mean: 5.915
  EXPECT_LE(score(read("movie_reviews"), "numbers_automatic").absolute_error.value, .0420);  // the mean: .0607
  const NumberData emotion = read("emotion");
  for (const std::string scale : {"anger", "disgust", "fear", "joy", "sadness", "surprise", "valence"}) {
    NumberAnswersBuilder builder;
    for (std::size_t t = 0; t < emotion.answers.task_count(); ++t) {
      const std::string task(emotion.answers.task_names()[t]);
      if (!task.starts_with(scale)) continue;
      for (AnswerIndex a = emotion.answers.task_offsets()[t]; a < emotion.answers.task_offsets()[t + 1]; ++a) {
        builder.add(task, emotion.answers.worker_names()[index(emotion.answers.workers()[a])],
                    emotion.answers.value(a));
      }
    }
    NumberData data{builder.build(), {}};
    for (std::size_t t = 0; t < emotion.answers.task_count(); ++t) {
      if (emotion.answers.task_names()[t].starts_with(scale)) data.gold.push_back(emotion.gold[t]);
    }
    const double better = std::min(score(data, "mean").squared_error.value, score(data, "median").squared_error.value);
    EXPECT_LE(score(data, "numbers_automatic").squared_error.value, 1.01 * better) << scale;
  }
}

TEST(NumbersAutomatic, LargeDataAreJudgedByASample) {
  const NumberData data = crowd("5", "1");
  const auto few = choose(data, {.most_answers = 500}, RunContext());
  EXPECT_FALSE(few.method.empty());
}

}  // namespace
}  // namespace wisecrowd
