#include "wisecrowd/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPage = "<title>WISECROWD-TITLE</title><!--WISECROWD-DATA-->";

CategoryResult result_of(CategoryData data, const std::string& method, const RunContext& context, bool score = true) {
  RunRecord record;
  record.method = method;
  record.version = "test";
  record.inputs = {{"answers", "birds/labels.csv"}};
  CategoryData seen = data;
  seen.gold.clear();
  CategoryFit fit = aggregate(seen, method, Parameters(aggregation_method(method).parameters), context);
  if (data.has_gold() && score) {
    record.gold_use = "evaluation";
    record.gold_tasks = static_cast<std::uint64_t>(
        std::count_if(data.gold.begin(), data.gold.end(), [](ClassId k) { return k != kNoClass; }));
  }
  return make_result(std::move(data), std::move(fit), std::move(record), context);
}

Json document(const CategoryResult& result, const ReportOptions& options = {}) {
  const RunContext context({.threads = 1});
  return Json::parse(report_json(result, options, context));
}

/// Every list of a table has as many entries as it says that are shown.
void expect_equal_columns(const Json& table) {
  const auto shown = table.at("shown").get<std::size_t>();
  for (const auto& [name, column] : table.items()) {
    if (column.is_array()) {
      EXPECT_EQ(column.size(), shown) << name;
    }
  }
}

// 15 of 30 workers repeat one: the page must not call that certainty, nor advise to keep them.
TEST(Report, WorkersWhoAnswerAsOne) {
  Rng rng(5);
  CategoryAnswersBuilder builder({"no", "yes"});
  for (int t = 0; t < 300; ++t) {
    std::string first;
    for (int w = 0; w < 30; ++w) {
      const std::string label = (t % 2 == 0) == rng.bernoulli(0.72) ? "no" : "yes";
      if (w == 0) first = label;
      builder.add(std::to_string(t), "w" + std::to_string(w), w < 15 ? first : label);
    }
  }
  const Json json = document(result_of({builder.build(), {}, {}}, "dawid_skene", RunContext({.threads = 1})));
  const Json& warning = json.at("warnings").at(0);
  EXPECT_EQ(warning.at("severity"), "serious");
  EXPECT_EQ(warning.at("words").get<std::string>().find("15 workers answer as one: w0, w1, "), 0U);
  EXPECT_NE(warning.at("remedy").get<std::string>().find("counts a group once"), std::string::npos);
  for (const Json& headline : json.at("headlines")) {
    if (headline.at("id") != "sure") continue;
    EXPECT_NE(headline.at("words").get<std::string>().find("Do not rely on it"), std::string::npos);
  }
  const Json& workers = json.at("workers");
  for (std::size_t w = 0; w < 30; ++w) {
    const std::string name = workers.at("name").at(w);
    const std::string reason = workers.at("reason").at(w);
    const bool copy = std::stoi(name.substr(1)) < 15;
    EXPECT_EQ(reason.find("With 14 others it contradicts") == 0, copy) << name << ": " << reason;
    if (copy) {
      EXPECT_EQ(workers.at("advice").at(w), "check") << name;  // right in 72 %, whoever of them is asked
    }
  }
  EXPECT_GE(json.at("advice_counts").at("check").get<int>(), 15);
}

// Chance alone would make the headline's interval far too narrow where the model itself is in doubt.
TEST(Report, ExpectedShareAllowsForTheModel) {
  const RunContext context({.threads = 1});
  const auto crowd = testing::small_crowd(3, 300, 20, 3, 5);
  const CategoryResult result = result_of(crowd.data, "automatic", context);
  const auto learned = [&](std::string_view name) {
    for (const auto& [known, value] : result.aggregation.learned) {
      if (known == name) return value;
    }
    ADD_FAILURE() << "no " << name;
    return 0.0;
  };
  const Json headline = document(result).at("headlines").at(0);
  EXPECT_EQ(headline.at("id"), "accuracy");
  EXPECT_NEAR(headline.at("value").get<double>(), learned("expected_right"), 1e-5);
  EXPECT_NEAR(headline.at("low").get<double>(), learned("expected_right_low"), 1e-5);
  EXPECT_NEAR(headline.at("high").get<double>(), learned("expected_right_high"), 1e-5);
  double variance = 0;
  for (std::size_t t = 0; t < 300; ++t) {
    const double p = result.aggregation.posterior[t * 3 + index(result.aggregation.labels[t])];
    variance += p * (1 - p);
  }
  EXPECT_GT(learned("expected_right_high") - learned("expected_right_low"), 2 * 1.96 * std::sqrt(variance) / 300);
}

