#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd {

/// One file being written. Every failure is an io error that names the file and the cause.
class OutputFile {
 public:
  /// With a mode, the file gets just that; else what the process usually gives.
  OutputFile(std::string path, std::string shown_path, std::optional<mode_t> mode = {});
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
/// A folder that is there already is replaced only if it is empty, or if it holds the `record` (a JSON file) of an
/// earlier run whose "program" is wisecrowd and whose "files" list everything in the folder and the folders inside.
/// What killed runs left at the same place is removed first.
class OutputFolder {
 public:
  OutputFolder(const std::string& directory, std::string record);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  [[nodiscard]] OutputFile create(const std::string& name);
  /// Makes a folder inside, lets `write` put files into it, given its path, and stores their names. Errors of `write`
  /// name the folder where the user will see it.
  void fill(const std::string& name, const std::function<void(const std::string& path)>& write);
  /// Writes the record, adding "program" in front and "files" behind, and puts the folder in its place.
  void commit(const nlohmann::ordered_json& record);

 private:
  std::string shown_;
  std::string record_;
  std::string target_;
  std::string parent_;
  std::string temporary_;
  int lock_ = -1;  // held on the temporary folder while this process lives
  std::vector<std::string> names_;
  std::vector<std::string> made_parents_;
};

/// Writes one file beside its place and renames it, so that it appears whole or not at all; an existing one is
/// replaced, and who may read it stays as it was.
void write_file_whole(const std::string& path, std::string_view text);

/// Throws io unless an OutputFolder can be made there.
void check_output_place(const std::string& directory, const std::string& record);

/// Removes what dead processes left beside `directory`, and, when `own` is set, what this one is writing.
void remove_unfinished(const std::string& directory, bool own) noexcept;

/// Indented, with a line break at the end; bytes that are not UTF-8 (they can occur in paths) are replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

}  // namespace wisecrowd
