#pragma once

#include <string>

#include "terminal.hpp"
#include "wisecrowd/replay.hpp"

namespace wisecrowd::app {

/// The curves of a replay as a picture of characters: accuracy upwards, answers to the right, a dotted line at the
/// accuracy of all answers, and a letter per policy.
[[nodiscard]] std::string curve_plot(const Replay& replay, const Screen& screen);

}  // namespace wisecrowd::app
