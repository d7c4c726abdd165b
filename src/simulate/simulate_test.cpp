#include "wisecrowd/simulate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <set>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

Parameters defaults(std::string_view kind) { return Parameters(simulation_kind(kind).parameters); }

Parameters with(std::string_view kind, std::initializer_list<std::pair<std::string_view, std::string_view>> settings) {
  Parameters parameters = defaults(kind);
  for (const auto& [name, value] : settings) parameters.set(name, value);
  return parameters;
}

Simulation draw(std::string_view kind, const SimulationSize& size, const Parameters& parameters, std::uint64_t seed = 1,
                unsigned threads = 2) {
  return simulate(kind, size, parameters, RunContext({.seed = seed, .threads = threads}));
}

std::string message_of(std::string_view kind, const SimulationSize& size, const Parameters& parameters,
                       ErrorCode code) {
  try {
    draw(kind, size, parameters);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

std::span<const double> table_of(const Simulation& s, std::size_t worker) {
  const std::size_t cells = s.size.classes * s.size.classes;
  return std::span(s.confusion).subspan(worker * cells, cells);
}

/// Share of common tasks on which two workers agree; NaN without common tasks.
double agreement(const Simulation& s, std::size_t one, std::size_t two) {
  double common = 0;
  double agree = 0;
  for (std::uint32_t t = 0; t < s.size.tasks; ++t) {
    int first = -1;
    int second = -1;
    const auto workers = s.data.answers.workers_of(TaskId{t});
    const auto labels = s.data.answers.labels_of(TaskId{t});
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (index(workers[i]) == one) first = static_cast<int>(labels[i]);
      if (index(workers[i]) == two) second = static_cast<int>(labels[i]);
    }
    if (first < 0 || second < 0) continue;
    ++common;
    agree += first == second ? 1 : 0;
  }
  return agree / common;
}

/// What agreement would be if the two answered independently given the truth.
double independent_agreement(const Simulation& s, std::size_t one, std::size_t two) {
  const std::size_t k = s.size.classes;
  double sum = 0;
  for (std::size_t truth = 0; truth < k; ++truth) {
    for (std::size_t l = 0; l < k; ++l) {
      sum += s.class_prior[truth] * table_of(s, one)[truth * k + l] * table_of(s, two)[truth * k + l];
    }
  }
  return sum;
}

class EveryKind : public testing::TestWithParam<std::string> {
 protected:
  /// The size, but with what the kind insists on.
  [[nodiscard]] static SimulationSize adapted(SimulationSize size) {
    if (GetParam() == "max_mig") {
      size.workers = 5;
      size.classes = 2;
      size.answers_per_task = 4;
    }
    return size;
  }
  [[nodiscard]] static Simulation draw_one(const SimulationSize& size, const Parameters& parameters,
                                           std::uint64_t seed = 1, unsigned threads = 2) {
    TaskOptions options;
    if (GetParam() == "machines") options.gaussian_separation = 1;
    return simulate(GetParam(), size, parameters, RunContext({.seed = seed, .threads = threads}), options);
  }
};

TEST_P(EveryKind, TablesAreDistributionsAndTasksHaveDistinctWorkers) {
  const SimulationSize size = adapted({300, 20, 3, 4});
  const std::size_t classes = size.classes;
  const Simulation s = draw_one(size, defaults(GetParam()));
  ASSERT_EQ(s.confusion.size(), size.workers * classes * classes);
  for (std::size_t row = 0; row < size.workers * classes; ++row) {
    double sum = 0;
    for (std::size_t l = 0; l < classes; ++l) {
      EXPECT_GE(s.confusion[row * classes + l], 0);
      sum += s.confusion[row * classes + l];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  const bool by_chance = GetParam() == "lftc" || GetParam() == "machines";
  if (by_chance) {
    EXPECT_NEAR(static_cast<double>(s.data.answers.answer_count()), 1200, 5 * std::sqrt(6000 * .2 * .8));
  } else {
    EXPECT_EQ(s.data.answers.answer_count(), 1200U);
  }
  EXPECT_EQ(s.held_out.answer_count(), 0U);
  EXPECT_EQ(s.data.gold.size(), 300U);
  EXPECT_EQ(s.worker_kind.size(), size.workers);
  EXPECT_FALSE(s.data.answers.has_repeats());
  EXPECT_EQ(s.data.answers.task_names()[41], "task_00000042");
  EXPECT_EQ(s.data.answers.worker_names()[4], "worker_000005");
  EXPECT_EQ(s.data.answers.class_names()[1], "1");
  for (std::uint32_t t = 0; t < 300; ++t) {
    const auto workers = s.data.answers.workers_of(TaskId{t});
    ASSERT_TRUE(by_chance || workers.size() == 4);
    for (std::size_t i = 1; i < workers.size(); ++i) ASSERT_LT(workers[i - 1], workers[i]);
  }
  validate(s.data);
}

TEST_P(EveryKind, AnswersFollowTheTrueTables) {
  const SimulationSize size = adapted({20000, 10, 3, 5});
  Parameters parameters = defaults(GetParam());
  if (GetParam() != "lftc") {
    parameters.set("class_prior", "skewed");
    parameters.set("skew", "0.3");
  }
  const Simulation s = draw_one(size, parameters, 7);
  const std::size_t classes = size.classes;
  std::vector<double> counts(s.confusion.size(), 0);
  std::vector<double> truths(classes, 0);
  for (std::uint32_t t = 0; t < size.tasks; ++t) {
    const std::size_t truth = index(s.data.gold[t]);
    ++truths[truth];
    const auto workers = s.data.answers.workers_of(TaskId{t});
    for (std::size_t i = 0; i < workers.size(); ++i) {
      ++counts[(index(workers[i]) * classes + truth) * classes + index(s.data.answers.labels_of(TaskId{t})[i])];
    }
  }
  for (std::size_t k = 0; k < classes; ++k) EXPECT_NEAR(truths[k] / 20000, s.class_prior[k], 0.02);
  for (std::size_t row = 0; row < size.workers * classes; ++row) {
    double n = 0;
    for (std::size_t l = 0; l < classes; ++l) n += counts[row * classes + l];
    ASSERT_GT(n, 1500);
    for (std::size_t l = 0; l < classes; ++l) {
      const double p = s.confusion[row * classes + l];
      EXPECT_NEAR(counts[row * classes + l] / n, p, 5 * std::sqrt(p * (1 - p) / n) + 1e-12) << "row " << row;
    }
  }
}

TEST_P(EveryKind, ThreadsDoNotMatterAndSeedsDo) {
  const SimulationSize size = adapted({20000, 40, 3, 4});
  const Simulation one = draw_one(size, defaults(GetParam()), 5, 1);
  const Simulation four = draw_one(size, defaults(GetParam()), 5, 4);
  const Simulation other = draw_one(size, defaults(GetParam()), 6, 1);
  EXPECT_EQ(one.data.answers.content_hash(), four.data.answers.content_hash());
  EXPECT_EQ(one.data.gold, four.data.gold);
  EXPECT_EQ(one.confusion, four.confusion);
  EXPECT_EQ(one.worker_kind, four.worker_kind);
  EXPECT_EQ(one.features, four.features);
  EXPECT_EQ(one.reliability, four.reliability);
  EXPECT_NE(one.data.answers.content_hash(), other.data.answers.content_hash());
  EXPECT_NE(one.data.gold, other.data.gold);
}

TEST_P(EveryKind, CancelledGivesAStatusAndNoData) {
  const std::atomic<bool> cancel{true};
  const Simulation s =
      simulate(GetParam(), adapted({1000, 10, 2, 5}), defaults(GetParam()), RunContext({.cancel = &cancel}));
  EXPECT_EQ(s.status, Status::cancelled);
  EXPECT_EQ(s.data.answers.answer_count(), 0U);
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const auto& info : simulation_kinds()) names.push_back(info.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Simulate, EveryKind, testing::ValuesIn(kind_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Simulate, HammersAreAlwaysRightAndTheirShareIsGamma) {
  const Simulation s = draw("hammer_spammer", {500, 2000, 4, 10}, with("hammer_spammer", {{"gamma", "0.3"}}));
  std::size_t hammers = 0;
  for (std::size_t w = 0; w < 2000; ++w) {
    hammers += s.worker_kind[w] == "hammer" ? 1 : 0;
    EXPECT_NEAR(table_of(s, w)[0], s.worker_kind[w] == "hammer" ? 1.0 : (0.25 + 1e-4) / (1 + 1e-4), 1e-15);
  }
  EXPECT_NEAR(static_cast<double>(hammers), 600, 5 * std::sqrt(2000 * 0.3 * 0.7));
}

TEST(Simulate, OneCoinAccuraciesFollowBeta) {
  const Simulation s = draw("one_coin_beta", {10, 20000, 3, 2}, with("one_coin_beta", {{"a", "2"}, {"b", "1"}}));
  double mean = 0;
  double square = 0;
  for (std::size_t w = 0; w < 20000; ++w) {
    const auto table = table_of(s, w);
    EXPECT_DOUBLE_EQ(table[0], table[4]);
    EXPECT_DOUBLE_EQ(table[1], (1 - table[0]) / 2);
    mean += table[0] / 20000;
    square += table[0] * table[0] / 20000;
  }
  EXPECT_NEAR(mean, 2.0 / 3, 0.01);
  EXPECT_NEAR(square - mean * mean, 2.0 / 36, 0.003);  // ab / ((a+b)²(a+b+1))
}

TEST(Simulate, NaiveWorkersAlwaysSayTheSame) {
  const Simulation s =
      draw("naive_majority", {200, 50, 4, 10}, with("naive_majority", {{"naive_share", "0.4"}, {"naive_class", "2"}}));
  EXPECT_EQ(std::count(s.worker_kind.begin(), s.worker_kind.end(), "naive"), 20);
  const auto workers = s.data.answers.workers();
  for (std::size_t a = 0; a < workers.size(); ++a) {
    if (s.worker_kind[index(workers[a])] == "naive") {
      ASSERT_EQ(s.data.answers.labels()[a], ClassId{2});
    }
  }
}

TEST(Simulate, CopiesAgreeWithTheirSourceAsRhoSays) {
  for (const auto& [text, rho] : {std::pair("1", 1.0), std::pair("0.6", 0.6)}) {
    const Simulation s = draw("copies", {20000, 10, 3, 10}, with("copies", {{"rho", text}, {"level", "1"}}));
    std::size_t copies = 0;
    for (std::size_t w = 0; w < 10; ++w) {
      if (!s.worker_kind[w].starts_with("copy of worker_")) continue;
      ++copies;
      const std::size_t source = std::stoul(s.worker_kind[w].substr(15)) - 1;
      EXPECT_EQ(s.worker_kind[source], "honest");
      // Alone, the copier's table is rho · source + (1 − rho) · own: take out the source's part to get the rest.
      double own = 0;
      for (std::size_t c = 0; c < 9; ++c) {
        own += s.class_prior[c / 3] * table_of(s, source)[c] * (table_of(s, w)[c] - rho * table_of(s, source)[c]);
      }
      EXPECT_NEAR(agreement(s, w, source), rho + own, 0.02);
      EXPECT_GT(agreement(s, w, source), independent_agreement(s, w, source) + 0.1);
      for (std::size_t other = 0; other < 10; ++other) {
        if (s.worker_kind[other] == "honest" && other != source) {
          EXPECT_NEAR(agreement(s, w, other), independent_agreement(s, w, other), 0.02);
        }
      }
    }
    EXPECT_EQ(copies, 3U);
  }
}

TEST(Simulate, ColludersSayTheSameWrongClassOnAttackedTasksAndTheTruthElsewhere) {
  const Simulation s = draw("colluders", {5000, 60, 3, 20}, with("colluders", {{"alpha", "0.4"}, {"p_corr", "0.7"}}));
  EXPECT_EQ(std::count(s.worker_kind.begin(), s.worker_kind.end(), "colluder"), 24);
  double attacked = 0;
  double seen = 0;
  std::map<std::size_t, double> shifts;
  for (std::uint32_t t = 0; t < 5000; ++t) {
    std::set<std::size_t> said;
    const auto workers = s.data.answers.workers_of(TaskId{t});
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (s.worker_kind[index(workers[i])] == "colluder") said.insert(index(s.data.answers.labels_of(TaskId{t})[i]));
    }
    if (said.empty()) continue;
    ASSERT_EQ(said.size(), 1U);
    ++seen;
    const std::size_t truth = index(s.data.gold[t]);
    if (*said.begin() == truth) continue;
    ++attacked;
    ++shifts[(*said.begin() + 3 - truth) % 3];
  }
  EXPECT_NEAR(attacked / seen, 0.7, 0.035);
  EXPECT_NEAR(shifts[1] / attacked, 0.5, 0.05);
}

TEST(Simulate, MembersOfAGroupShareTheirView) {
  const SimulationSize size{4000, 40, 3, 40};
  // Members who tell exactly what the group sees always agree.
  const Simulation exact = draw("hidden_groups", size, with("hidden_groups", {{"worker_level", "1000000"}}));
  const Simulation noisy = draw("hidden_groups", size, defaults("hidden_groups"));
  EXPECT_EQ(std::count(exact.worker_kind.begin(), exact.worker_kind.end(), "group 1"), 20);
  for (int g = 2; g <= 5; ++g) {
    EXPECT_EQ(std::count(exact.worker_kind.begin(), exact.worker_kind.end(), "group " + std::to_string(g)), 5);
  }
  for (std::size_t w = 1; w < 40; ++w) {
    if (exact.worker_kind[w] == exact.worker_kind[0]) {
      EXPECT_GT(agreement(exact, 0, w), 0.999);
      EXPECT_GT(agreement(noisy, 0, w), independent_agreement(noisy, 0, w) + 0.05);
    } else {
      EXPECT_NEAR(agreement(noisy, 0, w), independent_agreement(noisy, 0, w), 0.04);
    }
  }
}

TEST(Simulate, ClassPriors) {
  const auto prior = [](std::initializer_list<std::pair<std::string_view, std::string_view>> settings) {
    return draw("dawid_skene", {10, 5, 3, 2}, with("dawid_skene", settings)).class_prior;
  };
  for (const double p : prior({})) EXPECT_DOUBLE_EQ(p, 1.0 / 3);
  const auto skewed = prior({{"class_prior", "skewed"}, {"skew", "0.5"}});
  EXPECT_DOUBLE_EQ(skewed[0], 4.0 / 7);
  EXPECT_DOUBLE_EQ(skewed[2], 1.0 / 7);
  const auto drawn = prior({{"class_prior", "dirichlet"}, {"prior_concentration", "0.01"}});
  EXPECT_NEAR(drawn[0] + drawn[1] + drawn[2], 1, 1e-12);
  EXPECT_GT(*std::max_element(drawn.begin(), drawn.end()), 0.9);  // so small a concentration is all but one-hot
}

TEST(Simulate, RefusesWhatCannotBe) {
  const auto refused = [](const SimulationSize& size, ErrorCode code = ErrorCode::bad_parameter) {
    return message_of("dawid_skene", size, defaults("dawid_skene"), code);
  };
  EXPECT_NE(refused({0, 5, 2, 1}).find("at least one task"), std::string::npos);
  EXPECT_NE(refused({5, 0, 2, 1}).find("at least one worker"), std::string::npos);
  EXPECT_NE(refused({5, 5, 1, 1}).find("at least 2 classes"), std::string::npos);
  EXPECT_NE(refused({5, 5, 70000, 1}).find("70000 classes"), std::string::npos);
  EXPECT_NE(refused({5, 5, 2, 0}).find("at least one answer"), std::string::npos);
  EXPECT_NE(refused({5, 5, 2, 6}).find("take more workers or fewer"), std::string::npos);
  EXPECT_NE(refused({1ULL << 33, 5, 2, 1}, ErrorCode::unsupported).find("take fewer"), std::string::npos);
  EXPECT_NE(refused({1ULL << 62, 100, 2, 50}, ErrorCode::unsupported).find("take fewer"), std::string::npos);
  EXPECT_NE(refused({5, 1ULL << 22, 1000, 1}, ErrorCode::unsupported).find("GB"), std::string::npos);
  EXPECT_NE(message_of("regular", {10, 4, 2, 3}, defaults("regular"), ErrorCode::bad_parameter).find("8 or 12 tasks"),
            std::string::npos);
  EXPECT_NE(message_of("naive_majority", {10, 4, 2, 3}, with("naive_majority", {{"naive_class", "2"}}),
                       ErrorCode::bad_parameter)
                .find("at most 1"),
            std::string::npos);
  EXPECT_NE(message_of("copies", {10, 4, 2, 3}, with("copies", {{"copy_share", "0.9"}}), ErrorCode::bad_parameter)
                .find("cannot hold 4 copiers and 2 sources"),
            std::string::npos);
  EXPECT_NE(
      message_of("hidden_groups", {10, 4, 2, 3}, defaults("hidden_groups"), ErrorCode::bad_parameter).find("5 groups"),
      std::string::npos);
  EXPECT_NE(message_of("dawid_skene", {10, 2, 3, 1}, with("dawid_skene", {{"tables", "class_experts"}}),
                       ErrorCode::bad_parameter)
                .find("3 experts"),
            std::string::npos);
  try {
    static_cast<void>(simulation_kind("crowd"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("hammer_spammer"), std::string::npos);
  }
}

}  // namespace
}  // namespace wisecrowd
