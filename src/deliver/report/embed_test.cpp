#include "deliver/report/embed.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"
#include "deliver/report/words.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/report.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::string_view kPage =
    "<!doctype html><title>WISECROWD-TITLE</title><body><!--WISECROWD-DATA--><script>run()</script></body>";

/// What stands between the data's tags.
std::string data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="wisecrowd-data">)";
  const std::size_t at = page.find(begin);
  EXPECT_NE(at, std::string::npos);
  const std::size_t end = page.find("</script>", at);
  return page.substr(at + begin.size(), end - at - begin.size());
}

TEST(ReportEmbedding, NoNameEndsTheScriptOrBeginsATag) {
  const std::vector<std::string> names = {"<script>alert(1)</script>",
                                          "</script><img src=x onerror=alert(1)>",
                                          "</ScRiPt >",
                                          "<!--<script>",
                                          "-->",
                                          "]]>",
                                          "&lt;b&gt; &amp; &",
                                          "\"quotes\" 'and' `others`",
                                          "back\\slash \\u003c",
                                          "line\nbreak\ttab\r\x01",
                                          "\xE2\x80\xA8 and \xE2\x80\xA9",
                                          "🦉 emoji",
                                          "עברית \xE2\x80\xAE right to left",
                                          "<!--WISECROWD-DATA-->WISECROWD-TITLE"};
  const nlohmann::json document = {{"names", names}};
  const std::string page = fill_page(kPage, "<b>\"title\" & 'co' WISECROWD-TITLE</b>", document.dump());
  const std::string data = data_of(page);
  for (const char c : {'<', '>', '&'}) EXPECT_EQ(data.find(c), std::string::npos) << c;
  EXPECT_EQ(data.find("\xE2\x80\xA8"), std::string::npos);
  EXPECT_EQ(data.find("\xE2\x80\xA9"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(data), document) << "the same JSON";
  // Apart from the data nothing of a name is in the page, and the title is text.
  EXPECT_NE(page.find("<title>&lt;b&gt;&quot;title&quot; &amp; &#39;co&#39; WISECROWD-TITLE&lt;/b&gt;</title>"),
            std::string::npos);
  EXPECT_EQ(page.find("alert(1)<"), std::string::npos);
  EXPECT_TRUE(page.ends_with("<script>run()</script></body>"));
}

TEST(ReportEmbedding, MarksMustBeThereOnce) {
  EXPECT_THROW((void)fill_page("<title>WISECROWD-TITLE</title>", "t", "{}"), Error);
  EXPECT_THROW((void)fill_page("<!--WISECROWD-DATA-->", "t", "{}"), Error);
  EXPECT_THROW((void)fill_page("WISECROWD-TITLE <!--WISECROWD-DATA--><!--WISECROWD-DATA-->", "t", "{}"), Error);
  // In either order.
  EXPECT_TRUE(fill_page("<!--WISECROWD-DATA--> WISECROWD-TITLE!", "t", "{}").ends_with("</script> t!"));
}

TEST(ReportWords, NamesAreShortenedByCharacters) {
  EXPECT_EQ(shown_name("worker 7"), "worker 7");
  const std::string owls = [] {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += "🦉";
    return text;
  }();
  const std::string shown = shown_name(owls);
  EXPECT_TRUE(shown.ends_with("(10,000 characters)"));
  EXPECT_EQ(character_count(shown), 120 + 3 + 40 + 20U);
  EXPECT_EQ(shown.substr(0, 480), owls.substr(0, 480)) << "cut between characters, not inside";
  const std::string exactly(200, 'x');
  EXPECT_EQ(shown_name(exactly), exactly);
  EXPECT_NE(shown_name(exactly + 'x'), exactly + 'x');
}

TEST(ReportWords, InvalidBytesAreReplaced) {
  EXPECT_EQ(shown_name("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(shown_name("\xC3"), "\xEF\xBF\xBD") << "cut off";
  EXPECT_EQ(shown_name("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(shown_name("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "half a surrogate pair";
  EXPECT_EQ(shown_name("é € 🦉"), "é € 🦉");
}

TEST(ReportWords, NumbersAndCounts) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "task"), "1 task");
  EXPECT_EQ(counted(2, "class"), "2 classes");
  EXPECT_EQ(percent(0.889), "88.9 %");
  EXPECT_EQ(percent(0.99999), "more than 99.9 %");
  EXPECT_EQ(percent(1), "100.0 %");
  EXPECT_EQ(number(0.123456789).dump(), "0.1235");
  EXPECT_EQ(number(2.0).dump(), "2");
  EXPECT_TRUE(number(std::nan("")).is_null());
  EXPECT_TRUE(number(INFINITY).is_null());
}

TEST(ReportHistogram, BinsCoverAllNumbersOnce) {
  EXPECT_EQ(count_edges(5, 5), (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(count_edges(0, 3), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(count_edges(423, 601).front(), 420U);
  EXPECT_EQ(count_edges(423, 601)[1], 430U);
  EXPECT_EQ(count_edges(0, 5000)[4], 10U);
  for (const auto& [least, most] : {std::pair<std::uint64_t, std::uint64_t>{0, 0},
                                    {0, 31},
                                    {1, 1'000'000},
                                    {0, 999},
                                    {100, 999},
                                    {100, 1000},
                                    {7, 69},
                                    {1'000'000, 4'000'000}}) {
    const auto edges = count_edges(least, most);
    EXPECT_LE(edges.front(), least);
    EXPECT_GT(edges.back(), most);
    EXPECT_LE(edges.size(), 33U);
    for (std::size_t i = 1; i < edges.size(); ++i) EXPECT_LT(edges[i - 1], edges[i]) << least << " " << most;
    const Json histogram = count_histogram({least, most, most});
    std::uint64_t counted = 0;
    for (const Json& count : histogram.at("count")) counted += count.get<std::uint64_t>();
    EXPECT_EQ(counted, 3U);
  }
}

TEST(ReportWords, SizeInThePageIsNeverUnderestimated) {
  for (const std::string name : {"plain", "<<<>>>&&&", "\"\\\n\x01", "🦉é"}) {
    EXPECT_GE(embedded_size(name), script_safe(nlohmann::json(name).dump()).size() + 1) << name;
  }
}

}  // namespace
}  // namespace wisecrowd::report
