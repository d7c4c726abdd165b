#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/ingest.hpp"

namespace wisecrowd::ingest {

inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

/// Where the wanted columns stand in a table.
struct ColumnPlan {
  TableFormat format = TableFormat::csv;  ///< never automatic
  TableLayout layout = TableLayout::long_rows;
  std::vector<std::string> names;  ///< of all columns; for JSON Lines, the keys of the first row
  bool has_header = true;
  std::size_t task = kNoColumn;
  std::size_t worker = kNoColumn;    ///< only long rows have one
  std::size_t label = kNoColumn;     ///< not in wide tables
  std::size_t right = kNoColumn;     ///< pairs: the second item; `task` is the first
  std::vector<std::size_t> numbers;  ///< columns of numbers: values, or probabilities of label tables
  std::vector<std::size_t> beside;   ///< wide tables: further columns that name no worker
  bool has_times = false;            ///< answers: the only column of numbers holds times
  bool blank_labels = false;         ///< label tables: the label may be missing
  std::string no_answer;             ///< answers: a label that is none; empty: every label is one
  SetReading sets;                   ///< how cells with sets of classes are read

  char separator = ',';  ///< of CSV

  /// Wide tables: whether a column holds the answers of one worker.
  [[nodiscard]] bool names_worker(std::size_t column) const noexcept {
    return column != task && std::find(beside.begin(), beside.end(), column) == beside.end();
  }

  [[nodiscard]] char delimiter() const noexcept { return format == TableFormat::tsv ? '\t' : separator; }
  [[nodiscard]] std::string_view delimiter_name() const noexcept {
    return format == TableFormat::tsv ? "tab" : separator == ';' ? "semicolon" : "comma";
  }
};

/// A header's name as it is compared with others: lower case, without surrounding blanks; inner blanks, hyphens and
/// dots are underscores.
[[nodiscard]] std::string normalised(std::string_view name);

/// The column of the task by the known aliases, or kNoColumn.
[[nodiscard]] std::size_t find_task_column(const std::vector<std::string>& names);

/// The same for the document, and for the token, of tables of tags; the first column if none is called a token.
[[nodiscard]] std::size_t find_document_column(const std::vector<std::string>& names);
[[nodiscard]] std::size_t find_token_column(const std::vector<std::string>& names);

/// The same for the worker.
[[nodiscard]] std::size_t find_worker_column(const std::vector<std::string>& names);

/// The format by the name of the file and, where that says nothing, by the first line.
[[nodiscard]] TableFormat detect_format(const std::string& file, std::string_view first_bytes, TableFormat asked);

/// Finds task, worker and label among `names`, by the options or the aliases; throws bad_input that shows the header,
/// the aliases and the remedy. `timed`: the time column, too, if the options name one.
[[nodiscard]] ColumnPlan plan_answers(const std::string& file, TableFormat format, std::vector<std::string> names,
                                      const ReadOptions& options, bool timed = false);
/// The same for answers that are numbers: plan.numbers are the columns of the dimensions.
[[nodiscard]] ColumnPlan plan_numbers(const std::string& file, TableFormat format, std::vector<std::string> names,
                                      const ReadOptions& options);
/// The same for a table of numbers by task: those that `columns` names, or the one that plan_labels would take.
[[nodiscard]] ColumnPlan plan_task_numbers(const std::string& file, TableFormat format, std::vector<std::string> names,
                                           const ReadOptions& options, const std::vector<std::string>& columns);
/// The same for pairs of items; the worker may be missing. `chosen_and_rejected`: the table may name the chosen and the
/// rejected item, and then has no label. The options name the items by value_columns.
[[nodiscard]] ColumnPlan plan_pairs(const std::string& file, TableFormat format, std::vector<std::string> names,
                                    const ReadOptions& options, bool chosen_and_rejected);
/// The same for answers that are sets of classes, which some exports call otherwise.
[[nodiscard]] ColumnPlan plan_sets(const std::string& file, TableFormat format, std::vector<std::string> names,
                                   const ReadOptions& options);
/// The same for a table of one set per task.
[[nodiscard]] ColumnPlan plan_task_sets(const std::string& file, TableFormat format, std::vector<std::string> names,
                                        const ReadOptions& options);
/// The same for a table of one label per task.
[[nodiscard]] ColumnPlan plan_labels(const std::string& file, TableFormat format, std::vector<std::string> names,
                                     const ReadOptions& options);

/// Which columns a table of tags, or of tokens, is to have; texts are names that were given, or empty.
struct TagColumns {
  std::string document, position, worker, tag;
  bool has_worker = true;
  bool has_tag = true;
  bool worker_is_token = false;
  bool wide = false;  ///< one column per worker beside document and position, and perhaps the token
};
/// The same for tags by document and position: plan.numbers is the column of the positions. In wide tables,
/// plan.beside has it, too, and then the column of the tokens, if there is one.
[[nodiscard]] ColumnPlan plan_tags(const std::string& file, TableFormat format, std::vector<std::string> names,
                                   const TagColumns& columns);

/// Whether a table's columns are those of spans: where they begin and end, and no positions of tokens.
[[nodiscard]] bool are_span_columns(const std::vector<std::string>& names);
/// The same for spans by document, and worker unless it is gold: plan.numbers are the two columns of the ends.
[[nodiscard]] ColumnPlan plan_spans(const std::string& file, std::vector<std::string> names, const ReadOptions& options,
                                    bool gold);

}  // namespace wisecrowd::ingest
