#include "select/replay_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/png_image.hpp"

namespace wisecrowd {
namespace {

using picture::Line, picture::Picture, picture::Text;
using testing::PngImage;
using testing::read_png;

/// Rises from one half to `top` along a power, with an interval of ± spread.
ReplayCurve curve(std::string name, std::vector<double> answers, double top, double power, double spread) {
  ReplayCurve made;
  made.policy = std::move(name);
  for (const double n : answers) {
    const double height = 0.5 + (top - 0.5) * (answers.back() > 0 ? std::pow(n / answers.back(), power) : 1);
    made.accuracy.push_back(height);
    made.low.push_back(height - spread);
    made.high.push_back(height + spread);
  }
  made.cost = answers;
  made.answers = std::move(answers);
  return made;
}

Replay spread_out(std::size_t policies) {
  Replay replay;
  replay.target = 0.9;
  for (std::size_t c = 0; c < policies; ++c) {
    replay.curves.push_back(
        curve("policy " + std::to_string(c), {0, 100, 200, 300, 400}, 0.9, 0.2 + 0.2 * static_cast<double>(c), 0.01));
  }
  return replay;
}

std::vector<Line> curves_of(const Picture& picture) {
  std::vector<Line> lines;
  for (const picture::Mark& mark : picture.layers.at(1).marks) {
    if (const auto* line = std::get_if<Line>(&mark); line != nullptr && line->round) lines.push_back(*line);
  }
  return lines;
}

std::vector<std::string> texts_of(const Picture& picture) {
  std::vector<std::string> texts;
  for (const picture::Layer& layer : picture.layers) {
    for (const picture::Mark& mark : layer.marks) {
      if (const auto* text = std::get_if<Text>(&mark)) texts.push_back(text->text);
    }
  }
  return texts;
}

bool has(const std::vector<std::string>& texts, const std::string& wanted) {
  return std::find(texts.begin(), texts.end(), wanted) != texts.end();
}

/// Everything is on the page, and texts are no wider than it.
void expect_on_the_page(const Picture& picture) {
  const auto inside = [&](const picture::Point& point) {
    EXPECT_TRUE(point.x >= 0 && point.x <= picture.width && point.y >= 0 && point.y <= picture.height)
        << point.x << " " << point.y;
  };
  for (const picture::Layer& layer : picture.layers) {
    for (const picture::Mark& mark : layer.marks) {
      if (const auto* line = std::get_if<Line>(&mark)) std::for_each(line->points.begin(), line->points.end(), inside);
      if (const auto* text = std::get_if<Text>(&mark)) {
        inside(text->at);
        const double width = picture::text_width(text->text, text->size, text->bold);
        const double left = text->anchor == picture::Anchor::start    ? text->at.x
                            : text->anchor == picture::Anchor::middle ? text->at.x - width / 2
                                                                      : text->at.x - width;
        EXPECT_GE(left, 0) << text->text;
        EXPECT_LE(left + width, picture.width) << text->text;
      }
    }
  }
}

TEST(ReplayPicture, CurvesAndLegendInTheirColours) {
  if (picture::png_plugin_path().empty()) GTEST_SKIP() << "the plugin that draws PNG pictures is not built";
  const Replay replay = spread_out(8);
  const Picture page = selecting::replay_picture(replay, "eight");
  const PngImage image = read_png(replay_png(replay, "eight"));
  EXPECT_EQ(image.width, 2 * page.width);
  EXPECT_EQ(image.height, 2 * page.height);
  const std::vector<Line> lines = curves_of(page);
  ASSERT_EQ(lines.size(), 8U);
  for (const Line& line : lines) {
    const picture::Point& middle = line.points[2];
    EXPECT_EQ(image.at(static_cast<std::size_t>(2 * middle.x), static_cast<std::size_t>(2 * middle.y)), line.colour);
  }
  // The legend: a stroke of that colour beside each name, and ink where the name is.
  for (std::size_t c = 0; c < 8; ++c) {
    EXPECT_EQ(image.at(1350, 2 * (54 + 20 * c)), lines[c].colour);
    EXPECT_GT(image.ink(1384, 2 * (46 + 20 * c), 1600, 2 * (60 + 20 * c)), 100U);
  }
  // The interval of the highest curve, seen beside the line and not beyond it.
  const auto x = static_cast<std::size_t>(2 * lines[0].points[2].x);
  const double middle = 2 * lines[0].points[2].y, a_point = 2 * (lines[0].points[0].y - lines[0].points[4].y) / 40;
  EXPECT_NE(image.at(x, static_cast<std::size_t>(middle - 0.6 * a_point)), 0xFFFFFFU);
  EXPECT_EQ(image.at(x, static_cast<std::size_t>(middle - 1.2 * a_point)), 0xFFFFFFU);
}

TEST(ReplayPicture, AnyNumberOfPolicies) {
  for (const std::size_t policies : {1U, 2U, 9U, 30U}) {
    SCOPED_TRACE(policies);
    const Picture page = selecting::replay_picture(spread_out(policies), "some");
    expect_on_the_page(page);
    const std::vector<Line> lines = curves_of(page);
    ASSERT_EQ(lines.size(), policies);
    for (std::size_t a = 0; a < policies; ++a) {  // told apart by colour or dashes
      for (std::size_t b = 0; b < a; ++b) {
        EXPECT_TRUE(lines[a].colour != lines[b].colour || lines[a].dashes != lines[b].dashes);
      }
    }
  }
}

TEST(ReplayPicture, AxesHaveReadableSteps) {
  const auto texts = texts_of(selecting::replay_picture(spread_out(2), "title"));
  for (const char* wanted :
       {"title", "accuracy", "answers", "0", "100", "400", "50 %", "90 %", "policy 0", "all answers"}) {
    EXPECT_TRUE(has(texts, wanted)) << wanted;
  }
  Replay large = spread_out(1);
  large.curves[0].answers = {0, 1e6, 2e6, 3e6, 4e6};
  EXPECT_TRUE(has(texts_of(selecting::replay_picture(large, "")), "2,000,000"));
}

TEST(ReplayPicture, DegenerateCurves) {
  for (const double height : {0.0, 0.5, 1.0}) {  // flat from the start: no range of accuracy at all
    SCOPED_TRACE(height);
    Replay flat = spread_out(1);
    flat.target = height;
    for (auto* values : {&flat.curves[0].accuracy, &flat.curves[0].low, &flat.curves[0].high})
      values->assign(5, height);
    const Picture page = selecting::replay_picture(flat, "flat");
    expect_on_the_page(page);
    EXPECT_EQ(svg_of(page).find("nan"), std::string::npos);
    auto texts = texts_of(page);
    const std::size_t all = texts.size();
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    EXPECT_EQ(texts.size(), all) << "a step of an axis is told twice";
  }
  for (const double answers : {0.0, 1.0, 3.0}) {  // one point: a dot
    Replay dot;
    dot.target = 0.7;
    dot.curves = {curve("dot", {answers}, 0.7, 1, 0.01)};
    const Picture page = selecting::replay_picture(dot, "dot");
    expect_on_the_page(page);
    ASSERT_EQ(curves_of(page).size(), 1U);
    EXPECT_GT(curves_of(page)[0].width, 2);
    if (picture::png_plugin_path().empty()) continue;
    const picture::Point at = curves_of(page)[0].points[0];
    const PngImage image = read_png(replay_png(dot, "dot"));
    EXPECT_EQ(image.at(static_cast<std::size_t>(2 * at.x), static_cast<std::size_t>(2 * at.y)), 0x7f7f7fU);
  }
}

TEST(ReplayPicture, NamesOfStrangers) {
  Replay replay = spread_out(6);
  replay.curves[0].policy = std::string(10'000, 'W');
  replay.curves[1].policy = "<b>\"quotes\" & 'more'</b>";
  replay.curves[2].policy = "\xFF\xFE\xC3";
  replay.curves[3].policy = "\u202Eשלום سلام";
  replay.curves[4].policy = "😀 数据\n\t";
  replay.curves[5].policy = "";
  const std::string title = std::string(10'000, '/') + "\xE6\x95, 10 repetitions";
  const Picture page = selecting::replay_picture(replay, title);
  expect_on_the_page(page);
  EXPECT_LE(page.width, 1000);
  const std::string svg = replay_svg(replay, title);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find('\xFF'), std::string::npos);
  if (picture::png_plugin_path().empty()) GTEST_SKIP() << "the plugin that draws PNG pictures is not built";
  EXPECT_EQ(read_png(replay_png(replay, title)).width, 2 * page.width);
}

}  // namespace
}  // namespace wisecrowd
