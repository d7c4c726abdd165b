#pragma once

#include <string>

#include "terminal.hpp"
#include "wisecrowd/fairness_files.hpp"

namespace wisecrowd::app {

/// What a look at fairness found, in a screenful.
[[nodiscard]] std::string fairness_text(const FairnessResult& result, const Screen& screen);

}  // namespace wisecrowd::app
