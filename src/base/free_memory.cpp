#include "base/free_memory.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace wisecrowd {
namespace {

using Bytes = std::optional<std::uint64_t>;

/// The number behind `key` in a file of lines "key number" or "key: number kB"; with an empty key, the first number.
Bytes number_in(const std::string& path, std::string_view key = {}) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t at = key.size();
    while (at < line.size() && (line[at] == ':' || line[at] == ' ' || line[at] == '\t')) ++at;
    if (!key.empty() && at == key.size()) continue;  // a longer key
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(line.data() + at, line.data() + line.size(), value);
    if (code != std::errc()) return std::nullopt;  // "max": no limit
    return std::string_view(end, static_cast<std::size_t>(line.data() + line.size() - end)) == " kB" ? value * 1024
                                                                                                     : value;
  }
  return std::nullopt;
}

void lower(Bytes& least, Bytes other) {
  if (other) least = least ? std::min(*least, *other) : *other;
}

/// What a group may still take: its limit less what it holds, of which cached files can be given up.
Bytes left_in_group(const std::string& folder, const char* limit_file, const char* usage_file, const char* cache_key) {
  const Bytes limit = number_in(folder + "/" + limit_file);
  const Bytes used = number_in(folder + "/" + usage_file);
  if (!limit || !used) return std::nullopt;
  const std::uint64_t cached = number_in(folder + "/memory.stat", cache_key).value_or(0);
  const std::uint64_t held = *used - std::min(*used, cached);
  return *limit - std::min(*limit, held);
}

/// The groups that this process is in, and all above them: each may have a limit.
Bytes left_in_groups(const std::string& root) {
  Bytes least;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",memory,") == std::string::npos) continue;
    const std::string mount = root + (unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    std::string group = line.substr(second + 1);
    for (;;) {
      while (!group.empty() && group.back() == '/') group.pop_back();
      lower(least, unified ? left_in_group(mount + group, "memory.max", "memory.current", "inactive_file")
                           : left_in_group(mount + group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                           "total_inactive_file"));
      if (group.empty()) break;
      group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
  }
  return least;
}

/// A limit on the address space (ulimit -v) less what is in use.
Bytes left_of_address_space(const std::string& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::uint64_t used = number_in(root + "/proc/self/status", "VmSize").value_or(0);
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}

}  // namespace

std::optional<std::uint64_t> free_memory(const std::string& root) {
  Bytes least = number_in(root + "/proc/meminfo", "MemAvailable");
  lower(least, left_in_groups(root));
  lower(least, left_of_address_space(root));
  return least;
}

std::string memory_text(double bytes) {
  if (bytes < 1e9) return fmt::format("{:.0f} MB", std::max(bytes / 1e6, 1.0));
  return fmt::format("{:.{}f} GB", bytes / 1e9, bytes < 1e11 ? 1 : 0);
}

}  // namespace wisecrowd
