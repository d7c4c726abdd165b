#pragma once

namespace wisecrowd {

/// The name of a way for SQLite to its files (a "VFS") that is the usual one but for the write-ahead log: SQLite writes
/// a log in two calls for each page, several thousand for a thousand answers, and here they go to the system together
/// when the log is flushed. A commit returns after the flush, so nothing that is acknowledged waits in memory.
/// Null where it cannot be had: then the usual way serves.
[[nodiscard]] const char* batched_log();

}  // namespace wisecrowd
