#include "aggregate/categories/group_dawid_skene/group_dawid_skene.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd::group_dawid_skene {
namespace {

/// Workers 0 … size − 1 follow one hidden answer, which is right in 60 %; six more are right in 75 %.
struct TwoSides {
  CategoryData data;
  std::vector<ClassId> truth;
};

TwoSides crowd_with_a_group(std::size_t size, std::uint64_t seed, int tasks = 400) {
  Rng rng(seed);
  CategoryAnswersBuilder builder({"a", "b", "c"});
  TwoSides crowd;
  for (int t = 0; t < tasks; ++t) {
    const auto truth = rng.below(3);
    const auto draw = [&](double right, std::uint64_t of) {
      return rng.bernoulli(right) ? of : (of + 1 + rng.below(2)) % 3;
    };
    const auto hidden = draw(0.6, truth);
    crowd.truth.push_back(ClassId(static_cast<std::uint16_t>(truth)));
    for (std::size_t w = 0; w < size + 6; ++w) {
      const auto said = w < size ? draw(0.95, hidden) : draw(0.75, truth);
      builder.add("t" + std::to_string(1000 + t), "w" + std::to_string(10 + w),
                  std::string(1, static_cast<char>('a' + said)));
    }
  }
  crowd.data.answers = builder.build();
  return crowd;
}

std::vector<std::uint32_t> first_together(std::size_t size, std::size_t workers) {
  std::vector<std::uint32_t> voices(workers, 0);
  for (std::size_t w = size; w < workers; ++w) voices[w] = static_cast<std::uint32_t>(w);
  return voices;
}

double share_right(const CategoryFit& fit, std::span<const ClassId> truth) {
  double right = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) right += fit.labels[t] == truth[t] ? 1 : 0;
  return right / static_cast<double>(truth.size());
}

TEST(GroupDawidSkene, ObjectiveNeverFalls) {
  TwoSides crowd = crowd_with_a_group(8, 1);
  crowd.data.worker_groups = first_together(8, 14);
  const CategoryFit fit = GroupDawidSkene().fit(crowd.data, RunContext());
  ASSERT_GT(fit.trace.size(), 3U);
  for (std::size_t i = 1; i < fit.trace.size(); ++i)
    EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-9 * std::abs(fit.trace[i]));
}

TEST(GroupDawidSkene, SingleWorkersAreDawidAndSkenes) {
  const TwoSides crowd = crowd_with_a_group(4, 2);
  CategoryData alone = crowd.data;
  alone.worker_groups.resize(10);
  std::iota(alone.worker_groups.begin(), alone.worker_groups.end(), 0U);
  Options options;
  options.em = {.smoothing = 0.01, .more_on_diagonal = 0, .max_iterations = 2000, .tolerance = 1e-12};
  const CategoryFit groups = GroupDawidSkene(options).fit(alone, RunContext());
  Parameters parameters(aggregation_method("dawid_skene").parameters);
  parameters.set("max_iterations", "2000");
  parameters.set("tolerance", "1e-9");
  const CategoryFit plain = aggregate(crowd.data, "dawid_skene", parameters, RunContext());
  for (std::size_t i = 0; i < plain.posterior.size(); ++i) EXPECT_NEAR(groups.posterior[i], plain.posterior[i], 2e-3);
}

TEST(GroupDawidSkene, AGroupIsOneVoice) {
  const TwoSides crowd = crowd_with_a_group(12, 3, 1500);
  CategoryData grouped = crowd.data;
  grouped.worker_groups = first_together(12, 18);
  const RunContext context;
  const double once = share_right(GroupDawidSkene().fit(grouped, context), crowd.truth);
  const double often = share_right(
      aggregate(crowd.data, "dawid_skene", Parameters(aggregation_method("dawid_skene").parameters), context),
      crowd.truth);
  EXPECT_GT(once, often + 0.1);
  EXPECT_GT(once, 0.85);
}

