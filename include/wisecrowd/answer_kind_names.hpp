#pragma once

#include <span>
#include <string_view>

namespace wisecrowd {

/// The kinds of answers in the order of answer_kinds.def. What answer_kinds() tells besides, their methods, takes as
/// long to describe as a small run.
[[nodiscard]] std::span<const std::string_view> answer_kind_names();

}  // namespace wisecrowd
