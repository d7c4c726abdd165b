#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "base/rng.hpp"
#include "evaluate/components.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/evaluate_ordered.hpp"

namespace wisecrowd {
namespace {

std::vector<std::string> class_list(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back(std::to_string(k));
  return names;
}

bool warns_of(const Description& d, std::string_view code) {
  return std::any_of(d.warnings.begin(), d.warnings.end(), [&](const Warning& w) { return w.code == code; });
}

/// Tasks with a random number of answers, from none to all workers.
CategoryAnswers random_answers(std::size_t tasks, std::size_t workers, std::size_t classes, std::uint64_t seed) {
  Rng rng(seed);
  CategoryAnswersBuilder builder(class_list(classes));
  for (std::size_t w = 0; w < workers; ++w) builder.add_worker(fmt::format("w{}", w));
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::string task = fmt::format("t{}", t);
    builder.add_task(task);
    const std::size_t truth = rng.below(classes);
    const double busy = rng.uniform() * rng.uniform();
    for (std::size_t w = 0; w < workers; ++w) {
      if (!rng.bernoulli(busy)) continue;
      builder.add(task, fmt::format("w{}", w), std::to_string(rng.bernoulli(0.5) ? truth : rng.below(classes)));
    }
  }
  return builder.build();
}

TEST(Describe, KrippendorffsTextbookExample) {
  // Krippendorff, "Computing Krippendorff's alpha-reliability": 4 observers, 12 units, nominal alpha 0.743.
  const std::string observers[] = {"123321412...", "1233224125.3", ".3332342251.", "12332441251."};
  CategoryAnswersBuilder builder({"1", "2", "3", "4", "5"});
  for (std::size_t o = 0; o < 4; ++o) {
    const std::string& answers = observers[o];
    ASSERT_EQ(answers.size(), 12U);
    for (std::size_t u = 0; u < 12; ++u) {
      if (answers[u] != '.') builder.add(std::to_string(u), std::to_string(o), answers.substr(u, 1));
    }
  }
  const CategoryData data{.answers = builder.build()};
  const Description d = describe(data.answers);
  EXPECT_NEAR(d.krippendorff_alpha, 0.743, 0.0005);
  EXPECT_EQ(d.answers, 41U);
  EXPECT_NEAR(describe_ranks(data.answers).ordinal_alpha, 0.815, 0.0005);  // the same page
}

TEST(Describe, WeightedKappaByBruteForce) {
  Rng rng(3);
  CategoryAnswersBuilder builder({"1", "2", "3", "4"});
  for (int t = 0; t < 40; ++t) {
    const auto size = 1 + rng.below(5);
    for (std::uint64_t w = 0; w < size; ++w) {
      builder.add(std::to_string(t), std::to_string(w), std::to_string(1 + rng.below(4)));
    }
  }
  const CategoryData data{.answers = builder.build()};
  double observed = 0, tasks = 0, answers = 0;
  std::vector<double> shares(4, 0.0);
  for (std::size_t t = 0; t < 40; ++t) {
    const auto labels = data.answers.labels_of(TaskId(t));
    if (labels.size() < 2) continue;
    double pairs = 0, squares = 0;
    for (std::size_t a = 0; a < labels.size(); ++a) {
      shares[index(labels[a])] += 1;
      answers += 1;
      for (std::size_t b = 0; b < labels.size(); ++b) {
        if (a == b) continue;
        const double difference = static_cast<double>(index(labels[a])) - static_cast<double>(index(labels[b]));
        pairs += 1;
        squares += difference * difference;
      }
    }
    observed += squares / pairs;
    tasks += 1;
  }
  double chance = 0;
  for (int k = 0; k < 4; ++k) {
    for (int l = 0; l < 4; ++l) chance += shares[k] * shares[l] / (answers * answers) * (k - l) * (k - l);
  }
  EXPECT_NEAR(describe_ranks(data.answers).weighted_kappa, 1 - observed / tasks / chance, 1e-12);
}

TEST(Describe, FleissTextbookExample) {
  // 14 raters, 10 subjects, 5 categories: kappa 0.210.
  const int table[10][5] = {{0, 0, 0, 0, 14}, {0, 2, 6, 4, 2}, {0, 0, 3, 5, 6}, {0, 3, 9, 2, 0}, {2, 2, 8, 1, 1},
                            {7, 7, 0, 0, 0},  {3, 2, 6, 3, 0}, {2, 5, 3, 2, 2}, {6, 5, 2, 1, 0}, {0, 2, 2, 3, 7}};
  CategoryAnswersBuilder builder(class_list(5));
  for (int t = 0; t < 10; ++t) {
    int worker = 0;
    for (int k = 0; k < 5; ++k) {
      for (int i = 0; i < table[t][k]; ++i) builder.add(std::to_string(t), std::to_string(worker++), std::to_string(k));
    }
  }
  const Description d = describe(builder.build());
  EXPECT_NEAR(d.fleiss_kappa, 0.20993, 0.00001);
  EXPECT_DOUBLE_EQ(d.unanimous_share, 0.1);
}

TEST(Describe, AgreementMatchesAllPairs) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const CategoryAnswers answers = random_answers(60, 12, 4, seed);
    const Description d = describe(answers);
    // From the definitions, pair by pair.
    double pairs = 0;
    double agreeing = 0;
    double observed_disagreement = 0;
    double tasks = 0;
    double mean_agreement = 0;
    double unanimous = 0;
    std::vector<std::size_t> pairable;
    for (std::uint32_t t = 0; t < 60; ++t) {
      const auto labels = answers.labels_of(TaskId{t});
      if (labels.size() < 2) continue;
      double here = 0;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        pairable.push_back(index(labels[i]));
        for (std::size_t j = 0; j < labels.size(); ++j) {
          if (i == j) continue;
          here += labels[i] == labels[j] ? 1 : 0;
          observed_disagreement += (labels[i] != labels[j] ? 1.0 : 0.0) / static_cast<double>(labels.size() - 1);
        }
      }
      const auto ordered = static_cast<double>(labels.size() * (labels.size() - 1));
      pairs += ordered;
      agreeing += here;
      ++tasks;
      mean_agreement += here / ordered;
      unanimous += here == ordered ? 1 : 0;
    }
    const auto n = static_cast<double>(pairable.size());
    double expected_disagreement = 0;
    double chance = 0;
    for (std::size_t i = 0; i < pairable.size(); ++i) {
      for (std::size_t j = 0; j < pairable.size(); ++j) {
        if (i != j && pairable[i] != pairable[j]) expected_disagreement += 1 / (n * (n - 1));
        if (pairable[i] == pairable[j]) chance += 1 / (n * n);
      }
    }
    EXPECT_NEAR(d.krippendorff_alpha, 1 - observed_disagreement / n / expected_disagreement, 1e-10);
    EXPECT_NEAR(d.fleiss_kappa, (mean_agreement / tasks - chance) / (1 - chance), 1e-10);
    EXPECT_NEAR(d.pairwise_agreement, agreeing / pairs, 1e-12);
    EXPECT_NEAR(d.unanimous_share, unanimous / tasks, 1e-12);
  }
}

