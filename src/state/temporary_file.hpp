#pragma once

#include <string>

namespace wisecrowd {

/// A file beside its place that is renamed when it is whole, and removed otherwise. Its name cannot be guessed and the
/// file is made anew, so a link that somebody puts there is never followed.
class TemporaryFile {
 public:
  /// Makes it, empty; what killed processes left there is removed.
  explicit TemporaryFile(const std::string& path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

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
