#include "state/database.hpp"

#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "state/batched_log.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// How long a writer waits for its turn. A refit of ten million answers holds the others up for half a minute.
constexpr int kPatienceMilliseconds = 120'000;

constexpr const char* kRemedy =
    "restore it from a copy, make a new one from the original answers (wisecrowd state init), or save what can be read "
    "with: sqlite3 STATE .recover";

/// A path inside a URI.
std::string escaped(const std::string& path) {
  std::string result;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

/// Memory for SQLite's pages in one block of huge pages, once for the process: a command that absorbs a thousand
/// answers keeps eight thousand pages, and asking the kernel for them one by one takes a tenth of its time. SQLite
/// touches the whole block when it starts, so it is no larger than that; what does not fit comes from the allocator.
/// Without effect where SQLite is in use already.
void lend_memory_for_pages() {
  static const bool once = [] {
    constexpr std::size_t kBlockBytes = std::size_t{16} << 20;
    int header = 0;
    if (sqlite3_config(SQLITE_CONFIG_PCACHE_HDRSZ, &header) != SQLITE_OK) return false;
    const int page = kPageBytes + (header + 7) / 8 * 8;
    void* const block = mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return false;
    (void)madvise(block, kBlockBytes, MADV_HUGEPAGE);
    if (sqlite3_config(SQLITE_CONFIG_PAGECACHE, block, page, static_cast<int>(kBlockBytes) / page) == SQLITE_OK) {
      return true;
    }
    munmap(block, kBlockBytes);
    return false;
  }();
  (void)once;
}

}  // namespace

Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement::Statement(Statement&& other) noexcept : database_(other.database_), statement_(other.statement_) {
  other.statement_ = nullptr;
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_->fail(code);
}

Statement& Statement::bind(int place, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, place, value));
  return *this;
}

Statement& Statement::bind(int place, double value) {
  check(sqlite3_bind_double(statement_, place, value));
  return *this;
}

Statement& Statement::bind(int place, std::string_view text) {
  // A null pointer would mean NULL.
  check(
      sqlite3_bind_text64(statement_, place, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(int place, std::span<const double> values) {
  const void* const bytes = values.empty() ? static_cast<const void*>("") : values.data();
  check(sqlite3_bind_blob64(statement_, place, bytes, values.size_bytes(), SQLITE_STATIC));
  return *this;
}

Statement& Statement::bind_null(int place) {
  check(sqlite3_bind_null(statement_, place));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  sqlite3_reset(statement_);
  if (code != SQLITE_DONE) database_->fail(code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() { sqlite3_reset(statement_); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::string_view Statement::text(int column) const {
  const auto* const characters = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return characters == nullptr
             ? std::string_view()
             : std::string_view(characters, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::string_view Statement::blob(int column) const {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return bytes == nullptr ? std::string_view()
                          : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

Database::Database(std::string path, Mode mode) : path_(std::move(path)), shown_(path_) {
  lend_memory_for_pages();
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const bool reads = mode == Mode::read || mode == Mode::read_unchanging;
  flags |= reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  if (mode == Mode::memory) flags |= SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
  // "./" keeps names such as ":memory:" and "file:x" from meaning something else.
  std::string name = path_.starts_with('/') ? path_ : "./" + path_;
  if (mode == Mode::read_unchanging) {
    flags |= SQLITE_OPEN_URI;
    name = "file:" + escaped(name) + "?immutable=1";
  }
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, mode == Mode::memory ? nullptr : batched_log());
  try {
    if (code != SQLITE_OK) fail(code);
    if (mode == Mode::write && sqlite3_db_readonly(handle_, "main") == 1) fail(SQLITE_READONLY);
    sqlite3_busy_timeout(handle_, kPatienceMilliseconds);
    // A damaged or hostile file must not be able to do more than be refused.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);  // ours are for people
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::run(const std::string& sql) const {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::integer(std::string_view sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::size_t Database::largest_blob() const {
  return static_cast<std::size_t>(sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, -1));
}

void Database::fail_as_damaged(const std::string& what) const {
  throw Error(ErrorCode::bad_input, fmt::format("{} is damaged ({}): {}", shown_, what, kRemedy));
}

void Database::fail(int code) const {
  const std::string said = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const int system = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  const std::string why = system != 0 ? std::strerror(system) : said;
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorCode::io,
                  fmt::format("{} has been in use by another program for {} s: try again when it is done", shown_,
                              kPatienceMilliseconds / 1000));
    case SQLITE_FULL:
      throw Error(ErrorCode::io,
                  fmt::format("cannot write {}: there is no room left on the device. Nothing was changed; free some "
                              "space and try again",
                              shown_));
    case SQLITE_NOTADB:
      throw Error(ErrorCode::bad_input,
                  fmt::format("{} is no state of wisecrowd (it is no SQLite database): if it was one, {}; if not, name "
                              "another file",
                              shown_, kRemedy));
    case SQLITE_CORRUPT: fail_as_damaged(said);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      throw Error(ErrorCode::io,
                  fmt::format("cannot write {}: it, or the folder that it is in, is read-only ({}). Make "
                              "both writable, or work on a copy",
                              shown_, why));
    case SQLITE_CANTOPEN:
      throw Error(ErrorCode::io,
                  fmt::format("cannot open {}: {}", shown_,
                              system == ENOENT ? "there is no such file; wisecrowd state init makes one" : why));
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_SHORT_READ) fail_as_damaged("it is shorter than it should be");
      throw Error(ErrorCode::io, fmt::format("cannot read or write {}: {}. Nothing was changed", shown_, why));
    case SQLITE_TOOBIG:
      throw Error(ErrorCode::unsupported,
                  fmt::format("cannot write {}: a row would be larger than SQLite can hold ({}). Use fewer classes, or "
                              "wisecrowd aggregate, which needs no state",
                              shown_, said));
    case SQLITE_NOMEM: throw std::bad_alloc();
    case SQLITE_INTERRUPT: throw Cancelled();
    case SQLITE_ERROR:
      // Our own statements are right, so what they find missing was there once.
      fail_as_damaged(said);
    default: throw Error(ErrorCode::internal, fmt::format("{}: {} (SQLite code {})", shown_, said, code));
  }
}

Transaction::Transaction(const Database& database, Kind kind) : database_(database) {
  database.run(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back by itself; then this fails, which does not matter.
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace wisecrowd
