#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/huge_vector.hpp"
#include "data/build.hpp"
#include "ingest/byte_source.hpp"
#include "ingest/chunk.hpp"
#include "ingest/class_column.hpp"
#include "ingest/columns.hpp"
#include "ingest/key_table.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::ingest {

/// The line of every entry of a table, kept as runs.
class LineMap {
 public:
  void add(std::uint64_t row, std::uint64_t line);
  [[nodiscard]] std::uint64_t line_of(std::uint64_t row) const;

 private:
  std::vector<LineRun> runs_;
};

/// A whole table by index: what a file says before classes are put in order and answers are sorted.
struct Table {
  Table(const std::vector<std::string>& given_classes, std::uint64_t hash_seed);

  std::string file;  ///< for messages
  ColumnPlan plan;
  KeyTable tasks;
  KeyTable workers;
  ClassColumn classes;
  std::vector<CategoryPiece> pieces;   ///< what was said is a code of `classes`
  HugeVector<double> numbers;          ///< answers × plan.numbers (one number in wide tables)
  HugeVector<std::uint32_t> rights;    ///< pairs: the second item of each answer
  bool dates = false;                  ///< some of them stood there as dates
  std::vector<std::uint16_t> members;  ///< codes of the classes of sets, row by row; `pieces` have their sizes
  bool lists = false;                  ///< some cell held more than one class
  LineMap lines;                       ///< only if asked for
  /// Where the answers that are left stood among all, if some were taken out and lines are kept.
  std::vector<std::uint64_t> kept_rows;

  [[nodiscard]] std::uint64_t row_of_answer(std::uint64_t answer) const {
    return kept_rows.empty() ? answer : kept_rows[answer];
  }
  [[nodiscard]] std::uint64_t line_of_answer(std::uint64_t answer) const {
    return lines.line_of(row_of_answer(answer));
  }
};

/// The pieces of a table with the row of each answer as its payload, for kinds that keep what was said elsewhere. They
/// are taken out of the table.
[[nodiscard]] std::vector<AnswerPiece<std::uint32_t>> row_pieces(Table& table);

enum class TableKind {
  answers,  ///< classes by task and worker
  labels,   ///< a class by task, perhaps with probabilities
  numbers,  ///< numbers by task and worker, or by task alone if there is no worker column
  pairs,    ///< what was said of two items, by worker or by nobody in particular; the items are the tasks of the table
  sets,     ///< the same for sets of classes
  tags,     ///< by document, position and perhaps worker; or tokens, which stand in the worker column
};

/// Lays out the columns once the format and the names in the first row are known.
using PlanColumns =
    std::function<ColumnPlan(const std::string& file, TableFormat format, std::vector<std::string> names)>;

struct TableRequest {
  TableKind kind = TableKind::answers;
  bool keep_lines = false;
  PlanColumns plan;
  PairWords pair_words;  ///< pairs: what their labels mean
};

/// Reads a table in parallel. Bad rows are left out and noted in `report`; what spoils the file as a whole throws.
[[nodiscard]] Table read_table(const Input& input, const TableRequest& request, const ReadOptions& options,
                               const Tuning& tuning, const RunContext& context, DataReport& report);

}  // namespace wisecrowd::ingest
