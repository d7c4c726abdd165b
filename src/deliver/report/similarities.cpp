#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/shared.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kListedClusters = 200;
constexpr std::size_t kNamedMembers = 20;   ///< named for a cluster
constexpr std::size_t kListedItems = 1000;  ///< the least certain
constexpr std::size_t kListedRaters = 1000;
constexpr double kUnsureItem = 0.9;
constexpr double kHardlyBetter = 0.85;  ///< both error rates together: such answers tell next to nothing

/// What the page shows of a result on similarities.
class SimilarityPage {
 public:
  SimilarityPage(const SimilarityResult& result, const ReportOptions& options, const RunContext& context)
      : result_(rounded_for_files(result)),
        options_(options),
        context_(context),
        answers_(result_.data.answers),
        fit_(result_.fit),
        description_(describe(answers_)),
        sizes_(cluster_sizes(fit_)) {}

  Json document() {
    Json document = document_head(result_.record, options_);
    document["answers_kind"] = std::string(Similarities::name);
    document["run"] = run_facts(result_.record, fit_, options_, answers_.content_hash());
    for (const auto add : {&SimilarityPage::add_counts, &SimilarityPage::add_warnings, &SimilarityPage::add_headlines,
                           &SimilarityPage::add_clusters, &SimilarityPage::add_items, &SimilarityPage::add_workers,
                           &SimilarityPage::add_agreement, &SimilarityPage::add_gold, &SimilarityPage::add_rest}) {
      if (context_.cancelled()) throw Cancelled();
      (this->*add)(document);
    }
    return document;
  }

 private:
  [[nodiscard]] std::string item(std::size_t i) const { return shown_name(answers_.item_names()[i]); }
  [[nodiscard]] std::string cluster(std::size_t c) const { return shown_name(fit_.cluster_names[c]); }

  void add_counts(Json& document) {
    document["counts"] = {{"items", description_.items},
                          {"pairs", description_.tasks},
                          {"workers", description_.workers},
                          {"answers", description_.answers},
                          {"clusters", fit_.cluster_count()},
                          {"answers_per_worker", number(description_.answers_per_worker.mean)},
                          {"items_without_answers", description_.bare_items}};
  }

  void add_warnings(Json& document) {
    const RunRecord& record = result_.record;
    WarningList list(record);
    list.add_new(record.data_warnings);
    list.add_new(fit_.warnings);
    list.add_new(description_.warnings);
    list.add_stopped(fit_, "clusters and workers are", "the clusters");
    list.add_unmeasured(
        "the method was given the truth, so it is no test of the clusters",
        "without items whose cluster is known, how good the clusters are is what the method believes of itself",
        "learn the cluster of a hundred random items");
    document["warnings"] = list.json();
  }

