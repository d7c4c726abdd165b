#include "service/label_studio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "service/outgoing.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

using nlohmann::json;

/// What a Label Studio 1.23.2 sent to a backend, in order.
std::vector<json> recorded(const std::string& path) {
  std::ifstream file(testing::source_folder() + "/tests/service/label_studio_requests.jsonl");
  std::vector<json> bodies;
  for (std::string line; std::getline(file, line);) {
    const json request = json::parse(line);
    if (request["path"] == path && !request["body"].get<std::string>().empty()) {
      bodies.push_back(json::parse(request["body"].get<std::string>()));
    }
  }
  return bodies;
}

TEST(LabelStudio, RecordedWebhooksSayWhatHappened) {
  const auto bodies = recorded("/webhook");
  ASSERT_GT(bodies.size(), 8U);
  std::vector<std::string> actions;
  for (const json& body : bodies) actions.push_back(studio_event(body, "c").action);
  EXPECT_EQ(actions[0], "ANNOTATION_CREATED");
  EXPECT_EQ(actions[1], "ANNOTATION_UPDATED");
  EXPECT_EQ(actions[2], "START_TRAINING");
  EXPECT_EQ(actions[3], "ANNOTATIONS_DELETED");
  const StudioEvent made = studio_event(bodies[0], "c"), changed = studio_event(bodies[1], "c");
  ASSERT_EQ(made.made.size(), 1U);
  EXPECT_EQ(made.made[0].id, 1);
  EXPECT_EQ(made.made[0].task, "1");
  EXPECT_EQ(made.made[0].worker, "1");
  EXPECT_EQ(made.made[0].label, "cat");
  EXPECT_DOUBLE_EQ(made.made[0].seconds, 3.2);
  EXPECT_NEAR(made.made[0].time, 1794880259.593698, 1e-3);
  EXPECT_EQ(changed.made[0].label, "dog");
  EXPECT_EQ(studio_event(bodies[3], "c").deleted, std::vector<std::int64_t>{1});
  EXPECT_TRUE(studio_event(bodies[2], "c").made.empty());
  EXPECT_EQ(studio_event(bodies[0], "another question").made[0].label, "");
}

TEST(LabelStudio, RecordedSetupsHaveTheQuestion) {
  const auto bodies = recorded("/setup");
  ASSERT_FALSE(bodies.empty());
  const auto question = question_of(bodies[0]["schema"].get<std::string>());
  ASSERT_TRUE(question);
  EXPECT_EQ(question->from_name, "c");
  EXPECT_EQ(question->to_name, "t");
  EXPECT_EQ(question->choices, (std::vector<std::string>{"cat", "dog"}));
}

TEST(LabelStudio, QuestionsOfOtherKindsAreNotTaken) {
  EXPECT_FALSE(question_of("<View><Text name=\"t\" value=\"$t\"/><Rating name=\"r\" toName=\"t\"/></View>"));
  EXPECT_FALSE(
      question_of("<Choices name='c' toName='t' choice='multiple'><Choice value='a'/><Choice value='b'/></Choices>"));
  EXPECT_FALSE(
      question_of("<Choices name='c' toName='t' perRegion='true'><Choice value='a'/><Choice value='b'/></Choices>"));
  EXPECT_FALSE(question_of("<Choices name='c' toName='t'><Choice value='a'/></Choices>"));
  const auto second = question_of(
      "<!-- <Choices name='x'><Choice value='1'/><Choice value='2'/></Choices> -->"
      "<Choices name='m' toName='t' choice='multiple'><Choice value='p'/><Choice value='q'/></Choices>"
      "<Choices name = 'c' toName='t' required ><Choice value='a &amp; b' "
      "hotkey=\"1\"></Choice>\n<Choice\tvalue=\"&lt;c&gt;\" /></Choices>");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->from_name, "c");
  EXPECT_EQ(second->choices, (std::vector<std::string>{"a & b", "<c>"}));
  for (const char* broken : {"", "<", "<Choices", "<Choices name=", "<Choices name='c", "<Choices name=c>", "<!--",
                             "<Choices name='c'><Choice value='a'"}) {
    EXPECT_FALSE(question_of(broken)) << broken;
  }
}

TEST(LabelStudio, AnnotationsThatAreNoAnswers) {
  const auto label = [](const std::string& text) {
    const auto made = annotation_of(json::parse(text), "", "c");
    return made ? made->label : "none at all";
  };
  const std::string result = R"([{"from_name":"c","type":"choices","value":{"choices":["cat"]}}])";
  EXPECT_EQ(label(R"({"id":1,"task":2,"completed_by":3,"result":)" + result + "}"), "cat");
  EXPECT_EQ(label(R"({"id":1,"task":2,"completed_by":{"id":3,"email":"x"},"result":)" + result + "}"), "cat");
  EXPECT_EQ(label(R"({"id":1,"task":{"id":2},"completed_by":3,"result":)" + result + "}"), "cat");
  EXPECT_EQ(label(R"({"id":1,"task":2,"completed_by":3,"was_cancelled":true,"result":)" + result + "}"), "");
  EXPECT_EQ(label(R"({"id":1,"task":2,"completed_by":3,"result":[]})"), "");
  EXPECT_EQ(label(R"({"id":1,"task":2,"completed_by":3,"result":[{"from_name":"c","value":{"choices":["a","b"]}}]})"),
            "");
  EXPECT_EQ(label(R"({"id":1,"task":2,"completed_by":3})"), "");
  EXPECT_EQ(label(R"({"task":2,"completed_by":3})"), "none at all");
  EXPECT_EQ(label(R"({"id":1,"completed_by":3})"), "none at all");
  EXPECT_EQ(label(R"({"id":1,"task":2,"completed_by":null})"), "none at all");
  EXPECT_TRUE(
      annotation_of(json::parse(R"({"id":1,"task":2,"completed_by":3,"ground_truth":true,"result":)" + result + "}"),
                    "", "c")
          ->gold);
}

TEST(LabelStudio, WhatIsNotUnderstoodIsNoError) {
  for (const char* odd :
       {"[]", "3", "{}", R"({"action":"X"})", R"({"action":"ANNOTATIONS_DELETED","annotations":[{},3,{"id":"x"}]})",
        R"({"action":"ANNOTATIONS_CREATED","annotation":[3],"task":[]})", R"({"action":7,"annotation":{}})"}) {
    const StudioEvent event = studio_event(json::parse(odd), "c");
    EXPECT_TRUE(event.made.empty() && event.deleted.empty()) << odd;
  }
}

TEST(LabelStudio, ExportsHaveTasksAndAnnotations) {
  const StudioExport all = studio_export(
      R"([{"id":5,"annotations":[{"id":1,"completed_by":2,"result":[{"from_name":"c","value":{"choices":["x"]}}]}]},{"id":6},{"id":null}])",
      "c");
  EXPECT_EQ(all.tasks, (std::vector<std::string>{"5", "6"}));
  ASSERT_EQ(all.annotations.size(), 1U);
  EXPECT_EQ(all.annotations[0].task, "5");
  EXPECT_THROW((void)studio_export("{}", "c"), Error);
  EXPECT_THROW((void)studio_export(std::string(1000, '['), "c"), Error);
  EXPECT_TRUE(std::isnan(time_of("yesterday")));
  EXPECT_DOUBLE_EQ(time_of("1970-01-02T00:00:01.5Z"), 86401.5);
}

}  // namespace
}  // namespace wisecrowd::service
