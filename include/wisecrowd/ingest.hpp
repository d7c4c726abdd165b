#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/answer_times.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/number_data.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/set_data.hpp"

namespace wisecrowd {

enum class TableFormat {
  automatic,  ///< by file name and first bytes
  csv,        ///< with commas, or with semicolons if the first row has more of these
  tsv,
  jsonl,  ///< one object per line, or one array of objects
};

inline constexpr auto kTableFormatNames = enum_names<TableFormat>({{TableFormat::automatic, "automatic"},
                                                                   {TableFormat::csv, "csv"},
                                                                   {TableFormat::tsv, "tsv"},
                                                                   {TableFormat::jsonl, "jsonl"}});

enum class TableLayout {
  automatic,  ///< long when the header names task, worker and label; otherwise an error that suggests wide
  long_rows,  ///< one row per answer
  wide,       ///< one row per task, one column per worker, blank where there is no answer
};

/// A worker and the name of the group that it belongs to.
struct WorkerGroup {
  std::string worker, group;
  bool operator==(const WorkerGroup&) const = default;
};

/// Answers under `name` are answers of `into`.
struct WorkerMerge {
  std::string name;
  std::string into;
};

/// What the rows of one task and worker are, where answers are sets of classes.
enum class SetRowRule {
  automatic,  ///< united if no cell of the file holds more than one class, else whole
  whole,      ///< each row is a whole answer; rows that repeat a task and worker are duplicates
  united,     ///< each row names some classes of the answer
};
inline constexpr auto kSetRowRuleNames = enum_names<SetRowRule>(
    {{SetRowRule::automatic, "automatic"}, {SetRowRule::whole, "whole"}, {SetRowRule::united, "united"}});

/// How sets of classes stand in a table: `a|b|c`, or a list as JSON writes it. The empty set is `[]`.
struct SetReading {
  std::string separator;        ///< between the classes of a cell; empty: "|"
  std::string empty;            ///< a text that means none of the classes, beside `[]`
  bool blank_is_empty = false;  ///< a blank cell means none of the classes, too
  SetRowRule rows = SetRowRule::automatic;
};

/// How files of labelling platforms are read (platforms.hpp).
struct PlatformReading {
  /// One of platforms(); empty: recognised by content, unless the format, the layout or columns are given.
  std::string name;
  std::string question;  ///< which one, where a file holds answers to several
  bool models = true;    ///< predictions of models count as answers of machine workers
  bool operator==(const PlatformReading&) const = default;
};

struct ReadOptions {
  TableFormat format = TableFormat::automatic;
  PlatformReading platform;
  TableLayout layout = TableLayout::automatic;
  /// Names of the task, worker and label columns; empty entries are found by the known aliases. When all that are
  /// needed are positive integers and the first row does not contain them as names, they are positions (from 1) in a
  /// file without a header.
  std::string task_column;
  std::string worker_column;
  std::string label_column;
  /// When an answer was given, for read_timed_dataset: a column of numbers, or of dates as ISO 8601 writes them, in a
  /// table with one row per answer. Empty: the rows are in the order of time.
  std::string time_column;
  /// Numbers of several dimensions: one column each, instead of the label column.
  std::vector<std::string> value_columns;
  /// The same for the gold file of read_dataset; empty: as in the answers if they are there, else by the aliases.
  std::string gold_task_column;
  std::string gold_label_column;
  std::vector<std::string> gold_value_columns;
  SetReading sets;
  /// The class list in order; empty: taken from the data, numeric if all are integers, else alphabetical.
  std::vector<std::string> classes;
  DuplicatePolicy duplicates = DuplicatePolicy::keep_last;
  bool lenient = false;       ///< drop bad rows and say how many, instead of refusing
  bool blank_labels = false;  ///< label tables: a row without a label is an abstention, not a problem
  /// A label that means no answer ("unsure", "skip"): such rows are counted, and never become a class; their tasks
  /// stay.
  std::string no_answer;
  /// Answers of these workers are left out; tasks and classes that nobody else mentions stay.
  std::vector<std::string> exclude_workers;
  /// Names that belong to one worker; chains are followed. What one worker then answered twice is a duplicate as any
  /// other. Somebody is excluded by either name.
  std::vector<WorkerMerge> merge_workers;
  /// Workers to be believed where answers alone cannot tell which side is right: CategoryData::trusted.
  std::vector<std::string> trusted_workers;
  /// Workers who do not answer independently of one another: CategoryData::worker_groups.
  std::vector<WorkerGroup> worker_groups;
  /// Names that a spreadsheet would run as a formula get an apostrophe in front (spreadsheet_safe), so that everything
  /// that is made of the data, from labels.csv to a report, can be opened in one.
  bool safe_names = false;
};

/// The names in a file: one per line, or the worker column of a table whose header names one.
[[nodiscard]] std::vector<std::string> read_worker_list(const std::string& path);
/// The names in a file that belong together: columns `old` and `new`, or, without such a header, lines of names whose
/// first is kept. Fields are divided by commas and may be quoted.
[[nodiscard]] std::vector<WorkerMerge> read_worker_merges(const std::string& path);

/// Who belongs to which group, by the columns `worker` and `group` of a file, or, without such a header, by its first
/// two fields.
[[nodiscard]] std::vector<WorkerGroup> read_worker_groups(const std::string& path);

/// One thing wrong with the input, with what to do about it.
struct DataProblem {
  std::string file;
  std::uint64_t line = 0;  ///< 1-based; 0 when the problem is not tied to a line
  std::string column;      ///< empty when not tied to a column
  std::string value;       ///< the offending text, shortened and made printable
  std::string message;     ///< what is wrong and the remedy

