#pragma once

#include "base/registry.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd {

/// What a room of selectors offers: every one has a function
///   SelectorEntry selector();
/// which the registry finds by the line in selectors.def.
using SelectorEntry = Entry<SelectorInfo, Selector>;

}  // namespace wisecrowd
