#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "similarity_run.hpp"
#include "similarity_text.hpp"
#include "wisecrowd/read_similarities.hpp"

namespace wisecrowd::app {

void evaluate_clusters_file(const KindRequest& request, std::vector<Warning> warnings, Session& session) {
  Work work(session, request.run);
  ReadFlags flags = request.read;
  flags.columns.clear();
  ReadOptions options = flags.options();
  options.safe_names = false;  // they are safe already
  ReadOptions reading = options;
  read_columns(request.read.columns, "--columns", {&reading.task_column, &reading.label_column},
               "--columns item,cluster");
  DataReport report;
  const LabelTable found =
      at_stage(Stage::reading, [&] { return read_label_table(request.answers, reading, work.context(), &report); });
  warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
  // The items are those of the table, compared or not.
  SimilarityAnswersBuilder builder;
  for (std::size_t i = 0; i < found.tasks.size(); ++i) builder.add_item(found.tasks[i]);
  SimilarityData data;
  data.answers = builder.build();
  std::vector<std::pair<std::string_view, std::uint32_t>> cluster_of;
  for (std::size_t i = 0; i < found.tasks.size(); ++i) {
    cluster_of.emplace_back(found.tasks[i], static_cast<std::uint32_t>(found.labels[i]));
  }
  std::sort(cluster_of.begin(), cluster_of.end());
  std::vector<std::uint32_t> cluster;
  const NameTable& items = data.answers.item_names();
  for (std::size_t i = 0; i < items.size(); ++i) {
    cluster.push_back(
        std::lower_bound(cluster_of.begin(), cluster_of.end(), std::pair(items[i], std::uint32_t{0}))->second);
  }
  DataReport gold_report;
  at_stage(Stage::reading, [&] { read_similarity_gold(request.gold, options, work.context(), data, &gold_report); });
  work.check_stopped();
  warnings.insert(warnings.end(), gold_report.warnings.begin(), gold_report.warnings.end());
  if (gold_count(data) == 0) {
    throw Failure(EX_DATAERR, fmt::format("no item of {} stands in {}: are both of the same items?",
                                          printable(request.gold), printable(request.answers)));
  }
  const SimilarityEvaluation evaluation = evaluate_similarities(cluster, data);
  session.warn(warnings);
  const std::size_t without = data.gold.empty() ? 0 : items.size() - gold_count(data);
  if (request.json) {
    auto json = similarity_evaluation_json(evaluation);
    json["items_without_gold"] = without;
    json["warnings"] = warnings_json(warnings);
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  std::string text =
      fmt::format("{}   {} against gold", screen.bold("Scored"),
                  evaluation.items > 0 ? counted(evaluation.items, "item") : counted(evaluation.pairs, "pair"));
  if (without > 0) text += fmt::format("; {} without gold", grouped(without));
  session.out.add(text + "\n" + similarity_score_lines(evaluation, screen));
}

}  // namespace wisecrowd::app