TEST(Report, CountsAndTablesAddUp) {
  const RunContext context({.threads = 1});
  auto crowd = testing::small_crowd(3, 300, 20, 3, 5);
  crowd.data.gold = crowd.truth;
  const CategoryResult result = result_of(crowd.data, "dawid_skene", context);
  const Json json = document(result);
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("kind"), "aggregate");
  EXPECT_EQ(json.at("title"), "birds/labels.csv");
  EXPECT_EQ(json.at("counts").at("answers"), crowd.data.answers.answer_count());
  expect_equal_columns(json.at("workers"));
  expect_equal_columns(json.at("tasks"));
  EXPECT_EQ(json.at("workers").at("shown"), 20);
  EXPECT_EQ(json.at("tasks").at("shown"), 300);
  const auto sum = [](const Json& list) {
    double total = 0;
    for (const Json& value : list) total += value.get<double>();
    return total;
  };
  EXPECT_EQ(sum(json.at("classes").at("answers")), crowd.data.answers.answer_count());
  EXPECT_EQ(sum(json.at("classes").at("tasks")), 300);
  EXPECT_EQ(sum(json.at("workers").at("answers")), crowd.data.answers.answer_count());
  EXPECT_EQ(sum(json.at("task_histogram").at("count")), 300);
  EXPECT_EQ(sum(json.at("answers_per_task_histogram").at("count")), 300);
  EXPECT_EQ(sum(json.at("answers_per_worker_histogram").at("count")), 20);
  const Json& advice = json.at("advice_counts");
  EXPECT_EQ(advice.at("keep").get<int>() + advice.at("retrain").get<int>() + advice.at("check").get<int>() +
                advice.at("stop").get<int>() + advice.at("unsure").get<int>(),
            20);
  // The crowd's confusions: all answers, spread over the truths.
  double expected = 0;
  for (const Json& row : json.at("crowd_confusion").at("answers")) expected += sum(row);
  EXPECT_NEAR(expected, static_cast<double>(crowd.data.answers.answer_count()), 0.01 * expected);
  for (const Json& row : json.at("crowd_confusion").at("share")) EXPECT_NEAR(sum(row), 1, 1e-3);
  for (const Json& table : json.at("worker_confusion").at("share")) EXPECT_NEAR(sum(table), 3, 0.01);
  // Mistakes come first, and are what gold says.
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < 300; ++t) wrong += result.aggregation.labels[t] != crowd.truth[t] ? 1 : 0;
  ASSERT_GT(wrong, 0U);
  EXPECT_EQ(json.at("tasks").at("counts").at("wrong on gold"), wrong);
  EXPECT_EQ(json.at("tasks").at("why").at(0).at(0), "wrong on gold");
  EXPECT_EQ(json.at("gold").at("mistakes"), wrong);
  EXPECT_NEAR(json.at("gold").at("accuracy").get<double>(), 1 - static_cast<double>(wrong) / 300, 1e-3);
  double cells = 0, bins = 0;
  for (const Json& row : json.at("gold").at("confusion")) cells += sum(row);
  for (const Json& bin : json.at("calibration").at("bins")) bins += bin.at("tasks").get<double>();
  EXPECT_EQ(cells, 300);
  EXPECT_EQ(bins, 300);
  EXPECT_EQ(json.at("headlines").at(0).at("kind"), "measured on gold");
}

