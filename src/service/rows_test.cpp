#include "service/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "service/http.hpp"

namespace wisecrowd::service {
namespace {

std::string first_error(const Rows& rows) {
  return rows.errors.empty()
             ? "none"
             : std::to_string(rows.errors[0].row) + " " + rows.errors[0].field + ": " + rows.errors[0].message;
}

TEST(ServiceRows, LinesAndListsSayTheSame) {
  const std::string one = R"({"task":"t1","worker":7,"label":"cat","seconds":1.5,"time":1700000000})";
  const std::string two = R"({"task":"t2","worker":"ann","label":null})";
  for (const Rows& rows : {parse_answers(one + "\r\n\n" + two, RowFormat::ndjson),
                           parse_answers("[" + one + "," + two + "]", RowFormat::json)}) {
    ASSERT_EQ(rows.error_count, 0U) << first_error(rows);
    ASSERT_EQ(rows.entries.size(), 2U);
    EXPECT_EQ(rows.entries[0].worker, "7");
    EXPECT_EQ(rows.entries[0].label, "cat");
    EXPECT_DOUBLE_EQ(rows.entries[0].seconds, 1.5);
    EXPECT_DOUBLE_EQ(rows.entries[0].time, 1700000000);
    EXPECT_EQ(rows.entries[1].kind, EntryKind::withdrawal);
    EXPECT_TRUE(std::isnan(rows.entries[1].seconds));
  }
}

TEST(ServiceRows, EveryBadRowIsNamed) {
  const Rows rows = parse_answers(
      "{\"task\":\"t\",\"worker\":\"w\",\"label\":\"a\"}\n"
      "{\"task\":\"t\",\"worker\":\"w\"}\n"
      "not json\n"
      "{\"task\":\"\",\"worker\":[],\"label\":\"a\"}\n"
      "{\"task\":\"t\",\"worker\":\"w\",\"label\":\"a\",\"lable\":\"b\"}\n"
      "{\"task\":\"t\",\"worker\":\"w\",\"label\":\"a\",\"seconds\":-1}\n"
      "[1]\n"
      "{\"task\":\"\xff\",\"worker\":\"w\",\"label\":\"a\"}\n",
      RowFormat::ndjson);
  EXPECT_EQ(rows.error_count, 8U);
  std::vector<std::pair<std::size_t, std::string>> places;
  for (const RowError& error : rows.errors) places.emplace_back(error.row, error.field);
  const std::vector<std::pair<std::size_t, std::string>> expected = {
      {2, "label"}, {3, ""}, {4, "task"}, {4, "worker"}, {5, "lable"}, {6, "seconds"}, {7, ""}, {8, ""}};
  EXPECT_EQ(places, expected);
}

TEST(ServiceRows, RefusesWhatIsNoListOfRows) {
  EXPECT_THROW((void)parse_answers("3", RowFormat::json), Refusal);
  EXPECT_THROW((void)parse_answers("[{]", RowFormat::json), Refusal);
  EXPECT_EQ(parse_answers("[]", RowFormat::json).error_count, 1U);
  EXPECT_EQ(parse_answers("", RowFormat::ndjson).error_count, 1U);
  EXPECT_EQ(parse_answers(" \n\n", RowFormat::ndjson).error_count, 1U);
}

TEST(ServiceRows, DeepNestingIsRefusedAndNotFollowed) {
  const std::string deep(1'000'000, '[');
  EXPECT_THROW((void)parse_json(deep), Refusal);
  EXPECT_EQ(parse_answers(deep, RowFormat::ndjson).error_count, 1U);
  EXPECT_EQ(parse_answers(R"({"task":)" + std::string(100, '['), RowFormat::ndjson).error_count, 1U);
}

TEST(ServiceRows, ManyErrorsAreCountedAndAFewShown) {
  std::string body;
  for (int i = 0; i < 500; ++i) body += "{}\n";
  const Rows rows = parse_answers(body, RowFormat::ndjson);
  EXPECT_EQ(rows.error_count, 1500U);
  EXPECT_EQ(rows.errors.size(), kMostShownErrors);
}

TEST(ServiceRows, GoldAndTasksHaveTheirOwnFields) {
  EXPECT_EQ(parse_gold(R"([{"task":"t","label":"a"}])", RowFormat::json).entries[0].kind, EntryKind::gold);
  EXPECT_EQ(parse_gold(R"([{"task":"t","label":null}])", RowFormat::json).error_count, 1U);
  EXPECT_EQ(parse_gold(R"([{"task":"t","label":"a","worker":"w"}])", RowFormat::json).error_count, 1U);
  const Rows tasks =
      parse_tasks(R"([{"task":"t","link":"https://x/1"},{"task":"u","link":"javascript:1"}])", RowFormat::json);
  EXPECT_EQ(tasks.entries[0].link, "https://x/1");
  EXPECT_EQ(first_error(tasks), "2 link: it is no link that begins with http:// or https://");
}

TEST(ServiceHttp, TargetsAreSplitBeforeTheyAreDecoded) {
  HttpRequest request;
  EXPECT_EQ(split_target("/v1/projects/a%2Fb/tasks/t%20%C3%A9?x=1+2&y=%26&z", request), "");
  const std::vector<std::string> expected = {"v1", "projects", "a/b", "tasks", "t é"};
  EXPECT_EQ(request.segments, expected);
  EXPECT_EQ(request.query.at("x"), "1 2");
  EXPECT_EQ(request.query.at("y"), "&");
  EXPECT_EQ(request.query.at("z"), "");
}

TEST(ServiceHttp, TargetsThatCanBeReadInTwoWaysAreRefused) {
  for (const char* bad : {"", "x", "http://host/", "*", "/%", "/%2", "/%zz", "/%00", "/%ff", "/a b", "/a\\b", "/#x",
                          "/?a=1&a=2", "/?a=%e", "/\xc3\xa9"}) {
    HttpRequest request;
    EXPECT_NE(split_target(bad, request), "") << bad;
  }
}

TEST(ServiceHttp, CookiesAndTheirLeftovers) {
  const Fields cookies = cookies_of("a=1; wisecrowd_session=abc; broken; =x");
  EXPECT_EQ(cookies.at("wisecrowd_session"), "abc");
  EXPECT_EQ(cookies.at("a"), "1");
  EXPECT_TRUE(cookies_of("").empty());
}

}  // namespace
}  // namespace wisecrowd::service
