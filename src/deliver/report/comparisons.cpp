#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/shared.hpp"
#include "wisecrowd/comparison_result.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostRankedItems = 1000, kMostListedJudges = 1000;
constexpr std::size_t kFewestJudged = 10;  ///< answers before a worker is called anything
constexpr double kAgainst = 0.4, kOneSided = 0.85, kHardlyAgreeing = 0.1;

/// What the page shows of a result on comparisons.
class ComparisonPage {
 public:
  ComparisonPage(const ComparisonResult& result, const ReportOptions& options, const RunContext& context)
      : result_(rounded_for_files(result)),
        description_(describe(result_.data.answers)),
        options_(options),
        context_(context),
        answers_(result_.data.answers),
        fit_(result_.fit) {}

  Json document() {
    Json document = document_head(result_.record, options_);
    document["answers_kind"] = std::string(Comparisons::name);
    document["run"] = run_facts(result_.record, fit_, options_, answers_.content_hash());
    for (const auto add : {&ComparisonPage::add_counts, &ComparisonPage::add_warnings, &ComparisonPage::add_headlines,
                           &ComparisonPage::add_items, &ComparisonPage::add_judges, &ComparisonPage::add_known}) {
      if (context_.cancelled()) throw Cancelled();
      (this->*add)(document);
    }
    if (fit_.iterations > 1) document["convergence"] = convergence_facts(fit_, true, sampling_);
    document["sampling"] = sampling_;
    return document;
  }

 private:
  void add_counts(Json& document) {
    document["counts"] = {{"items", description_.items},
                          {"pairs", description_.tasks},
                          {"workers", description_.workers},
                          {"answers", description_.answers},
                          {"answers_per_pair", number(description_.answers_per_task.mean)},
                          {"comparisons_per_item", number(description_.comparisons_per_item.mean)},
                          {"tie_share", number(description_.tie_share)},
                          {"left_share", number(description_.left_share.value)},
                          {"agreement", number(description_.agreement)},
                          {"alpha", number(description_.alpha)},
                          {"item_groups", description_.item_groups},
                          {"strong_groups", description_.strong_groups}};
  }

  void add_warnings(Json& document) {
    const RunRecord& record = result_.record;
    WarningList list(record);
    list.add_new(record.data_warnings);
    list.add_new(fit_.warnings);
    list.add_new(description_.warnings);
    list.add_stopped(fit_, "the ranking is", "the ranking");
    if (description_.alpha < kHardlyAgreeing) {
      list.add(Severity::caution, "Workers hardly agree",
               fmt::format("answers to one pair differ nearly as much as chance (Krippendorff's alpha {:.2f})",
                           description_.alpha),
               "are the items nearly equal, or do people want different things? try preference_groups");
    }
    list.add_unmeasured(
        "known outcomes counted as answers, so they are no test of the ranking",
        "without pairs or items of which the truth is known, intervals are what the method believes of itself",
        "learn the truth of a hundred pairs");
    document["warnings"] = list.json();
  }

  void add_headlines(Json& document) {
    Json list = Json::array();
    const auto share = [&](const char* id, const char* label, const Estimate& e, std::string words) {
      list.push_back(with_interval(
          headline(id, label, number(e.value, kHeadlineDigits), "share", std::move(words), "measured on gold"), e.low,
          e.high));
    };
    const auto& evaluation = result_.evaluation;
    if (evaluation && evaluation->accuracy) {
      share("accuracy", "Outcomes of pairs that are right", *evaluation->accuracy,
            fmt::format("On {} whose outcome is known, ties among them.", counted(evaluation->pairs, "pair")));
    }
    if (evaluation && evaluation->ordered) {
      share("ordered", "Pairs in the right order", *evaluation->ordered,
            fmt::format("By the scores alone, on {} of which one item is known to be better.",
                        counted(evaluation->decisive_pairs, "pair")));
    }
    if (evaluation && evaluation->kendall) {
      list.push_back(headline("kendall", "Kendall's tau", number(*evaluation->kendall, kHeadlineDigits), "none",
                              fmt::format("Scores against {} of known quality: 1 is the same order, 0 chance.",
                                          counted(evaluation->items, "item")),
                              "measured on gold"));
    }
    if (std::isfinite(description_.agreement)) {
      list.push_back(
          headline("agreement", "Answers that agree", number(description_.agreement, kHeadlineDigits), "share",
                   fmt::format("Of two answers to the same pair. Krippendorff's alpha is {:.2f}.", description_.alpha),
                   "counted"));
    }
    if (std::isfinite(description_.tie_share)) {
      list.push_back(headline("ties", "Ties", number(description_.tie_share, kHeadlineDigits), "share",
                              "Answers that call both items equal.", "counted"));
    }
    if (std::isfinite(description_.left_share.value)) {
      list.push_back(with_interval(
          headline("left", "Left side named", number(description_.left_share.value, kHeadlineDigits), "share",
                   "Of the answers that name an item. Half, if sides were drawn and nobody prefers one.", "counted"),
          description_.left_share.low, description_.left_share.high));
    }
    document["headlines"] = std::move(list);
    const std::vector<ItemId> order = ranking(fit_);
    std::string words =
        fmt::format("{} were ranked from {} by {}; method: {}.", counted(fit_.item_count, "item"),
                    counted(answers_.answer_count(), "comparison"), counted(answers_.worker_count(), "worker"),
                    options_.method_title.empty() ? result_.record.method : options_.method_title);
    if (!order.empty()) {
      std::size_t shared = 0;
      for (const double low : fit_.rank_low) shared += low == 1 ? 1 : 0;
      words += fmt::format(" The best score has {}{}.", shown_name(answers_.item_names()[index(order[0])]),
                           shared > 1 ? fmt::format("; {} may be first", counted(shared, "item")) : "");
    }
    if (!fit_.explanation.empty()) words += " " + shown_words(fit_.explanation);
    document["verdict"] = words + serious_words(document["warnings"], "the ranking");
  }

