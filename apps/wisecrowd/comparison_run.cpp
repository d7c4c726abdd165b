#include <fmt/core.h>

#include <unordered_map>

#include "comparison_text.hpp"
#include "kind_run.hpp"
#include "wisecrowd/comparison_aggregator.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd::app {
namespace {

struct ComparisonSurface {
  using Kind = Comparisons;

  static ComparisonData read(const KindRequest& request, const RunContext& context, DataReport& report) {
    const auto gold = request.gold.empty() ? std::nullopt : std::optional(request.gold);
    ComparisonData data = read_comparisons(request.answers, gold, request.read.options(), context, &report);
    if (!request.read.item_features.empty()) {
      data.features = read_item_features(request.read.item_features, data.answers.item_names(), ReadOptions(), context);
    }
    return data;
  }
  static std::vector<Warning> warnings(const ComparisonData& data) {
    return wisecrowd::describe(data.answers).warnings;
  }
  static std::uint64_t known(const ComparisonData& data) { return gold_count(data); }
  static void forget_gold(ComparisonData& data) {
    data.gold.clear();
    data.gold_scores.clear();
  }
  static ComparisonEvaluation evaluate(const ComparisonData& data, const ComparisonFit& fit) {
    return evaluate_comparisons(fit.score, fit.pair_posterior, data);
  }
  static double badness(const ComparisonEvaluation& evaluation) {
    if (evaluation.accuracy) return -evaluation.accuracy->value;
    return -evaluation.kendall.value_or(-1);
  }

  static std::string data_line(const ComparisonData& data, const Screen& screen) {
    return comparison_data_line(data.answers, screen);
  }
  static std::string summary(const ComparisonResult& result, bool is_default, double seconds, const Screen& screen) {
    return comparison_summary(result, is_default, seconds, screen);
  }
  static std::string score_lines(const ComparisonEvaluation& evaluation, const ComparisonData&, const Screen&) {
    return comparison_score_lines(evaluation);
  }
  static Json score_json(const ComparisonEvaluation& evaluation, const ComparisonData&) {
    return comparison_evaluation_json(evaluation);
  }
  static std::string description_text(const ComparisonData& data, const Screen& screen) {
    return comparison_description_text(wisecrowd::describe(data.answers), data.answers, screen);
  }
  static Json description_json(const ComparisonData& data, const std::vector<Warning>& warnings) {
    return comparison_description_json(wisecrowd::describe(data.answers), data.answers, warnings);
  }

  static constexpr const char* kGoldUnit = "pair";
  static constexpr const char* kScore = "log probability";
  static constexpr const char* kScoreKey = "log_probability";
  static constexpr const char* kAboutScore =
      "log probability is the mean logarithm of the probability that a method, fitted to the other answers, gives to a "
      "hidden one: higher is better. A difference whose interval contains 0 means nothing.";
  static constexpr const char* kFiles =
      "  ranking.csv    score and rank of each item, with intervals\n"
      "  workers.csv    reliability, side bias and ties of each worker\n"
      "  pairs.csv      the outcome of each pair, with probabilities\n";
};

/// `request.answers` is a ranking: a table of items with a score each.
void evaluate_ranking(const KindRequest& request, std::vector<Warning> warnings, Session& session) {
  Work work(session, request.run);
  DataReport report;
  ReadFlags flags = request.read;
  flags.columns.clear();
  ReadOptions options = flags.options();
  options.duplicates = DuplicatePolicy::keep_last;
  const ItemScores ranked =
      at_stage(Stage::reading, [&] { return read_item_scores(request.answers, options, work.context(), &report); });
  warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
  work.check_stopped();
  // Pairs of gold are read like comparisons, of which they are the outcomes.
  ComparisonData gold =
      at_stage(Stage::reading, [&] { return gold_for_ranking(request.gold, ranked.items, work.context(), &report); });
  warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
  work.check_stopped();
  std::vector<double> scores(gold.answers.item_count(), 0);
  std::unordered_map<std::string_view, double> score_of;
  for (std::size_t i = 0; i < ranked.items.size(); ++i) score_of.emplace(ranked.items[i], ranked.scores[i]);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = score_of.at(gold.answers.item_names()[i]);
  const ComparisonEvaluation evaluation = evaluate_comparisons(scores, {}, gold);
  session.warn(warnings);
  if (request.json) {
    auto json = comparison_evaluation_json(evaluation);
    json["warnings"] = warnings_json(warnings);
    session.out.add_json(json);
    return;
  }
  session.out.add(
      fmt::format("{}   {} against gold\n", session.out_screen.bold("Scored"), counted(ranked.items.size(), "item")) +
      comparison_score_lines(evaluation));
}

}  // namespace

KindCommands comparison_commands() {
  return {Comparisons::name, aggregate_kind<ComparisonSurface>, describe_kind<ComparisonSurface>,
          compare_kind<ComparisonSurface>, evaluate_ranking};
}

}  // namespace wisecrowd::app