TEST(Describe, CountsAndQuartiles) {
  CategoryAnswersBuilder builder({"a", "b", "c"});
  builder.add("t1", "w1", "a").add("t1", "w2", "b").add("t1", "w3", "b").add("t2", "w1", "a").add("t3", "w1", "b");
  builder.add("t3", "w2", "b").add_task("t4").add_worker("w4");
  const Description d = describe(builder.build());
  EXPECT_EQ(d.tasks, 4U);
  EXPECT_EQ(d.workers, 4U);
  EXPECT_EQ(d.answers, 6U);
  EXPECT_EQ(d.unanswered_tasks, 1U);
  EXPECT_EQ(d.silent_workers, 1U);
  EXPECT_EQ(d.single_answer_tasks, 1U);
  EXPECT_EQ(d.workers_below_three_answers, 2U);
  EXPECT_EQ(d.answers_per_class, (std::vector<std::uint64_t>{2, 4, 0}));
  // Answers per task: 0 1 2 3; per worker: 0 1 2 3.
  for (const Distribution& x : {d.answers_per_task, d.answers_per_worker}) {
    EXPECT_DOUBLE_EQ(x.minimum, 0);
    EXPECT_DOUBLE_EQ(x.lower_quartile, 0.75);
    EXPECT_DOUBLE_EQ(x.median, 1.5);
    EXPECT_DOUBLE_EQ(x.mean, 1.5);
    EXPECT_DOUBLE_EQ(x.upper_quartile, 2.25);
    EXPECT_DOUBLE_EQ(x.maximum, 3);
  }
  EXPECT_DOUBLE_EQ(d.pairwise_agreement, 0.5);  // 2 of 4 pairs
  EXPECT_DOUBLE_EQ(d.unanimous_share, 0.5);
}

