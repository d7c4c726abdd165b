#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace wisecrowd {

/// How many bytes this process can still take without being killed: what the kernel calls available, or less where a
/// control group (version 1 or 2) or a limit of the process allows less. Nothing where the system does not say.
/// `root` stands before /proc and /sys, for tests.
[[nodiscard]] std::optional<std::uint64_t> free_memory(const std::string& root = "");

/// "850 MB", "17.3 GB": for messages.
[[nodiscard]] std::string memory_text(double bytes);

}  // namespace wisecrowd
