#pragma once

#include <span>
#include <string>

#include "wisecrowd/answered_rows.hpp"

namespace wisecrowd {

/// predictions_csv (run_folder.hpp) of the draws' mean, and two columns more: predictive_entropy and
/// mutual_information.
[[nodiscard]] std::string predictions_csv(const NameTable& rows, const NameTable& classes, const Draws& draws);

/// A table `task,worker,reliability`, a number per pair. `safe`: names that a spreadsheet would run are made safe.
[[nodiscard]] std::string reliabilities_csv(const NameTable& rows, const NameTable& workers,
                                            std::span<const RowWorker> pairs, std::span<const double> reliabilities,
                                            bool safe = false);

/// Writes such a table into a file, which appears whole or not at all; an existing file is replaced.
void write_prediction_table(const std::string& path, const std::string& table);

}  // namespace wisecrowd
