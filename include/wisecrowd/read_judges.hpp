#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/ingest.hpp"
#include "wisecrowd/judge_data.hpp"

namespace wisecrowd {

/// A table in a file, or in memory where it goes by a name.
struct JudgeTable {
  std::string name;
  std::optional<std::string> text;
};

/// Where answers of people and machines stand, and what is known of both.
struct JudgeInputs {
  JudgeTable answers;
  std::optional<JudgeTable> machine_answers;  ///< all who answered there are machines
  std::optional<JudgeTable> workers;          ///< worker, kind, family, version, price
  std::optional<JudgeTable> items;            ///< item (or task), family, length
  std::optional<JudgeTable> gold;
};

struct JudgeReadOptions : ReadOptions {
  bool ordered = false;               ///< the order of classes means something
  std::vector<std::string> machines;  ///< names of workers who are machines
};

/// Reads categories, ordered scores or comparisons, whichever the columns name: two items in a row are a comparison.
/// Columns beside task (or question), worker (or judge) and label (or winner): `turn`, `kind`, `family`, `version`,
/// `price`; `length` (or `length_a`, `length_b`); probabilities `p_<class>` or `logprob_<class>` (p_a, p_b, p_tie; and
/// with `_swapped`, of the same items in the other order). JSON may have lists and objects for some of these. Files of
/// platforms are read, too; their predictions are machines.
/// Errors are those of read_dataset: file, line, value and remedy.
[[nodiscard]] JudgeData read_judges(const JudgeInputs& inputs, const JudgeReadOptions& options,
                                    const RunContext& context, DataReport* report = nullptr);

}  // namespace wisecrowd
