#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd {

/// A value of an enum (or a flag) and what it is called in files, on the command line and in Python.
template <class Value>
struct Named {
  Value value;
  std::string_view name;
};

/// The names of an enum stand in one such table; whoever writes, reads or lists them uses it:
///   inline constexpr auto kTieRuleNames = enum_names<TieRule>({{TieRule::lowest, "lowest"}, …});
template <class Value, std::size_t count>
using EnumNames = std::array<Named<Value>, count>;

template <class Value, std::size_t count>
[[nodiscard]] constexpr EnumNames<Value, count> enum_names(const Named<Value> (&names)[count]) {
  return std::to_array(names);
}

/// The name of a value; empty when the table does not have it.
template <class Value, std::size_t count>
[[nodiscard]] constexpr std::string_view name_in(const EnumNames<Value, count>& table, Value value) noexcept {
  for (const auto& [known, name] : table) {
    if (known == value) return name;
  }
  return {};
}

/// True when the names differ at most in '-' for '_': keep-last and keep_last are one.
[[nodiscard]] constexpr bool same_name(std::string_view one, std::string_view other) noexcept {
  if (one.size() != other.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if ((one[i] == '-' ? '_' : one[i]) != (other[i] == '-' ? '_' : other[i])) return false;
  }
  return true;
}

template <class Value, std::size_t count>
[[nodiscard]] constexpr std::optional<Value> find_in(const EnumNames<Value, count>& table,
                                                     std::string_view name) noexcept {
  for (const auto& [value, known] : table) {
    if (same_name(known, name)) return value;
  }
  return std::nullopt;
}

template <class Value, std::size_t count>
[[nodiscard]] std::vector<std::string> names_in(const EnumNames<Value, count>& table) {
  std::vector<std::string> names;
  for (const auto& entry : table) names.emplace_back(entry.name);
  return names;
}

/// Throws bad_parameter: "there is no tie rule 'x': choose lowest, highest, random or fractional".
[[noreturn]] void refuse_name(std::string_view what, std::string_view name, const std::vector<std::string>& names);

/// The value of a name; `what` is what the table names, for the error when there is no such name.
template <class Value, std::size_t count>
[[nodiscard]] Value value_in(const EnumNames<Value, count>& table, std::string_view what, std::string_view name) {
  const std::optional<Value> found = find_in(table, name);
  if (!found) refuse_name(what, name, names_in(table));
  return *found;
}

}  // namespace wisecrowd
