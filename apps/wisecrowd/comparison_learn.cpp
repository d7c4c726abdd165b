#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "comparison_run.hpp"
#include "comparison_text.hpp"
#include "failure.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "wisecrowd/comparison_learn_result.hpp"
#include "wisecrowd/read_comparisons.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

std::vector<std::uint32_t> rows_of_items(const NameTable& items, const FeatureTable& table) {
  std::unordered_map<std::string_view, std::uint32_t> row_of;
  for (std::uint32_t r = 0; r < table.names.size(); ++r) row_of.emplace(table.names[r], r);
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto found = row_of.find(items[i]);
    rows.push_back(found == row_of.end() ? kNoRow : found->second);
  }
  return rows;
}

/// How well the network orders what nobody compared, if gold knows.
std::optional<ComparisonEvaluation> score_uncompared(const ComparisonLearnResult& result, const std::string& gold_path,
                                                     const RunContext& context) {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, double> score_of;
  for (std::size_t r = 0; r < result.row_names.size(); ++r) {
    if (result.row_comparisons[r] > 0) continue;
    names.emplace_back(result.row_names[r]);
    score_of.emplace(result.row_names[r], result.row_score[r]);
  }
  if (names.size() < 2) return std::nullopt;
  const ComparisonData gold = gold_for_ranking(gold_path, NameTable(names), context);
  if (gold_count(gold) < 2) return std::nullopt;
  std::vector<double> scores;
  for (std::size_t i = 0; i < gold.answers.item_count(); ++i) {
    scores.push_back(score_of.at(gold.answers.item_names()[i]));
  }
  return evaluate_comparisons(scores, {}, gold);
}

std::string written_text(const std::string& out, const Screen& screen) {
  return fmt::format(
      "\n{} {}\n"
      "  scores.csv     a score for each item with features, compared or not\n"
      "  ranking.csv    score and rank of each compared item\n"
      "  workers.csv    reliability and ties of each worker\n"
      "  pairs.csv      the outcome of each pair, with probabilities\n"
      "  model/         the trained network, for wisecrowd predict\n"
      "  run.json       how it was made: parameters, seed, warnings, timings\n"
      "\nTo score more of the same kind, give their features to the network:\n"
      "  wisecrowd predict {} --features NEW\n",
      screen.bold("Written to"), shell_word(out), shell_word(out));
}

RunRecord record_of(const ScoreLearningRequest& request, const Parameters& parameters, const ReadOptions& reading,
                    const Session& session, const RunContext& context) {
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = comparison_learner().name;
  record.seed = context.seed();
  record.threads = context.threads();
  for (const auto& [name, value] : parameters.all()) record.parameters.emplace_back(name, value);
  record.inputs.emplace_back("answers", request.answers);
  if (!request.gold.empty()) record.inputs.emplace_back("gold", request.gold);
  record.inputs.emplace_back("features", request.features.features);
  if (request.features.tasks_file()) record.inputs.emplace_back("tasks", *request.features.tasks_file());
  record.reading = reading_record(reading);
  return record;
}

}  // namespace

void learn_scores(const ScoreLearningRequest& request, Session& session) {
  // Everything that can be refused is refused before the long work.
  const Parameters parameters =
      parameters_from(comparison_learner().parameters, request.settings, comparison_learner().name);
  const NetworkSpec network = request.network.spec(LearnerInfo{});
  if (!request.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(request.out); });
  Work work(session, request.run);
  const ReadOptions reading = request.read.options();
  RunRecord record = record_of(request, parameters, reading, session, work.context());
  Stopwatch watch;
  DataReport report, feature_report;
  const auto gold = request.gold.empty() ? std::nullopt : std::optional(request.gold);
  ComparisonData data = at_stage(
      Stage::reading, [&] { return read_comparisons(request.answers, gold, reading, work.context(), &report); });
  FeatureOptions feature_options;
  feature_options.text_columns = request.features.text_columns;
  const FeatureTable features = at_stage(Stage::reading, [&] {
    return read_features(request.features.features, request.features.tasks_file(), feature_options, work.context(),
                         &feature_report);
  });
  work.check_stopped();
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  // Gold of rows that nobody compared is of use here.
  std::erase_if(record.data_warnings, [](const Warning& warning) { return warning.code == "gold_without_answers"; });
  for (const Warning& warning : feature_report.warnings) record.data_warnings.push_back(warning);
  record.gold_tasks = gold_count(data);
  if (data.has_gold()) record.gold_use = "evaluation";
  const auto rows = rows_of_items(data.answers.item_names(), features);
  ComparisonData seen;
  seen.answers = data.answers;
  ComparisonLearned learned = at_stage(Stage::reading, [&] {
    return learn_comparisons(seen, features.features, features.recipe, rows, network,
                             comparison_learning_options(parameters), work.context());
  });
  work.check_stopped();
  const double seconds = watch.lap();
  record.timings.emplace_back("fit", seconds);
  ComparisonLearnResult result =
      make_learn_result(std::move(data), std::move(learned), features.names, rows, network, std::move(record));
  ComparisonResult& crowd = result.crowd;
  std::optional<ComparisonEvaluation> uncompared;
  if (crowd.data.has_gold()) {
    crowd.evaluation = evaluate_comparisons(crowd.fit.score, crowd.fit.pair_posterior, crowd.data);
  }
  if (gold) uncompared = at_stage(Stage::reading, [&] { return score_uncompared(result, *gold, work.context()); });
  session.warn(crowd.record.data_warnings);
  session.warn(crowd.fit.warnings);
  if (!request.out.empty()) {
    session.interrupts.writes_to(request.out);
    const Status status = at_stage(Stage::writing, [&] { return write_result(result, request.out, work.context()); });
    session.interrupts.writes_to("");
    if (status == Status::cancelled) throw Stopped();
  }
  if (request.json) {
    auto json = nlohmann::ordered_json::parse(run_json(crowd));
    json["uncompared"] = uncompared ? comparison_evaluation_json(*uncompared) : nlohmann::ordered_json(nullptr);
    json["out"] = request.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(request.out);
    session.out.add_json(json);
    return;
  }
  if (request.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(comparison_summary(crowd, true, seconds, screen));
  if (uncompared) {
    session.out.add(fmt::format("\n{}   items that nobody compared, by the network\n", screen.bold("Scored")) +
                    comparison_score_lines(*uncompared));
  }
  if (!request.out.empty()) session.out.add(written_text(request.out, screen));
}

}  // namespace wisecrowd::app
