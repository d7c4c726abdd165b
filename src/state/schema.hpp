#pragma once

#include <string>
#include <vector>

#include "state/database.hpp"

namespace wisecrowd {

/// The version that this program writes. A file of an older one is brought up to date when it is opened for writing.
inline constexpr int kSchemaVersion = 4;

/// Tasks whose entropy (in nats) is below this are settled: they are not in the index of uncertain tasks, which so
/// stays small however many tasks a state has. 0.01 is a label with probability 0.9986.
inline constexpr double kSettledEntropy = 0.01;

/// Makes the tables of an empty database; indices and views follow when they are filled.
void create_tables(const Database& database);
/// Makes what a database at `from` lacks to be one at `to`. Inside the caller's transaction.
void migrate(const Database& database, int from, int to = kSchemaVersion);

/// What stands in the file besides, or instead of, what this program makes: "the trigger 'x' is not of wisecrowd".
/// Indices of one's own are no offence.
[[nodiscard]] std::vector<std::string> foreign_schema(const Database& database);

/// Throws unless the file is a state of a version that can be read; returns the version.
int check_kind(const Database& database);

}  // namespace wisecrowd
