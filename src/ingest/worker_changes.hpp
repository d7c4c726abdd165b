#pragma once

#include "ingest/table.hpp"
#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

/// Leaves out the answers of workers who are to be excluded and gives those to be merged one name. `workers` are the
/// names of the table by id and become those that are left, in the same order. Tasks and classes stay, also those that
/// lose all answers. Names that nobody has are warned of.
void change_workers(const ReadOptions& options, Table& table, NameTable& workers, DataReport& report);

/// Fills in who is trusted and who belongs together, by the names of the request. A trusted worker must be there;
/// members of groups that gave no answers are warned of.
void name_workers(const ReadOptions& options, const std::string& file, CategoryData& data, DataReport& report);

}  // namespace wisecrowd::ingest