  void add_headlines(Json& document) {
    Json list = Json::array();
    if (result_.evaluation) {
      const SimilarityEvaluation& e = *result_.evaluation;
      const bool clusters = e.items > 0;
      list.push_back(with_interval(
          headline(
              "accuracy", clusters ? "Items in the right cluster" : "Pairs that are right",
              number(e.accuracy.value, kHeadlineDigits), "share",
              clusters
                  ? fmt::format("Of {} whose cluster is known and which the method did not see, each true cluster "
                                "matched with one found. Normalised mutual information {:.3f}, adjusted Rand "
                                "index {:.3f}.",
                                counted(e.items, "item"), e.nmi, e.adjusted_rand)
                  : fmt::format("Of {} that gold knows and that the method did not see.", counted(e.pairs, "pair")),
              "measured on gold"),
          e.accuracy.low, e.accuracy.high));
    } else {
      double sure = 0;
      for (const double p : fit_.probability) sure += p;
      list.push_back(headline(
          "accuracy", "Expected share of items in the right cluster",
          number(sure / static_cast<double>(std::max<std::size_t>(fit_.item_count, 1)), kHeadlineDigits), "share",
          "What the method believes of itself, rather too much. Nothing was measured: that takes items "
          "whose cluster is known.",
          "estimated by the model"));
    }
    list.push_back(headline("clusters", "Clusters", fit_.cluster_count(), "count",
                            sizes_.empty() ? "There are no items."
                                           : fmt::format("The largest has {}, the smallest {}.",
                                                         counted(sizes_.front(), "item"), grouped(sizes_.back())),
                            "counted"));
    if (description_.triangles > 0) {
      list.push_back(
          headline("contradictions", "Triangles that contradict themselves",
                   number(description_.contradicting_share(), kHeadlineDigits), "share",
                   fmt::format("Two pairs of three items are the same, the third is different, which cannot be. "
                               "By the majority of each pair, of {}{}.",
                               counted(description_.triangles, "triangle"),
                               description_.triangles_sampled ? " drawn at random" : ""),
                   "counted"));
    }
    list.push_back(
        headline("coverage", "Pairs that were answered", number(description_.coverage, kHeadlineDigits), "share",
                 fmt::format("An item stands in {:.3g} answered pairs on average.", description_.pairs_per_item.mean),
                 "counted"));
    document["headlines"] = std::move(list);
    std::string words = fmt::format("{} were put into {} from {} by {}; method: {}.", counted(fit_.item_count, "item"),
                                    counted(fit_.cluster_count(), "cluster"), counted(description_.answers, "answer"),
                                    counted(description_.workers, "worker"),
                                    options_.method_title.empty() ? result_.record.method : options_.method_title);
    if (result_.evaluation) {
      words +=
          fmt::format(" Of the {} with known truth, {} are right.", result_.evaluation->items > 0 ? "items" : "pairs",
                      percent(result_.evaluation->accuracy.value));
    }
    document["verdict"] = words + serious_words(document["warnings"], "the clusters");
  }

  void add_clusters(Json& document) {
    const std::size_t shown = std::min(sizes_.size(), kListedClusters);
    std::vector<Json> members(shown, Json::array());
    std::vector<double> sure(sizes_.size(), 0);
    std::vector<std::uint64_t> unsure(sizes_.size(), 0);
    for (std::size_t i = 0; i < fit_.item_count; ++i) {
      const std::uint32_t own = fit_.cluster[i];
      sure[own] += fit_.probability[i];
      unsure[own] += fit_.probability[i] < kUnsureItem ? 1 : 0;
      if (own < shown && members[own].size() < kNamedMembers) members[own].push_back(item(i));
    }
    Json table = {{"total", sizes_.size()}};
    for (std::size_t c = 0; c < shown; ++c) {
      table["name"].push_back(cluster(c));
      table["items"].push_back(sizes_[c]);
      table["sure"].push_back(number(sure[c] / static_cast<double>(sizes_[c])));
      table["unsure"].push_back(unsure[c]);
      table["members"].push_back(std::move(members[c]));
    }
    if (shown < sizes_.size()) {
      sampling_.push_back(
          fmt::format("Of {} clusters the {} largest are listed.", grouped(sizes_.size()), grouped(shown)));
    }
    document["clusters"] = std::move(table);
  }

  void add_items(Json& document) {
    std::vector<std::uint32_t> pairs_of(fit_.item_count, 0);
    for (std::size_t p = 0; p < answers_.task_count(); ++p) {
      ++pairs_of[answers_.pairs()[p].left];
      ++pairs_of[answers_.pairs()[p].right];
    }
    Order all(fit_.item_count);
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    const Order chosen = first_by(
        all, kListedItems, [&](std::uint32_t a, std::uint32_t b) { return fit_.probability[a] < fit_.probability[b]; });
    const bool gold = result_.evaluation && !result_.data.gold.empty();
    Json table = {{"total", fit_.item_count}};
    for (const std::uint32_t i : chosen) {
      table["name"].push_back(item(i));
      table["cluster"].push_back(cluster(fit_.cluster[i]));
      table["probability"].push_back(number(fit_.probability[i]));
      table["pairs"].push_back(pairs_of[i]);
      if (!gold) continue;
      const std::uint32_t truth = result_.data.gold[i];
      table["truth"].push_back(truth == kNoCluster ? Json() : Json(shown_name(result_.data.gold_clusters[truth])));
    }
    if (chosen.size() < fit_.item_count) {
      sampling_.push_back(fmt::format("Of {} items the {} least certain are listed.", grouped(fit_.item_count),
                                      grouped(chosen.size())));
    }
    document["items"] = std::move(table);
  }

