#include "similarity_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "shared_json.hpp"
#include "table.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kShownRaters = 3;  // of the best, and of the worst
constexpr std::size_t kShownClusters = 8;
constexpr std::size_t kShownMembers = 3;

std::string cluster_table(const SimilarityResult& result, const Screen& screen) {
  const SimilarityFit& fit = result.fit;
  const auto sizes = cluster_sizes(fit);
  std::vector<std::vector<std::size_t>> members(sizes.size());
  std::vector<double> sure(sizes.size(), 0);
  for (std::size_t i = 0; i < fit.item_count; ++i) {
    sure[fit.cluster[i]] += fit.probability[i];
    if (members[fit.cluster[i]].size() < kShownMembers) members[fit.cluster[i]].push_back(i);
  }
  Table table({{"cluster", Column::Side::left}, {"items"}, {"sure"}, {"for example", Column::Side::left}});
  for (std::size_t c = 0; c < std::min(sizes.size(), kShownClusters); ++c) {
    std::string examples;
    for (const std::size_t i : members[c]) {
      examples += fmt::format("{}{}", examples.empty() ? "" : ", ", printable(result.data.answers.item_names()[i]));
    }
    table.add({printable(fit.cluster_names[c]), grouped(sizes[c]), percent(sure[c] / static_cast<double>(sizes[c])),
               examples});
  }
  if (sizes.size() > kShownClusters) table.add({fmt::format("… {} more", grouped(sizes.size() - kShownClusters))});
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

std::string rate_table(const SimilarityResult& result, const Screen& screen) {
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    if (result.workers[w].answers > 0) order.push_back(w);
  }
  const auto error = [&](std::size_t w) { return result.workers[w].false_different + result.workers[w].false_same; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(error(a), a) < std::pair(error(b), b); });
  Table table(
      {{"worker", Column::Side::left}, {"answers"}, {"wrong if same"}, {"wrong if different"}, {"as clusters"}});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool shown = i < kShownRaters || i + kShownRaters >= order.size();
    if (!shown && i == kShownRaters) table.add({fmt::format("… {} more", grouped(order.size() - 2 * kShownRaters))});
    if (!shown) continue;
    const SimilarityWorkerSummary& worker = result.workers[order[i]];
    table.add({printable(result.data.answers.worker_names()[order[i]]), grouped(worker.answers),
               percent(worker.false_different), percent(worker.false_same), percent(worker.agreement)});
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

}  // namespace

std::string similarity_data_line(const SimilarityAnswers& answers, const Screen& screen) {
  return fmt::format("{}     {} by {} on {} of {}, same or different\n", screen.bold("Data"),
                     counted(answers.answer_count(), "answer"), counted(answers.worker_count(), "worker"),
                     counted(answers.task_count(), "pair"), counted(answers.item_count(), "item"));
}

std::string similarity_score_lines(const SimilarityEvaluation& evaluation, const Screen& screen) {
  Table table({{"", Column::Side::left}, {""}, {"95 %"}});
  const bool clusters = evaluation.items > 0;
  table.add({clusters ? "items in the right cluster" : "pairs that are right", percent(evaluation.accuracy.value),
             fmt::format("{} – {}", percent(evaluation.accuracy.low), percent(evaluation.accuracy.high))});
  if (clusters) {
    table.add({"normalised mutual information", fixed(evaluation.nmi, 3), ""});
    table.add({"adjusted Rand index", fixed(evaluation.adjusted_rand, 3), ""});
    table.add({"clusters found, true", fmt::format("{}, {}", evaluation.clusters, evaluation.true_clusters), ""});
  }
  table.add({"precision of pairs", percent(evaluation.pair_precision), ""});
  table.add({"recall of pairs", percent(evaluation.pair_recall), ""});
  table.add({"F1 of pairs", fixed(evaluation.pair_f1, 3), ""});
  return table.text(screen.width, screen.dim_on(), screen.off());
}

nlohmann::ordered_json similarity_evaluation_json(const SimilarityEvaluation& evaluation) {
  return {{"items", evaluation.items},
          {"clusters", evaluation.clusters},
          {"true_clusters", evaluation.true_clusters},
          {"accuracy", estimate_json(evaluation.accuracy)},
          {"nmi", evaluation.nmi},
          {"adjusted_rand", evaluation.adjusted_rand},
          {"pairs", evaluation.pairs},
          {"pair_precision", evaluation.pair_precision},
          {"pair_recall", evaluation.pair_recall},
          {"pair_f1", evaluation.pair_f1}};
}

