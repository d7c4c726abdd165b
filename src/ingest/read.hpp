#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/byte_source.hpp"
#include "ingest/tuning.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/read_features.hpp"
#include "wisecrowd/read_sequences.hpp"

namespace wisecrowd::ingest {

// The public functions with all that tests and fuzzers want to choose: bytes in memory, sizes of the working pieces.

/// Gold of tasks that nobody answered; its classes count among those of the data.
struct OtherGold {
  std::vector<std::string> tasks;
  std::vector<ClassId> labels;
  std::string reason;  ///< why perhaps no gold is of a task with answers; empty if some is
};

/// With `other_gold`, gold of tasks without answers is collected there; without, it is left aside with a warning.
[[nodiscard]] CategoryData read_dataset(const Input& answers, const std::optional<Input>& gold,
                                        const ReadOptions& options, const Tuning& tuning, const RunContext& context,
                                        DataReport* report = nullptr, OtherGold* other_gold = nullptr);
[[nodiscard]] TimedCategoryData read_timed_dataset(const Input& answers, const std::optional<Input>& gold,
                                                   const ReadOptions& options, const Tuning& tuning,
                                                   const RunContext& context, DataReport* report = nullptr);
/// The same for numbers.
struct OtherGoldNumbers {
  std::vector<std::string> tasks;
  std::vector<double> values;  ///< tasks × dimensions
};
[[nodiscard]] NumberData read_numbers(const Input& answers, const std::optional<Input>& gold,
                                      const ReadOptions& options, const Tuning& tuning, const RunContext& context,
                                      DataReport* report = nullptr, OtherGoldNumbers* other_gold = nullptr);
[[nodiscard]] SetData read_sets(const Input& answers, const std::optional<Input>& gold, const ReadOptions& options,
                                const Tuning& tuning, const RunContext& context, DataReport* report = nullptr);
[[nodiscard]] SetTable read_set_table(const Input& input, const ReadOptions& options, const Tuning& tuning,
                                      const RunContext& context, DataReport* report = nullptr);
/// Memory instead of the files of read_sequences.
struct SequenceInputs {
  Input answers;
  std::optional<Input> gold, tokens;
};
[[nodiscard]] SequenceData read_sequences(const SequenceInputs& inputs, const SequenceFiles& files,
                                          const ReadOptions& options, const Tuning& tuning, const RunContext& context,
                                          DataReport* report = nullptr);
/// All names as spreadsheet_safe() has them.
[[nodiscard]] NameTable safe_names(const NameTable& names);

[[nodiscard]] NumberTable read_number_table(const Input& input, const ReadOptions& options, const ChooseColumns& choose,
                                            const Tuning& tuning, const RunContext& context,
                                            DataReport* report = nullptr);
[[nodiscard]] LabelTable read_label_table(const Input& input, const ReadOptions& options, const Tuning& tuning,
                                          const RunContext& context, DataReport* report = nullptr);

[[nodiscard]] FeatureTable read_features(const Input& features, const std::optional<Input>& tasks,
                                         const FeatureOptions& options, const Tuning& tuning, const RunContext& context,
                                         DataReport* report = nullptr);

}  // namespace wisecrowd::ingest
