#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/parameters.hpp"

namespace wisecrowd::store {

/// What simulation.json says of any crowd: its kind, the kind of its answers (empty: categories), its sizes in the
/// order given, seed and parameters.
[[nodiscard]] nlohmann::ordered_json simulation_record(
    std::string_view crowd, std::string_view answers_kind,
    const std::vector<std::pair<const char*, std::size_t>>& sizes, std::uint64_t seed,
    const std::vector<std::pair<std::string, ParameterValue>>& parameters);

}  // namespace wisecrowd::store
