#include <fmt/format.h>

#include "base/picture.hpp"

namespace wisecrowd::picture {
namespace {

constexpr Colour kTextColour = 0x222222;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string path_of(const std::vector<Point>& points) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', point.x, point.y);
  }
  return path;
}

std::string text_of(const Line& line) {
  std::string style = fmt::format("stroke=\"#{:06x}\"", line.colour);
  if (line.width != 1) style += fmt::format(" stroke-width=\"{}\"", line.width);
  if (!line.dashes.empty()) style += fmt::format(" stroke-dasharray=\"{}\"", fmt::join(line.dashes, " "));
  if (line.round) style += " stroke-linejoin=\"round\" stroke-linecap=\"round\"";
  if (line.points.size() == 2) {
    const auto& [from, to] = std::pair(line.points[0], line.points[1]);
    return fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", from.x, to.x, from.y,
                       to.y, style);
  }
  // A path of one point needs a stroke of no length to be a dot.
  const std::string dot = line.points.size() == 1 ? "h0" : "";
  return fmt::format("<path d=\"{}{}\" fill=\"none\" {}/>\n", path_of(line.points), dot, style);
}

std::string text_of(const Area& area) {
  return fmt::format("<path d=\"{}Z\" fill=\"#{:06x}\" fill-opacity=\"{}\" stroke=\"none\"/>\n", path_of(area.points),
                     area.colour, area.opacity);
}

std::string text_of(const Text& text) {
  std::string style;
  if (text.anchor != Anchor::start) {
    style += fmt::format(" text-anchor=\"{}\"", text.anchor == Anchor::middle ? "middle" : "end");
  }
  if (text.size != 12) style += fmt::format(" font-size=\"{}\"", text.size);
  if (text.bold) style += " font-weight=\"bold\"";
  if (text.colour != kTextColour) style += fmt::format(" fill=\"#{:06x}\"", text.colour);
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", text.at.x, text.at.y, style, escaped(text.text));
}

}  // namespace

std::string svg_of(const Picture& picture) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#{2:06x}\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"white\"/>\n",
      picture.width, picture.height, kTextColour);
  int clips = 0;
  for (const Layer& layer : picture.layers) {
    if (layer.clip) {
      ++clips;
      svg += fmt::format(
          "<clipPath id=\"inside-{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\"/></clipPath>\n"
          "<g clip-path=\"url(#inside-{0})\">\n",
          clips, layer.clip->x, layer.clip->y, layer.clip->width, layer.clip->height);
    }
    for (const Mark& mark : layer.marks) {
      svg += std::visit([](const auto& kind) { return text_of(kind); }, mark);
    }
    if (layer.clip) svg += "</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace wisecrowd::picture
