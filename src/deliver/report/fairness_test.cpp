#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/crowds.hpp"
#include "wisecrowd/report.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

Json section_of(const std::string& record) {
  const RunContext context({.threads = 1});
  CategoryData data = testing::small_crowd(1, 20, 5, 2, 3).data;
  data.gold.clear();
  RunRecord made;
  made.method = "majority_vote";
  const CategoryResult result = make_result(data, aggregate(data, "majority_vote"), std::move(made), context);
  ReportOptions options;
  options.fairness = record;
  const Json document = Json::parse(report_json(result, options, context));
  return document.contains("fairness") ? document["fairness"] : Json();
}

TEST(ReportFairness, TellsTheWidestGapBeyondChance) {
  const Json gap = {{"labels", "labels"},   {"measure", "false_positive_rate"},
                    {"positive", "1"},      {"gap", {{"value", .2}, {"low", .1}, {"high", .3}}},
                    {"highest", "a"},       {"lowest", "b"},
                    {"truth", "posterior"}, {"rates", {{{"value", .3}}, {{"value", .1}}}}};
  Json chance = gap;
  chance["measure"] = "accuracy";
  chance["gap"] = {{"value", .4}, {"low", 0}, {"high", .6}};
  const Json record = {{"group_column", "race"},
                       {"reference", "b"},
                       {"gaps", {gap, chance}},
                       {"groups", {{{"group", "a"}, {"tasks", 10}}}},
                       {"workers", {{"biased", 0}}}};
  const Json section = section_of(record.dump());
  EXPECT_EQ(section["gaps"][0]["rates"], (Json{.3, .1}));
  const std::string words = section["words"];
  EXPECT_NE(words.find("false positive rate: 20.0 points (95 %: 10.0 to 30.0), a above b"), std::string::npos) << words;
  EXPECT_NE(words.find("a bias that all workers share cannot be known"), std::string::npos) << words;
  EXPECT_NE(words.find("No worker's gap is beyond chance"), std::string::npos) << words;
}

TEST(ReportFairness, WhatIsNotAsExpectedIsLeftOut) {
  EXPECT_TRUE(section_of("").is_null());
  EXPECT_TRUE(section_of("no JSON").is_null());
  EXPECT_TRUE(section_of("[1]").is_null());
  const Json section =
      section_of(R"({"gaps": [1, {"gap": 5, "rates": "x"}], "groups": {"a": 1}, "workers": [], "reference": 7})");
  EXPECT_EQ(section["gaps"].size(), 1U);
  EXPECT_TRUE(section["gaps"][0]["value"].is_null());
  EXPECT_TRUE(section["groups"].empty());
}

}  // namespace
}  // namespace wisecrowd
