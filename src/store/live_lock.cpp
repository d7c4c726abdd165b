#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "wisecrowd/error.hpp"
#include "wisecrowd/live_files.hpp"

namespace wisecrowd {

LiveLock::LiveLock(const std::string& path) : place_(path + ".lock") {
  for (;;) {
    file_ = ::open(place_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) {
      throw Error(ErrorCode::io, fmt::format("cannot write '{}', which keeps others from the loop while it learns: {}",
                                             place_, std::strerror(errno)));
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      ::close(file_);
      throw Error(ErrorCode::io,
                  fmt::format("the loop in '{}' is in use by another program: try again when it is done", path));
    }
    // The one who had it may have removed it between our opening and our locking: then others do not see our lock.
    struct stat locked {
    }, named{};
    if (::fstat(file_, &locked) == 0 && ::stat(place_.c_str(), &named) == 0 && locked.st_ino == named.st_ino &&
        locked.st_dev == named.st_dev) {
      return;
    }
    ::close(file_);
  }
}

LiveLock::~LiveLock() {
  ::unlink(place_.c_str());
  ::close(file_);
}

}  // namespace wisecrowd
