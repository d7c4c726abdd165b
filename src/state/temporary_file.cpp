#include "state/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/random_seed.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_io(const std::string& what, const std::string& path) {
  throw Error(ErrorCode::io, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

void flush_to_device(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail_io("open", path);
  const int code = ::fsync(descriptor);
  ::close(descriptor);
  if (code != 0) fail_io("write", path);
}

void remove_files(const std::string& file) noexcept {
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) fs::remove(file + suffix, ignored);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& path) : path_(path) {
  const fs::path place(path);
  folder_ = place.has_parent_path() ? place.parent_path().string() : ".";
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored)) {
    throw Error(ErrorCode::io, fmt::format("cannot make {}: there is no folder {}", path, folder_));
  }
  prefix_ = fmt::format(".{}.tmp-", place.filename().string());
  remove_dead();
  make();
}

TemporaryFile::~TemporaryFile() { remove_files(aside_); }

void TemporaryFile::make() {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    aside_ = (fs::path(folder_) / fmt::format("{}{}-{:016x}", prefix_, ::getpid(), random_seed())).string();
    const int descriptor = ::open(aside_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      ::close(descriptor);
      return;
    }
    if (errno != EEXIST) break;
  }
  const int why = errno;
  aside_.clear();  // it is not ours to remove
  errno = why;
  fail_io("make", path_);
}

void TemporaryFile::put_in_place() {
  flush_to_device(aside_, O_RDONLY);
  if (::renameat2(AT_FDCWD, aside_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    const bool unknown_here = errno == EINVAL || errno == ENOSYS;
    if (!unknown_here || fs::exists(path_) || ::rename(aside_.c_str(), path_.c_str()) != 0) fail_io("make", path_);
  }
  flush_to_device(folder_, O_RDONLY | O_DIRECTORY);
}

/// ".crowd.state.tmp-1234-…" is of process 1234.
void TemporaryFile::remove_dead() const noexcept {
  std::error_code ignored;
  for (fs::directory_iterator entry(folder_, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix_)) continue;
    int process = 0;
    const char* const last = name.data() + name.size();
    const auto [stop, code] = std::from_chars(name.data() + prefix_.size(), last, process);
    if (code == std::errc() && (stop == last || *stop == '-') && ::kill(process, 0) != 0 && errno == ESRCH) {
      remove_files(entry->path().string());
    }
  }
}

}  // namespace wisecrowd
