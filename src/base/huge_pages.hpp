#pragma once

#include <cstddef>

namespace wisecrowd {

inline constexpr std::size_t kHugePage = std::size_t{1} << 21;

/// Memory in whole pages of 2 MB, aligned to them and with the kernel asked for large ones. What is freed is kept, up
/// to a quarter of a gigabyte, and handed out again: fresh pages must be zeroed by the kernel first, which costs more
/// than most passes over them. `bytes` is a multiple of kHugePage. Contents are undefined. Throws std::bad_alloc.
[[nodiscard]] void* allocate_huge_pages(std::size_t bytes);
void free_huge_pages(void* memory, std::size_t bytes) noexcept;
/// What is kept for later.
[[nodiscard]] std::size_t kept_huge_pages_bytes() noexcept;

}  // namespace wisecrowd
