#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wisecrowd/ingest.hpp"

// Files of labelling platforms (Label Studio, Argilla, MTurk …). Every reader of answers (read_dataset, read_numbers,
// read_sets, read_comparisons, read_sequences …) takes them by ReadOptions::platform, or recognises them; what is here
// is for those who want to see what such a file holds.

namespace wisecrowd {

struct PlatformInfo {
  std::string name;            ///< "label-studio"
  std::string title;           ///< "Label Studio"
  std::string summary;         ///< which files, in a few words
  bool is_recognised = false;  ///< by content; others must be named
};
[[nodiscard]] const std::vector<PlatformInfo>& platforms();
/// Throws bad_parameter that lists the names; '-' and '_' are one.
[[nodiscard]] const PlatformInfo& platform_named(std::string_view name);

/// What a file of a platform holds of one question, as tables of text (CSV with a header).
struct PlatformTables {
  std::string platform;      ///< its name
  std::string question;      ///< empty where the platform knows none
  std::string answers_kind;  ///< "categories", "numbers", "sets", "comparisons", "sequences"
  std::string answers;       ///< task,worker,label; with time and seconds where they are known
  std::string gold;          ///< empty where there is none
  std::string tokens;        ///< of sequences
  std::string workers;       ///< worker,kind,answers; kind is human or machine
  bool has_times = false;
  std::string control, target;  ///< Label Studio: the type of the question, and the name of what it is asked of
  /// Work that can still be accepted or refused, as text with a header: assignment,worker. MTurk and Toloka have it.
  std::string assignments;
  std::uint64_t answer_count = 0, gold_count = 0, worker_count = 0, machine_count = 0;
  /// What was not taken for an answer, with how often: {"skipped", 3}, {"rejected", 2} …
  std::vector<std::pair<std::string, std::uint64_t>> left_out;
  std::vector<Warning> notes;
};

/// Reads such a file. `answers_kind` is what the answers are to be read as; empty: what they are.
[[nodiscard]] PlatformTables read_platform(const std::string& path, const std::string& answers_kind,
                                           const ReadOptions& options, const RunContext& context);

}  // namespace wisecrowd
