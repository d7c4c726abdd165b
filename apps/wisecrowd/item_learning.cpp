#include "item_learning.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "screen_text.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {

ItemLearning begin_item_learning(const ItemLearningRequest& request, const EntryInfo& learner,
                                 const Parameters& parameters, const Session& session, const RunContext& context) {
  ItemLearning learning;
  learning.reading = request.read.options();
  if (!request.gold.empty()) learning.gold = request.gold;
  RunRecord& record = learning.record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = learner.name;
  record.seed = context.seed();
  record.threads = context.threads();
  for (const auto& [name, value] : parameters.all()) record.parameters.emplace_back(name, value);
  record.inputs.emplace_back("answers", request.answers);
  if (learning.gold) record.inputs.emplace_back("gold", request.gold);
  record.inputs.emplace_back("features", request.features.features);
  if (const auto tasks = request.features.tasks_file()) record.inputs.emplace_back("tasks", *tasks);
  record.reading = reading_record(learning.reading);
  return learning;
}

std::vector<std::uint32_t> read_item_features(const ItemLearningRequest& request, const NameTable& items,
                                              const DataReport& report, ItemLearning& learning, Work& work) {
  DataReport feature_report;
  FeatureOptions options;
  options.text_columns = request.features.text_columns;
  learning.features = at_stage(Stage::reading, [&] {
    return read_features(request.features.features, request.features.tasks_file(), options, work.context(),
                         &feature_report);
  });
  work.check_stopped();
  learning.record.timings.emplace_back("read", learning.watch.lap());
  auto& warnings = learning.record.data_warnings;
  warnings = report.warnings;
  warnings.insert(warnings.end(), feature_report.warnings.begin(), feature_report.warnings.end());
  std::unordered_map<std::string_view, std::uint32_t> row_of;
  const NameTable& names = learning.features.names;
  for (std::uint32_t r = 0; r < names.size(); ++r) row_of.emplace(names[r], r);
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto found = row_of.find(items[i]);
    rows.push_back(found == row_of.end() ? kNoRow : found->second);
  }
  return rows;
}

nlohmann::ordered_json learned_json(const std::string& run_json, const ItemLearningRequest& request) {
  auto json = nlohmann::ordered_json::parse(run_json);
  json["out"] = request.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(request.out);
  return json;
}

std::string written_files(const std::string& out, const std::string& files, const Screen& screen) {
  return fmt::format(
      "\n{} {}\n{}"
      "  run.json       how it was made: parameters, seed, warnings, timings\n",
      screen.bold("Written to"), shell_word(out), files);
}

}  // namespace wisecrowd::app
