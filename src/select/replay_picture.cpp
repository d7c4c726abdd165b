#include "select/replay_picture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/math.hpp"

namespace wisecrowd {
namespace selecting {
namespace {

using picture::Anchor, picture::Area, picture::Colour, picture::Layer, picture::Line, picture::Picture, picture::Point,
    picture::Text;

// The place of the plot, whose lower edge is at least here: it is as high as the legend, and the page as wide as that.
constexpr double kLeft = 70, kRight = 650, kTop = 46, kLeastBottom = 424, kBelow = 56;
constexpr double kLeastWidth = 860;
constexpr double kLegend = kRight + 14, kNames = kLegend + 28, kLeastNames = 160, kMostNames = 300, kMargin = 8;
constexpr double kRow = 20, kTextSize = 12, kTitleSize = 15;
constexpr Colour kInk = 0x222222, kAxis = 0x888888, kGrid = 0xe4e4e4;
/// Colours that people with colour blindness can tell apart (Okabe and Ito).
constexpr std::array<Colour, 8> kColours = {0x7f7f7f, 0x0072b2, 0xd55e00, 0x009e73,
                                            0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000};

/// How the curve of the n-th policy is drawn: when colours are used up, they come again in dashes.
struct Stroke {
  Colour colour;
  std::vector<double> dashes;
};

Stroke stroke_of(std::size_t policy) {
  Stroke stroke{kColours[policy % kColours.size()], {}};
  const std::size_t turn = policy / kColours.size();
  if (turn > 0) stroke.dashes = {8.0 / static_cast<double>(turn), 5};
  return stroke;
}

/// 1, 2 or 5 times a power of ten: about `wanted` steps over a range.
double step_of(double range, double wanted) {
  const double raw = range / wanted;
  const double power = math::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

/// 12345 as "12,345".
std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// Places on the page.
class Axes {
 public:
  Axes(const Replay& replay, double bottom) : bottom_(bottom), low_(replay.target), high_(replay.target) {
    for (const ReplayCurve& curve : replay.curves) {
      for (std::size_t p = 0; p < curve.answers.size(); ++p) {
        most_ = std::max(most_, curve.answers[p]);
        low_ = std::min(low_, curve.low[p]);
        high_ = std::max(high_, curve.high[p]);
      }
    }
    low_ = std::max(0.0, low_);
    high_ = std::min(1.0, high_ + 0.02 * (high_ - low_));
    // A point of accuracy at least: less would show chance as if it were much, and nothing at all cannot be shown.
    if (high_ - low_ < kLeastRange) {
      high_ = std::min(1.0, high_ + kLeastRange / 2);
      low_ = high_ - kLeastRange;
    }
  }

  [[nodiscard]] Point at(double answers, double accuracy) const {
    return {kLeft + answers / most_ * (kRight - kLeft),
            bottom_ - (accuracy - low_) / (high_ - low_) * (bottom_ - kTop)};
  }

  void draw(Layer& layer) const {
    const double up = step_of(high_ - low_, 6);
    const auto first = static_cast<long>(std::ceil(low_ / up - 1e-9)), last = static_cast<long>(high_ / up + 1e-9);
    for (long n = first; n <= last; ++n) {
      const double accuracy = static_cast<double>(n) * up, y = at(0, accuracy).y;
      layer.marks.push_back(Line{{{kLeft, y}, {kRight, y}}, kGrid});
      layer.marks.push_back(
          Text{{kLeft - 8, y + 4}, fmt::format("{:.{}f} %", 100 * accuracy, up < 0.0099 ? 1 : 0), Anchor::end});
    }
    const double along = std::max(1.0, step_of(most_, 6));
    const auto steps = static_cast<long>(most_ / along * (1 + 1e-9));
    for (long n = 0; n <= steps; ++n) {
      const double answers = static_cast<double>(n) * along, x = at(answers, low_).x;
      layer.marks.push_back(Line{{{x, bottom_}, {x, bottom_ + 5}}, kAxis});
      layer.marks.push_back(Text{{x, bottom_ + 20}, grouped(answers), Anchor::middle});
    }
    layer.marks.push_back(Line{{{kLeft, kTop}, {kLeft, bottom_}, {kRight, bottom_}}, kAxis});
    layer.marks.push_back(Text{{(kLeft + kRight) / 2, bottom_ + 42}, "answers", Anchor::middle});
    layer.marks.push_back(Text{{kLeft - 8, kTop - 14}, "accuracy", Anchor::end});
  }

 private:
  static constexpr double kLeastRange = 0.01;
  double bottom_, most_ = 1, low_, high_;
};

/// The way there by the upper ends of the intervals, and back by the lower ones.
std::vector<Point> band_of(const ReplayCurve& curve, const Axes& axes) {
  std::vector<Point> band;
  for (std::size_t p = 0; p < curve.answers.size(); ++p) band.push_back(axes.at(curve.answers[p], curve.high[p]));
  for (std::size_t p = curve.answers.size(); p-- > 0;) band.push_back(axes.at(curve.answers[p], curve.low[p]));
  return band;
}

std::vector<Point> line_of(const ReplayCurve& curve, const Axes& axes) {
  std::vector<Point> line;
  for (std::size_t p = 0; p < curve.answers.size(); ++p) line.push_back(axes.at(curve.answers[p], curve.accuracy[p]));
  return line;
}

}  // namespace

Picture replay_picture(const Replay& replay, const std::string& title) {
  const double bottom = std::max(kLeastBottom, kTop + kRow * static_cast<double>(replay.curves.size() + 1));
  const Axes axes(replay, bottom);
  const std::vector<double> dashes = {5, 4};
  Layer frame, curves, legend;
  axes.draw(frame);
  constexpr double kEdge = 3;  // a curve along the edge, or a dot upon it, is shown whole
  curves.clip = {kLeft - kEdge, kTop - kEdge, kRight - kLeft + 2 * kEdge, bottom - kTop + 2 * kEdge};
  curves.marks.push_back(Line{{axes.at(0, replay.target), {kRight, axes.at(0, replay.target).y}}, kInk, 1, dashes});
  // All intervals lie under all curves, and many of them upon one another must let the ground through.
  const double opacity = std::min(0.15, 0.6 / static_cast<double>(replay.curves.size()));
  for (std::size_t c = 0; c < replay.curves.size(); ++c) {
    curves.marks.push_back(Area{band_of(replay.curves[c], axes), stroke_of(c).colour, opacity});
  }
  double widest = kLeastNames, y = kTop + 8;
  for (std::size_t c = 0; c < replay.curves.size(); ++c, y += kRow) {
    const Stroke stroke = stroke_of(c);
    std::vector<Point> line = line_of(replay.curves[c], axes);
    const double width = line.size() == 1 ? 2 * kEdge : 2;
    curves.marks.push_back(Line{std::move(line), stroke.colour, width, stroke.dashes, true});
    std::string name = picture::fitting_text(replay.curves[c].policy, kMostNames, kTextSize);
    widest = std::max(widest, picture::text_width(name, kTextSize));
    legend.marks.push_back(Line{{{kLegend, y}, {kLegend + 22, y}}, stroke.colour, 3, stroke.dashes});
    legend.marks.push_back(Text{{kNames, y + 4}, std::move(name)});
  }
  legend.marks.push_back(Line{{{kLegend, y}, {kLegend + 22, y}}, kInk, 1, dashes});
  legend.marks.push_back(Text{{kNames, y + 4}, "all answers"});

  Picture page{.width = std::max(kLeastWidth, std::ceil(kNames + widest + kMargin)), .height = bottom + kBelow};
  frame.marks.push_back(Text{{kLeft, 24},
                             picture::fitting_text(title, page.width - kLeft - kMargin, kTitleSize, true),
                             Anchor::start,
                             kTitleSize,
                             true});
  page.layers = {std::move(frame), std::move(curves), std::move(legend)};
  return page;
}

}  // namespace selecting

std::string replay_svg(const Replay& replay, const std::string& title) {
  return picture::svg_of(selecting::replay_picture(replay, title));
}

std::string replay_png(const Replay& replay, const std::string& title) {
  constexpr double kSharp = 2;  // pixels for one of the SVG: screens have that many, and paper more
  return picture::png_of(selecting::replay_picture(replay, title), kSharp);
}

}  // namespace wisecrowd
