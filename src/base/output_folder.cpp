#include "base/output_folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/random_seed.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

/// The text that says that a record is ours.
constexpr std::string_view kProgram = "wisecrowd";

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::io, message); }

std::string cause(int error) {
  switch (error) {
    case ENOSPC: return "the disk is full: free some space, or choose a place on another disk";
    case EDQUOT: return "your disk quota is used up: free some space, or choose a place on another disk";
    case EFBIG: return "the file would be larger than allowed here (see ulimit -f)";
    case EACCES:
    case EPERM: return "permission denied: choose a place that you may write to";
    case EROFS: return "it is on a read-only file system: choose another place";
    case ENAMETOOLONG: return "the name is too long: choose a shorter one";
    case ENOTDIR: return "a part of the path is a file, not a folder";
    default: return std::strerror(error);
  }
}

/// The real place: links followed, no trailing slash.
fs::path resolve(const std::string& directory) {
  if (directory.empty()) fail("the output folder has no name: give one, for example `out=result`");
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(directory, error), error);
  if (error) fail(fmt::format("cannot write to '{}': {}", directory, cause(error.value())));
  if (!target.has_filename()) target = target.parent_path();
  const fs::path here = fs::current_path(error);
  const bool holds_us =
      !error && std::mismatch(target.begin(), target.end(), here.begin(), here.end()).first == target.end();
  if (holds_us || !target.has_filename()) {
    fail(
        fmt::format("cannot write to '{}': the current folder cannot be replaced; name a folder in it, for example "
                    "`out=result`",
                    directory));
  }
  return target;
}

/// Throws unless the folder at `target` may be replaced: absent, empty, or written by us from first to last file.
void require_replaceable(const fs::path& target, const std::string& shown, const std::string& record_name) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) {
    fail(fmt::format("cannot write to '{}': it is a file; choose another folder", shown));
  }
  const auto refuse = [&](const std::string& why) {
    fail(fmt::format("will not replace '{}': {}; choose another folder, or remove it yourself", shown, why));
  };
  std::vector<std::string> names;
  for (fs::recursive_directory_iterator it(target, error), end; !error && it != end; it.increment(error)) {
    const bool empty_folder = it->is_directory(error) && !it->is_symlink(error) && fs::is_empty(it->path(), error);
    if (empty_folder || !it->is_directory(error) || it->is_symlink(error)) {
      names.push_back(it->path().lexically_relative(target).generic_string());
    }
  }
  if (error) fail(fmt::format("cannot look into '{}': {}", shown, cause(error.value())));
  if (names.empty()) return;

  std::ifstream file(target / record_name, std::ios::binary);
  const auto record = nlohmann::json::parse(file, nullptr, false);
  if (!file.is_open() || !record.is_object() || record.value("program", nlohmann::json()) != kProgram) {
    refuse(fmt::format("it holds files, but no {} of this command", record_name));
  }
  const auto listed = record.value("files", nlohmann::json::array());
  for (const std::string& name : names) {
    if (std::find(listed.begin(), listed.end(), name) == listed.end()) {
      refuse(fmt::format("it holds '{}', which wisecrowd did not write", name));
    }
  }
}

std::string leftover_prefix(const fs::path& target) { return fmt::format(".{}.tmp-", target.filename().string()); }

/// Removes leftovers beside `target`: of dead processes, and of this one too if `own`.
void remove_leftovers(const fs::path& target, bool own) noexcept try {
  const std::string prefix = leftover_prefix(target);
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    pid_t process = 0;
    const char* last = name.data() + name.size();
    const auto [stop, code] = std::from_chars(name.data() + prefix.size(), last, process);
    if (code != std::errc() || stop == last || *stop != '-' || process <= 0) continue;
    if (process == ::getpid()) {
      if (own) found.push_back(it->path());
      continue;
    }
    if (::kill(process, 0) == 0 || errno != ESRCH) continue;
    // On a shared disk, or in another container, the process may live where we cannot see it; then it holds the lock.
    const int folder = ::open(it->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) continue;
    if (::flock(folder, LOCK_EX | LOCK_NB) == 0) found.push_back(it->path());
    ::close(folder);
  }
  for (const fs::path& path : found) {
    // A writer that has not noticed yet may add a file while we remove them.
    for (int attempt = 0; attempt < 10; ++attempt) {
      fs::remove_all(path, error);
      if (!fs::exists(path, error)) break;
    }
  }
} catch (...) {  // out of memory while tidying: what is left is hidden, and the next run tries again
}

void sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);  // some file systems cannot; the names are then stored a little later
  ::close(folder);
}

/// Who may read and write what is there, or nothing.
std::optional<mode_t> mode_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_mode & 0777;
}

std::string random_suffix() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::uint64_t left = random_seed();
  std::string suffix(6, ' ');
  for (char& c : suffix) {
    c = kLetters[left % kLetters.size()];
    left /= kLetters.size();
  }
  return suffix;
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string shown_path, std::optional<mode_t> mode)
    : shown_path_(std::move(shown_path)) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ? *mode & 0700 : 0666);
  if (descriptor_ < 0 || (mode && ::fchmod(descriptor_, *mode) != 0)) fail("create");
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::fail(std::string_view doing) const {
  wisecrowd::fail(fmt::format("cannot {} '{}': {}", doing, shown_path_, cause(errno)));
}

void OutputFile::write_at(std::uint64_t offset, std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write");
    }
    offset += static_cast<std::uint64_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::extend_to(std::uint64_t size) {
  // Begins to store what was added, without waiting, so that the flush at the end finds little left to do.
  ::sync_file_range(descriptor_, static_cast<off_t>(size_), static_cast<off_t>(size - size_), SYNC_FILE_RANGE_WRITE);
  size_ = size;
}

void OutputFile::append(std::string_view text) {
  write_at(size_, text);
  size_ += text.size();
}

void OutputFile::finish() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) fail("write");
  const int closing = descriptor_;
  descriptor_ = -1;
  if (::close(closing) != 0 && errno != EINTR) fail("write");
}

OutputFolder::OutputFolder(const std::string& directory, std::string record)
    : shown_(directory), record_(std::move(record)) {
  const fs::path target = resolve(directory);
  target_ = target.string();
  parent_ = target.parent_path().string();
  require_replaceable(target, shown_, record_);
  // Parents that are not there yet, from the nearest that is.
  std::vector<std::string> missing;
  std::error_code error;
  for (fs::path at = target.parent_path(); !fs::exists(at, error) && at.has_relative_path(); at = at.parent_path()) {
    missing.push_back(at.string());
  }
  const auto cannot = [&](int code) { fail(fmt::format("cannot write to '{}': {}", shown_, cause(code))); };
  const auto remove_parents = [&] {
    for (const auto& path : made_parents_) ::rmdir(path.c_str());
  };
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (::mkdir(it->c_str(), 0777) == 0) {
      made_parents_.insert(made_parents_.begin(), *it);
    } else if (errno != EEXIST) {
      const int code = errno;
      remove_parents();
      cannot(code);
    }
  }
  remove_leftovers(target, false);
  for (int attempt = 0;; ++attempt) {
    temporary_ =
        fmt::format("{}/{}{}-{}", parent_ == "/" ? "" : parent_, leftover_prefix(target), ::getpid(), random_suffix());
    if (::mkdir(temporary_.c_str(), 0777) == 0) break;
    if (errno != EEXIST || attempt > 100) {
      const int code = errno;
      remove_parents();
      cannot(code);
    }
  }
  // A folder that others may not look into stays so.
  const std::optional<mode_t> mode = mode_of(target_);
  if (mode && (*mode & 0700) == 0700) ::chmod(temporary_.c_str(), *mode);
  lock_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

OutputFolder::~OutputFolder() {
  if (!temporary_.empty()) {
    std::error_code error;
    fs::remove_all(temporary_, error);
    for (const auto& path : made_parents_) ::rmdir(path.c_str());
  }
  if (lock_ >= 0) ::close(lock_);
}