TEST(Report, AgreementIsWhatBruteForceCounts) {
  const RunContext context({.threads = 2});
  const auto crowd = testing::small_crowd(11, 60, 9, 3, 4);
  const CategoryResult result = result_of(crowd.data, "majority_vote", context);
  const Json json = document(result);
  const CategoryAnswers& answers = crowd.data.answers;
  double pairs = 0, alike = 0;
  std::vector<double> credit(answers.worker_count(), 0), chances(answers.worker_count(), 0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto labels = answers.labels_of(TaskId(t));
    const auto workers = answers.workers_of(TaskId(t));
    for (std::size_t a = 0; a < labels.size(); ++a) {
      std::vector<int> votes(3, 0);
      for (std::size_t b = 0; b < labels.size(); ++b) {
        if (a == b) continue;
        ++votes[index(labels[b])];
        pairs += 0.5;
        alike += labels[a] == labels[b] ? 0.5 : 0;
      }
      if (labels.size() < 2) continue;
      const int best = *std::max_element(votes.begin(), votes.end());
      chances[index(workers[a])] += 1;
      if (votes[index(labels[a])] == best) {
        credit[index(workers[a])] += 1.0 / static_cast<double>(std::count(votes.begin(), votes.end(), best));
      }
    }
  }
  EXPECT_EQ(json.at("agreement").at("pairs").get<double>(), pairs);
  EXPECT_NEAR(json.at("agreement").at("share").get<double>(), alike / pairs, 1e-4);
  EXPECT_LT(json.at("agreement").at("low").get<double>(), alike / pairs);
  EXPECT_GT(json.at("agreement").at("high").get<double>(), alike / pairs);
  const Json& table = json.at("workers");
  for (std::size_t i = 0; i < table.at("name").size(); ++i) {
    std::size_t w = 0;
    while (answers.worker_names()[w] != table.at("name").at(i).get<std::string>()) ++w;
    EXPECT_NEAR(table.at("agreement").at(i).get<double>(), credit[w] / chances[w], 1e-4) << w;
  }
}

TEST(Report, TheSameForAnyNumberOfThreads) {
  auto crowd = testing::small_crowd(5, 400, 30, 4, 4);
  crowd.data.gold = crowd.truth;
  const RunContext one({.threads = 1}), three({.threads = 3});
  const CategoryResult result = result_of(crowd.data, "dawid_skene", one);
  EXPECT_EQ(report_json(result, {}, one), report_json(result, {}, three));
}

