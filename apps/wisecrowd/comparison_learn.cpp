#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "comparison_run.hpp"
#include "comparison_text.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "wisecrowd/comparison_learn_result.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd::app {
namespace {

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

constexpr const char* kScoreFiles =
    "  scores.csv     a score for each item with features, compared or not\n"
    "  ranking.csv    score and rank of each compared item\n"
    "  workers.csv    reliability and ties of each worker\n"
    "  pairs.csv      the outcome of each pair, with probabilities\n"
    "  model/         the trained network, for wisecrowd predict\n";

}  // namespace

void learn_scores(const ItemLearningRequest& request, Session& session) {
  // Everything that can be refused is refused before the long work.
  const Parameters parameters =
      parameters_from(comparison_learner().parameters, request.settings, comparison_learner().name);
  const NetworkSpec network = request.network.spec(LearnerInfo{});
  if (!request.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(request.out); });
  Work work(session, request.run);
  ItemLearning learning = begin_item_learning(request, comparison_learner(), parameters, session, work.context());
  DataReport report;
  ComparisonData data = at_stage(Stage::reading, [&] {
    return read_comparisons(request.answers, learning.gold, learning.reading, work.context(), &report);
  });
  // Gold of rows that nobody compared is of use here.
  std::erase_if(report.warnings, [](const Warning& warning) { return warning.code == "gold_without_answers"; });
  const auto rows = read_item_features(request, data.answers.item_names(), report, learning, work);
  learning.record.gold_tasks = gold_count(data);
  if (data.has_gold()) learning.record.gold_use = "evaluation";
  ComparisonData seen;
  seen.answers = data.answers;
  const FeatureTable& features = learning.features;
  ComparisonLearned learned = at_stage(Stage::reading, [&] {
    return learn_comparisons(seen, features.features, features.recipe, rows, network,
                             comparison_learning_options(parameters), work.context());
  });
  work.check_stopped();
  const double seconds = learning.watch.lap();
  learning.record.timings.emplace_back("fit", seconds);
  ComparisonLearnResult result =
      make_learn_result(std::move(data), std::move(learned), features.names, rows, network, std::move(learning.record));
  ComparisonResult& crowd = result.crowd;
  std::optional<ComparisonEvaluation> uncompared;
  if (crowd.data.has_gold()) {
    crowd.evaluation = evaluate_comparisons(crowd.fit.score, crowd.fit.pair_posterior, crowd.data);
  }
  if (learning.gold) {
    uncompared = at_stage(Stage::reading, [&] { return score_uncompared(result, *learning.gold, work.context()); });
  }
  session.warn(crowd.record.data_warnings);
  session.warn(crowd.fit.warnings);
  write_learned(result, request, session, work);
  if (request.json) {
    auto json = learned_json(run_json(crowd), request);
    json["uncompared"] = uncompared ? comparison_evaluation_json(*uncompared) : nlohmann::ordered_json(nullptr);
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
  if (request.out.empty()) return;
  session.out.add(written_files(request.out, kScoreFiles, screen) +
                  fmt::format("\nTo score more of the same kind, give their features to the network:\n"
                              "  wisecrowd predict {} --features NEW\n",
                              shell_word(request.out)));
}

}  // namespace wisecrowd::app
