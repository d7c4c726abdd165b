#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/report.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd {
namespace {

using Json = nlohmann::ordered_json;

CategoryResult fitted(CategoryData data, AnswerTimes times = {}, std::optional<Dependence> known = {}) {
  const RunContext context({.threads = 1});
  RunRecord record;
  record.method = "dawid_skene";
  record.command = "wisecrowd aggregate answers.csv";
  CategoryFit fit = aggregate(data, "dawid_skene");
  fit.dependence = std::move(known);
  CategoryResult result = make_result(data, std::move(fit), std::move(record), context);
  result.times = std::move(times);
  return result;
}

Json document_of(const CategoryResult& result, const ReportOptions& options = {}) {
  return Json::parse(report_json(result, options, RunContext({.threads = 1})));
}

/// `groups` groups of `members` who repeat their first, and `alone` who answer for themselves; right in 80 %.
CategoryAnswers copying_crowd(int tasks, int groups, int members, int alone) {
  Rng rng(11);
  CategoryAnswersBuilder builder({"a", "b", "c"});
  const char* names[] = {"a", "b", "c"};
  for (int t = 0; t < tasks; ++t) {
    const auto truth = static_cast<std::uint64_t>(t % 3);
    const auto said = [&] { return names[rng.bernoulli(0.8) ? truth : (truth + 1 + rng.below(2)) % 3]; };
    for (int g = 0; g < groups; ++g) {
      const char* own = said();
      for (int w = 0; w < members; ++w) {
        builder.add(std::to_string(t), "g" + std::to_string(g) + "w" + std::to_string(w), own);
      }
    }
    for (int w = 0; w < alone; ++w) builder.add(std::to_string(t), "alone" + std::to_string(w), said());
  }
  return builder.build();
}

/// Ten workers who are right in 90 %; the first guesses from its 150th answer on.
CategoryAnswers tiring_crowd(bool tires) {
  Rng rng(7);
  CategoryAnswersBuilder builder({"a", "b", "c"});
  const char* names[] = {"a", "b", "c"};
  for (int t = 0; t < 300; ++t) {
    const auto truth = static_cast<std::uint64_t>(t % 3);
    for (int w = 0; w < 10; ++w) {
      const bool tired = tires && w == 0 && t >= 150;
      const bool right = rng.bernoulli(tired ? 1.0 / 3 : 0.9);
      builder.add("t" + std::to_string(t), "w" + std::to_string(w),
                  names[right ? truth : (truth + 1 + rng.below(2)) % 3]);
    }
  }
  return builder.build();
}

/// Tasks were answered in their order.
AnswerTimes in_order_of_tasks(const CategoryAnswers& answers) {
  AnswerTimes times{AnswerOrder::numbers, {}};
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    times.times.insert(times.times.end(), answers.workers_of(TaskId(t)).size(), static_cast<double>(t));
  }
  return times;
}

std::string all_words(const Json& trust) {
  std::string text;
  for (const Json& finding : trust.at("findings")) text += finding.at("title").get<std::string>() + "\n";
  for (const Json& limit : trust.at("limits")) text += limit.get<std::string>() + "\n";
  return text;
}

TEST(ReportTrust, GroupsAreDrawnWithTheirPairs) {
  const Json trust = document_of(fitted({.answers = copying_crowd(200, 2, 4, 12)})).at("trust");
  const Json& picture = trust.at("picture");
  ASSERT_EQ(picture.at("groups").size(), 2U);
  const Json& nodes = picture.at("nodes");
  ASSERT_EQ(nodes.at("name").size(), 20U);
  EXPECT_EQ(picture.at("alone"), 12);
  EXPECT_EQ(picture.at("left_out"), "");
  ASSERT_EQ(picture.at("edges").size(), 12U);  // six pairs in each
  for (const Json& edge : picture.at("edges")) {
    const auto first = edge.at(0).get<std::size_t>(), second = edge.at(1).get<std::size_t>();
    EXPECT_EQ(nodes.at("group").at(first), nodes.at("group").at(second));
    EXPECT_EQ(nodes.at("name").at(first).get<std::string>().substr(0, 2),
              nodes.at("name").at(second).get<std::string>().substr(0, 2));
    EXPECT_EQ(edge.at(2), 200);
    EXPECT_EQ(edge.at(3), 200);
    EXPECT_GT(edge.at(5).get<double>(), 0.5);  // copied
  }
  EXPECT_TRUE(trust.at("words").is_null());
  EXPECT_EQ(trust.at("findings").at(0).at("title"), "Group 1: 4 workers contradict the rest as one");
  EXPECT_EQ(trust.at("findings").at(0).at("advice"), "stop");
  EXPECT_FALSE(trust.at("findings").at(0).at("to_do").get<std::string>().empty());
  EXPECT_FALSE(trust.contains("timelines"));
  EXPECT_NE(all_words(trust).find("--time COLUMN of aggregate, trust or report"), std::string::npos);
}

// Colluders share few tasks, two by two: none of their pairs is beyond doubt, all together are.
TEST(ReportTrust, MembersOfAGroupAreJoined) {
  const Simulation crowd = simulate("colluders", {500, 30, 2, 5}, Parameters(simulation_kind("colluders").parameters),
                                    RunContext({.seed = 1}));
  const Json trust = document_of(fitted({.answers = crowd.data.answers})).at("trust");
  const Json& picture = trust.at("picture");
  EXPECT_EQ(picture.at("pairs"), 0);
  ASSERT_EQ(picture.at("groups").size(), 1U);
  EXPECT_EQ(picture.at("groups").at(0).at("kind"), "colluders");
  EXPECT_GT(picture.at("edges").size(), 20U);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const Json& edge : picture.at("edges")) {
    EXPECT_GT(edge.at(3).get<double>(), edge.at(4).get<double>());
    EXPECT_TRUE(edge.at(5).is_null());
    EXPECT_TRUE(seen.emplace(edge.at(0), edge.at(1)).second);
    EXPECT_EQ(picture.at("nodes").at("group").at(edge.at(1).get<std::size_t>()), 0);
  }
  EXPECT_EQ(trust.at("findings").at(0).at("advice"), "stop");
}

