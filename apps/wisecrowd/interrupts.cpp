#include "interrupts.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "terminal.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {
Interrupts::Interrupts() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    // Under nohup, or in the background of a script, a signal may be ignored on purpose.
    if (::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN) continue;
    sigaddset(&signals_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // Writing to a closed pipe or beyond a limit then fails with an error number, and we leave in order.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  signal_descriptor_ = ::signalfd(-1, &signals_, SFD_CLOEXEC);
  stop_descriptor_ = ::eventfd(0, EFD_CLOEXEC);
  try {
    if (signal_descriptor_ >= 0 && stop_descriptor_ >= 0) watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
  }
  // Out of descriptors or threads: signals end us as usual.
  if (!watcher_.joinable()) pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

Interrupts::~Interrupts() {
  if (watcher_.joinable()) {
    static_cast<void>(::eventfd_write(stop_descriptor_, 1));
    watcher_.join();
  }
  if (signal_descriptor_ >= 0) ::close(signal_descriptor_);
  if (stop_descriptor_ >= 0) ::close(stop_descriptor_);
}

void Interrupts::writes_to(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  directory_ = directory;
}

void Interrupts::watch() {
  for (;;) {
    std::array<pollfd, 2> waiting = {pollfd{signal_descriptor_, POLLIN, 0}, pollfd{stop_descriptor_, POLLIN, 0}};
    const int ready = ::poll(waiting.data(), waiting.size(), cancelled_.load() ? patience_.load() : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) end_now();  // patience is over
    if (waiting[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signal_descriptor_, &info, sizeof info) != sizeof info) continue;
    if (cancelled_.load()) end_now();
    signal_.store(static_cast<int>(info.ssi_signo));
    cancelled_.store(true);
  }
}

void Interrupts::end_now() {
  std::string directory;
  {
    const std::lock_guard lock(mutex_);
    directory = directory_;
  }
  if (!directory.empty()) remove_unfinished_output(directory, true);
  if (screen_of(STDERR_FILENO).is_terminal) say("\r\x1b[K");
  ::_exit(exit_code());
}

}  // namespace wisecrowd::app
