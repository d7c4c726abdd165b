#include "ingest/times.hpp"

#include <gtest/gtest.h>

#include "ingest/read.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

std::optional<double> time_of(std::string_view text) {
  bool date = false;
  return ingest::time_of(text, date);
}

TEST(Times, NumbersStayAndDatesAreSecondsOfUtc) {
  EXPECT_EQ(time_of("-2.5e3"), -2500);
  EXPECT_EQ(time_of(" 17 "), 17);
  EXPECT_EQ(time_of("1970-01-02"), 86400);
  EXPECT_EQ(time_of("1970-01-01T00:01:30.25Z"), 90.25);
  EXPECT_EQ(time_of("1970-01-01 01:00+01:00"), 0);
  EXPECT_EQ(time_of("1969-12-31T19:00:00-0500"), 0);
  EXPECT_EQ(time_of("2024-02-29 12:00:00 UTC"), std::nullopt);
  EXPECT_EQ(time_of("2024-02-29T12:00:00"), 1709208000);
}

TEST(Times, WhatIsNoTimeIsRefused) {
  for (const char* text :
       {"", " ", "yesterday", "2023-02-29", "2024-13-01", "2024-01-01T25:00", "2024-01-01T10", "2024-01-01T10:00:00.",
        "2024-01-01T10:00+", "2024-01-01Z", "07.03.2024", "nan", "inf", "1e999"}) {
    EXPECT_EQ(time_of(text), std::nullopt) << text;
  }
}

TimedCategoryData read(const std::string& text, const ReadOptions& options) {
  return ingest::read_timed_dataset({"answers.csv", text}, std::nullopt, options, {}, RunContext());
}

constexpr const char* kAnswers =
    "worker,task,label,when\n"
    "w2,t2,b,30\n"
    "w1,t2,a,20\n"
    "w1,t1,b,40\n"
    "w2,t1,a,10\n"
    "w1,t1,a,50\n";

std::vector<double> times_of(const TimedCategoryData& timed) {
  EXPECT_EQ(timed.times.times.size(), timed.data.answers.answer_count());
  return timed.times.times;
}

TEST(Times, EveryAnswerKeepsItsOwn) {
  ReadOptions options;
  options.time_column = "when";
  const CategoryData plain =
      ingest::read_dataset({"answers.csv", std::string(kAnswers)}, {}, options, {}, RunContext());
  const TimedCategoryData data = read(kAnswers, options);
  EXPECT_EQ(data.times.order, AnswerOrder::numbers);
  EXPECT_EQ(read("task,worker,label,when\nt,w,a,2024-01-01\n", options).times.order, AnswerOrder::dates);
  // Answers stand by task and worker; of those that w1 gave to t1 the last one counts.
  EXPECT_EQ(times_of(data), (std::vector<double>{50, 10, 20, 30}));
  EXPECT_EQ(data.data.answers.content_hash(), plain.answers.content_hash());
  options.duplicates = DuplicatePolicy::repeat;
  EXPECT_EQ(times_of(read(kAnswers, options)), (std::vector<double>{50, 40, 10, 20, 30}));
  options.duplicates = DuplicatePolicy::reject;
  options.lenient = true;
  EXPECT_EQ(times_of(read(kAnswers, options)), (std::vector<double>{40, 10, 20, 30}));
}

TEST(Times, WithoutAColumnRowsAreCounted) {
  ReadOptions options;
  EXPECT_EQ(times_of(read(kAnswers, options)), (std::vector<double>{5, 4, 2, 1}));
  options.layout = TableLayout::wide;
  EXPECT_EQ(times_of(read("task,w1,w2\nt2,a,b\nt3,,\nt1,b,\n", options)), (std::vector<double>{3, 1, 2}));
}

TEST(Times, FollowWorkersWhoAreLeftOut) {
  ReadOptions options;
  options.time_column = "when";
  options.exclude_workers = {"w2"};
  EXPECT_EQ(times_of(read(kAnswers, options)), (std::vector<double>{50, 20}));
}

TEST(Times, ErrorsNameFileLineAndValue) {
  ReadOptions options;
  options.time_column = "when";
  const auto message = [&](const std::string& text) -> std::string {
    try {
      static_cast<void>(read(text, options));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string bad = message("task,worker,label,when\nt1,w1,a,1\nt2,w1,a,noon\n");
  EXPECT_NE(bad.find("answers.csv:3: column 'when'"), std::string::npos) << bad;
  EXPECT_NE(bad.find("noon"), std::string::npos) << bad;
  EXPECT_NE(message("task,worker,label\nt1,w1,a\n").find("there is no column 'when' for the time"), std::string::npos);
  options.time_column = "label";
  EXPECT_NE(message("task,worker,label\nt1,w1,a\n").find("cannot be both the label and the time"), std::string::npos);
  options.lenient = true;
  options.time_column = "when";
  EXPECT_EQ(times_of(read("task,worker,label,when\nt1,w1,a,noon\nt2,w1,a,5\nt3,w1,,6\n", options)),
            std::vector<double>{5});
}

}  // namespace
}  // namespace wisecrowd
