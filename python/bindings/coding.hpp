#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plain_array.hpp"
#include "team.hpp"
#include "wisecrowd/category_answers.hpp"

// As CPython declares it; its header stays out of those who only pass pointers on.
struct _object;

namespace wisecrowd::python {

using Object = ::_object;

/// A column whose values were replaced by numbers: those of its different values in sorted order.
struct Coded {
  PlainArray<std::uint32_t> codes;        ///< per row
  std::vector<std::uint64_t> first_rows;  ///< per value, in sorted order: the first row that holds it; may be empty
  NameTable names;                        ///< per value, as text
};

/// Values of the column type str, sorted as Python sorts them (by code point, which is the order of bytes in UTF-8).
/// Reads the objects without touching their reference counts and without calling Python, so that several columns can be
/// coded by several threads while one of them holds the interpreter's lock. Returns the row of the first value that is
/// not exactly a str, and leaves `result` alone then.
[[nodiscard]] std::optional<std::size_t> code_strings(std::span<Object* const> values, Coded& result);

/// The same for several columns at once, by several threads. One entry per column: the row of its first value that is
/// not exactly a str, or nothing.
[[nodiscard]] std::vector<std::optional<std::size_t>> code_strings(std::span<const std::span<Object* const>> columns,
                                                                   std::span<Coded> results, const Team& team);

/// Values of an integer column, in numeric order.
[[nodiscard]] Coded code_integers(std::span<const std::int64_t> values);

/// The text of a str object in UTF-8, lone surrogates as three bytes; nothing if it is not exactly a str. `scratch`
/// holds the characters where the object itself does not.
[[nodiscard]] std::optional<std::string_view> text_of(Object* value, std::string& scratch);

/// Positions of names in the order of their bytes. All names must differ.
[[nodiscard]] std::vector<std::uint32_t> sorted_order(const NameTable& names);

/// The names in another order.
[[nodiscard]] NameTable reordered(const NameTable& names, std::span<const std::uint32_t> order);

}  // namespace wisecrowd::python
