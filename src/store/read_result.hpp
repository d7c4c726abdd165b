#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/run_record.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::store {

// Reading a folder back: one reader per kind of answers, and what they share.

[[nodiscard]] StoredRun read_categories(StoredRecord stored, const std::string& folder,
                                        const ReadResultOptions& options, const RunContext& context);
[[nodiscard]] StoredRun read_numbers(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                     const RunContext& context);
[[nodiscard]] StoredRun read_similarities(StoredRecord stored, const std::string& folder,
                                          const ReadResultOptions& options, const RunContext& context);
[[nodiscard]] StoredRun read_sequences(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                       const RunContext& context);

[[nodiscard]] StoredRun read_comparisons(StoredRecord stored, const std::string& folder,
                                         const ReadResultOptions& options, const RunContext& context);
[[nodiscard]] StoredRun read_sets(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                  const RunContext& context);

/// How the answers were read, with the list of classes.
[[nodiscard]] ReadOptions reading_of(const StoredRecord& stored);
/// The path of an input as it was recorded.
[[nodiscard]] std::optional<std::string> recorded_input(const RunRecord& record, std::string_view role);
/// Where an input is now.
[[nodiscard]] std::string locate_input(const std::string& folder, const std::string& role, const std::string& path);
/// Where answers and gold of a run are now, for kinds other than categories, which have no times: throws bad_parameter
/// when some are asked for.
struct RunInputs {
  std::string answers;
  std::optional<std::string> gold;
};
[[nodiscard]] RunInputs inputs_of(const StoredRecord& stored, const std::string& folder,
                                  const ReadResultOptions& options);
/// Gold that is known only now, so that the method cannot have seen it, is for evaluation: counts it, and says whether
/// there is anything to score.
[[nodiscard]] bool takes_new_gold(const ReadResultOptions& options, std::uint64_t known, RunRecord& record);

/// A file of the folder is not what was written.
[[noreturn]] void refuse_file(const std::string& path, const std::string& why);
/// Throws bad_input unless the answers, whose fingerprint is `hash`, are those of the record.
void check_same(const StoredRecord& stored, const AnswerGraph& answers, std::uint64_t hash, const std::string& folder,
                const std::string& path);

}  // namespace wisecrowd::store
