#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "failure.hpp"
#include "screen_text.hpp"
#include "similarity_run.hpp"
#include "similarity_text.hpp"
#include "wisecrowd/learn_similarities.hpp"
#include "wisecrowd/read_similarities.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

/// The row of each item, by name.
std::vector<std::uint32_t> rows_of_items(const SimilarityAnswers& answers, const FeatureTable& table,
                                         std::vector<Warning>& warnings) {
  std::unordered_map<std::string_view, std::uint32_t> row_of;
  for (std::uint32_t r = 0; r < table.names.size(); ++r) row_of.emplace(table.names[r], r);
  std::vector<std::uint32_t> rows;
  std::size_t without = 0;
  for (std::size_t i = 0; i < answers.item_count(); ++i) {
    const auto found = row_of.find(answers.item_names()[i]);
    rows.push_back(found == row_of.end() ? kNoRow : found->second);
    without += found == row_of.end() ? 1 : 0;
  }
  if (without > 0) {
    warnings.push_back({"items_without_features",
                        fmt::format("{} of {} have no features, so only the answers speak for them", without,
                                    counted(answers.item_count(), "item")),
                        "are items and rows named alike?", Severity::caution});
  }
  return rows;
}

}  // namespace

void learn_clusters(const ClusterLearningRequest& request, Session& session) {
  const Parameters parameters =
      parameters_from(similarity_learner().parameters, request.settings, similarity_learner().name);
  if (!request.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(request.out); });
  Work work(session, request.run);
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = similarity_learner().name;
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  for (const auto& [name, value] : parameters.all()) record.parameters.emplace_back(name, value);
  record.inputs = {{"answers", request.answers}, {"features", request.features.features}};
  if (!request.gold.empty()) record.inputs.emplace_back("gold", request.gold);
  const ReadOptions reading = request.read.options();
  record.reading = reading_record(reading);
  Stopwatch watch;
  DataReport report, feature_report;
  const auto gold = request.gold.empty() ? std::nullopt : std::optional(request.gold);
  SimilarityData data = at_stage(
      Stage::reading, [&] { return read_similarities(request.answers, gold, reading, work.context(), &report); });
  FeatureOptions feature_options;
  feature_options.text_columns = request.features.text_columns;
  const FeatureTable features = at_stage(Stage::reading, [&] {
    return read_features(request.features.features, request.features.tasks_file(), feature_options, work.context(),
                         &feature_report);
  });
  work.check_stopped();
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  for (const Warning& warning : feature_report.warnings) record.data_warnings.push_back(warning);
  const auto rows = rows_of_items(data.answers, features, record.data_warnings);
  record.gold_tasks = gold_count(data);
  if (data.has_gold()) record.gold_use = "evaluation";
  SimilarityData seen;
  seen.answers = data.answers;
  SimilarityLearned learned = learn_similarities(seen, features.features, rows, request.network.spec(LearnerInfo{}),
                                                 similarity_learning_options(parameters), work.context());
  work.check_stopped();
  const double seconds = watch.lap();
  record.timings.emplace_back("fit", seconds);
  SimilarityResult result = make_result(std::move(data), std::move(learned.fit), std::move(record));
  if (result.record.gold_tasks > 0) result.evaluation = evaluate_similarities(result.fit.cluster, result.data);
  session.warn(result.record.data_warnings);
  if (!request.out.empty()) {
    session.interrupts.writes_to(request.out);
    const Status status = at_stage(Stage::writing, [&] { return write_result(result, request.out, work.context()); });
    session.interrupts.writes_to("");
    if (status == Status::cancelled) throw Stopped();
  }
  if (request.json) {
    auto json = nlohmann::ordered_json::parse(run_json(result));
    json["out"] = request.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(request.out);
    session.out.add_json(json);
    return;
  }
  if (!request.run.quiet) session.out.add(similarity_summary(result, true, seconds, session.out_screen));
}

}  // namespace wisecrowd::app
