#include "output_place.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "failure.hpp"
#include "screen_text.hpp"

namespace wisecrowd::app {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr std::size_t kHead = 8192;

std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return head;
}

/// Reports and their data: nothing that a command reads.
bool is_report(std::string_view head) {
  const auto has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
  return (head.starts_with("<!doctype html>") && has("– wisecrowd</title>")) ||
         (head.starts_with("{") && has(R"("program":{"name":"wisecrowd")"));
}

/// What commands write as single files: reports, their data, predictions, choices.
bool is_ours(std::string_view head) {
  return is_report(head) || head.starts_with("task,label,probability") ||
         head.starts_with("task,worker,expected_gain,cost");
}

bool is_regular(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// True when both names lead to the same file; "-" is what standard input was opened on.
bool same_file(const std::string& output, const std::string& input) {
  struct stat out {};
  struct stat in {};
  if (::stat(output.c_str(), &out) != 0) return false;
  if ((input == "-" ? ::fstat(STDIN_FILENO, &in) : ::stat(input.c_str(), &in)) != 0) return false;
  // Writing to a terminal or to /dev/null that is also read destroys nothing.
  const bool keeps_data = S_ISREG(out.st_mode) || S_ISDIR(out.st_mode);
  return keeps_data && out.st_dev == in.st_dev && out.st_ino == in.st_ino;
}

/// True when `inner` lies somewhere below the folder `outer`.
bool lies_in(const std::string& inner, const std::string& outer) {
  std::error_code error;
  if (!fs::is_directory(outer, error)) return false;
  const fs::path folder = fs::canonical(outer, error);
  if (error) return false;
  for (const fs::path& place : {fs::weakly_canonical(inner, error), fs::absolute(inner, error).lexically_normal()}) {
    if (error) continue;
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), place.begin(), place.end());
    if (end == folder.end() && rest != place.end()) return true;
  }
  return false;
}

}  // namespace

void require_place_for(const std::string& path, bool force) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (fs::is_directory(path, error)) {
    throw Failure(EX_CANTCREAT,
                  fmt::format("cannot write to '{}': it is a folder; name a file in it", printable(path)));
  }
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    throw Failure(EX_CANTCREAT, fmt::format("cannot write to '{}': there is no folder '{}'", printable(path),
                                            printable(folder.string())));
  }
  if (!is_regular(path)) return;
  const std::string head = head_of(path);
  if (head.starts_with("SQLite format 3\0"sv)) {
    throw Failure(EX_CANTCREAT, fmt::format("will not replace '{}': it is a database (a state, perhaps); choose "
                                            "another name",
                                            printable(path)));
  }
  if (!force && !head.empty() && !is_ours(head)) {
    throw Failure(EX_CANTCREAT, fmt::format("will not replace '{}': wisecrowd did not write it; choose another name, "
                                            "remove it, or add --force",
                                            printable(path)));
  }
}

void refuse_input(const NamedPath& output, const NamedPath& input) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error(
        fmt::format("{} cannot be '{}': {}; choose another place", output.name, printable(output.path), why));
  };
  const std::string shown = input.path == "-" ? "standard input" : fmt::format("'{}'", printable(input.path));
  if (same_file(output.path, input.path)) {
    refuse(fmt::format("it is the same as {} ({}), which would be lost", shown, input.name));
  }
  if (input.path == "-") return;
  if (lies_in(input.path, output.path)) {
    refuse(fmt::format("it holds {} ({}), which would be lost", shown, input.name));
  }
  if (lies_in(output.path, input.path) && is_regular(output.path) && !is_report(head_of(output.path))) {
    refuse(fmt::format("it is a part of {} ({}), which would be damaged", shown, input.name));
  }
}

}  // namespace wisecrowd::app
