#include "state/batched_log.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

class BatchedLog : public ::testing::Test {
 protected:
  struct Closing {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  using Connection = std::unique_ptr<sqlite3, Closing>;

  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wisecrowd_log_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    ASSERT_NE(batched_log(), nullptr);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// `way` is null for SQLite's own.
  Connection open(const std::string& name, const char* way) const {
    sqlite3* handle = nullptr;
    const int code =
        sqlite3_open_v2((folder_ / name).c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, way);
    Connection connection(handle);
    EXPECT_EQ(code, SQLITE_OK);
    run(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
    return connection;
  }
  static void run(const Connection& connection, const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(connection.get(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection.get());
  }
  static std::string first(const Connection& connection, const std::string& sql) {
    std::string found;
    const auto keep = [](void* into, int, char** values, char**) {
      *static_cast<std::string*>(into) = values[0] == nullptr ? "null" : values[0];
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(connection.get(), sql.c_str(), keep, &found, nullptr), SQLITE_OK);
    return found;
  }
  /// Calls that this process made to write, or 0 where the system does not tell.
  static std::uint64_t writes() {
    std::ifstream file("/proc/self/io");
    std::string word;
    std::uint64_t count = 0;
    while (file >> word >> count) {
      if (word == "syscw:") return count;
    }
    return 0;
  }
  /// Changes in many places.
  static void scatter(const Connection& connection) {
    run(connection, "CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB)");
    run(connection,
        "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
        "INSERT INTO t SELECT i * 7919 % 100003, zeroblob(100 + i % 300) FROM n; COMMIT");
    run(connection, "UPDATE t SET v = zeroblob(900) WHERE id % 3 = 0");
  }
  /// Some of them taken back.
  static void take_back(const Connection& connection) {
    run(connection, "BEGIN; UPDATE t SET v = zeroblob(500) WHERE id % 7 = 0");
    run(connection, "SAVEPOINT s; DELETE FROM t WHERE id % 2 = 0; ROLLBACK TO s; RELEASE s; COMMIT");
    run(connection, "BEGIN; DELETE FROM t WHERE id % 5 = 0; ROLLBACK");
  }

  fs::path folder_;
};

constexpr const char* kDigest = "SELECT count(*) || ' ' || sum(id) || ' ' || sum(length(v)) FROM t";

TEST_F(BatchedLog, SameDataInFewerCalls) {
  const auto usual = open("usual", nullptr), batched = open("batched", batched_log());
  const std::uint64_t at_first = writes();
  scatter(usual);
  const std::uint64_t between = writes();
  scatter(batched);
  const std::uint64_t at_last = writes();
  EXPECT_EQ(first(batched, kDigest), first(usual, kDigest));
  EXPECT_EQ(fs::file_size(folder_ / "batched-wal"), fs::file_size(folder_ / "usual-wal"));
  if (at_first == 0) GTEST_SKIP() << "the system does not tell how often a process writes";
  EXPECT_LT(at_last - between, (between - at_first) / 10);
}

TEST_F(BatchedLog, ReadsBackWhatDidNotFitIntoMemory) {
  const auto connection = open("small", batched_log());
  run(connection, "PRAGMA cache_size = 10");
  const auto usual = open("usual", nullptr);
  for (const Connection* one : {&connection, &usual}) {
    scatter(*one);
    take_back(*one);
  }
  EXPECT_EQ(first(connection, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(first(connection, kDigest), first(usual, kDigest));
}

TEST_F(BatchedLog, OthersSeeWhatIsCommittedAtOnce) {
  const auto writer = open("shared", batched_log());
  const auto reader = open("shared", nullptr);
  run(writer, "CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB)");
  for (int row = 1; row <= 20; ++row) {
    run(writer, "BEGIN; INSERT INTO t(v) VALUES (zeroblob(5000))");
    EXPECT_EQ(first(reader, "SELECT count(*) FROM t"), std::to_string(row - 1));
    run(writer, "COMMIT");
    EXPECT_EQ(first(reader, "SELECT count(*) FROM t"), std::to_string(row));
  }
  // The reader takes over: what was logged is on the disk, not in the writer's memory.
  run(reader, "PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t(v) VALUES ('x')");
  EXPECT_EQ(first(writer, "SELECT count(*) FROM t"), "21");
  EXPECT_EQ(first(writer, "PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace wisecrowd
