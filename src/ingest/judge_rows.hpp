#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/cell_table.hpp"
#include "wisecrowd/judge_data.hpp"
#include "wisecrowd/read_judges.hpp"

namespace wisecrowd::ingest {

/// Where the columns of a table of judges' answers stand; kNoColumn where there is none.
struct JudgeColumns {
  std::size_t task = kNoColumn, turn = kNoColumn, worker = kNoColumn, label = kNoColumn;
  std::size_t left = kNoColumn, right = kNoColumn;
  bool chosen = false;  ///< the left item is the chosen one, and there is no label
  std::size_t kind = kNoColumn, family = kNoColumn, version = kNoColumn, price = kNoColumn;
  std::size_t length = kNoColumn, left_length = kNoColumn, right_length = kNoColumn;
  struct Probability {
    std::size_t column;
    std::string of;  ///< the class, or an outcome
    bool logarithm;  ///< or a logit: they are made to sum to 1
    bool swapped;    ///< of the same items in the other order
  };
  std::vector<Probability> probabilities;

  [[nodiscard]] bool comparisons() const noexcept { return left != kNoColumn; }
};

/// Finds them, or throws bad_input with what is missing, the header and the remedy. `gold`: nobody answered, and the
/// label is the truth.
[[nodiscard]] JudgeColumns find_judge_columns(const CellTable& table, const ReadOptions& options, bool gold);

/// A row as it stands there. Of comparisons, `said` is an outcome as seen from the left item.
struct JudgeRow {
  std::string question, worker, left, right, said;
  std::optional<Outcome> outcome;
  std::vector<std::pair<std::string, double>> logs;          ///< by class, up to a constant; empty for a hard answer
  std::vector<std::pair<std::string, double>> swapped_logs;  ///< the same in the other order
  double length = 0, left_length = 0, right_length = 0;      ///< NaN where there is none
};
/// Nothing, with the problem noted, where the row is bad.
[[nodiscard]] std::optional<JudgeRow> judge_row(const CellTable& table, const JudgeColumns& columns, std::size_t row,
                                                bool gold, DataReport& report);

/// human or machine by the words for them; nothing for others.
[[nodiscard]] std::optional<WorkerKind> worker_kind_of(std::string_view word);
/// A finite number; nothing if the text is none.
[[nodiscard]] std::optional<double> finite_number(std::string_view text);

}  // namespace wisecrowd::ingest
