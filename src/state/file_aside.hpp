#pragma once

#include <string>

namespace wisecrowd {

/// A file beside its place that is renamed when it is whole, and removed otherwise. Its name cannot be foreseen and the
/// file is made anew, so a link that somebody puts there is never followed.
class FileAside {
 public:
  /// Makes it, empty; what killed processes left there is removed.
  explicit FileAside(const std::string& path);
  ~FileAside();
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;

  [[nodiscard]] const std::string& aside() const noexcept { return aside_; }
  /// Never over a file that somebody else made meanwhile.
  void put_in_place();

 private:
  void make();
  void remove_dead() const noexcept;

  std::string path_;
  std::string folder_;
  std::string prefix_;
  std::string aside_;
};

}  // namespace wisecrowd
