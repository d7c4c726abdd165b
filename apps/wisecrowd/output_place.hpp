#pragma once

#include <string>

namespace wisecrowd::app {

/// Refuses, before the work, a file that could not be written, as far as one can tell.
void require_place_for(const std::string& path);

}  // namespace wisecrowd::app
