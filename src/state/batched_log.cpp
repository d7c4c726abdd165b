#include "state/batched_log.hpp"

#include <sqlite3.h>

#include <cstring>
#include <new>
#include <vector>

namespace wisecrowd {
namespace {

/// What waits at most. SQLite's own files take no more than 128 KB, the largest page and its header, at a time.
constexpr std::size_t kMostWaiting = std::size_t{64} << 10;

/// A log that SQLite has open. It lies in memory of SQLite's, directly before the file that does the work.
struct Log {
  sqlite3_file seen;          // what SQLite sees; must be first
  std::vector<char> waiting;  // not written yet: bytes from `begin` on
  sqlite3_int64 begin;

  static Log& of(sqlite3_file* file) { return *reinterpret_cast<Log*>(file); }
  [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  [[nodiscard]] const sqlite3_io_methods& methods() { return *real()->pMethods; }

  /// Everything that waits goes to the system, or nothing changes and SQLite learns why.
  int write_waiting() {
    if (waiting.empty()) return SQLITE_OK;
    const int code = methods().xWrite(real(), waiting.data(), static_cast<int>(waiting.size()), begin);
    if (code == SQLITE_OK) waiting.clear();
    return code;
  }
};

int close(sqlite3_file* file) {
  Log& log = Log::of(file);
  const int written = log.write_waiting();
  const int closed = log.methods().xClose(log.real());
  log.~Log();
  return written != SQLITE_OK ? written : closed;
}

int read(sqlite3_file* file, void* into, int bytes, sqlite3_int64 at) {
  Log& log = Log::of(file);
  const int code = log.write_waiting();
  return code != SQLITE_OK ? code : log.methods().xRead(log.real(), into, bytes, at);
}

int write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 at) {
  Log& log = Log::of(file);
  const auto size = static_cast<std::size_t>(bytes);
  const bool follows = at == log.begin + static_cast<sqlite3_int64>(log.waiting.size());
  if (!follows || log.waiting.size() + size > kMostWaiting) {
    if (const int code = log.write_waiting(); code != SQLITE_OK) return code;
  }
  if (size > kMostWaiting) return log.methods().xWrite(log.real(), from, bytes, at);
  if (log.waiting.empty()) log.begin = at;
  try {
    log.waiting.reserve(kMostWaiting);
    const auto* const first = static_cast<const char*>(from);
    log.waiting.insert(log.waiting.end(), first, first + size);
    return SQLITE_OK;
  } catch (const std::bad_alloc&) {
    return SQLITE_IOERR_NOMEM;
  }
}

/// The operations before which everything must be where others expect it.
template <auto Member, typename... Arguments>
int written_first(sqlite3_file* file, Arguments... arguments) {
  Log& log = Log::of(file);
  const int code = log.write_waiting();
  return code != SQLITE_OK ? code : (log.methods().*Member)(log.real(), arguments...);
}

template <auto Member, typename... Arguments>
int passed_on(sqlite3_file* file, Arguments... arguments) {
  Log& log = Log::of(file);
  return (log.methods().*Member)(log.real(), arguments...);
}

using Methods = sqlite3_io_methods;
constexpr Methods kLogMethods = {
    1,  // a log needs neither shared memory nor mapping: SQLite asks the database's own file for these
    close,
    read,
    write,
    written_first<&Methods::xTruncate, sqlite3_int64>,
    written_first<&Methods::xSync, int>,
    written_first<&Methods::xFileSize, sqlite3_int64*>,
    passed_on<&Methods::xLock, int>,
    passed_on<&Methods::xUnlock, int>,
    passed_on<&Methods::xCheckReservedLock, int*>,
    written_first<&Methods::xFileControl, int, void*>,
    passed_on<&Methods::xSectorSize>,
    passed_on<&Methods::xDeviceCharacteristics>,
};

sqlite3_vfs* usual = nullptr;

int open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* flags_out) {
  if ((flags & SQLITE_OPEN_WAL) == 0) return usual->xOpen(usual, name, file, flags, flags_out);
  Log* const log = new (file) Log{{nullptr}, {}, 0};
  std::memset(static_cast<void*>(log->real()), 0, static_cast<std::size_t>(usual->szOsFile));
  const int code = usual->xOpen(usual, name, log->real(), flags, flags_out);
  if (code == SQLITE_OK) {
    log->seen.pMethods = &kLogMethods;
  } else {
    log->~Log();
  }
  return code;
}

}  // namespace

const char* batched_log() {
  static sqlite3_vfs own;
  static const bool registered = [] {
    usual = sqlite3_vfs_find(nullptr);
    if (usual == nullptr) return false;
    own = *usual;
    own.zName = "wisecrowd";
    own.szOsFile = static_cast<int>(sizeof(Log)) + usual->szOsFile;
    own.pNext = nullptr;
    own.xOpen = open;
    return sqlite3_vfs_register(&own, 0) == SQLITE_OK;
  }();
  return registered ? own.zName : nullptr;
}

}  // namespace wisecrowd