TEST(Report, HostileNamesAreDataAndNothingElse) {
  CategoryAnswersBuilder builder;
  const std::vector<std::string> names = {
      "<script>alert(1)</script>", "</script><!--", "\"'`",    "🦉", "שלום\xE2\x80\xAE",
      std::string(10'000, '<'),    "a\xFF",         "\n\t,\"", "plain"};
  for (const std::string& task : names) {
    for (const std::string& worker : names) builder.add(task, worker, names[(task.size() + worker.size()) % 9]);
  }
  const RunContext context({.threads = 1});
  const CategoryResult result = result_of({builder.build(), {}, {}}, "dawid_skene", context);
  ReportOptions options;
  options.page = kPage;
  options.title = "</title><script>alert(2)</script>";
  const std::string html = report_html(result, options, context);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("</script><!--"), std::string::npos);
  EXPECT_EQ(html.find("</title><script>alert(2)"), std::string::npos);
  const Json json = document(result, options);
  std::vector<std::string> shown = json.at("workers").at("name").get<std::vector<std::string>>();
  EXPECT_NE(std::find(shown.begin(), shown.end(), "<script>alert(1)</script>"), shown.end());
  EXPECT_NE(std::find_if(shown.begin(), shown.end(),
                         [](const std::string& name) { return name.ends_with("(10,000 characters)"); }),
            shown.end());
  EXPECT_LT(html.size(), 200'000U);
}

TEST(Report, DegenerateDataHaveReportsToo) {
  const RunContext context({.threads = 1});
  const auto expect_report = [&](CategoryData data, const std::string& what) {
    const CategoryResult result = result_of(std::move(data), "majority_vote", context);
    ReportOptions options;
    options.page = kPage;
    EXPECT_NO_THROW((void)report_html(result, options, context)) << what;
    const Json json = document(result);
    EXPECT_FALSE(json.at("verdict").get<std::string>().empty()) << what;
    EXPECT_TRUE(json.at("warnings").is_array()) << what;
  };
  CategoryAnswersBuilder one({"a", "b"});
  one.add("t", "w", "a");
  expect_report({one.build(), {}, {}}, "one answer");
  expect_report({one.build(), {kNoClass}, {}}, "gold that knows nothing");
  expect_report({one.build(), {ClassId{1}}, {}}, "one gold task");
  CategoryAnswersBuilder silent({"a", "b"});
  silent.add("t", "w", "a").add("t", "v", "b").add_task("nobody knows").add_worker("never spoke");
  expect_report({silent.build(), {}, {}}, "a task without answers");
  CategoryAnswersBuilder single({"a"});
  single.add("t", "w", "a").add("t", "v", "a");
  expect_report({single.build(), {}, {}}, "one class");
  CategoryAnswersBuilder none({"a", "b"});
  none.add_task("t").add_worker("w");
  expect_report({none.build(), {}, {}}, "no answers at all");
  expect_report({CategoryAnswersBuilder({"a", "b"}).build(), {}, {}}, "nothing");
}

TEST(Report, ManyClassesAreSummedUp) {
  std::vector<std::string> classes;
  for (int k = 0; k < 1000; ++k) classes.push_back("class " + std::string(150, 'x') + std::to_string(k));
  CategoryAnswersBuilder builder(classes);
  Rng rng(5);
  for (int t = 0; t < 800; ++t) {
    const std::size_t truth = rng.below(1000);
    for (int w = 0; w < 3; ++w) {
      builder.add("t" + std::to_string(t), "w" + std::to_string(rng.below(30)), classes[rng.below(4) ? truth : 7]);
    }
  }
  const RunContext context({.threads = 2});
  const CategoryResult result = result_of({builder.build(), {}, {}}, "majority_vote", context);
  const std::string text = report_json(result, {}, context);
  EXPECT_LT(text.size(), 1'800'000U);
  const Json json = Json::parse(text);
  EXPECT_EQ(json.at("classes").at("name").size(), 60U);
  EXPECT_EQ(json.at("classes_rest").at("count"), 940);
  std::uint64_t answers = json.at("classes_rest").at("answers").get<std::uint64_t>();
  for (const Json& count : json.at("classes").at("answers")) answers += count.get<std::uint64_t>();
  EXPECT_EQ(answers, result.data.answers.answer_count());
  EXPECT_LE(json.at("crowd_confusion").at("classes").size(), 30U);
  // A class that is not in the table is named.
  bool named = false;
  for (const Json& label : json.at("tasks").at("label")) named = named || label.is_string();
  EXPECT_TRUE(named);
}

TEST(Report, ManyTasksAndWorkersWithLongNamesStaySmall) {
  CategoryAnswersBuilder builder({"a", "b", "c"});
  Rng rng(9);
  const std::string worst(180, '<');  // six bytes each in the page
  for (int t = 0; t < 20'000; ++t) {
    const auto truth = rng.below(3);
    for (int a = 0; a < 4; ++a) {
      const auto worker = rng.below(3000);
      const auto label = rng.below(3000) > worker ? truth : rng.below(3);
      builder.add(worst + std::to_string(t), worst + std::to_string(worker),
                  std::string(1, static_cast<char>('a' + label)));
    }
  }
  const RunContext context({.threads = 2});
  const CategoryResult result = result_of({builder.build(), {}, {}}, "dawid_skene", context);
  ReportOptions options;
  options.page = kPage;
  const std::string html = report_html(result, options, context);
  EXPECT_LT(html.size(), 1'800'000U);
  const Json json = document(result);
  expect_equal_columns(json.at("workers"));
  expect_equal_columns(json.at("tasks"));
  EXPECT_LT(json.at("workers").at("shown").get<int>(), 3000);
  EXPECT_GT(json.at("workers").at("shown").get<int>(), 100);
  EXPECT_FALSE(json.at("sampling").empty());
  std::uint64_t counted = 0;
  for (const Json& column : json.at("worker_density").at("count")) {
    for (const Json& cell : column) counted += cell.get<std::uint64_t>();
  }
  EXPECT_EQ(counted, 3000U - static_cast<std::uint64_t>(
                                 std::count_if(result.workers.begin(), result.workers.end(),
                                               [](const WorkerSummary& worker) { return worker.answers == 0; })));
}

TEST(Report, WorkersWhoMatterAreShown) {
  // 1500 workers with one or two answers, one with very many, and one who is always wrong where others agree.
  CategoryAnswersBuilder builder({"a", "b"});
  for (int t = 0; t < 600; ++t) {
    const std::string task = "t" + std::to_string(t);
    builder.add(task, "busy", "a").add(task, "busy too", "a");
    if (t < 200) builder.add(task, "contrary", "b");
    for (int i = 0; i < 3; ++i) builder.add(task, "w" + std::to_string(t * 3 + i), "a");
  }
  const RunContext context({.threads = 1});
  const Json json = document(result_of({builder.build(), {}, {}}, "majority_vote", context));
  const auto names = json.at("workers").at("name").get<std::vector<std::string>>();
  EXPECT_EQ(names.size(), 1000U);
  for (const std::string name : {"busy", "busy too", "contrary"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(Report, AWarningSaysWhatToDo) {
  CategoryAnswersBuilder builder({"a", "b"});
  for (int t = 0; t < 20; ++t) builder.add("t" + std::to_string(t), "w" + std::to_string(t % 4), t % 3 ? "a" : "b");
  const RunContext context({.threads = 1});
  const Json json = document(result_of({builder.build(), {}, {}}, "majority_vote", context));
  const Json& first = json.at("warnings").at(0);
  EXPECT_EQ(first.at("severity"), "serious");
  EXPECT_EQ(first.at("title"), "Only one answer per task");
  EXPECT_EQ(first.at("remedy"), "Ask more workers about the same tasks, or give gold for some.");
  EXPECT_NE(json.at("verdict").get<std::string>().find("warning"), std::string::npos);
}

TEST(Report, SplintersAreLessSeriousThanHalves) {
  const RunContext context({.threads = 1});
  const auto severity = [&](int large, int small) {
    CategoryAnswersBuilder builder({"a", "b"});
    for (int t = 0; t < large + small; ++t) {
      for (int w = 0; w < 3; ++w) {
        builder.add("t" + std::to_string(t), (t < large ? "w" : "v") + std::to_string(w), (t + w) % 4 ? "a" : "b");
      }
    }
    const Json json = document(result_of({builder.build(), {}, {}}, "majority_vote", context));
    for (const Json& warning : json.at("warnings")) {
      if (warning.at("words").get<std::string>().find("parts") != std::string::npos) {
        return warning.at("severity").get<std::string>();
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(severity(200, 1), "note");
  EXPECT_EQ(severity(90, 10), "care");
  EXPECT_EQ(severity(50, 50), "serious");
  EXPECT_EQ(severity(50, 0), "none");
}

TEST(Report, AClearlyBetterMethodIsNamed) {
  const RunContext context({.threads = 1});
  auto crowd = testing::small_crowd(3, 100, 10, 2, 5);
  crowd.data.gold = crowd.truth;
  const CategoryResult result = result_of(crowd.data, "majority_vote", context);
  ReportOptions options;
  options.comparison = Comparison{.by = "gold", .rows = {}, .words = "w"};
  ComparedMethod own, other;
  own.method = "majority_vote";
  own.is_this = true;
  own.accuracy = {0.7, 0.65, 0.75};
  other.method = "glad";
  other.accuracy = {0.8, 0.74, 0.84};
  const auto warned = [&] {
    options.comparison->rows = {own, other};
    return report_json(result, options, context).find("Run again with `method=glad`") != std::string::npos;
  };
  EXPECT_FALSE(warned()) << "the intervals overlap";
  other.accuracy.low = 0.76;
  EXPECT_TRUE(warned());
}

TEST(Report, GoldThatTheMethodSawIsNoTest) {
  const RunContext context({.threads = 1});
  auto crowd = testing::small_crowd(3, 50, 8, 2, 4);
  crowd.data.gold = crowd.truth;
  CategoryResult result = result_of(crowd.data, "dawid_skene", context, false);
  result.record.gold_use = "inference";
  const Json json = document(result);
  EXPECT_FALSE(json.contains("gold"));
  EXPECT_FALSE(json.contains("calibration"));
  EXPECT_EQ(json.at("headlines").at(0).at("kind"), "estimated by the model");
}

TEST(Report, BlankLabelsAreNull) {
  const RunContext context({.threads = 1});
  const auto crowd = testing::small_crowd(3, 200, 10, 3, 3);
  CategoryResult result = result_of(crowd.data, "majority_vote", context);
  result.record.abstain_below = 0.7;
  const Json json = document(result);
  std::size_t blank = 0;
  for (const Json& label : json.at("tasks").at("label")) blank += label.is_null() ? 1 : 0;
  EXPECT_GT(blank, 0U);
  EXPECT_EQ(json.at("counts").at("abstained"), blank);
  double labelled = 0;
  for (const Json& count : json.at("classes").at("tasks")) labelled += count.get<double>();
  EXPECT_EQ(labelled, 200 - static_cast<double>(blank));
}

TEST(Report, ComparisonOnGoldAndByAgreement) {
  const RunContext context({.threads = 1});
  auto crowd = testing::small_crowd(3, 200, 12, 3, 5);
  const CategoryResult blind = result_of(crowd.data, "dawid_skene", context);
  const auto fits = quick_fits(crowd.data, "dawid_skene", context);
  EXPECT_GE(fits.size(), 4U);
  const Comparison agreement = compare_with(blind, fits, context);
  EXPECT_EQ(agreement.by, "agreement");
  EXPECT_TRUE(agreement.rows[0].is_this);
  EXPECT_EQ(agreement.rows[0].agreement, 1);
  EXPECT_TRUE(std::isnan(agreement.rows[1].accuracy.value));
  crowd.data.gold = crowd.truth;
  const CategoryResult scored = result_of(crowd.data, "dawid_skene", context);
  ReportOptions options;
  options.comparison = compare_with(scored, fits, context);
  EXPECT_EQ(options.comparison->by, "gold");
  const Json json = document(scored, options);
  EXPECT_EQ(json.at("comparison").at("rows").size(), fits.size() + 1);
  EXPECT_EQ(json.at("comparison").at("rows").at(0).at("accuracy"), json.at("gold").at("accuracy"));
}

TEST(Report, WithoutAPageTheProgramSaysWhatToDo) {
  const RunContext context({.threads = 1});
  const CategoryResult result = result_of(testing::small_crowd(3, 20, 5, 2, 3).data, "majority_vote", context);
  try {
    const std::string html = report_html(result, {}, context);
    EXPECT_NE(html.find("wisecrowd-data"), std::string::npos) << "built with the page";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("npm"), std::string::npos);
  }
}

TEST(Report, CancelledWritesNothing) {
  const std::atomic<bool> stop = true;
  const RunContext context({.threads = 1});
  const RunContext cancelled({.threads = 1, .cancel = &stop});
  const CategoryResult result = result_of(testing::small_crowd(3, 20, 5, 2, 3).data, "majority_vote", context);
  const std::string path = ::testing::TempDir() + "cancelled_report.json";
  std::filesystem::remove(path);
  EXPECT_EQ(write_report(result, {}, path, cancelled), Status::cancelled);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(write_report(result, {}, path, context), Status::converged);
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace wisecrowd
