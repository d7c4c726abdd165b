#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/comparison_learn_result.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/learn_result.hpp"
#include "wisecrowd/result.hpp"

// The folder of a run: writing results and reading them back.

namespace wisecrowd {

/// Throws io when a result could not be written to `directory`: it is a file, a folder that wisecrowd did not write, or
/// lies in a place that cannot be written to. Ask before a long computation. `record` names the JSON file that marks a
/// folder as the work of the same command: "simulation.json" for simulations.
void check_output_directory(const std::string& directory, const std::string& record = "run.json");

/// Writes labels.csv, workers.csv, confusion.csv and run.json into `directory`: first beside it, then renamed, so that
/// a reader sees the old folder, the new one, or none, never a part. An existing folder that wisecrowd did not write is
/// not replaced: io error that says so. Returns Status::cancelled, with nothing written, when the context is cancelled
/// on the way. Numbers have 6 significant digits; unknown ones are left blank.
Status write_result(const CategoryResult& result, const std::string& directory, const RunContext& context);

/// The run as a JSON object, as in run.json. Only `command`, `threads` and `timings` may differ between two runs on the
/// same data with the same method, parameters and seed.
[[nodiscard]] std::string run_json(const CategoryResult& result);

/// The same for numbers: estimates.csv (task,estimate,deviation,low,high; with _<dimension> behind each where there are
/// several), workers.csv (worker,answers,bias,scale) and run.json.
Status write_result(const NumberResult& result, const std::string& directory, const RunContext& context);
[[nodiscard]] std::string run_json(const NumberResult& result);

/// The same for comparisons: ranking.csv (item,score,deviation,low,high,rank,rank_low,rank_high, from the best item to
/// the worst), workers.csv, pairs.csv (left,right,label,probability,p_left,p_right,p_tie,answers) and run.json.
Status write_result(const ComparisonResult& result, const std::string& directory, const RunContext& context);
[[nodiscard]] std::string run_json(const ComparisonResult& result);
/// The same for sequences: tags.csv (doc,position,token,tag,probability), spans.csv
/// (doc,first,last,type,probability,text), workers.csv and run.json. Tokens and texts are there when they are known.
Status write_result(const SequenceResult& result, const std::string& directory, const RunContext& context);
[[nodiscard]] std::string run_json(const SequenceResult& result);

/// The same for similarities: clusters.csv (item,cluster,probability), workers.csv (worker,answers,said_same,
/// false_different,false_same,agreement), pairs.csv (left,right,answers,said_same,probability) and run.json.
Status write_result(const SimilarityResult& result, const std::string& directory, const RunContext& context);
[[nodiscard]] std::string run_json(const SimilarityResult& result);

/// The same for sets: sets.csv (task,set,p_<class>…; task,set,candidates,probabilities where only named classes are
/// candidates), workers.csv (worker,answers,set_size,sensitivity,specificity, and both for each class) and run.json.
Status write_result(const SetResult& result, const std::string& directory, const RunContext& context);
[[nodiscard]] std::string run_json(const SetResult& result);

/// The same for those who do not know the kind.
Status write_result(const Result& result, const std::string& directory, const RunContext& context);
[[nodiscard]] std::string run_json(const Result& result);

/// Removes what runs that were killed left beside `directory`, and, when `own` is set, what this process is writing
/// there at the moment: for programs that must stop at once.
void remove_unfinished_output(const std::string& directory, bool own) noexcept;

struct LearnWriteOptions {
  bool torchscript = false;  ///< also model/classifier.pt, a module that Python can load
};

/// Like write_result: labels.csv for every task that has answers or features, with its source, workers.csv,
/// confusion.csv, reliability.csv where the method knows it, the folder model/ and run.json; whole or not at all.
Status write_result(const LearnResult& result, const std::string& directory, const LearnWriteOptions& options,
                    const RunContext& context);
[[nodiscard]] std::string run_json(const LearnResult& result);

/// The same where answers are numbers: estimates.csv for every task that has answers or features, with its source,
/// workers.csv, the folder model/ and run.json.
Status write_result(const NumberLearnResult& result, const std::string& directory, const RunContext& context);
[[nodiscard]] std::string run_json(const NumberLearnResult& result);

/// The same for comparisons: the files of a ComparisonResult, scores.csv (item,score,comparisons) for every row, from
/// the best to the worst, and the folder model/.
Status write_result(const ComparisonLearnResult& result, const std::string& directory, const RunContext& context);

/// A table `task,estimate,deviation,low,high` of a regressor's predictions (rows × dimensions), as text; columns of
/// several dimensions as in estimates.csv. `deviation` by dimension is empty, or NaN, where it is not known.
[[nodiscard]] std::string number_predictions_csv(const NameTable& rows, const NameTable& dimensions,
                                                 std::span<const double> estimates, std::span<const double> deviation);

/// A table `task,label,probability,p_<class>…` of a classifier's predictions (rows × classes), as text.
[[nodiscard]] std::string predictions_csv(const NameTable& rows, const NameTable& classes,
                                          std::span<const double> probabilities);
/// The same into a file, which appears whole or not at all; an existing file is replaced.
void write_predictions(const std::string& path, const NameTable& rows, const NameTable& classes,
                       std::span<const double> probabilities);

/// A result that was written to a folder.
struct StoredRun {
  Result result;
  std::optional<LearnSummary> learned;  ///< when learn wrote it
};

struct ReadResultOptions {
  /// Where answers and gold are now, if not where they were; without, they are looked for as recorded, from the current
  /// folder and from the one that the result's folder is in. Gold of a run that had none is for evaluation.
  std::optional<std::string> answers, gold;
  /// When answers were given (ReadOptions::time_column), if not as recorded.
  std::optional<std::string> time_column;
};

/// Rebuilds a result, of whatever kind, from the folder that write_result made and the answers that it was made from.
/// Numbers have the six digits of the files. Throws bad_input when the answers are not the same as then, io when a file
/// is missing.
[[nodiscard]] StoredRun read_result(const std::string& folder, const ReadResultOptions& options,
                                    const RunContext& context);

/// Gold for a result that was made without: its labels are scored on it.
void add_gold(CategoryResult& result, const std::string& path, const ReadOptions& options, const RunContext& context);

/// How tables were read, for the record of a run: only what differs from the defaults.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> reading_record(const ReadOptions& options);
/// The options that such a record tells of.
[[nodiscard]] ReadOptions read_options(const std::vector<std::pair<std::string, std::string>>& reading);

}  // namespace wisecrowd
