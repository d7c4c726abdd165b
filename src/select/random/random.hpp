#pragma once

#include <memory>
#include <span>

#include "wisecrowd/select.hpp"

namespace wisecrowd::random_selector {

[[nodiscard]] SelectorInfo info();
[[nodiscard]] std::unique_ptr<Selector> make(const Parameters& parameters);

}  // namespace wisecrowd::random_selector
