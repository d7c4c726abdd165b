#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "support.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/state.hpp"

namespace wisecrowd::python {

/// A state for several threads of Python, which take turns: one object of the engine belongs to one thread at a time.
class State {
 public:
  State(CrowdState state, std::string path, bool read_only)
      : state_(std::move(state)), path_(std::move(path)), read_only_(read_only) {}

  /// Calls function(state, context) without the interpreter's lock.
  template <class Function>
  auto use(Work& work, const Function& function) {
    return work.run([&](const RunContext& context) {
      const std::lock_guard lock(mutex_);
      if (!state_) throw Error(ErrorCode::bad_input, "the state '" + path_ + "' was closed: open it again");
      return function(*state_, context);
    });
  }
  /// The same for what writes.
  template <class Function>
  auto change(Work& work, const Function& function) {
    if (read_only_) {
      throw Error(ErrorCode::io, "the state '" + path_ + "' was opened for looking only: open it without read_only");
    }
    return use(work, function);
  }
  /// For what is quick.
  template <class Function>
  auto look(const Function& function) {
    Work work(0, 1, py::none());
    return use(work, [&](const CrowdState& state, const RunContext&) { return function(state); });
  }
  void close() {
    const py::gil_scoped_release unlocked;
    const std::lock_guard lock(mutex_);
    state_.reset();
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::mutex mutex_;
  std::optional<CrowdState> state_;
  std::string path_;
  bool read_only_;
};

}  // namespace wisecrowd::python
