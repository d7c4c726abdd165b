#include "base/picture.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/utf8.hpp"
#include "support/png_image.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::picture {
namespace {

using wisecrowd::testing::PngImage;
using wisecrowd::testing::read_png;

TEST(PictureText, KeepsWhatFitsAndCutsTheMiddle) {
  EXPECT_EQ(fitting_text("entropy/random", 200, 12), "entropy/random");
  EXPECT_EQ(fitting_text("", 200, 12), "");
  EXPECT_EQ(fitting_text("anything", 1, 12), "…");
  for (const std::string& name : {std::string(10'000, 'W'), std::string(10'000, 'i'), std::string(40, 'm')}) {
    const std::string cut = fitting_text("ab" + name + "yz", 150, 12);
    EXPECT_LE(text_width(cut, 12), 150) << cut;
    EXPECT_GE(text_width(cut, 12), 150 - 4 * 12) << cut;
    EXPECT_TRUE(cut.starts_with("ab") && cut.ends_with("yz")) << cut;
    EXPECT_NE(cut.find("…"), std::string::npos);
  }
  EXPECT_GT(text_width("bold", 12, true), text_width("bold", 12));
  EXPECT_DOUBLE_EQ(text_width("twice", 24), 2 * text_width("twice", 12));
}

TEST(PictureText, OfStrangersIsMadeDrawable) {
  EXPECT_EQ(fitting_text("a\tb\nc\x01\x7F", 200, 12), "a b c  ");
  EXPECT_EQ(fitting_text("\xFF bad \xC3", 200, 12), "\uFFFD bad \uFFFD");
  EXPECT_EQ(fitting_text("\u202Eright\u2066left\uFEFF\uFFFE", 200, 12), " right left  ");
  EXPECT_EQ(fitting_text("שלום 数据 😀 é", 200, 12), "שלום 数据 😀 é");
  // Marks without a width of their own must not pile up by the thousand.
  std::string marks = "a";
  for (int n = 0; n < 10'000; ++n) marks += "\u0301";
  EXPECT_LT(fitting_text(marks, 100, 12).size(), 100U);
}

TEST(PictureText, NeverCutsInsideACharacter) {
  std::string text;
  for (int n = 0; n < 50; ++n) text += "é数😀";
  for (double room = 10; room < 300; room += 7) {
    const std::string cut = fitting_text(text, room, 12);
    for (std::string_view rest = cut; !rest.empty();) {
      const Utf8Character c = first_character(rest);
      ASSERT_TRUE(c.valid) << room;
      rest.remove_prefix(c.bytes);
    }
  }
}

TEST(Utf8, OneCharacterAtATime) {
  const auto code = [](std::string_view text) { return static_cast<unsigned>(first_character(text).code); };
  EXPECT_EQ(code("A"), 0x41U);
  EXPECT_EQ(code("é"), 0xE9U);
  EXPECT_EQ(code("数"), 0x6570U);
  EXPECT_EQ(code("😀"), 0x1F600U);
  for (const char* bad : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xF5", "\xE6\x95"}) {
    EXPECT_FALSE(first_character(bad).valid) << bad;
    EXPECT_EQ(first_character(bad).bytes, 1U);
  }
}

TEST(PictureSvg, SaysEveryMark) {
  Picture picture{.width = 100, .height = 50};
  Layer layer{.clip = Layer::Box{1, 2, 3, 4}};
  layer.marks = {Line{{{0, 1}, {2, 3}}, 0xABCDEF, 3, {5, 4}}, Line{{{5, 6}}, 0x000001, 2, {}, true},
                 Area{{{0, 0}, {1, 0}, {1, 1}}, 0x102030, 0.5}, Text{{7, 8}, "<&\">", Anchor::end, 15, true}};
  picture.layers = {layer};
  const std::string svg = svg_of(picture);
  for (const char* part :
       {"viewBox=\"0 0 100 50\"", "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\"/></clipPath>",
        "<line x1=\"0.0\" x2=\"2.0\" y1=\"1.0\" y2=\"3.0\" stroke=\"#abcdef\" stroke-width=\"3\" stroke-dasharray=\"5 "
        "4\"/>",
        "<path d=\"M5.0 6.0h0\" fill=\"none\" stroke=\"#000001\" stroke-width=\"2\" stroke-linejoin=\"round\" "
        "stroke-linecap=\"round\"/>",
        "<path d=\"M0.0 0.0L1.0 0.0L1.0 1.0Z\" fill=\"#102030\" fill-opacity=\"0.5\" stroke=\"none\"/>",
        "<text x=\"7.0\" y=\"8.0\" text-anchor=\"end\" font-size=\"15\" "
        "font-weight=\"bold\">&lt;&amp;&quot;&gt;</text>"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part << "\n" << svg;
  }
}

class PicturePng : public ::testing::Test {
 protected:
  void SetUp() override {
    if (png_plugin_path().empty()) GTEST_SKIP() << "the plugin that draws PNG pictures is not built";
  }

  static PngImage drawn(std::vector<Mark> marks, std::optional<Layer::Box> clip = {}) {
    Picture picture{.width = 200, .height = 100};
    picture.layers = {Layer{clip, std::move(marks)}};
    return read_png(png_of(picture, 2));
  }
};

TEST_F(PicturePng, LinesLieWhereTheyAreSaidToLie) {
  const PngImage image = drawn({Line{{{10, 20}, {190, 20}}, 0x0072b2, 2}});
  ASSERT_EQ(image.width, 400U);
  ASSERT_EQ(image.height, 200U);
  EXPECT_EQ(image.at(100, 38), 0x0072b2U);  // 2 wide about y = 20: rows 38 to 41 of twice as many
  EXPECT_EQ(image.at(100, 41), 0x0072b2U);
  EXPECT_EQ(image.at(100, 37), 0xFFFFFFU);
  EXPECT_EQ(image.at(100, 42), 0xFFFFFFU);
  EXPECT_EQ(image.ink(0, 0, 400, 200), 360U * 4);
}

TEST_F(PicturePng, SlantedLinesAreSmooth) {
  const PngImage image = drawn({Line{{{10, 10}, {190, 73}}, 0x000000, 2}});
  std::size_t between = 0, full = 0;
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) {
      full += image.at(x, y) == 0 ? 1 : 0;
      between += image.at(x, y) != 0 && image.at(x, y) != 0xFFFFFF ? 1 : 0;
    }
  }
  EXPECT_GT(full, 500U);
  EXPECT_GT(between, 500U);
}

TEST_F(PicturePng, AreasLetTheGroundThrough) {
  const PngImage image = drawn({Area{{{10, 10}, {90, 10}, {90, 90}, {10, 90}}, 0x0072b2, 0.15}});
  const std::uint32_t colour = image.at(100, 100);
  for (const unsigned shift : {16U, 8U, 0U}) {
    EXPECT_NEAR(colour >> shift & 0xFFU, 0.15 * (0x0072b2U >> shift & 0xFFU) + 0.85 * 255, 1.01);
  }
  EXPECT_EQ(image.ink(0, 0, 400, 200), 160U * 160);
}

TEST_F(PicturePng, ClipsDashesAndDots) {
  const Line line{{{0, 50}, {200, 50}}, 0xd55e00, 2};
  EXPECT_EQ(drawn({line}, Layer::Box{20, 0, 30, 100}).ink(0, 0, 400, 200), 60U * 4);
  Line dashed = line;
  dashed.dashes = {6, 4};
  EXPECT_EQ(drawn({dashed}).ink(0, 0, 400, 200), 240U * 4);
  const PngImage dot = drawn({Line{{{100, 50}}, 0xd55e00, 6, {}, true}});
  EXPECT_EQ(dot.at(200, 100), 0xd55e00U);
  EXPECT_NEAR(static_cast<double>(dot.ink(0, 0, 400, 200)), 3.14 * 36, 30);
  // What one layer set is gone for the next mark.
  EXPECT_EQ(drawn({dashed, line}).ink(0, 0, 400, 200), 400U * 4);
}

TEST_F(PicturePng, TextStandsWhereItIsAnchored) {
  const double width = text_width("expected", 12);
  const auto ink = [&](Anchor anchor, double left, double right) {
    const PngImage image = drawn({Text{{100, 50}, "expected", anchor}});
    const std::size_t all = image.ink(0, 0, 400, 200);
    EXPECT_GT(all, 200U);
    EXPECT_EQ(image.ink(0, 76, 400, 108), all) << "12 pixels above the line and 4 below";
    return static_cast<double>(
               image.ink(static_cast<std::size_t>(2 * left), 0, static_cast<std::size_t>(2 * right), 200)) /
           static_cast<double>(all);
  };
  EXPECT_EQ(ink(Anchor::start, 99, 101 + width), 1);
  EXPECT_EQ(ink(Anchor::end, 99 - width, 101), 1);
  EXPECT_EQ(ink(Anchor::middle, 99 - width / 2, 101 + width / 2), 1);
  EXPECT_NEAR(ink(Anchor::middle, 0, 100), 0.5, 0.15);
  // Letters fill most of the room that they are thought to need, and not more.
  EXPECT_GT(ink(Anchor::start, 100 + 0.6 * width, 101 + width), 0.1);
  const auto all = [](const PngImage& image) { return image.ink(0, 0, 400, 200); };
  EXPECT_GT(all(drawn({Text{{10, 50}, "weight", Anchor::start, 12, true}})), all(drawn({Text{{10, 50}, "weight"}})));
  EXPECT_EQ(drawn({Text{{10, 50}, "\u2588", Anchor::start, 40, false, 0x009e73}}).at(40, 80), 0x009e73U);
}

TEST_F(PicturePng, DrawsTextOfStrangers) {
  for (const std::string_view text : {"", " ", "שלום سلام", "数据", "😀👩‍👩‍👧", "e\u0301\u0301\u0301",
                                      "\xFF\xFE\x80", "<svg onload=\"x\">"}) {
    EXPECT_NO_THROW((void)drawn({Text{{10, 50}, fitting_text(text, 150, 12)}})) << text;
  }
  EXPECT_NO_THROW((void)drawn({Text{{10, 50}, fitting_text(std::string(10'000, '\xE6'), 150, 12)}}));
}

TEST_F(PicturePng, SamePictureSameBytes) {
  Picture picture{.width = 200, .height = 100};
  picture.layers = {Layer{{}, {Line{{{10, 10}, {150, 73}}, 0x0072b2, 2, {}, true}, Text{{20, 50}, "same"}}}};
  EXPECT_EQ(png_of(picture, 2), png_of(picture, 2));
}

TEST_F(PicturePng, SaysWhatCannotBeDrawn) {
  Picture picture{.width = 1e6, .height = 100};  // beyond what cairo can hold
  EXPECT_THROW((void)png_of(picture, 2), Error);
}

TEST(PicturePngDeathTest, SaysWhyThereIsNone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process where the plugin is not loaded yet
  const auto draw = [] {
    setenv("WISECROWD_PNG_PLUGIN", "/no/such/plugin.so", 1);
    try {
      (void)png_of(Picture{.width = 10, .height = 10}, 2);
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::_Exit(error.code() == ErrorCode::unsupported ? 3 : 4);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(draw(), ::testing::ExitedWithCode(3), "draws PNG pictures cannot be loaded: .*no/such/plugin.so");
}

}  // namespace
}  // namespace wisecrowd::picture
