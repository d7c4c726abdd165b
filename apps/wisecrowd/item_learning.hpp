#pragma once

#include <nlohmann/json_fwd.hpp>

#include "failure.hpp"
#include "learn_run.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {

/// `learn` where answers are about two items, whose features are known. Gold is for evaluation.
struct ItemLearningRequest {
  std::string answers, gold;
  FeatureFlags features;
  NetworkFlags network;
  std::vector<std::string> settings;
  std::string out;
  bool json = false;
  ReadFlags read;
  RunFlags run;
};

/// What such a run reads, and the record of it.
struct ItemLearning {
  RunRecord record;
  ReadOptions reading;
  std::optional<std::string> gold;
  FeatureTable features;
  Stopwatch watch;
};

/// The record of a run before anything is read.
[[nodiscard]] ItemLearning begin_item_learning(const ItemLearningRequest& request, const EntryInfo& learner,
                                               const Parameters& parameters, const Session& session,
                                               const RunContext& context);
/// Reads the features and returns the row of each item, by name. Warnings of `report`, which is of the answers, and of
/// the features go to the record.
[[nodiscard]] std::vector<std::uint32_t> read_item_features(const ItemLearningRequest& request, const NameTable& items,
                                                            const DataReport& report, ItemLearning& learning,
                                                            Work& work);

/// Writes a result if a folder is named.
template <class Result>
void write_learned(const Result& result, const ItemLearningRequest& request, Session& session, Work& work) {
  if (request.out.empty()) return;
  session.interrupts.writes_to(request.out);
  const Status status = at_stage(Stage::writing, [&] { return write_result(result, request.out, work.context()); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
}

/// The record of a run with where it was written, for --json.
[[nodiscard]] nlohmann::ordered_json learned_json(const std::string& run_json, const ItemLearningRequest& request);

/// "Written to result", and what each file holds.
[[nodiscard]] std::string written_files(const std::string& out, const std::string& files, const Screen& screen);

}  // namespace wisecrowd::app
