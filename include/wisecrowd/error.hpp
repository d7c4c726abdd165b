#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace wisecrowd {

/// What kind of thing went wrong. The command line maps each to a sysexits code.
enum class ErrorCode {
  bad_input,      ///< the data cannot be used as it is (EX_DATAERR)
  bad_parameter,  ///< an option or argument is unknown or out of range (EX_USAGE)
  io,             ///< a file cannot be read or written (EX_NOINPUT, EX_CANTCREAT)
  unsupported,    ///< a valid request that this method or build cannot serve
  internal,       ///< a defect of wisecrowd itself
};

/// The one exception type that leaves the library. The message names the file, the line,
/// the value and the remedy, and is fit to be shown to a user as it is.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Leaves a stage that was cancelled and has no partial value to return, such as reading. It is not an Error: the user
/// asked for it.
class Cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace wisecrowd