  void add_workers(Json& document) {
    Order all(result_.workers.size());
    for (std::uint32_t w = 0; w < all.size(); ++w) all[w] = w;
    const Order chosen = first_by(all, kListedRaters, [&](std::uint32_t a, std::uint32_t b) {
      return result_.workers[a].answers > result_.workers[b].answers;
    });
    Json table = {{"total", result_.workers.size()}, {"chosen_by", "those with most answers"}};
    for (const std::uint32_t w : chosen) {
      const SimilarityWorkerSummary& worker = result_.workers[w];
      Json why = Json::array();
      if (worker.answers > 0 && worker.false_different + worker.false_same > kHardlyBetter) why.push_back("guesses");
      table["name"].push_back(shown_name(answers_.worker_names()[w]));
      table["answers"].push_back(worker.answers);
      table["said_same"].push_back(
          worker.answers == 0 ? Json()
                              : number(static_cast<double>(worker.said_same) / static_cast<double>(worker.answers)));
      table["false_different"].push_back(number(worker.false_different));
      table["false_same"].push_back(number(worker.false_same));
      table["agreement"].push_back(number(worker.agreement));
      table["gold_accuracy"].push_back(number(worker.gold_accuracy));
      table["why"].push_back(std::move(why));
    }
    if (chosen.size() < result_.workers.size()) {
      sampling_.push_back(fmt::format("Of {} workers the {} with most answers are listed.",
                                      grouped(result_.workers.size()), grouped(chosen.size())));
    }
    document["workers"] = std::move(table);
  }

  void add_agreement(Json& document) {
    Json examples = Json::array();
    for (const auto& triangle : description_.examples) {
      examples.push_back({item(triangle.a), item(triangle.b), item(triangle.c)});
    }
    document["pairs"] = {{"coverage", number(description_.coverage)},
                         {"same_share", number(description_.same_share)},
                         {"agreement", number(description_.agreement)},
                         {"components", description_.item_components},
                         {"triangles", description_.triangles},
                         {"triangles_sampled", description_.triangles_sampled},
                         {"contradicting", description_.contradicting_triangles},
                         {"contradictions", std::move(examples)}};
  }

  void add_gold(Json& document) {
    if (!result_.evaluation) return;
    const SimilarityEvaluation& e = *result_.evaluation;
    document["gold"] = {{"items", e.items},
                        {"clusters", e.clusters},
                        {"true_clusters", e.true_clusters},
                        {"accuracy", number(e.accuracy.value)},
                        {"low", number(e.accuracy.low)},
                        {"high", number(e.accuracy.high)},
                        {"nmi", number(e.nmi)},
                        {"adjusted_rand", number(e.adjusted_rand)},
                        {"pairs", e.pairs},
                        {"pair_precision", number(e.pair_precision)},
                        {"pair_recall", number(e.pair_recall)},
                        {"pair_f1", number(e.pair_f1)}};
  }

  void add_rest(Json& document) {
    if (fit_.iterations > 1) document["convergence"] = convergence_facts(fit_, true, sampling_);
    document["sampling"] = sampling_;
  }

  const SimilarityResult result_;  ///< with the digits of the files
  const ReportOptions& options_;
  const RunContext& context_;
  const SimilarityAnswers& answers_;
  const SimilarityFit& fit_;
  const SimilarityDescription description_;
  const std::vector<std::uint64_t> sizes_;
  std::vector<std::string> sampling_;
};

}  // namespace

Json similarities_document(const SimilarityResult& result, const ReportOptions& options, const RunContext& context) {
  return SimilarityPage(result, options, context).document();
}

}  // namespace wisecrowd::report
