#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// A folder of files that appears complete or not at all: it is written beside its place and renamed at the end, so
/// that a reader sees the old folder, the new one, or none. Not published, it is removed.
class OutputFolder {
 public:
  /// `files` are the names that will be written; the last of them marks a folder as written by us. An existing folder
  /// is replaced only if it is empty, or has the mark and nothing but these files: otherwise io error.
  OutputFolder(const std::string& directory, std::span<const std::string_view> files);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where to write `file` until publish().
  [[nodiscard]] std::string path_of(std::string_view file) const { return (temporary_ / file).string(); }
  void publish();

 private:
  void check_replaceable() const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::span<const std::string_view> files_;
};

/// A file that is written from start to end; every failure is an io error with its path and cause.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void close();

 private:
  [[noreturn]] void fail(std::string_view what) const;
  std::string path_;
  int descriptor_ = -1;
};

/// Writes `header` and then what `format` appends for each of `rows` rows, formatting blocks of rows in parallel and
/// writing them in order. `format(begin, end, out)` is called from many threads. False when cancelled.
[[nodiscard]] bool write_rows(const std::string& path, std::string_view header, std::size_t rows,
                              const std::function<void(std::size_t begin, std::size_t end, std::string& out)>& format,
                              std::string_view stage, const RunContext& context);

}  // namespace wisecrowd
