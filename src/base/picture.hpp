#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// A drawing as a value: it is described once and put down as SVG or as PNG. Places count pixels of the SVG from the
/// upper left corner.
namespace wisecrowd::picture {

using Colour = std::uint32_t;  ///< 0xRRGGBB

struct Point {
  double x = 0, y = 0;
};

struct Line {
  std::vector<Point> points;
  Colour colour = 0;
  double width = 1;
  std::vector<double> dashes = {};  ///< lengths of strokes and gaps in turn; empty: one stroke
  bool round = false;               ///< ends and corners; then a line of one point is a dot
};

/// A filled polygon without an outline.
struct Area {
  std::vector<Point> points;
  Colour colour = 0;
  double opacity = 1;
};

enum class Anchor { start, middle, end };

struct Text {
  Point at;  ///< on the line that letters stand on
  std::string text;
  Anchor anchor = Anchor::start;
  double size = 12;
  bool bold = false;
  Colour colour = 0x222222;
};

using Mark = std::variant<Line, Area, Text>;

/// Marks that are drawn one upon another, no further than `clip`.
struct Layer {
  struct Box {
    double x = 0, y = 0, width = 0, height = 0;
  };
  std::optional<Box> clip = {};
  std::vector<Mark> marks = {};
};

/// Layers upon a white page.
struct Picture {
  double width = 0, height = 0;
  std::vector<Layer> layers = {};
};

/// How wide letters will be, about: no font is asked, because the one that an SVG is shown with is not known. Rather
/// too wide than too narrow.
[[nodiscard]] double text_width(std::string_view text, double size, bool bold = false);

/// Untrusted text as it may be drawn: bytes that are not UTF-8 are replaced, characters that are no letters but
/// orders (line breaks, directions of writing) are blanks, and what is wider than `room` loses its middle to "…".
[[nodiscard]] std::string fitting_text(std::string_view text, double room, double size, bool bold = false);

/// The picture as SVG.
[[nodiscard]] std::string svg_of(const Picture& picture);

/// The picture as PNG, `scale` pixels for one of the SVG. Throws `unsupported` where there is nothing to draw it with
/// (the plugin that holds cairo); the message says why.
[[nodiscard]] std::string png_of(const Picture& picture, double scale);

/// Where that plugin was found, or an empty path when this build or installation has none. Does not load it.
[[nodiscard]] std::string png_plugin_path();

}  // namespace wisecrowd::picture
