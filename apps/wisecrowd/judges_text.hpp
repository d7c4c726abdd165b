#pragma once

#include <string>

#include "terminal.hpp"
#include "wisecrowd/judge_files.hpp"

namespace wisecrowd::app {

/// What a look at judges found, in a screenful or two.
[[nodiscard]] std::string judges_text(const JudgeRun& run, const Screen& screen);

}  // namespace wisecrowd::app
