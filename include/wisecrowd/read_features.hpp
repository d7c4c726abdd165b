#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/features.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Features as read, with the task of each row.
struct FeatureTable {
  Features features;
  NameTable names;           ///< per row
  std::vector<Split> split;  ///< per row
  /// The rows of an array that nobody named are called by their number, from 0.
  bool names_are_numbers = false;
  FeatureRecipe recipe;
};

struct FeatureOptions {
  /// Made for these rows before: other columns are refused, and text is weighted as it was then. Null: learn it.
  const FeatureRecipe* recipe = nullptr;
  /// Text: how many words and pairs of words are counted at most; those that the most train texts have, but two at
  /// least.
  std::size_t text_columns = std::size_t{1} << 15;
  bool lenient = false;  ///< drop bad rows of tables and say how many
};

/// Reads features from an .npy array (2-D, or images: rows × height × width [× channels]), from the numeric columns of
/// a CSV or TSV table with a task column, from such a table with a column `text`, or from a table task,word,count whose
/// rows say how often a word is in the text of a task; all of them plain, .gz or .zst.
/// `tasks_path` is a table `task,row,split` that names the rows of an array (`row` may be left out when all rows are
/// named in order) and says which part of an experiment each belongs to (train when it does not say).
[[nodiscard]] FeatureTable read_features(const std::string& features_path, const std::optional<std::string>& tasks_path,
                                         const FeatureOptions& options, const RunContext& context,
                                         DataReport* report = nullptr);

/// What `learn` starts from.
struct LearningFiles {
  std::string answers;
  std::optional<std::string> gold;
  std::string features;
  std::optional<std::string> tasks;
  /// Gold goes into data.crowd.gold, and train rows with gold that nobody answered become tasks. Otherwise learners
  /// cannot see it at all.
  bool learn_from_gold = false;
  std::size_t text_columns = FeatureOptions{}.text_columns;
};

/// Data to learn from, and what is known of the truth, apart.
struct LearningInput {
  LearningData data;
  std::vector<ClassId> task_gold;  ///< per task of data.crowd, kNoClass where unknown; empty without a gold file
  std::vector<ClassId> row_gold;   ///< the same per row of the features
};

/// Reads answers and features and brings them together by the names of tasks. Tasks without a row are kept, rows
/// without answers too; both are counted in the report's warnings. The class list is that of answers and gold together.
[[nodiscard]] LearningInput read_learning_data(const LearningFiles& files, const ReadOptions& options,
                                               const RunContext& context, DataReport* report = nullptr);

/// The same where answers are numbers.
struct NumberLearningInput {
  NumberLearningData data;
  std::vector<double> task_gold;  ///< tasks × dimensions, NaN where unknown; empty without a gold file
  std::vector<double> row_gold;   ///< the same for rows of the features
};

/// The same for answers that are numbers. `files.learn_from_gold` must not be set.
[[nodiscard]] NumberLearningInput read_number_learning_data(const LearningFiles& files, const ReadOptions& options,
                                                            const RunContext& context, DataReport* report = nullptr);

}  // namespace wisecrowd
