#pragma once

#include <string>

#include "base/picture.hpp"
#include "wisecrowd/replay.hpp"

namespace wisecrowd::selecting {

/// The curves with their intervals, the line of all answers, and a legend.
[[nodiscard]] picture::Picture replay_picture(const Replay& replay, const std::string& title);

}  // namespace wisecrowd::selecting