  void add_items(Json& document) {
    const std::vector<ItemId> order = ranking(fit_);
    const std::size_t shown = std::min(order.size(), kMostRankedItems);
    if (shown < order.size()) {
      sampling_.push_back(fmt::format("The ranking shows the best {} of {}; ranking.csv has all.", grouped(shown),
                                      counted(order.size(), "item")));
    }
    std::vector<std::uint64_t> games(fit_.item_count, 0);
    for (std::size_t t = 0; t < answers_.task_count(); ++t) {
      const std::uint64_t count = answers_.workers_of(TaskId(t)).size();
      games[index(answers_.pairs()[t].first)] += count;
      games[index(answers_.pairs()[t].second)] += count;
    }
    Json items = {{"name", Json::array()},      {"score", Json::array()},      {"low", Json::array()},
                  {"high", Json::array()},      {"rank", Json::array()},       {"rank_low", Json::array()},
                  {"rank_high", Json::array()}, {"comparisons", Json::array()}};
    for (std::size_t g = 0; g < fit_.group_count; ++g) items[fmt::format("group{}", g + 1)] = Json::array();
    for (std::size_t r = 0; r < shown; ++r) {
      const std::size_t i = index(order[r]);
      items["name"].push_back(shown_name(answers_.item_names()[i]));
      items["score"].push_back(number(fit_.score[i], 6));
      items["low"].push_back(number(fit_.low[i], 6));
      items["high"].push_back(number(fit_.high[i], 6));
      items["rank"].push_back(number(fit_.rank[i], 6));
      items["rank_low"].push_back(number(fit_.rank_low[i], 6));
      items["rank_high"].push_back(number(fit_.rank_high[i], 6));
      items["comparisons"].push_back(games[i]);
      for (std::size_t g = 0; g < fit_.group_count; ++g) {
        items[fmt::format("group{}", g + 1)].push_back(number(fit_.group_score[g * fit_.item_count + i], 6));
      }
    }
    document["items"] = std::move(items);
    document["groups"] = fit_.group_count;
  }

  void add_judges(Json& document) {
    Order all(result_.workers.size());
    for (std::size_t w = 0; w < all.size(); ++w) all[w] = static_cast<std::uint32_t>(w);
    const Order shown = first_by(all, kMostListedJudges, [&](std::uint32_t a, std::uint32_t b) {
      return result_.workers[a].answers > result_.workers[b].answers;
    });
    if (shown.size() < all.size()) {
      sampling_.push_back(fmt::format("Workers are the {} with most answers of {}; workers.csv has all.",
                                      grouped(shown.size()), counted(all.size(), "worker")));
    }
    Json workers = {{"name", Json::array()},      {"answers", Json::array()},   {"reliability", Json::array()},
                    {"agreement", Json::array()}, {"side_bias", Json::array()}, {"left_share", Json::array()},
                    {"tie_rate", Json::array()},  {"why", Json::array()}};
    for (const std::uint32_t w : shown) {
      const ComparisonWorkerSummary& worker = result_.workers[w];
      workers["name"].push_back(shown_name(answers_.worker_names()[w]));
      workers["answers"].push_back(worker.answers);
      workers["reliability"].push_back(number(worker.reliability));
      workers["agreement"].push_back(number(worker.agreement));
      workers["side_bias"].push_back(number(worker.side_bias));
      workers["left_share"].push_back(number(worker.left_share));
      workers["tie_rate"].push_back(number(worker.tie_rate));
      Json why = Json::array();
      if (worker.answers >= kFewestJudged) {
        const double merit = std::isfinite(worker.reliability) ? worker.reliability : worker.agreement;
        if (merit < kAgainst) why.push_back("answers against the others");
        if (worker.left_share > kOneSided) why.push_back("names the left side");
        if (worker.left_share < 1 - kOneSided) why.push_back("names the right side");
      }
      workers["why"].push_back(std::move(why));
    }
    document["workers"] = std::move(workers);
  }

  void add_known(Json& document) {
    if (!result_.evaluation) return;
    const ComparisonEvaluation& evaluation = *result_.evaluation;
    const auto estimate = [](const std::optional<Estimate>& e) {
      return e ? Json{{"value", number(e->value)}, {"low", number(e->low)}, {"high", number(e->high)}} : Json(nullptr);
    };
    document["gold"] = {{"pairs", evaluation.pairs},
                        {"accuracy", estimate(evaluation.accuracy)},
                        {"decisive_pairs", evaluation.decisive_pairs},
                        {"ordered", estimate(evaluation.ordered)},
                        {"items", evaluation.items},
                        {"kendall", evaluation.kendall ? number(*evaluation.kendall) : Json(nullptr)},
                        {"spearman", evaluation.spearman ? number(*evaluation.spearman) : Json(nullptr)}};
  }

  const ComparisonResult result_;  ///< with the digits of the files
  const ComparisonDescription description_;
  const ReportOptions& options_;
  const RunContext& context_;
  const ComparisonAnswers& answers_;
  const ComparisonFit& fit_;
  std::vector<std::string> sampling_;
};

}  // namespace

Json comparisons_document(const ComparisonResult& result, const ReportOptions& options, const RunContext& context) {
  return ComparisonPage(result, options, context).document();
}

}  // namespace wisecrowd::report
