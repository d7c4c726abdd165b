#pragma once

#include <optional>
#include <string>

#include "wisecrowd/ingest.hpp"
#include "wisecrowd/learn_result.hpp"

namespace wisecrowd {

/// A result that was written to a folder.
struct StoredRun {
  Result result;
  std::optional<LearnSummary> learned;  ///< when learn wrote it
};

struct ReadResultOptions {
  /// Where answers and gold are now, if not where they were; without, they are looked for as recorded, from the current
  /// folder and from the one that the result's folder is in. Gold of a run that had none is for evaluation.
  std::optional<std::string> answers, gold;
};

/// Rebuilds a result from the folder that write_result made and the answers that it was made from. Probabilities have
/// the six digits of the files. Throws bad_input when the answers are not the same as then, io when a file is missing.
[[nodiscard]] StoredRun read_result(const std::string& folder, const ReadResultOptions& options,
                                    const RunContext& context);

/// Gold for a result that was made without: its labels are scored on it.
void add_gold(Result& result, const std::string& path, const ReadOptions& options, const RunContext& context);

/// How tables were read, for the record of a run: only what differs from the defaults.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> reading_record(const ReadOptions& options);
/// The options that such a record tells of.
[[nodiscard]] ReadOptions read_options(const std::vector<std::pair<std::string, std::string>>& reading);

}  // namespace wisecrowd