std::string similarity_summary(const SimilarityResult& result, bool is_default, double seconds, const Screen& screen) {
  std::string text = similarity_data_line(result.data.answers, screen);
  text +=
      fmt::format("{}   {}{}, {}: {}\n", screen.bold("Method"), result.record.method, is_default ? " (default)" : "",
                  duration(seconds), counted(result.fit.cluster_count(), "cluster"));
  if (!result.fit.explanation.empty()) text += "         " + wrapped(result.fit.explanation, screen.width, 9) + "\n";
  text += "\n" + cluster_table(result, screen);
  if (result.evaluation) {
    text += fmt::format("\n{}   against gold of {}\n", screen.bold("Scored"),
                        result.evaluation->items > 0 ? counted(result.evaluation->items, "item")
                                                     : counted(result.evaluation->pairs, "pair"));
    text += similarity_score_lines(*result.evaluation, screen);
  }
  const std::string workers = rate_table(result, screen);
  if (!workers.empty()) text += "\n" + workers;
  return text;
}

std::string similarity_description_text(const SimilarityDescription& d, const SimilarityAnswers& answers,
                                        const Screen& screen) {
  std::string text = similarity_data_line(answers, screen) + "\n";
  Table counts({{"", Column::Side::left}, {"least"}, {"25 %"}, {"median"}, {"mean"}, {"75 %"}, {"most"}});
  const auto add = [&](const char* name, const Distribution& v) {
    const auto number = [](double x) { return fmt::format("{:.4g}", x); };
    counts.add({name, number(v.minimum), number(v.lower_quartile), number(v.median), number(v.mean),
                number(v.upper_quartile), number(v.maximum)});
  };
  add("pairs per item", d.pairs_per_item);
  add("answers per pair", d.answers_per_task);
  add("answers per worker", d.answers_per_worker);
  text += counts.text(screen.width, screen.dim_on(), screen.off()) + "\n";
  Table facts({{"", Column::Side::left}, {""}});
  facts.add({"pairs that were answered, of all", percent(d.coverage)});
  facts.add({"answers that say the same", percent(d.same_share)});
  facts.add({"answers to one pair that agree", percent(d.agreement)});
  facts.add({"parts of items never compared with each other", grouped(d.item_components)});
  facts.add({"items compared with none", grouped(d.bare_items)});
  facts.add(
      {fmt::format("triangles looked at{}", d.triangles_sampled ? " (drawn at random)" : ""), grouped(d.triangles)});
  facts.add({"of these, contradictions", percent(d.contradicting_share())});
  text += facts.text(screen.width, screen.dim_on(), screen.off());
  for (const auto& triangle : d.examples) {
    const auto name = [&](std::uint32_t item) { return printable(answers.item_names()[item]); };
    text +=
        fmt::format("  {0} = {1}, {1} = {2}, but {0} ≠ {2}\n", name(triangle.a), name(triangle.b), name(triangle.c));
  }
  return text;
}

nlohmann::ordered_json similarity_description_json(const SimilarityDescription& d, const SimilarityAnswers& answers,
                                                   const std::vector<Warning>& warnings) {
  nlohmann::ordered_json json = {{"answers_kind", "similarities"},
                                 {"items", d.items},
                                 {"pairs", d.tasks},
                                 {"workers", d.workers},
                                 {"answers", d.answers},
                                 {"hash", fmt::format("{:016x}", answers.content_hash())},
                                 {"silent_workers", d.silent_workers},
                                 {"items_without_answers", d.bare_items},
                                 {"coverage", d.coverage},
                                 {"pairs_per_item", distribution_json(d.pairs_per_item)},
                                 {"answers_per_pair", distribution_json(d.answers_per_task)},
                                 {"answers_per_worker", distribution_json(d.answers_per_worker)},
                                 {"components", d.item_components},
                                 {"same_share", d.same_share},
                                 {"agreement", d.agreement},
                                 {"triangles", d.triangles},
                                 {"triangles_sampled", d.triangles_sampled},
                                 {"contradicting_triangles", d.contradicting_triangles}};
  json["contradictions"] = nlohmann::ordered_json::array();
  for (const auto& triangle : d.examples) {
    const auto name = [&](std::uint32_t item) { return std::string(answers.item_names()[item]); };
    json["contradictions"].push_back({name(triangle.a), name(triangle.b), name(triangle.c)});
  }
  json["warnings"] = warnings_json(warnings);
  return json;
}

}  // namespace wisecrowd::app
