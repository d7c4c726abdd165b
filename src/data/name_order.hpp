#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "wisecrowd/category_answers.hpp"

namespace wisecrowd {

/// The order of tasks and workers: runs of digits compare as numbers, everything else by its bytes, so "t2" comes
/// before "t10". Names that are equal so ("7", "007") compare by their bytes.
[[nodiscard]] bool comes_before(std::string_view a, std::string_view b) noexcept;

/// The new id of each name when names are put in order, by all threads; empty when they are in order already. Equal
/// names keep their order.
[[nodiscard]] std::vector<std::uint32_t> ranks_in_order(const NameTable& names, ThreadPool& pool);

/// The names with the ids that `ranks` gives them; as they are when `ranks` is empty.
[[nodiscard]] NameTable reordered(NameTable names, std::span<const std::uint32_t> ranks, ThreadPool& pool);

}  // namespace wisecrowd
