#include <gtest/gtest.h>

#include "ingest/platforms/platform.hpp"
#include "ingest/platforms/tokens.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

std::string recognised_name(const std::string& name, std::string_view bytes) {
  const Platform* const found = recognised(head_of(name, bytes));
  return found == nullptr ? "" : found->info.name;
}

TEST(Platforms, AreRecognisedByContentOnly) {
  EXPECT_EQ(recognised_name("x", R"([{"id": 1, "annotations": [], "data": {}}])"), "label-studio");
  EXPECT_EQ(recognised_name("x", R"({"id": 1, "completions": [{"result": []}]})"), "label-studio");
  EXPECT_EQ(recognised_name("x", R"([{"id": "a", "fields": {}, "responses": []}])"), "argilla");
  EXPECT_EQ(recognised_name("x", R"([{"label.responses": ["a"], "label.responses.users": ["u"]}])"), "argilla");
  EXPECT_EQ(recognised_name("x", R"([{"datasetObjectId": "0", "annotations": [{"workerId": "w"}]}])"), "ground-truth");
  EXPECT_EQ(recognised_name("x", "HITId,WorkerId,AssignmentStatus,Answer.a\n"), "mturk");
  EXPECT_EQ(recognised_name("x", "\xEF\xBB\xBFOUTPUT:a\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\n"), "toloka");
  EXPECT_EQ(recognised_name("a/answers.json", R"({"0": {"1": 2}})"), "peerannot");
}

TEST(Platforms, OrdinaryFilesAreLeftAlone) {
  for (const char* text :
       {"", " \n", "task,worker,label\n1,2,3\n", R"({"task": "1", "worker": "2", "label": "data"})",
        R"([{"task": 1, "annotations": "x"}])", R"({"text": "annotations\": [", "label": 1})", "[", "{",
        R"({"0": {"1": 2}})", R"({"chosen": "a", "rejected": "b"})", "HITId,WorkerId,Answer.a\n"}) {
    EXPECT_EQ(recognised_name("x.json", text), "") << text;
  }
  EXPECT_EQ(recognised_name("answers.json", R"({"task": {"worker": 2}})"), "");  // may be anything
  EXPECT_EQ(recognised_name("answers.json", R"({"0": {"1": {"2": 3}}})"), "");
}

TEST(Platforms, DeepAndCutHeadsDoNoHarm) {
  EXPECT_EQ(recognised_name("x", std::string(100000, '[')), "");
  EXPECT_EQ(recognised_name("x", R"([{"id": 1, "annotations": [{"result": [{"value": "cut)"), "label-studio");
  EXPECT_EQ(recognised_name("x", "[{\"id\\"), "");
}

TEST(Platforms, NamesTakeHyphensAndUnderscores) {
  EXPECT_EQ(platform_named("ground_truth").name, "ground-truth");
  EXPECT_THROW((void)platform_named("labelstudio"), Error);
}

TEST(Tokens, CountAsBrowsersOrAsPythonDoes) {
  const auto browser = tokens_of("😀 a-b\u00E9c", false), python = tokens_of("😀 a-b\u00E9c", true);
  ASSERT_EQ(browser.size(), 4U);
  EXPECT_EQ(browser[1].begin, 3U);
  EXPECT_EQ(python[1].begin, 2U);
  EXPECT_EQ(browser[3].text, "b\u00E9c");
  EXPECT_EQ(browser[3].end - browser[3].begin, 3U);
}

TEST(Tokens, SpansTouchWords) {
  const auto tokens = tokens_of("one two three", true);
  std::string failure;
  EXPECT_EQ(bio_tags(tokens, {{2, 5, "X"}}, failure), (std::vector<std::string>{"B-X", "I-X", "O"}));
  EXPECT_EQ(bio_tags(tokens, {{8, 13, "Y"}, {0, 3, "X"}}, failure), (std::vector<std::string>{"B-X", "O", "B-Y"}));
  EXPECT_EQ(failure, "");
  EXPECT_TRUE(bio_tags(tokens, {{0, 5, "X"}, {4, 7, "Y"}}, failure).empty());
  EXPECT_NE(failure.find("overlap at 'two'"), std::string::npos) << failure;
  (void)bio_tags(tokens, {{100, 101, "X"}}, failure);
  EXPECT_NE(failure.find("touches no word"), std::string::npos) << failure;
}

}  // namespace
}  // namespace wisecrowd::ingest
