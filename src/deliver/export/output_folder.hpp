#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd {

/// One file being written. Every failure is an io error that names the file and the cause.
class OutputFile {
 public:
  OutputFile(std::string path, std::string shown_path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes at the end.
  void append(std::string_view text);
  /// Writes at a place of its own; different places may be written by several threads at once.
  void write_at(std::uint64_t offset, std::string_view text) const;
  /// Says that everything below `size` is written, so that the system may begin to store it while we go on.
  void extend_to(std::uint64_t size);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Flushes to the device and closes. Without it, the file is closed as it is.
  void finish();

 private:
  [[noreturn]] void fail(std::string_view doing) const;
  std::string shown_path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// A folder that appears at its place complete or not at all. Files go into a hidden sibling
/// `.<name>.tmp-<process>-<random>`, which commit() renames; without commit() it is removed.
///
/// A folder that is there already is replaced only if it is empty or if its run.json says that wisecrowd wrote every
/// file in it. What killed runs left at the same place is removed first.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& directory);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] OutputFile create(const std::string& name);
  /// Names created so far; run.json lists them.
  [[nodiscard]] std::span<const std::string> names() const noexcept { return names_; }
  void commit();

 private:
  std::string shown_;
  std::string target_;
  std::string parent_;
  std::string temporary_;
  int lock_ = -1;  // held on the temporary folder while this process lives
  std::vector<std::string> names_;
  std::vector<std::string> made_parents_;
};

}  // namespace wisecrowd
