#include "comparison_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "number_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kShownBestItems = 5;
constexpr std::size_t kShownWorstItems = 2;
constexpr std::size_t kShownJudges = 3;  // of the best, and of the worst

std::string between(double low, double high) { return fmt::format("{} – {}", short_number(low), short_number(high)); }

std::string item_table(const ComparisonResult& result, const Screen& screen) {
  const ComparisonFit& fit = result.fit;
  const std::vector<ItemId> order = ranking(fit);
  const bool intervals =
      std::any_of(fit.deviation.begin(), fit.deviation.end(), [](double d) { return std::isfinite(d); });
  Table table(intervals ? std::vector<Column>{{"rank"}, {"95 %"}, {"item", Column::Side::left}, {"score"}, {"95 %"}}
                        : std::vector<Column>{{"rank"}, {"item", Column::Side::left}, {"score"}});
  const auto add = [&](std::vector<std::string> row) {
    if (!intervals) row = {row[0], row[2], row.size() > 3 ? row[3] : ""};
    table.add(row);
  };
  for (std::size_t r = 0; r < order.size(); ++r) {
    const bool shown = r < kShownBestItems || r + kShownWorstItems >= order.size();
    if (!shown && r == kShownBestItems) {
      add({"…", "", fmt::format("{} more", grouped(order.size() - kShownBestItems - kShownWorstItems))});
    }
    if (!shown) continue;
    const std::size_t i = index(order[r]);
    add({short_number(fit.rank[i]), between(fit.rank_low[i], fit.rank_high[i]),
         printable(result.data.answers.item_names()[i]), fixed(fit.score[i], 3), between(fit.low[i], fit.high[i])});
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

std::string judge_table(const ComparisonResult& result, const Screen& screen) {
  const bool modelled = std::any_of(result.workers.begin(), result.workers.end(),
                                    [](const ComparisonWorkerSummary& w) { return std::isfinite(w.reliability); });
  const auto merit = [&](const ComparisonWorkerSummary& w) { return modelled ? w.reliability : w.agreement; };
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    if (result.workers[w].answers > 0 && !std::isnan(merit(result.workers[w]))) order.push_back(w);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-merit(result.workers[a]), a) < std::pair(-merit(result.workers[b]), b);
  });
  Table table({{"worker", Column::Side::left}, {"answers"}, {"reliability"}, {"agrees"}, {"left"}, {"ties"}});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool shown = i < kShownJudges || i + kShownJudges >= order.size();
    if (!shown && i == kShownJudges) table.add({fmt::format("… {} more", grouped(order.size() - 2 * kShownJudges))});
    if (!shown) continue;
    const ComparisonWorkerSummary& worker = result.workers[order[i]];
    table.add({printable(result.data.answers.worker_names()[order[i]]), grouped(worker.answers),
               fixed(worker.reliability, 3), percent(worker.agreement), percent(worker.left_share),
               percent(worker.tie_rate)});
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

