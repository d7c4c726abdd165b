#pragma once

#include "command_set.hpp"

namespace wisecrowd::app {

void add_dalc_loop(CommandSet& commands);

}  // namespace wisecrowd::app