/// The same EM, slowly: for every task all combinations of the truth and of the hidden answers of two groups.
struct SlowModel {
  const CategoryAnswers& answers;
  std::array<std::vector<std::size_t>, 2> groups;
  std::vector<double> q;                         // tasks × 3
  std::vector<std::array<double, 27>> together;  // per task: truth × hidden × hidden
  std::vector<double> tables = std::vector<double>(27 * 30), xi = std::vector<double>(18),
                      prior = std::vector<double>(3);

  int group_of(std::size_t worker) const {
    for (int g = 0; g < 2; ++g) {
      for (const std::size_t member : groups[static_cast<std::size_t>(g)]) {
        if (member == worker) return g;
      }
    }
    return -1;
  }
  static double smooth(std::size_t row, std::size_t column) { return 0.2 + (row == column ? 0.4 : 0); }
  static void normalise_row(double* row) {
    const double sum = row[0] + row[1] + row[2];
    for (int l = 0; l < 3; ++l) row[l] /= sum;
  }
  /// Of the truth (part 0) and of the hidden answers (parts 1 and 2).
  static std::size_t part(std::size_t combination, int which) {
    return which == 0 ? combination / 9 : which == 1 ? combination / 3 % 3 : combination % 3;
  }

  void begin() {
    for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
      std::array<double, 3> vote{0.05, 0.05, 0.05};
      std::array<std::array<double, 3>, 2> said{};
      for (std::size_t a = 0; a < answers.workers_of(TaskId{t}).size(); ++a) {
        const int g = group_of(index(answers.workers_of(TaskId{t})[a]));
        (g < 0 ? vote : said[static_cast<std::size_t>(g)])[index(answers.labels_of(TaskId{t})[a])] += 1;
      }
      for (auto& group : said) normalise_row(group.data());
      for (int k = 0; k < 3; ++k)
        vote[static_cast<std::size_t>(k)] +=
            said[0][static_cast<std::size_t>(k)] + said[1][static_cast<std::size_t>(k)];
      normalise_row(vote.data());
      together.emplace_back();
      for (std::size_t c = 0; c < 27; ++c)
        together.back()[c] = vote[part(c, 0)] * said[0][part(c, 1)] * said[1][part(c, 2)];
    }
  }
  void maximise() {
    prior.assign(3, 0.5);
    for (std::size_t g = 0; g < 2; ++g) {
      for (std::size_t e = 0; e < 9; ++e) xi[g * 9 + e] = smooth(e / 3, e % 3);
    }
    for (std::size_t e = 0; e < tables.size(); ++e) tables[e] = smooth(e / 3 % 3, e % 3);
    for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
      for (std::size_t c = 0; c < 27; ++c) {
        const double p = together[t][c];
        prior[part(c, 0)] += p;
        for (int g = 0; g < 2; ++g) xi[static_cast<std::size_t>(g) * 9 + part(c, 0) * 3 + part(c, g + 1)] += p;
        for (std::size_t a = 0; a < answers.workers_of(TaskId{t}).size(); ++a) {
          const std::size_t w = index(answers.workers_of(TaskId{t})[a]);
          tables[w * 9 + part(c, group_of(w) + 1) * 3 + index(answers.labels_of(TaskId{t})[a])] += p;
        }
      }
    }
    normalise_row(prior.data());
    for (std::size_t row = 0; row < 6; ++row) normalise_row(&xi[row * 3]);
    for (std::size_t row = 0; row < tables.size() / 3; ++row) normalise_row(&tables[row * 3]);
  }
  double expect() {
    double log_likelihood = 0;
    q.assign(answers.task_count() * 3, 0.0);
    for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
      double sum = 0;
      for (std::size_t c = 0; c < 27; ++c) {
        double p = prior[part(c, 0)];
        for (int g = 0; g < 2; ++g) p *= xi[static_cast<std::size_t>(g) * 9 + part(c, 0) * 3 + part(c, g + 1)];
        for (std::size_t a = 0; a < answers.workers_of(TaskId{t}).size(); ++a) {
          const std::size_t w = index(answers.workers_of(TaskId{t})[a]);
          p *= tables[w * 9 + part(c, group_of(w) + 1) * 3 + index(answers.labels_of(TaskId{t})[a])];
        }
        sum += together[t][c] = p;
      }
      for (std::size_t c = 0; c < 27; ++c) q[t * 3 + part(c, 0)] += together[t][c] /= sum;
      log_likelihood += std::log(sum);
    }
    return log_likelihood;
  }
};