  /// "file:line: column 'label': …"
  [[nodiscard]] std::string text() const;
};

/// What the reader found. Problems are listed up to the first 20; the counts are complete.
struct DataReport {
  std::uint64_t rows = 0;          ///< data rows seen, header and blank lines apart
  std::uint64_t rows_dropped = 0;  ///< lenient mode only
  std::uint64_t problem_count = 0;
  std::vector<DataProblem> problems;
  std::uint64_t duplicates_dropped = 0;
  std::uint64_t duplicates_contradicting = 0;
  std::uint64_t gold_rows = 0;
  std::uint64_t no_answers = 0;  ///< rows whose label is ReadOptions::no_answer
  std::vector<Warning> warnings;
};

/// Reads answers, and gold if a path is given ("-" is standard input). Strict by default: throws bad_input whose
/// message lists the first 20 problems and counts the rest. The class list is that of answers and gold together.
[[nodiscard]] CategoryData read_dataset(const std::string& answers_path, const std::optional<std::string>& gold_path,
                                        const ReadOptions& options, const RunContext& context,
                                        DataReport* report = nullptr);

/// Answers and when each was given.
struct TimedCategoryData {
  CategoryData data;
  /// Numbers as they stand in the time column, seconds since 1970 of dates, or, without such a column, the number of
  /// the row.
  AnswerTimes times;
};
[[nodiscard]] TimedCategoryData read_timed_dataset(const std::string& answers_path,
                                                   const std::optional<std::string>& gold_path,
                                                   const ReadOptions& options, const RunContext& context,
                                                   DataReport* report = nullptr);

/// The same for answers that are numbers. Gold has the same value columns, or, for one dimension, any column of truth.
[[nodiscard]] NumberData read_numbers(const std::string& answers_path, const std::optional<std::string>& gold_path,
                                      const ReadOptions& options, const RunContext& context,
                                      DataReport* report = nullptr);

/// The same for answers that are sets of classes. Gold has a list of classes per task, or one class per row.
[[nodiscard]] SetData read_sets(const std::string& answers_path, const std::optional<std::string>& gold_path,
                                const ReadOptions& options, const RunContext& context, DataReport* report = nullptr);

/// Sets by task: the truth, or the sets.csv that wisecrowd writes.
struct SetTable {
  NameTable tasks;
  NameTable classes;
  GoldSets sets;                      ///< per task; nothing where it is blank and blank labels are allowed
  std::vector<double> probabilities;  ///< tasks × classes from `p_<class>` columns, NaN where blank; or empty
};
[[nodiscard]] SetTable read_set_table(const std::string& path, const ReadOptions& options, const RunContext& context,
                                      DataReport* report = nullptr);

/// Numbers by task: the truth, or the estimates.csv that wisecrowd writes.
struct NumberTable {
  NameTable tasks;
  std::vector<std::string> columns;  ///< those that were read
  std::vector<double> values;        ///< tasks × columns; NaN where blank
};
/// Chooses columns of numbers by the names in the first row of a table.
using ChooseColumns = std::function<std::vector<std::string>(const std::vector<std::string>& header)>;
/// Reads the task column and those that `choose` names, which must be there; if it names none, or is empty, the value
/// columns of the options, else the one of the truth. Blanks are problems unless the options allow blank labels.
[[nodiscard]] NumberTable read_number_table(const std::string& path, const ReadOptions& options,
                                            const ChooseColumns& choose, const RunContext& context,
                                            DataReport* report = nullptr);

/// A table of one label per task: gold files, and the labels.csv that wisecrowd writes.
struct LabelTable {
  NameTable tasks;
  NameTable classes;
  std::vector<ClassId> labels;        ///< per task; kNoClass for an abstention
  std::vector<double> probabilities;  ///< tasks × classes from `p_<class>` columns, or empty
  std::vector<double> confidence;     ///< from the `probability` column, or empty
};

/// Why perhaps no task of `gold` is among `tasks`, with the remedy: swapped columns, other spelling, other tasks.
[[nodiscard]] std::string gold_mismatch_reason(const LabelTable& gold, const NameTable& tasks);

[[nodiscard]] LabelTable read_label_table(const std::string& path, const ReadOptions& options,
                                          const RunContext& context, DataReport* report = nullptr);

}  // namespace wisecrowd
