#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/percent.hpp"

namespace wisecrowd::report {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::string grouped(std::uint64_t number);                          ///< 1,234,567
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view thing);  ///< "1 task", "2 classes"

/// A name as it is shown: bytes that are not UTF-8 are replaced, and of more than 200 characters the first 120 and the
/// last 40 are left, with their number.
[[nodiscard]] std::string shown_name(std::string_view name);
/// Words that may hold untrusted names: cut after `most` characters.
[[nodiscard]] std::string shown_words(std::string_view words, std::size_t most = 1500);
/// The first letter made a capital, and a full stop at the end unless there is a mark already: a sentence.
[[nodiscard]] std::string with_capital(std::string text);
[[nodiscard]] std::string with_stop(std::string text);
/// Characters (code points) of UTF-8; every byte that is none counts as one.
[[nodiscard]] std::size_t character_count(std::string_view text);

/// With so many significant digits; null for what is not finite.
[[nodiscard]] Json number(double value, int digits = 4);

/// How many bytes of the page a name takes inside the JSON, quotes included.
[[nodiscard]] std::size_t embedded_size(std::string_view text);

}  // namespace wisecrowd::report
