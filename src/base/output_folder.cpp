#include "base/output_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void io_error(const std::string& message) { throw Error(ErrorCode::io, message); }

/// Temporary folders are ".NAME.partial-PID".
std::string temporary_prefix(const fs::path& target) { return fmt::format(".{}.partial-", target.filename().string()); }

/// Removes what runs that were killed left beside the target.
void remove_leftovers(const fs::path& target) {
  const std::string prefix = temporary_prefix(target);
  std::error_code code;
  std::vector<fs::path> dead;
  for (const auto& entry : fs::directory_iterator(target.parent_path(), code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    long pid = 0;
    const auto [end, failure] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), pid);
    if (failure != std::errc() || end != name.data() + name.size()) continue;
    if (pid > 0 && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) dead.push_back(entry.path());
  }
  for (const auto& path : dead) fs::remove_all(path, code);
}

}  // namespace

OutputFolder::OutputFolder(const std::string& directory, std::span<const std::string_view> files) : files_(files) {
  if (directory.empty()) io_error("the output folder has no name: give one after --out");
  std::error_code code;
  target_ = fs::absolute(directory, code).lexically_normal();
  if (!target_.has_filename()) target_ = target_.parent_path();  // "out/" → "out"
  if (!target_.has_filename()) io_error(fmt::format("{}: cannot be an output folder: name a new one", directory));
  check_replaceable();
  fs::create_directories(target_.parent_path(), code);
  if (code) io_error(fmt::format("{}: cannot make the folder: {}", target_.parent_path().string(), code.message()));
  remove_leftovers(target_);
  temporary_ = target_.parent_path() / fmt::format("{}{}", temporary_prefix(target_), getpid());
  fs::remove_all(temporary_, code);
  if (!fs::create_directory(temporary_, code)) {
    const std::string path = std::exchange(temporary_, fs::path()).string();
    io_error(fmt::format("{}: cannot make the folder: {}", path, code.message()));
  }
}

OutputFolder::~OutputFolder() {
  std::error_code code;
  if (!temporary_.empty()) fs::remove_all(temporary_, code);
}

void OutputFolder::check_replaceable() const {
  std::error_code code;
  const auto status = fs::symlink_status(target_, code);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) {
    io_error(fmt::format("{}: exists and is not a folder: choose another name", target_.string()));
  }
  bool empty = true;
  bool marked = false;
  std::string foreign;
  for (const auto& entry : fs::directory_iterator(target_, code)) {
    const std::string name = entry.path().filename().string();
    empty = false;
    marked = marked || name == files_.back();
    if (std::find(files_.begin(), files_.end(), name) == files_.end()) foreign = name;
  }
  if (code) io_error(fmt::format("{}: cannot look into the folder: {}", target_.string(), code.message()));
  if (empty || (marked && foreign.empty())) return;
  const std::string why =
      foreign.empty() ? fmt::format("it has no {}", files_.back()) : fmt::format("it holds '{}'", foreign);
  io_error(
      fmt::format("{}: the folder exists and was not written by this command alone ({}), so it is not replaced: choose "
                  "another name or remove it",
                  target_.string(), why));
}

void OutputFolder::publish() {
  check_replaceable();                                     // the work may have taken long
  if (rename(temporary_.c_str(), target_.c_str()) == 0) {  // also replaces an empty folder
    temporary_.clear();
    return;
  }
  if (errno != ENOTEMPTY && errno != EEXIST) {
    io_error(fmt::format("{}: cannot put the folder in its place: {}", target_.string(), std::strerror(errno)));
  }
  // Trade places at once; the destructor then removes the old folder.
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return;
  // Some file systems cannot: then there is a moment with no folder at all.
  const fs::path old = temporary_.string() + "-old";
  if (rename(target_.c_str(), old.c_str()) != 0 || rename(temporary_.c_str(), target_.c_str()) != 0) {
    io_error(fmt::format("{}: cannot replace the folder: {}", target_.string(), std::strerror(errno)));
  }
  temporary_ = old;
}

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail("cannot be opened for writing");
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("cannot be closed");
}

void OutputFile::fail(std::string_view what) const {
  io_error(fmt::format("{}: {}: {}", path_, what, std::strerror(errno)));
}

bool write_rows(const std::string& path, std::string_view header, std::size_t rows,
                const std::function<void(std::size_t, std::size_t, std::string&)>& format, std::string_view stage,
                const RunContext& context) {
  constexpr std::size_t kRowsPerBlock = 1 << 16;
  OutputFile file(path);
  file.write(header);
  const Blocks blocks{rows, kRowsPerBlock};
  // As many blocks at a time as keep all threads busy.
  std::vector<std::string> texts(std::min<std::size_t>(blocks.count(), std::size_t{4} * context.threads()));
  for (std::size_t first = 0; first < blocks.count(); first += texts.size()) {
    if (context.cancelled()) return false;
    const std::size_t count = std::min(texts.size(), blocks.count() - first);
    context.pool().for_each_block(count, [&](std::size_t i, unsigned) {
      texts[i].clear();
      format(blocks.begin(first + i), blocks.end(first + i), texts[i]);
    });
    for (std::size_t i = 0; i < count; ++i) file.write(texts[i]);
    context.report({.stage = stage,
                    .done = static_cast<double>(blocks.end(first + count - 1)),
                    .total = static_cast<double>(rows)});
  }
  file.close();
  return true;
}

}  // namespace wisecrowd
