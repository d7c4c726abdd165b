#pragma once

#include <atomic>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>

namespace wisecrowd::app {

/// Ctrl-C, termination and a closed terminal, turned into a wish to stop. A thread waits for them, so that no work is
/// done inside a signal handler. The first sets the cancel flag; if the work has not ended a second later, or with
/// another signal, unfinished output is removed and the program ends.
///
/// Make it before any other thread: they inherit the blocked signals.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  [[nodiscard]] const std::atomic<bool>* cancel_flag() const noexcept { return &cancelled_; }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(); }
  /// 128 + the signal, as shells have it: 130 for Ctrl-C.
  [[nodiscard]] int exit_code() const noexcept { return 128 + signal_.load(); }
  /// How long the work may take to end after the first signal; a second unless it says otherwise.
  void be_patient(int milliseconds) noexcept { patience_ = milliseconds; }
  /// Where results are being written, to be tidied if the program must end at once.
  void writes_to(const std::string& directory);

 private:
  void watch();
  [[noreturn]] void end_now();

  sigset_t signals_{};
  int signal_descriptor_ = -1;
  int stop_descriptor_ = -1;
  std::atomic<bool> cancelled_{false};
  std::atomic<int> signal_{0};
  std::atomic<int> patience_{1000};
  std::mutex mutex_;
  std::string directory_;
  std::thread watcher_;
};

}  // namespace wisecrowd::app