nlohmann::ordered_json optional_json(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

std::string comparison_data_line(const ComparisonAnswers& answers, const Screen& screen) {
  return fmt::format("{}     {} by {} of {} in {}\n", screen.bold("Data"),
                     counted(answers.answer_count(), "comparison"), counted(answers.worker_count(), "worker"),
                     counted(answers.item_count(), "item"), counted(answers.task_count(), "pair"));
}

std::string comparison_score_lines(const ComparisonEvaluation& evaluation) {
  std::string text;
  const auto share = [](const Estimate& e) {
    return fmt::format("{} ({} – {})", percent(e.value), percent(e.low), percent(e.high));
  };
  if (evaluation.accuracy) {
    text +=
        fmt::format("  outcomes of {} right   {}\n", counted(evaluation.pairs, "pair"), share(*evaluation.accuracy));
  }
  if (evaluation.ordered) {
    text += fmt::format("  {} ordered rightly by the scores   {}\n",
                        counted(evaluation.decisive_pairs, "decisive pair"), share(*evaluation.ordered));
  }
  if (evaluation.kendall) {
    text +=
        fmt::format("  {} of known quality   Kendall's tau {}, Spearman's rho {}\n", counted(evaluation.items, "item"),
                    fixed(*evaluation.kendall, 3), fixed(evaluation.spearman.value_or(std::nan("")), 3));
  }
  return text;
}

nlohmann::ordered_json comparison_evaluation_json(const ComparisonEvaluation& evaluation) {
  nlohmann::ordered_json json = {{"pairs", evaluation.pairs}};
  json["accuracy"] = evaluation.accuracy ? nlohmann::ordered_json(estimate_json(*evaluation.accuracy)) : nullptr;
  json["decisive_pairs"] = evaluation.decisive_pairs;
  json["ordered"] = evaluation.ordered ? nlohmann::ordered_json(estimate_json(*evaluation.ordered)) : nullptr;
  json["items"] = evaluation.items;
  json["kendall"] = optional_json(evaluation.kendall);
  json["spearman"] = optional_json(evaluation.spearman);
  return json;
}

std::string comparison_summary(const ComparisonResult& result, bool is_default, double seconds, const Screen& screen) {
  std::string text = comparison_data_line(result.data.answers, screen);
  text += fmt::format("{}   {}{}, {}\n", screen.bold("Method"), result.record.method, is_default ? " (default)" : "",
                      duration(seconds));
  if (!result.fit.explanation.empty()) text += "  " + wrapped(result.fit.explanation, screen.width, 2) + "\n";
  text += "\n" + item_table(result, screen);
  if (!result.fit.feature_effect.empty()) {
    text += "\n";
    for (std::size_t f = 0; f < result.fit.feature_effect.size(); ++f) {
      text += fmt::format("  each unit of {} adds {} to the score, which the ranking leaves out\n",
                          printable(result.data.features.names[f]), short_number(result.fit.feature_effect[f]));
    }
  }
  if (result.evaluation) {
    text += fmt::format("\n{}   against gold\n", screen.bold("Scored")) + comparison_score_lines(*result.evaluation);
  }
  const std::string workers = judge_table(result, screen);
  if (!workers.empty()) text += "\n" + workers;
  return text;
}

std::string comparison_description_text(const ComparisonDescription& d, const ComparisonAnswers& answers,
                                        const Screen& screen) {
  std::string text = comparison_data_line(answers, screen) + "\n";
  Table counts(
      {{"comparisons per", Column::Side::left}, {"least"}, {"25 %"}, {"median"}, {"mean"}, {"75 %"}, {"most"}});
  const auto row = [&](const std::string& name, const Distribution& v) {
    return std::vector<std::string>{name,
                                    short_number(v.minimum),
                                    short_number(v.lower_quartile),
                                    short_number(v.median),
                                    short_number(v.mean),
                                    short_number(v.upper_quartile),
                                    short_number(v.maximum)};
  };
  counts.add(row("item", d.comparisons_per_item));
  counts.add(row("pair", d.answers_per_task));
  counts.add(row("worker", d.answers_per_worker));
  text += counts.text(screen.width, screen.dim_on(), screen.off()) + "\n";
  text += fmt::format("  ties               {}\n", percent(d.tie_share));
  if (std::isnan(d.left_share.value)) {
    text += "  left side named    –\n";
  } else {
    text += fmt::format("  left side named    {} of the others ({} – {})\n", percent(d.left_share.value),
                        percent(d.left_share.low), percent(d.left_share.high));
  }
  text += fmt::format("  answers agree      {} of pairs of answers to one pair of items; alpha {}\n",
                      percent(d.agreement), fixed(d.alpha, 3));
  text += fmt::format("  items are joined   {}\n",
                      d.item_groups == 1 ? "all, by comparisons" : counted(d.item_groups, "group") + " apart");
  text += fmt::format("  wins lead around   {}\n",
                      d.strong_groups == 1
                          ? "from every item to every other: scores have a maximum"
                          : fmt::format("within {} parts only: scores need a prior", grouped(d.strong_groups)));
  return text;
}

nlohmann::ordered_json comparison_description_json(const ComparisonDescription& d, const ComparisonAnswers& answers,
                                                   const std::vector<Warning>& warnings) {
  return {{"answers_kind", "comparisons"},
          {"items", d.items},
          {"pairs", d.tasks},
          {"workers", d.workers},
          {"answers", d.answers},
          {"hash", fmt::format("{:016x}", answers.content_hash())},
          {"comparisons_per_item", distribution_json(d.comparisons_per_item)},
          {"answers_per_pair", distribution_json(d.answers_per_task)},
          {"answers_per_worker", distribution_json(d.answers_per_worker)},
          {"tie_share", d.tie_share},
          {"sides_known", answers.sides_known()},
          {"left_share", estimate_json(d.left_share)},
          {"agreement", d.agreement},
          {"krippendorff_alpha", d.alpha},
          {"item_groups", d.item_groups},
          {"strong_groups", d.strong_groups},
          {"warnings", warnings_json(warnings)}};
}

}  // namespace wisecrowd::app
