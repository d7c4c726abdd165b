#include "terminal.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kNarrowestScreen = 40;
constexpr std::size_t kWidest = 120;  // longer lines are hard to read

/// Writes everything; returns 0 or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

std::string Screen::painted(std::string_view code, std::string_view text) const {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

Screen screen_of(int descriptor) {
  Screen screen;
  screen.is_terminal = ::isatty(descriptor) == 1;
  if (!screen.is_terminal) return screen;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  screen.colour = !dumb && (no_colour == nullptr || *no_colour == '\0');
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    screen.width = std::clamp<std::size_t>(size.ws_col, kNarrowestScreen, kWidest);
  }
  return screen;
}

void Output::add_json(const nlohmann::ordered_json& json) {
  text_ += json.dump(2, ' ', to_terminal, nlohmann::ordered_json::error_handler_t::replace);
  text_ += '\n';
}

void Output::add_data(std::string_view text) { text_ += to_terminal ? printable_lines(text) : std::string(text); }

void Output::flush() {
  const std::string text = std::exchange(text_, {});
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw ReaderLeft();
  if (error != 0) throw Failure(EX_IOERR, fmt::format("cannot write to standard output: {}", std::strerror(error)));
}

void say(std::string_view text) { static_cast<void>(write_all(STDERR_FILENO, text)); }

}  // namespace wisecrowd::app
