#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/platforms.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Writes answers.csv, workers.csv, where there are such gold.csv and tokens.csv, and conversion.json, which says what
/// was read and what was left out, into `directory`: whole or not at all, as write_result does. `source` is the file
/// that was read.
void write_platform_tables(const PlatformTables& tables, const std::string& source, const std::string& directory);

/// Files that bring a result back to the platform that the answers came from.
enum class WriteBack { label_studio_predictions, argilla_suggestions, toloka_review, mturk_review, ground_truth };
inline constexpr auto kWriteBackNames =
    enum_names<WriteBack>({{WriteBack::label_studio_predictions, "label-studio-predictions"},
                           {WriteBack::argilla_suggestions, "argilla-suggestions"},
                           {WriteBack::toloka_review, "toloka-review"},
                           {WriteBack::mturk_review, "mturk-review"},
                           {WriteBack::ground_truth, "ground-truth"}});

struct WriteBackOptions {
  std::string question;  ///< whose labels they are, if the answers do not tell
  std::string target;    ///< Label Studio: the name of what the question is asked of, if the answers do not tell
  std::optional<std::string> answers;  ///< where the answers are now, if not where they were
};

/// What is to be written.
struct WrittenBack {
  std::string text;
  std::size_t rows = 0;
  std::size_t refused = 0;                                  ///< reviews: work that should not be accepted
  std::vector<std::pair<std::string, std::string>> inputs;  ///< role and path of what was read
};

/// The text of such a file, made of the folder of a run. Throws unsupported where the result is of a kind that the
/// platform has no place for, and bad_input where the answers do not have what it needs.
[[nodiscard]] WrittenBack write_back(const std::string& folder, WriteBack to, const WriteBackOptions& options,
                                     const RunContext& context);
/// Puts it into a file, which appears whole or not at all.
void write_back_file(const WrittenBack& written, const std::string& path);

}  // namespace wisecrowd
