#pragma once

#include "base/output_folder.hpp"
#include "wisecrowd/trust_study.hpp"

namespace wisecrowd::store {

/// A table as CSV with a header. False when it was cancelled on the way.
[[nodiscard]] bool write_value_table(OutputFile& file, const ValueTable& table, const RunContext& context);

}  // namespace wisecrowd::store
