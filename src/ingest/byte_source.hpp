#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "wisecrowd/run_context.hpp"

namespace wisecrowd::ingest {

class ByteSource;

/// What to read: a path, "-" for standard input, or bytes in memory that go by a name.
struct Input {
  std::string name;
  std::optional<std::string_view> memory;
  /// Opened already, for a look at its beginning; can be read once.
  std::shared_ptr<ByteSource> opened = nullptr;
};

/// Throws bad_parameter if both are standard input.
void refuse_one_input_twice(const Input& answers, const std::optional<Input>& gold);

/// A stream of bytes. Throws Error with the file's name when reading fails.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills `to` with up to `wanted` bytes. Fewer than wanted are returned only at the end.
  virtual std::size_t read(char* to, std::size_t wanted) = 0;
  /// For progress: bytes of the file taken so far, and its size or 0 when that is unknown.
  [[nodiscard]] virtual std::uint64_t position() const = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

/// How messages name the input.
[[nodiscard]] std::string display_name(const Input& input);

/// Opens the input as it is stored, unpacking nothing.
[[nodiscard]] std::unique_ptr<ByteSource> open_raw(const Input& input, const RunContext& context);

/// Opens the input; gzip and zstd are recognised by their first bytes and unpacked, from a file in a thread of their
/// own. Formats that cannot be read (zip, xz, …) are refused by name.
[[nodiscard]] std::unique_ptr<ByteSource> open_input(const Input& input, const RunContext& context);

/// The first bytes of an input, up to `wanted`, unpacked. `input` then holds what was opened, so that a pipe loses
/// nothing.
[[nodiscard]] std::string look_at(Input& input, std::size_t wanted, const RunContext& context);

}  // namespace wisecrowd::ingest