OutputFile OutputFolder::create(const std::string& name) {
  names_.push_back(name);
  return {temporary_ + "/" + name, shown_ + (shown_.ends_with('/') ? "" : "/") + name};
}

void OutputFolder::fill(const std::string& name, const std::function<void(const std::string& path)>& write) {
  const std::string path = temporary_ + "/" + name;
  const std::string shown = shown_ + (shown_.ends_with('/') ? "" : "/") + name;
  if (::mkdir(path.c_str(), 0777) != 0) fail(fmt::format("cannot create '{}': {}", shown, cause(errno)));
  try {
    write(path);
  } catch (const Error& error) {
    std::string message = error.what();
    for (std::size_t at = message.find(path); at != std::string::npos; at = message.find(path, at + shown.size())) {
      message.replace(at, path.size(), shown);
    }
    throw Error(error.code(), message);
  }
  std::vector<std::string> written;
  for (const auto& entry : fs::directory_iterator(path))
    written.push_back(name + "/" + entry.path().filename().string());
  std::sort(written.begin(), written.end());
  names_.insert(names_.end(), written.begin(), written.end());
  sync_folder(path);
}

void OutputFolder::commit(const nlohmann::ordered_json& record) {
  {
    OutputFile file = create(record_);
    nlohmann::ordered_json complete = {{"program", kProgram}};
    for (const auto& [name, value] : record.items()) complete[name] = value;
    complete["files"] = names_;
    file.append(json_text(complete));
    file.finish();
  }
  sync_folder(temporary_);
  require_replaceable(target_, shown_, record_);  // somebody may have put something there while we worked
  const auto cannot = [&](int code) { fail(fmt::format("cannot put the results at '{}': {}", shown_, cause(code))); };
  // A plain rename serves when nothing, or an empty folder, is there; both are replaced in one step.
  if (std::rename(temporary_.c_str(), target_.c_str()) == 0) {
    temporary_.clear();
    sync_folder(parent_);
    return;
  }
  if (errno != ENOTEMPTY && errno != EEXIST) cannot(errno);
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) cannot(errno);
    // No exchange on this file system: between the two renames there is no folder, but never a part of one.
    const std::string aside = temporary_ + "-old";
    if (std::rename(target_.c_str(), aside.c_str()) != 0) cannot(errno);
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
      const int code = errno;
      std::rename(aside.c_str(), target_.c_str());
      cannot(code);
    }
    temporary_ = aside;
  }
  sync_folder(parent_);
  std::error_code error;
  fs::remove_all(temporary_, error);  // now the old results; if some cannot be removed, the next run tries again
  temporary_.clear();
}

void write_file_whole(const std::string& path, std::string_view text) {
  const fs::path target(path);
  if (!target.has_filename()) fail(fmt::format("cannot write to '{}': name a file", path));
  std::error_code error;
  if (fs::is_directory(target, error))
    fail(fmt::format("cannot write to '{}': it is a folder; name a file in it", path));
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    // A device or a pipe cannot be replaced; it takes the text as it is.
    std::ofstream file(target, std::ios::binary);
    if (!(file << text) || !file.flush()) fail(fmt::format("cannot write '{}': {}", path, cause(errno)));
    return;
  }
  const std::string temporary =
      (target.parent_path() / fmt::format("{}{}-{}", leftover_prefix(target), ::getpid(), random_suffix())).string();
  try {
    OutputFile file(temporary, path, mode_of(path));
    file.append(text);
    file.finish();
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
      fail(fmt::format("cannot write '{}': {}", path, cause(errno)));
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void check_output_place(const std::string& directory, const std::string& record) {
  const OutputFolder trial(directory, record);  // made and removed: nothing else tells for sure
}

void remove_unfinished(const std::string& directory, bool own) noexcept try {
  remove_leftovers(resolve(directory), own);
} catch (...) {  // nothing can have been written to a place without a name
}

std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace wisecrowd
