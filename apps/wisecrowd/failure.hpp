#pragma once

#include <sysexits.h>

#include <stdexcept>
#include <string>

#include "wisecrowd/error.hpp"

namespace wisecrowd::app {

/// Ends the program with a message and a sysexits code.
class Failure : public std::runtime_error {
 public:
  Failure(int exit_code, const std::string& message) : std::runtime_error(message), exit_code_(exit_code) {}
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

/// The exit code of a command that did its work and found something that needs attention: warnings with
/// --fail-on-warning, alerts of a state. What failed has a code from 64 on.
inline constexpr int kNeedsAttention = 1;

/// Ends the program quietly after Ctrl-C or a request to terminate.
struct Stopped {};

/// Ends the program quietly and with success: the reader of our output has seen enough.
struct ReaderLeft {};

[[nodiscard]] inline Failure usage_error(const std::string& message) { return {EX_USAGE, message}; }

/// What an io error means depends on what was being done.
enum class Stage : int { reading = EX_NOINPUT, creating = EX_CANTCREAT, writing = EX_IOERR };

[[nodiscard]] inline int exit_code_of(ErrorCode code, Stage stage) {
  switch (code) {
    case ErrorCode::bad_input: return EX_DATAERR;
    case ErrorCode::bad_parameter: return EX_USAGE;
    case ErrorCode::io: return static_cast<int>(stage);
    case ErrorCode::unsupported: return EX_DATAERR;  // the request is fine, but not for these data
    case ErrorCode::internal: return EX_SOFTWARE;
  }
  return EX_SOFTWARE;
}

/// Runs a part of a command; io errors in it get the exit code of its stage.
template <class Work>
auto at_stage(Stage stage, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Failure(exit_code_of(error.code(), stage), error.what());
  }
}

}  // namespace wisecrowd::app
