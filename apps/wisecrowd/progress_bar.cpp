#include "progress_bar.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "screen_text.hpp"

namespace wisecrowd::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kSilence = 300ms;  // short work needs no bar
constexpr auto kInterval = 100ms;
constexpr double kManyUnits = 100'000;  // beyond this, units are bytes or rows: a percentage tells more

std::string bar(double share, std::size_t cells) {
  const auto eighths = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells) * 8);
  constexpr std::array kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kParts[eighths % 8];
  text.append(cells - eighths / 8 - (eighths % 8 != 0 ? 1 : 0), ' ');
  return text;
}

}  // namespace

std::string progress_line(const Progress& progress, double units_per_second, std::size_t width) {
  std::string line = fmt::format("{:<9}", progress.stage);
  const bool many = std::max(progress.total, progress.done) > kManyUnits;
  if (progress.total > 0) {
    const double share = progress.done / progress.total;
    line += fmt::format(" {} ", bar(share, 12));
    line += many ? fmt::format("{:3.0f} %", 100 * share) : fmt::format("{:.0f}/{:.0f}", progress.done, progress.total);
  } else if (!many) {
    line += fmt::format(" {:.0f}", progress.done);
  }
  if (progress.has_objective) line += fmt::format("  objective {:.8g}", progress.objective);
  if (units_per_second > 0 && std::isfinite(units_per_second)) {
    if (!many) line += fmt::format("  {:.{}f}/s", units_per_second, units_per_second < 10 ? 1 : 0);
    if (progress.total > progress.done) {
      // Iterations may converge before their limit.
      line += fmt::format("  {}{} left", progress.has_objective ? "≤ " : "",
                          duration((progress.total - progress.done) / units_per_second));
    }
  }
  return shortened(line, width);
}

void ProgressBar::update(const Progress& progress) {
  const auto now = Clock::now();
  if (progress.stage != stage_) {
    stage_ = std::string(progress.stage);
    stage_start_ = now;
    units_ = 0;
    last_done_ = progress.done;
  }
  // A count that falls back is another restart of the same work.
  units_ += progress.done >= last_done_ ? progress.done - last_done_ : progress.done;
  last_done_ = progress.done;
  if (now - created_ < kSilence || now - last_shown_ < kInterval) return;
  last_shown_ = now;
  const double seconds = std::chrono::duration<double>(now - stage_start_).count();
  const double rate = seconds > 0.05 ? units_ / seconds : 0;
  say(fmt::format("\r{}\x1b[K", progress_line(progress, rate, screen_.width - 1)));
  shown_ = true;
}

void ProgressBar::clear() {
  if (shown_) say("\r\x1b[K");
  shown_ = false;
}

}  // namespace wisecrowd::app
