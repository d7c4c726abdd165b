#include "learn/shared/model_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/output_folder.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// An ordinary file that is open for reading.
class ModelFile {
 public:
  explicit ModelFile(const std::string& path) : path_(path) {
    // Without O_NONBLOCK, opening a pipe would wait for somebody to write to it.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) {
      throw Error(ErrorCode::io, fmt::format("{}: cannot be opened: the model is not complete", path));
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor_);
      throw Error(ErrorCode::io, fmt::format("{}: is {}, not a file: the model is not complete", path,
                                             S_ISDIR(status.st_mode) ? "a folder" : "a pipe or a device"));
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~ModelFile() { ::close(descriptor_); }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// The next bytes, as many as there is place for; an io error if the file ends before.
  void read(char* target, std::uint64_t bytes) {
    while (bytes > 0) {
      const ssize_t got = ::read(descriptor_, target, std::min<std::uint64_t>(bytes, std::uint64_t{1} << 30));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        throw Error(ErrorCode::io, fmt::format("{}: cannot be read: {}", path_,
                                               got < 0 ? std::strerror(errno) : "it became shorter meanwhile"));
      }
      target += got;
      bytes -= static_cast<std::uint64_t>(got);
    }
  }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

template <class Number>
constexpr const char* npy_type() {
  if constexpr (std::is_same_v<Number, float>) return "<f4";
  if constexpr (std::is_same_v<Number, double>) return "<f8";
  return "<u8";
}

}  // namespace

void refuse_model(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", path, what));
}

std::string read_model_bytes(const std::string& path, std::uint64_t most) {
  ModelFile file(path);
  if (file.size() > most) {
    refuse_model(path, fmt::format("it has {} bytes, more than the {} that such a file may have: it is damaged",
                                   file.size(), most));
  }
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size());
  return bytes;
}

void write_model_bytes(const std::string& path, std::string_view bytes) {
  OutputFile file(path, path);
  file.append(bytes);
  file.finish();
}

template <class Number>
std::string model_array_header(std::uint64_t count) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", npy_type<Number>(), count);
  constexpr std::size_t kBefore = 10, kAlign = 64;
  text.append(kAlign - 1 - (kBefore + text.size()) % kAlign, ' ');
  text += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(text.size() & 0xFF);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

template <class Number>
std::vector<Number> read_model_numbers(const std::string& path, std::uint64_t count) {
  ModelFile file(path);
  const std::string head = model_array_header<Number>(count);
  std::string found(std::min<std::uint64_t>(head.size(), file.size()), '\0');
  file.read(found.data(), found.size());
  if (found != head) {
    refuse_model(
        path, fmt::format("this is not the array of {} numbers that model.json speaks of: copy the whole folder again",
                          count));
  }
  const std::uint64_t wanted = head.size() + count * sizeof(Number);  // cannot wrap: count ≤ kMostNumbers
  if (file.size() != wanted) {
    refuse_model(
        path, fmt::format("the file has {} bytes instead of {}: it was cut off, copy it again", file.size(), wanted));
  }
  std::vector<Number> numbers(count);
  file.read(reinterpret_cast<char*>(numbers.data()), count * sizeof(Number));
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::all_of(numbers.begin(), numbers.end(), [](Number x) { return std::isfinite(x); })) {
      refuse_model(path, "it holds a number that is not finite: the file is damaged");
    }
  }
  return numbers;
}

template <class Number>
void write_model_numbers(const std::string& path, std::span<const Number> numbers) {
  OutputFile file(path, path);
  file.append(model_array_header<Number>(numbers.size()));
  file.append({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  file.finish();
}

#define WISECROWD_MODEL_NUMBERS(Number)                                                       \
  template std::string model_array_header<Number>(std::uint64_t);                             \
  template std::vector<Number> read_model_numbers<Number>(const std::string&, std::uint64_t); \
  template void write_model_numbers<Number>(const std::string&, std::span<const Number>);
WISECROWD_MODEL_NUMBERS(float)
WISECROWD_MODEL_NUMBERS(double)
WISECROWD_MODEL_NUMBERS(std::uint64_t)
#undef WISECROWD_MODEL_NUMBERS

}  // namespace wisecrowd
