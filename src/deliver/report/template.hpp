#pragma once

#include <string_view>

namespace wisecrowd {

/// The page that the program carries, with marks for data and title; empty when it was built without.
[[nodiscard]] std::string_view report_template() noexcept;

}  // namespace wisecrowd
