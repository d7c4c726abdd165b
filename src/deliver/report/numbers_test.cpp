#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/report.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

/// Ten workers who scatter by 2 around the truth 10 t; w8 answers 6 too high, w9 scatters by 12.
NumberData crowd_of_numbers(std::size_t tasks, std::vector<std::string> dimensions = {"value"},
                            const std::string& prefix = "task ") {
  Rng rng(11);
  NumberAnswersBuilder builder(dimensions);
  for (std::size_t t = 0; t < tasks; ++t) {
    for (std::size_t w = 0; w < 10; ++w) {
      std::vector<double> value;
      for (std::size_t d = 0; d < dimensions.size(); ++d) {
        value.push_back(10.0 * static_cast<double>(t % 40) + (w == 8 ? 6 : 0) + (w == 9 ? 12 : 2) * rng.normal());
      }
      builder.add(prefix + std::to_string(t), "w" + std::to_string(w), value);
    }
  }
  NumberData data{builder.build(), {}};
  data.gold.assign(tasks * dimensions.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < tasks; ++i) {
    const std::size_t t = std::stoul(std::string(data.answers.task_names()[i]).substr(prefix.size()));
    if (t % 2 == 1) continue;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      data.gold[i * dimensions.size() + d] = 10.0 * static_cast<double>(t % 40);
    }
  }
  return data;
}

NumberResult number_result(NumberData data, const std::string& method = "median") {
  const RunContext context({.threads = 1});
  RunRecord record;
  record.method = method;
  record.version = "test";
  record.inputs = {{"answers", "ratings/answers.csv"}};
  NumberData seen = data;
  seen.gold.clear();
  NumberFit fit = aggregate(seen, method, Parameters(method_of<Numbers>(method).parameters), context);
  if (data.has_gold()) {
    record.gold_use = "evaluation";
    for (std::size_t t = 0; t < data.answers.task_count(); ++t) record.gold_tasks += data.has_gold(TaskId(t)) ? 1 : 0;
  }
  return make_result(std::move(data), std::move(fit), std::move(record));
}

Json page_data(const NumberResult& result) { return Json::parse(report_json(result, {}, RunContext({.threads = 1}))); }

void expect_full_columns(const Json& table) {
  for (const auto& [name, column] : table.items()) {
    if (column.is_array()) EXPECT_EQ(column.size(), table.at("shown").get<std::size_t>()) << name;
  }
}

std::size_t place_of(const Json& table, const std::string& name) {
  const auto names = table.at("name").get<std::vector<std::string>>();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

TEST(NumberReport, ShowsEstimatesWorkersAndErrors) {
  const NumberResult result = number_result(crowd_of_numbers(60));
  const Json page = page_data(result);
  EXPECT_EQ(page.at("answers_kind"), "numbers");
  EXPECT_EQ(page.at("title"), "ratings/answers.csv");
  EXPECT_EQ(page.at("counts").at("dimensions"), 1);
  EXPECT_EQ(page.at("verdict").get<std::string>().find("All 60 tasks were estimated from 600 answers by 10 workers"),
            0U);
  const Json& tasks = page.at("tasks");
  expect_full_columns(tasks);
  EXPECT_EQ(tasks.at("shown"), 60);
  for (std::size_t t = 0; t < 60; ++t) {
    const std::size_t at = place_of(tasks, std::string(result.data.answers.task_names()[t]));
    ASSERT_LT(at, 60U);
    EXPECT_NEAR(tasks.at("estimate").at(at).at(0).get<double>(), result.fit.estimate[t],
                1e-5 * (1 + std::abs(result.fit.estimate[t])));
    EXPECT_EQ(tasks.at("said").at(at).size(), 10U);
    EXPECT_EQ(tasks.at("gold").at(at).is_null(), !result.data.has_gold(TaskId(t)));
  }
  const Json& workers = page.at("workers");
  expect_full_columns(workers);
  EXPECT_EQ(workers.at("why").at(place_of(workers, "w8")), Json({"biased"}));
  EXPECT_EQ(workers.at("why").at(place_of(workers, "w9")).at(0), "noisy");
  EXPECT_EQ(workers.at("why").at(place_of(workers, "w0")), Json::array());
  const NumberEvaluation score =
      evaluate_numbers(result.fit.estimate, result.fit.low, result.fit.high, result.data.gold, 1);
  const Json& gold = page.at("gold");
  EXPECT_EQ(gold.at("tasks"), 30);
  EXPECT_NEAR(gold.at("dimensions").at(0).at("absolute_error").at("value").get<double>(),
              score.dimensions[0].absolute_error.value, 1e-4);
  EXPECT_GT(gold.at("dimensions").at(0).at("correlation").get<double>(), 0.99);
  EXPECT_EQ(gold.at("points").size(), 30U);
  // The furthest off first.
  const auto off = [&](std::size_t i) {
    const Json& miss = gold.at("misses").at(i);
    return std::abs(miss.at("estimate").at(0).get<double>() - miss.at("gold").at(0).get<double>());
  };
  for (std::size_t i = 1; i < 30; ++i) EXPECT_GE(off(i - 1), off(i));
}

TEST(NumberReport, MarksTheAnswersThatStandApart) {
  NumberAnswersBuilder builder;
  for (int t = 0; t < 50; ++t) {
    for (int w = 0; w < 5; ++w)
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), 100 + (7 * t + 3 * w) % 5);
  }
  builder.add("t7", "far", 130).add("pair", "w0", 1).add("pair", "w1", 1000);
  const Json page = page_data(number_result({builder.build(), {}}));
  EXPECT_EQ(page.at("counts").at("outlying_answers"), 1);  // of two answers, nobody knows which one is off
  const Json& tasks = page.at("tasks");
  const std::size_t odd = place_of(tasks, "t7");
  EXPECT_EQ(tasks.at("why").at(odd), Json({"outlying answer", "answers far apart"}));
  for (const Json& answer : tasks.at("said").at(odd)) {
    EXPECT_EQ(answer.at(2), answer.at(0) == "far" ? Json({0}) : Json::array()) << answer;
  }
  const Json& workers = page.at("workers");
  EXPECT_EQ(workers.at("outlying").at(place_of(workers, "far")), 1);
}

