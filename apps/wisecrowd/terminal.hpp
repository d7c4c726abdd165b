#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace wisecrowd::app {

/// What a stream can show.
struct Screen {
  bool is_terminal = false;
  bool colour = false;
  std::size_t width = 80;

  [[nodiscard]] std::string bold(std::string_view text) const { return painted("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return painted("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return painted("1;31", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return painted("33", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return painted("32", text); }
  [[nodiscard]] std::string dim_on() const { return colour ? "\x1b[2m" : ""; }
  [[nodiscard]] std::string off() const { return colour ? "\x1b[0m" : ""; }

 private:
  [[nodiscard]] std::string painted(std::string_view code, std::string_view text) const;
};

/// Colour needs a terminal that is not dumb, and no NO_COLOR in the environment.
[[nodiscard]] Screen screen_of(int descriptor);

/// Standard output, gathered and written at once. Throws ReaderLeft when a pipe was closed, Failure on other errors.
class Output {
 public:
  void add(std::string_view text) { text_ += text; }
  /// Tables for programs: raw, but spelled out (see printable) where a person sees them on a terminal.
  void add_data(std::string_view text);
  /// One JSON value; on a terminal in ASCII alone. Bytes that are not UTF-8 (they can occur in paths) are replaced.
  void add_json(const nlohmann::ordered_json& json);
  bool to_terminal = false;
  void flush();

 private:
  std::string text_;
};

/// To standard error, ignoring failures: there is nowhere else to say it.
void say(std::string_view text);

}  // namespace wisecrowd::app