// However large the crowd, the picture holds what can be read, and says what is missing.
TEST(ReportTrust, LargeCrowdsAreDrawnInPart) {
  const CategoryAnswers answers = copying_crowd(80, 15, 13, 60);
  Dependence found;
  for (std::uint32_t g = 0; g < 15; ++g) {
    DependentGroup group;
    for (std::uint32_t w = 0; w < 13; ++w) {
      const std::string name = "g" + std::to_string(g) + "w" + std::to_string(w);
      for (std::uint32_t j = 0; j < answers.worker_count(); ++j) {
        if (answers.worker_names()[j] == name) group.workers.push_back(WorkerId{j});
      }
    }
    for (std::size_t a = 0; a < 13; ++a) {
      for (std::size_t b = a + 1; b < 13; ++b)
        found.pairs.push_back({group.workers[a], group.workers[b], 80, 80, 50, 1, 9});
    }
    found.groups.push_back(std::move(group));
  }
  const Json document = document_of(fitted({.answers = answers}, {}, found));
  const Json& picture = document.at("trust").at("picture");
  EXPECT_EQ(picture.at("groups").size(), 12U);
  EXPECT_EQ(picture.at("groups").at(0).at("drawn"), 12);
  EXPECT_EQ(picture.at("nodes").at("name").size(), 12U * 12 + 40);
  EXPECT_EQ(picture.at("edges").size(), 400U);
  EXPECT_EQ(picture.at("left_out")
                .get<std::string>()
                .find("Drawn are 12 of 15 groups, 184 of 255 workers and 400 of "
                      "1,170 pairs: "),
            0U);
  EXPECT_NE(document.at("sampling").dump().find("The picture of the crowd"), std::string::npos);
  EXPECT_NE(all_words(document.at("trust")).find("3 groups more"), std::string::npos);
}

TEST(ReportTrust, TimelinesBeginWithWhoGotWorse) {
  const CategoryAnswers answers = tiring_crowd(true);
  const Json document = document_of(fitted({.answers = answers}, in_order_of_tasks(answers)));
  const Json& trust = document.at("trust");
  const Json& lines = trust.at("timelines").at("workers");
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines.at(0).at("worker"), "w0");
  ASSERT_EQ(lines.at(0).at("alarms").size(), 1U);
  const Json& alarm = lines.at(0).at("alarms").at(0);
  EXPECT_NEAR(alarm.at("began").get<double>(), 151, 12);
  EXPECT_LE(alarm.at("raised").get<int>(), 190);
  EXPECT_EQ(lines.at(0).at("when"), "Times 0 to 299.");
  std::uint64_t sum = 0;
  for (const Json& stretch : lines.at(0).at("stretches")) sum += stretch.at(0).get<std::uint64_t>();
  EXPECT_EQ(sum, 300U);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_TRUE(lines.at(i).at("alarms").empty()) << i;
  EXPECT_NE(all_words(trust).find("1 worker got worse"), std::string::npos);
  // The table of workers says the same.
  const Json& workers = document.at("workers");
  for (std::size_t w = 0; w < 10; ++w) {
    EXPECT_EQ(workers.at("advice").at(w), workers.at("name").at(w) == "w0" ? "check" : "keep");
  }
}

TEST(ReportTrust, NothingFoundIsOneSentence) {
  const CategoryAnswers answers = tiring_crowd(false);
  const Json plain = document_of(fitted({.answers = answers})).at("trust");
  EXPECT_EQ(plain.at("words"),
            "Nothing was found: nobody is seen to answer as one with others, to guess or to swap classes.");
  EXPECT_TRUE(plain.at("findings").empty());
  EXPECT_FALSE(plain.contains("picture"));
  const Json timed = document_of(fitted({.answers = answers}, in_order_of_tasks(answers))).at("trust");
  EXPECT_NE(timed.at("words").get<std::string>().find("nor to get worse"), std::string::npos);
  EXPECT_EQ(timed.at("timelines").at("workers").size(), 10U);
}

TEST(ReportTrust, WhatTrustFoundIsWhatThePageSays) {
  CategoryResult result = fitted({.answers = tiring_crowd(false)});
  TrustStudy study;
  study.workers.resize(10);
  study.group.assign(10, TrustStudy::kAlone);
  for (WorkerAssessment& judged : study.workers) judged.answers = 300;
  study.workers[3].advice = WorkerAdvice::stop;
  study.workers[3].reason = AdviceReason::guesses;
  ReportOptions options;
  options.trust = study;
  const Json document = document_of(result, options);
  EXPECT_EQ(document.at("advice_counts").at("stop"), 1);
  const Json& finding = document.at("trust").at("findings").at(0);
  EXPECT_EQ(finding.at("title"), "1 worker guesses, or nearly");
  EXPECT_EQ(finding.at("words").get<std::string>().find("w3, with 300 answers in all. "), 0U);
  EXPECT_EQ(finding.at("advice"), "stop");
}

}  // namespace
}  // namespace wisecrowd