TEST(Describe, UndefinedAgreementIsNaN) {
  const Description empty = describe(CategoryAnswers());
  EXPECT_TRUE(std::isnan(empty.krippendorff_alpha));
  EXPECT_TRUE(warns_of(empty, "no_answers"));
  CategoryAnswersBuilder same({"a", "b"});
  same.add("t", "w1", "a").add("t", "w2", "a");
  const Description d = describe(same.build());
  EXPECT_TRUE(std::isnan(d.krippendorff_alpha));
  EXPECT_TRUE(std::isnan(d.fleiss_kappa));
  EXPECT_DOUBLE_EQ(d.pairwise_agreement, 1);
}

TEST(Describe, ComponentsMatchAWalkOverTheGraph) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const std::size_t tasks = 30;
    const std::size_t workers = 25;
    CategoryAnswersBuilder builder({"0", "1"});
    for (std::size_t t = 0; t < tasks; ++t) builder.add_task(fmt::format("t{}", t));
    for (std::size_t w = 0; w < workers; ++w) builder.add_worker(fmt::format("w{}", w));
    for (int i = 0; i < 28; ++i) {
      builder.add(fmt::format("t{}", rng.below(tasks)), fmt::format("w{}", rng.below(workers)), "0");
    }
    const CategoryAnswers answers = builder.build();
    // Spread labels until nothing changes.
    std::vector<std::size_t> mark(tasks + workers);
    for (std::size_t v = 0; v < mark.size(); ++v) mark[v] = v;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t t = 0; t < tasks; ++t) {
        for (const WorkerId w : answers.workers_of(TaskId{t})) {
          const std::size_t low = std::min(mark[t], mark[tasks + index(w)]);
          changed = changed || mark[t] != low || mark[tasks + index(w)] != low;
          mark[t] = mark[tasks + index(w)] = low;
        }
      }
    }
    std::map<std::size_t, std::pair<std::size_t, std::size_t>> parts;
    for (std::uint32_t t = 0; t < tasks; ++t) {
      if (!answers.workers_of(TaskId{t}).empty()) ++parts[mark[t]].first;
    }
    for (std::uint32_t w = 0; w < workers; ++w) {
      if (!answers.tasks_of(WorkerId{w}).empty()) ++parts[mark[tasks + w]].second;
    }
    std::pair<std::size_t, std::size_t> largest;
    for (const auto& [label, part] : parts) largest = std::max(largest, part);
    const Components found = connected_components(answers);
    EXPECT_EQ(found.count, parts.size());
    EXPECT_EQ(std::pair(found.largest_tasks, found.largest_workers), largest);
  }
}

TEST(Describe, WarnsOfWhatCannotBeLearned) {
  const auto described = [](std::initializer_list<const char*> rows, std::vector<std::string> classes = {"a", "b"}) {
    CategoryAnswersBuilder builder(std::move(classes));
    for (const std::string row : rows) builder.add(row.substr(0, 1), row.substr(1, 1), row.substr(2, 1));
    return describe(builder.build());
  };
  const auto single = described({"1xa", "2ya", "3xb", "4yb", "5xb", "6ya"});
  EXPECT_TRUE(warns_of(single, "one_answer_per_task"));
  EXPECT_FALSE(warns_of(single, "few_answers_per_task"));
  EXPECT_TRUE(warns_of(single, "disconnected_parts"));
  EXPECT_FALSE(warns_of(single, "few_answers_per_worker"));

  const auto pairs = described({"1xa", "1ya", "2xb", "2ya", "3xb", "3ya"});
  EXPECT_FALSE(warns_of(pairs, "one_answer_per_task"));
  EXPECT_TRUE(warns_of(pairs, "few_answers_per_task"));
  EXPECT_FALSE(warns_of(pairs, "disconnected_parts"));

  const auto brief = described({"1xa", "1ya", "1zb", "2xa", "2yb", "2zb"});
  EXPECT_TRUE(warns_of(brief, "few_answers_per_worker"));
  EXPECT_FALSE(warns_of(brief, "few_answers_per_task"));

  const auto alone = described({"1xa", "2xb", "3xa"});
  EXPECT_TRUE(warns_of(alone, "single_worker"));
  EXPECT_FALSE(warns_of(alone, "disconnected_parts"));  // said once is enough

  const auto uniform = described({"1xa", "1ya", "1za"});
  EXPECT_TRUE(warns_of(uniform, "single_class"));
  EXPECT_FALSE(warns_of(uniform, "unused_classes"));
  const auto unused = described({"1xa", "1ya", "1zb"}, {"a", "b", "c"});
  ASSERT_TRUE(warns_of(unused, "unused_classes"));
  EXPECT_FALSE(warns_of(unused, "single_class"));
  for (const auto& w : unused.warnings) {
    if (w.code == "unused_classes") {
      EXPECT_TRUE(w.message.ends_with("answered c")) << w.message;
    }
  }

  const auto parts = described({"1xa", "1yb", "1za", "2xb", "2yb", "2zb", "3xa", "3ya", "3za", "4ua", "4vb", "4wa"});
  for (const auto& w : parts.warnings) {
    if (w.code == "disconnected_parts") {
      EXPECT_NE(w.message.find("2 parts"), std::string::npos);
      EXPECT_NE(w.message.find("3 of 4 tasks and 3 of 6 workers"), std::string::npos);
    }
  }
  EXPECT_TRUE(warns_of(parts, "disconnected_parts"));

  CategoryAnswersBuilder fine({"a", "b"});
  for (int t = 0; t < 10; ++t) {
    for (int w = 0; w < 4; ++w) fine.add(std::to_string(t), std::to_string(w), (t + w) % 3 == 0 ? "a" : "b");
  }
  EXPECT_TRUE(describe(fine.build()).warnings.empty());
}

