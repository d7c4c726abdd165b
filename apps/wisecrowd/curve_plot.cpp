#include "curve_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "screen_text.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kRows = 16;
constexpr std::size_t kMargin = 10;  // room for "100.0 % │"

/// Height of a curve over any number of answers, straight between its points.
double height(const ReplayCurve& curve, double answers) {
  const auto above = std::lower_bound(curve.answers.begin(), curve.answers.end(), answers);
  if (above == curve.answers.end()) return curve.accuracy.back();
  const auto p = static_cast<std::size_t>(above - curve.answers.begin());
  if (p == 0) return curve.accuracy[0];
  const double part = (answers - curve.answers[p - 1]) / (curve.answers[p] - curve.answers[p - 1]);
  return curve.accuracy[p - 1] + part * (curve.accuracy[p] - curve.accuracy[p - 1]);
}

}  // namespace

std::string curve_plot(const Replay& replay, const Screen& screen) {
  const std::size_t columns =
      std::clamp<std::size_t>(screen.width > kMargin + 4 ? screen.width - kMargin - 4 : 20, 20, 100);
  double low = replay.target, high = replay.target, most = 1;
  for (const ReplayCurve& curve : replay.curves) {
    low = std::min(low, *std::min_element(curve.accuracy.begin(), curve.accuracy.end()));
    high = std::max(high, *std::max_element(curve.accuracy.begin(), curve.accuracy.end()));
    most = std::max(most, curve.answers.back());
  }
  if (high <= low) high = low + 0.01;
  const auto row_of = [&](double accuracy) {
    const double up = (accuracy - low) / (high - low) * static_cast<double>(kRows - 1);
    return kRows - 1 - static_cast<std::size_t>(std::lround(std::clamp(up, 0.0, static_cast<double>(kRows - 1))));
  };
  std::vector<std::vector<std::string>> canvas(kRows, std::vector<std::string>(columns, " "));
  for (std::size_t x = 0; x < columns; x += 2) canvas[row_of(replay.target)][x] = "·";
  for (std::size_t c = replay.curves.size(); c-- > 0;) {  // the first policy is drawn last, on top
    const ReplayCurve& curve = replay.curves[c];
    for (std::size_t x = 0; x < columns; ++x) {
      const double answers = most * static_cast<double>(x) / static_cast<double>(columns - 1);
      if (answers > curve.answers.back() + 1e-9) break;
      canvas[row_of(height(curve, answers))][x] = std::string(1, static_cast<char>('a' + static_cast<char>(c % 26)));
    }
  }
  std::string text;
  for (std::size_t r = 0; r < kRows; ++r) {
    const double accuracy = high - (high - low) * static_cast<double>(r) / static_cast<double>(kRows - 1);
    text += r % 5 == 0 ? fmt::format("{:>7} ", percent(accuracy)) : std::string(8, ' ');
    text += "│";
    for (const std::string& cell : canvas[r]) text += cell;
    while (text.ends_with(' ')) text.pop_back();
    text += "\n";
  }
  text += "        └";
  for (std::size_t x = 0; x < columns; ++x) text += "─";
  const std::string end = fmt::format("{} answers", grouped(static_cast<std::uint64_t>(std::llround(most))));
  text += fmt::format("\n         0{:>{}}\n", end, columns > 1 ? columns - 1 : 1);
  for (std::size_t c = 0; c < replay.curves.size(); ++c) {
    text += fmt::format("         {} {}\n", static_cast<char>('a' + static_cast<char>(c % 26)),
                        printable(replay.curves[c].policy));
  }
  return text + "         · all answers\n";
}

}  // namespace wisecrowd::app
