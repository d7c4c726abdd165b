#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "wisecrowd/replay.hpp"

namespace wisecrowd {
namespace {

constexpr double kWidth = 860, kHeight = 480, kLeft = 70, kRight = 210, kTop = 46, kBottom = 56;
/// Colours that people with colour blindness can tell apart (Okabe and Ito).
constexpr std::array kColours = {"#7f7f7f", "#0072b2", "#d55e00", "#009e73",
                                 "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// 1, 2 or 5 times a power of ten: about `wanted` steps over a range.
double step_of(double range, double wanted) {
  const double raw = range / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

/// Places on the page.
class Axes {
 public:
  Axes(double most_answers, double low, double high) : most_(most_answers), low_(low), high_(high) {}
  [[nodiscard]] double x(double answers) const { return kLeft + answers / most_ * (kWidth - kLeft - kRight); }
  [[nodiscard]] double y(double accuracy) const {
    return kHeight - kBottom - (accuracy - low_) / (high_ - low_) * (kHeight - kTop - kBottom);
  }
  [[nodiscard]] std::string text() const {
    std::string svg;
    const double right = kWidth - kRight, bottom = kHeight - kBottom;
    const double up = step_of(high_ - low_, 6);
    for (double a = std::ceil(low_ / up - 1e-9) * up; a <= high_ + 1e-9; a += up) {
      svg += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e4e4e4\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.{}f} %</text>\n",
          kLeft, right, y(a), y(a), kLeft - 8, y(a) + 4, 100 * a, up < 0.0099 ? 1 : 0);
    }
    const double along = step_of(most_, 6);
    for (double n = 0; n <= most_ * (1 + 1e-9); n += along) {
      svg += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#888\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f}</text>\n",
          x(n), x(n), bottom, bottom + 5, x(n), bottom + 20, n);
    }
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" fill=\"none\" stroke=\"#888\"/>\n", kLeft, kTop,
                       bottom, right);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">answers</text>\n", (kLeft + right) / 2,
                       kHeight - 14);
    return svg;
  }

 private:
  double most_, low_, high_;
};

std::string point(const Axes& axes, double answers, double accuracy) {
  return fmt::format("{:.1f} {:.1f}", axes.x(answers), axes.y(accuracy));
}

std::string curve_text(const ReplayCurve& curve, const Axes& axes, std::string_view colour) {
  std::string band = "M", line = "M";
  for (std::size_t p = 0; p < curve.answers.size(); ++p) {
    if (p > 0) {
      band += "L";
      line += "L";
    }
    band += point(axes, curve.answers[p], curve.high[p]);
    line += point(axes, curve.answers[p], curve.accuracy[p]);
  }
  for (std::size_t p = curve.answers.size(); p-- > 0;) band += "L" + point(axes, curve.answers[p], curve.low[p]);
  return fmt::format(
      "<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"0.15\" stroke=\"none\"/>\n"
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>\n",
      band, colour, line, colour);
}

}  // namespace

std::string replay_svg(const Replay& replay, const std::string& title) {
  double low = replay.target, high = replay.target, most = 1;
  for (const ReplayCurve& curve : replay.curves) {
    most = std::max(most, curve.answers.back());
    for (std::size_t p = 0; p < curve.accuracy.size(); ++p) {
      low = std::min(low, curve.low[p]);
      high = std::max(high, curve.high[p]);
    }
  }
  low = std::max(0.0, low);
  high = std::min(1.0, high + 0.02 * (high - low) + 1e-6);
  const Axes axes(most, low, high);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"{0}\" height=\"{1}\" "
      "fill=\"white\"/>\n<text x=\"{2}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{3}</text>\n",
      kWidth, kHeight, kLeft, escaped(title));
  svg += fmt::format("<clipPath id=\"inside\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n", kLeft,
                     kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
  svg += axes.text() + "<g clip-path=\"url(#inside)\">\n";
  svg += fmt::format(
      "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#222\" stroke-dasharray=\"5 4\"/>\n",
      kLeft, kWidth - kRight, axes.y(replay.target), axes.y(replay.target));
  for (std::size_t c = 0; c < replay.curves.size(); ++c) {
    svg += curve_text(replay.curves[c], axes, kColours[c % kColours.size()]);
  }
  svg += "</g>\n";
  const double x = kWidth - kRight + 14;
  double y = kTop + 8;
  for (std::size_t c = 0; c < replay.curves.size(); ++c, y += 20) {
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" stroke-width=\"3\"/>"
        "<text x=\"{4:.1f}\" y=\"{5:.1f}\">{6}</text>\n",
        x, x + 22, y, kColours[c % kColours.size()], x + 28, y + 4, escaped(replay.curves[c].policy));
  }
  svg += fmt::format(
      "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#222\" stroke-dasharray=\"5 4\"/>"
      "<text x=\"{3:.1f}\" y=\"{4:.1f}\">all answers</text>\n</svg>\n",
      x, x + 22, y, x + 28, y + 4);
  return svg;
}

}  // namespace wisecrowd