TEST(NumberReport, HasEveryDimension) {
  const Json page = page_data(number_result(crowd_of_numbers(30, {"x", "y", "<b>z</b>"})));
  ASSERT_EQ(page.at("dimensions").size(), 3U);
  EXPECT_EQ(page.at("dimensions").at(2).at("name"), "<b>z</b>");
  for (const Json& dimension : page.at("dimensions")) {
    const Json& histogram = dimension.at("histogram");
    EXPECT_EQ(histogram.at("edges").size(), histogram.at("count").size() + 1);
    std::size_t tasks = 0;
    for (const Json& count : histogram.at("count")) tasks += count.get<std::size_t>();
    EXPECT_EQ(tasks, 30U);
  }
  EXPECT_EQ(page.at("tasks").at("low").at(0).size(), 3U);
  EXPECT_EQ(page.at("workers").at("bias").at(0).size(), 3U);
  EXPECT_EQ(page.at("gold").at("dimensions").size(), 3U);
}

TEST(NumberReport, OddDataHaveAReportToo) {
  const auto page_of = [](NumberAnswersBuilder& builder) { return page_data(number_result({builder.build(), {}})); };
  NumberAnswersBuilder none;
  none.add_task("t").add_worker("w");
  EXPECT_EQ(page_of(none).at("tasks").at("why").at(0), Json({"no answers"}));
  NumberAnswersBuilder one;
  one.add("t", "w", -3);
  const Json single = page_of(one);
  EXPECT_TRUE(single.at("tasks").at("deviation").at(0).at(0).is_null());
  EXPECT_EQ(single.at("warnings").at(0).at("severity"), "serious");
  EXPECT_NE(single.at("verdict").get<std::string>().find("serious warning"), std::string::npos);
  NumberAnswersBuilder same;
  for (const char* task : {"a", "b"}) same.add(task, "u", 5).add(task, "v", 5).add(task, "w", 5);
  EXPECT_EQ(page_of(same).at("dimensions").at(0).at("histogram").at("count").at(0), 2);
  NumberAnswersBuilder wide;  // one estimate far out must not squeeze the others into one bin
  for (int t = 0; t < 300; ++t) wide.add("t" + std::to_string(t), "w", t == 9 ? 1e9 : t % 100);
  const Json histogram = page_of(wide).at("dimensions").at(0).at("histogram");
  EXPECT_EQ(histogram.at("above"), 1);
  EXPECT_GT(histogram.at("count").size(), 10U);
}

TEST(NumberReport, StaysSmallAndHarmless) {
  NumberResult result = number_result(crowd_of_numbers(20'000, {"value"}, std::string(300, '<') + "/script>"));
  const std::string json = report_json(result, {}, RunContext({.threads = 2}));
  EXPECT_LT(json.size(), 1'800'000U);
  const Json page = Json::parse(json);
  EXPECT_LT(page.at("tasks").at("shown").get<std::size_t>(), 1001U);
  ASSERT_GE(page.at("sampling").size(), 2U);
  EXPECT_NE(page.at("sampling").at(0).get<std::string>().find("20,000 tasks are listed"), std::string::npos);
  ReportOptions options;
  options.page = "<title>WISECROWD-TITLE</title><!--WISECROWD-DATA-->";
  const std::string html = report_html(result, options, RunContext({.threads = 2}));
  EXPECT_EQ(html.find("</script>"), html.rfind("</script>")) << "only the end of the data";
}

TEST(NumberReport, WarnsOfIntervalsThatAreTooNarrow) {
  NumberData data = crowd_of_numbers(60);
  for (double& truth : data.gold) truth += 25;  // gold in another unit
  const Json page = page_data(number_result(std::move(data)));
  bool warned = false;
  for (const Json& warning : page.at("warnings"))
    warned = warned || warning.at("title") == "The intervals are too narrow";
  EXPECT_TRUE(warned);
  EXPECT_EQ(page.at("tasks").at("why").at(0).at(0), "truth outside the interval");
}

}  // namespace
}  // namespace wisecrowd
