#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/ingest.hpp"
#include "wisecrowd/learn_result.hpp"

namespace wisecrowd {

/// What run.json says of a run.
struct StoredRecord {
  RunRecord record;
  CategoryFit fit;  ///< without posterior, labels and tables
  std::optional<LearnSummary> learned;
  std::uint64_t hash = 0;
  std::size_t tasks = 0, workers = 0, answers = 0;
  ReadOptions read;  ///< with the list of classes
};

/// Reads the run.json of a folder. Throws io when there is none, bad_input when it cannot be understood.
[[nodiscard]] StoredRecord read_record(const std::string& folder);

}  // namespace wisecrowd
