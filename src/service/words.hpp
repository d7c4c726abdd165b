#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace wisecrowd::service {

/// JSON has no NaN: what is not known is null.
[[nodiscard]] nlohmann::ordered_json number_or_null(double x);
[[nodiscard]] nlohmann::ordered_json numbers_or_null(std::span<const double> values);
/// A link to a task, by a template with {task} in it; empty without.
[[nodiscard]] std::string link_to(const std::string& link_template, std::string_view task);
/// Letters, digits, - and _, beginning with a letter or digit, at most 64: what may name a folder anywhere.
[[nodiscard]] bool is_project_name(std::string_view name) noexcept;
/// As a part of a path or query.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace wisecrowd::service
