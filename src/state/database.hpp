#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace wisecrowd {

class Database;

/// Small pages: absorbing touches many that are far from each other, and each is written whole.
inline constexpr int kPageBytes = 1024;

/// A prepared statement. Bind, step until false, and it is ready to be used again.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;

  Statement& bind(int place, std::int64_t value);
  Statement& bind(int place, double value);
  /// Text and blobs are not copied: they must live until the next reset.
  Statement& bind(int place, std::string_view text);
  Statement& bind_blob(int place, std::span<const double> values);
  Statement& bind_null(int place);

  /// True when there is a row. When there is none, the statement is reset.
  bool step();
  /// For statements without rows.
  void run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string_view text(int column) const;  ///< until the next step
  [[nodiscard]] std::string_view blob(int column) const;  ///< until the next step
  [[nodiscard]] bool is_null(int column) const;

 private:
  void check(int code) const;
  const Database* database_;
  sqlite3_stmt* statement_ = nullptr;
};

/// A connection to one file. Every failure is an Error that names the file, what is wrong and what to do.
class Database {
 public:
  enum class Mode {
    read,
    read_unchanging,  ///< takes the file as it is, without looking for a log or for others
    write,
    create,
    memory,  ///< a database of its own that is never written
  };
  Database(std::string path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// One or more statements without results.
  void run(const std::string& sql) const;
  [[nodiscard]] std::int64_t integer(std::string_view sql) const;
  /// In bytes; a little less than this fits into a row.
  [[nodiscard]] std::size_t largest_blob() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// For messages, if it is not the path itself: a file that will be renamed.
  void show_as(std::string path) { shown_ = std::move(path); }
  [[nodiscard]] const std::string& shown() const noexcept { return shown_; }
  [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

  /// Turns a result code of SQLite into an Error.
  [[noreturn]] void fail(int code) const;
  /// For contents that cannot be right: "the posterior of task 7 does not sum to 1".
  [[noreturn]] void fail_as_damaged(const std::string& what) const;

 private:
  std::string path_;
  std::string shown_;
  sqlite3* handle_ = nullptr;
};

/// All or nothing: rolled back unless commit() was reached. Writing ones wait for other writers.
class Transaction {
 public:
  enum class Kind { read, write };
  Transaction(const Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  /// Returns when everything is on the device.
  void commit();

 private:
  const Database& database_;
  bool open_ = true;
};

}  // namespace wisecrowd