TEST(GroupDawidSkene, AgreesWithEnumeration) {
  const TwoSides crowd = crowd_with_a_group(4, 4, 80);
  CategoryData data = crowd.data;
  data.worker_groups = {0, 0, 0, 0, 1, 1, 2, 3, 4, 5};
  SlowModel slow{data.answers, {std::vector<std::size_t>{0, 1, 2, 3}, std::vector<std::size_t>{4, 5}}, {}, {}};
  slow.begin();
  double log_likelihood = 0;
  for (int i = 0; i < 7; ++i) {
    slow.maximise();
    log_likelihood = slow.expect();
  }
  const VoiceFit fit = fit_voices(data, data.worker_groups, {.max_iterations = 7, .tolerance = 0}, RunContext());
  EXPECT_NEAR(fit.log_likelihood, log_likelihood, 1e-8);
  for (std::size_t i = 0; i < slow.q.size(); ++i) EXPECT_NEAR(fit.posterior[i], slow.q[i], 1e-9);
  for (std::size_t e = 0; e < 18; ++e) EXPECT_NEAR(fit.group_table[e], slow.xi[e], 1e-9);
}

TEST(GroupDawidSkene, PredictionsSumToOne) {
  TwoSides crowd = crowd_with_a_group(3, 4, 60);
  crowd.data.worker_groups = first_together(3, 9);
  std::vector<CategoryAnswer> all;
  for (const std::uint32_t w : {0U, 8U}) {
    for (std::uint16_t l = 0; l < 3; ++l) all.push_back({TaskId{0}, WorkerId{w}, ClassId{l}});
  }
  const auto logs = log_predictive_of_voices(crowd.data, crowd.data.worker_groups, all, {}, RunContext());
  EXPECT_NEAR(std::exp(logs[0]) + std::exp(logs[1]) + std::exp(logs[2]), 1, 1e-9);
  EXPECT_NEAR(std::exp(logs[3]) + std::exp(logs[4]) + std::exp(logs[5]), 1, 1e-9);
}

TEST(GroupDawidSkene, PredictsMembersByTheirGroup) {
  TwoSides crowd = crowd_with_a_group(6, 5, 600);
  crowd.data.worker_groups = first_together(6, 12);
  const RunContext context;
  const HeldOut held_out(crowd.data, {.folds = 2, .share = 0.2}, context);
  double grouped = 0, plain = 0;
  const auto alone = make_aggregator("dawid_skene", Parameters(aggregation_method("dawid_skene").parameters));
  for (std::size_t f = 0; f < 2; ++f) {
    for (const double x : held_out.log_probabilities(GroupDawidSkene(), f, context)) grouped += x;
    for (const double x : held_out.log_probabilities(*alone, f, context)) plain += x;
  }
  EXPECT_GT(grouped, plain + 200);
}

TEST(GroupDawidSkene, FindsGroupsItself) {
  const Simulation simulation =
      simulate("hidden_groups", {.tasks = 2000, .workers = 40, .classes = 3, .answers_per_task = 40},
               Parameters(simulation_kind("hidden_groups").parameters), RunContext());
  CategoryData data;
  data.answers = simulation.data.answers;
  const RunContext context({.threads = 2});
  CategoryData told = data;
  for (const std::string& kind : simulation.worker_kind)
    told.worker_groups.push_back(static_cast<std::uint32_t>(kind.back() - '0'));
  const auto right = [&](const CategoryFit& fit) { return share_right(fit, simulation.data.gold); };
  const double oracle = right(GroupDawidSkene().fit(told, context));
  EXPECT_GE(right(GroupDawidSkene().fit(data, context)), 0.97 * oracle);
  Options linkage;
  linkage.discovery = Discovery::linkage;
  EXPECT_GE(right(GroupDawidSkene(linkage).fit(data, context)), 0.97 * oracle);
}

}  // namespace
}  // namespace wisecrowd::group_dawid_skene
