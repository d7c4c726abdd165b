#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "terminal.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::app {

/// One line on a terminal that says how far a long computation is. Shown after a moment, at most ten times a second,
/// and gone without trace when the work is done.
class ProgressBar {
 public:
  explicit ProgressBar(const Screen& screen) : screen_(screen) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(const Progress& progress);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Screen screen_;
  std::string stage_;
  Clock::time_point created_ = Clock::now();
  Clock::time_point stage_start_ = Clock::now();
  double last_done_ = 0;
  double units_ = 0;  // done in this stage, over all restarts
  Clock::time_point last_shown_{};
  bool shown_ = false;
};

/// The line itself: stage, bar, count, objective, rate and time left, cut to `width`.
[[nodiscard]] std::string progress_line(const Progress& progress, double units_per_second, std::size_t width);

}  // namespace wisecrowd::app