/// Real data in plain CSV: task,worker,label.
std::optional<CategoryAnswers> real_answers(const std::string& name) {
  const auto root = testing::real_data_folder();
  if (!root) return std::nullopt;
  std::ifstream file(*root + "/aggregate/" + name + "/labels.csv");
  if (!file) return std::nullopt;
  CategoryAnswersBuilder builder;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::size_t first = line.find(',');
    const std::size_t second = line.find(',', first + 1);
    builder.add(line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1));
  }
  return builder.build();
}

/// Computed by the Python packages krippendorff (alpha), statsmodels (kappa, where every task has as many answers) and
/// networkx (parts).
struct Reference {
  const char* name;
  double alpha, kappa, pairwise, unanimous;
  std::size_t parts, largest_tasks, largest_workers;
  double median_per_task, median_per_worker;
};

class RealData : public ::testing::TestWithParam<Reference> {};

TEST_P(RealData, AgreesWithOtherProgrammes) {
  const Reference& r = GetParam();
  const auto answers = real_answers(r.name);
  if (!answers)
    GTEST_SKIP() << "no data: set WISECROWD_DATA to a folder that holds aggregate/" << r.name << "/labels.csv";
  const Description d = describe(*answers);
  EXPECT_NEAR(d.krippendorff_alpha, r.alpha, 1e-12);
  EXPECT_NEAR(d.fleiss_kappa, r.kappa, 1e-12);
  EXPECT_NEAR(d.pairwise_agreement, r.pairwise, 1e-12);
  EXPECT_NEAR(d.unanimous_share, r.unanimous, 1e-12);
  EXPECT_EQ(d.components, r.parts);
  EXPECT_EQ(d.largest_component_tasks, r.largest_tasks);
  EXPECT_EQ(d.largest_component_workers, r.largest_workers);
  EXPECT_DOUBLE_EQ(d.answers_per_task.median, r.median_per_task);
  EXPECT_DOUBLE_EQ(d.answers_per_worker.median, r.median_per_worker);
}

INSTANTIATE_TEST_SUITE_P(Describe, RealData,
                         ::testing::Values(Reference{"bluebird", 0.12550057220224442, 0.1252929019510456,
                                                     0.5881941320537811, 0, 1, 108, 39, 39, 108},
                                           Reference{"dog", 0.5194178413233586, 0.5193582822505286, 0.6411400247831475,
                                                     0.10161090458488228, 1, 807, 109, 10, 38},
                                           Reference{"weather", 0.5768366701812461, 0.5867110946168828,
                                                     0.6613935300391042, 0.44666666666666666, 1, 300, 461, 5, 2},
                                           Reference{"trec", 0.11452747421699916, 0.11233958380675033,
                                                     0.6077178016981865, 0.24476056032142468, 3, 19023, 760, 5, 17}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace wisecrowd
