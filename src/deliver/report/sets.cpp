#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "deliver/report/shared.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostSetTasks = 1000, kMostSetWorkers = 1000, kMostShownClasses = 300;
constexpr std::size_t kSetTaskBytes = 700'000, kSetWorkerBytes = 400'000;
constexpr std::size_t kMostSaidOfSets = 30;  ///< answers of a task
constexpr double kHardlyAgreeOnSets = 0.2;
constexpr double kUnsure = 0.8;       ///< the least sure class of a task
constexpr double kGuesses = 0.1;      ///< sensitivity + specificity − 1: no better than naming classes blindly
constexpr double kNamesLittle = 0.5;  ///< of what the median worker's sensitivity is

/// What the page shows of a result on sets of classes.
class SetPage {
 public:
  SetPage(const SetResult& result, const ReportOptions& options, const RunContext& context)
      : result_(rounded_for_files(result)),
        description_(describe(result_.data.answers)),
        options_(options),
        context_(context),
        answers_(result_.data.answers),
        fit_(result_.fit) {}

  [[nodiscard]] Json document() {
    Json document = document_head(result_.record, options_);
    document["answers_kind"] = std::string(Sets::name);
    document["run"] = run_facts(result_.record, fit_, options_, answers_.content_hash());
    for (const auto add : {&SetPage::add_counts, &SetPage::add_warnings, &SetPage::add_headlines, &SetPage::add_classes,
                           &SetPage::add_tasks, &SetPage::add_workers, &SetPage::add_gold, &SetPage::add_rest}) {
      if (context_.cancelled()) throw Cancelled();
      (this->*add)(document);
    }
    return document;
  }

 private:
  [[nodiscard]] std::string class_name(std::size_t k) const { return shown_name(answers_.class_names()[k]); }
  /// How sure the least sure class of a task is in or out; 1 where nothing is to be decided.
  [[nodiscard]] double sureness(std::size_t t) const {
    double least = 1;
    for (const double q : fit_.probabilities_of(TaskId(t))) least = std::min(least, std::max(q, 1 - q));
    return least;
  }
  [[nodiscard]] bool wrong(std::size_t t) const {
    return result_.evaluation && result_.data.has_gold(TaskId(t)) && fit_.is_known(TaskId(t)) &&
           fit_.set_of(TaskId(t)) != result_.data.gold_of(TaskId(t));
  }
  [[nodiscard]] static Json codes(std::span<const ClassId> set) {
    Json list = Json::array();
    for (const ClassId label : set) list.push_back(index(label));
    return list;
  }

  void add_counts(Json& document) {
    document["counts"] = {{"tasks", description_.tasks},
                          {"workers", description_.workers},
                          {"classes", answers_.class_count()},
                          {"answers", description_.answers},
                          {"empty_answers", description_.empty_answers},
                          {"classes_per_answer", number(description_.set_sizes.mean)},
                          {"answers_per_task", number(description_.answers_per_task.mean)},
                          {"answers_per_worker", number(description_.answers_per_worker.mean)},
                          {"tasks_without_answers", description_.unanswered_tasks}};
  }

  void add_warnings(Json& document) {
    const RunRecord& record = result_.record;
    WarningList list(record);
    list.add_new(record.data_warnings);
    list.add_new(fit_.warnings);
    list.add_new(description_.warnings);
    list.add_stopped(fit_, "sets and workers are", "the sets");
    if (description_.masi_alpha < kHardlyAgreeOnSets) {
      list.add(Severity::caution, "Workers hardly agree",
               fmt::format("sets that are said of one task differ nearly as much as those of any two tasks "
                           "(Krippendorff's alpha {:.2f} by MASI distance)",
                           description_.masi_alpha),
               "read some tasks below: do all workers understand the classes alike, and name all that apply?");
    }
    list.add_unmeasured(
        fmt::format("the method was given the truth of {}, so they are no test of the sets",
                    counted(record.gold_tasks, "task")),
        "without tasks whose truth is known, how good the sets are is what the method believes of itself",
        "learn the truth of a hundred random tasks");
    document["warnings"] = list.json();
  }

  [[nodiscard]] std::string verdict(const Json& warnings) const {
    const std::size_t done = description_.tasks - description_.unanswered_tasks;
    std::string words = fmt::format(
        "{} a set from {} by {}; method: {}.",
        done == description_.tasks ? fmt::format("{} {} got", done == 1 ? "The" : "All", counted(done, "task"))
                                   : fmt::format("{} of {} got", grouped(done), counted(description_.tasks, "task")),
        counted(description_.answers, "answer"), counted(description_.workers, "worker"),
        options_.method_title.empty() ? result_.record.method : options_.method_title);
    if (!fit_.explanation.empty()) words += fmt::format(" It chose {}", fit_.explanation);
    if (result_.evaluation) {
      const SetEvaluation& scores = *result_.evaluation;
      words += fmt::format(
          " On {} with known truth, {} of the sets are right as a whole, and F1 over all classes is "
          "{:.3f} (95 % interval {:.3f} to {:.3f}).",
          counted(scores.tasks, "task"), percent(scores.exact_match.value), scores.micro_f1.value, scores.micro_f1.low,
          scores.micro_f1.high);
    } else if (done > 0) {
      words += " How good they are was not measured.";
    }
    return words + serious_words(warnings, "the sets");
  }

  void add_headlines(Json& document) {
    Json list = Json::array();
    if (result_.evaluation) {
      const SetEvaluation& scores = *result_.evaluation;
      list.push_back(with_interval(
          headline(
              "f1", "F1 over all classes", number(scores.micro_f1.value, kHeadlineDigits), "share",
              fmt::format("On {} whose truth is known and which the method did not see: precision {}, recall {}.",
                          counted(scores.tasks, "task"), percent(scores.micro_precision), percent(scores.micro_recall)),
              "measured on gold"),
          scores.micro_f1.low, scores.micro_f1.high));
      list.push_back(
          with_interval(headline("exact", "Sets right as a whole", number(scores.exact_match.value, kHeadlineDigits),
                                 "share", "Every class that is true is in, and no other.", "measured on gold"),
                        scores.exact_match.low, scores.exact_match.high));
    } else {
      double sum = 0, known = 0;
      for (std::size_t t = 0; t < fit_.task_count; ++t) {
        if (!fit_.is_known(TaskId(t))) continue;
        double whole = 1;
        for (const double q : fit_.probabilities_of(TaskId(t))) whole *= q > fit_.threshold ? q : 1 - q;
        sum += whole;
        known += 1;
      }
      if (known > 0) {
        list.push_back(
            headline("exact", "Expected sets right as a whole", number(sum / known, kHeadlineDigits), "share",
                     "If the method is right about its workers. Nothing was measured: that takes tasks whose "
                     "truth is known.",
                     "estimated by the model"));
      }
    }
    if (!std::isnan(description_.masi_alpha)) {
      list.push_back(headline("agreement", "Agreement (alpha)", number(description_.masi_alpha, kHeadlineDigits),
                              "none",
                              fmt::format("1 is perfect, 0 is chance, by MASI distance. {} of the pairs of answers to "
                                          "one task are the same set.",
                                          percent(description_.identical_share)),
                              "counted"));
    }
    list.push_back(headline("sizes", "Classes per answer", number(description_.set_sizes.mean, kHeadlineDigits), "none",
                            fmt::format("{} of the answers name no class at all.",
                                        percent(static_cast<double>(description_.empty_answers) /
                                                static_cast<double>(std::max<std::size_t>(description_.answers, 1)))),
                            "counted"));
    list.push_back(headline("tasks", "Answers per task", number(description_.answers_per_task.mean, kHeadlineDigits),
                            "none", per_task_words(description_), "counted"));
    document["headlines"] = std::move(list);
    document["verdict"] = verdict(document["warnings"]);
  }

  void add_classes(Json& document) {
    Order all(answers_.class_count());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<std::uint64_t> tasks(all.size());
    for (std::size_t t = 0; t < fit_.task_count; ++t) {
      for (const ClassId label : fit_.set_of(TaskId(t))) ++tasks[index(label)];
    }
    std::vector<double> hit(all.size()), clear(all.size()), workers(1);
    for (std::size_t w = 0; w < fit_.worker_count; ++w) {
      const auto weight = static_cast<double>(result_.workers[w].answers);
      workers[0] += weight;
      for (std::size_t k = 0; k < all.size(); ++k) {
        hit[k] += weight * fit_.sensitivity[w * all.size() + k];
        clear[k] += weight * fit_.specificity[w * all.size() + k];
      }
    }
    const Order shown =
        first_by(all, kMostShownClasses, [&](std::uint32_t a, std::uint32_t b) { return tasks[a] > tasks[b]; });
    Json rows = Json::array();
    for (const std::uint32_t k : shown) {
      Json row = {{"id", k},
                  {"name", class_name(k)},
                  {"named", description_.classes[k].named},
                  {"tasks", tasks[k]},
                  {"prior", number(fit_.class_prior[k])},
                  {"alpha", number(description_.classes[k].alpha)},
                  {"sensitivity", number(workers[0] > 0 ? hit[k] / workers[0] : std::nan(""))},
                  {"specificity", number(workers[0] > 0 ? clear[k] / workers[0] : std::nan(""))}};
      if (result_.evaluation) {
        const SetClassScore& score = result_.evaluation->classes[k];
        row["gold"] = score.gold;
        row["precision"] = number(score.precision());
        row["recall"] = number(score.recall());
        row["f1"] = number(score.f1());
      }
      rows.push_back(std::move(row));
    }
    if (shown.size() < all.size()) {
      sampling_.push_back(
          fmt::format("{} of {} are listed: the most frequent.", grouped(shown.size()), counted(all.size(), "class")));
    }
    Json names = Json::array();
    for (const std::uint32_t k : all) names.push_back(class_name(k));
    document["class_names"] = std::move(names);
    document["classes"] = {{"total", all.size()}, {"rows", std::move(rows)}};
  }

  [[nodiscard]] Json said_of(std::size_t t, std::size_t& bytes) const {
    const auto offsets = answers_.task_offsets();
    Json list = Json::array();
    for (AnswerIndex a = offsets[t]; a < std::min<AnswerIndex>(offsets[t + 1], offsets[t] + kMostSaidOfSets); ++a) {
      std::string name = shown_name(answers_.worker_names()[index(answers_.workers()[a])]);
      bytes += embedded_size(name) + 10 + 4 * answers_.set(a).size();
      list.push_back({std::move(name), codes(answers_.set(a))});
    }
    return list;
  }

  /// Wrong ones on gold first, then the least sure.
  void add_tasks(Json& document) {
    Order all(fit_.task_count);
    std::iota(all.begin(), all.end(), 0U);
    std::vector<double> sure(all.size());
    for (const std::uint32_t t : all) sure[t] = fit_.is_known(TaskId(t)) ? sureness(t) : 2;
    Json rows = Json::array();
    std::size_t bytes = 0;
    const auto offsets = answers_.task_offsets();
    for (const std::uint32_t t : first_by(all, kMostSetTasks, [&](std::uint32_t a, std::uint32_t b) {
           return std::pair(!wrong(a), sure[a]) < std::pair(!wrong(b), sure[b]);
         })) {
      Json row = {{"name", shown_name(answers_.task_names()[t])}, {"answers", offsets[t + 1] - offsets[t]}};
      bytes += embedded_size(row["name"].get<std::string>()) + 120;
      const bool known = fit_.is_known(TaskId(t));
      row["set"] = known ? codes(fit_.set_of(TaskId(t))) : Json(nullptr);
      row["sure"] = known ? number(sure[t]) : Json(nullptr);
      Json doubts = Json::array();
      const auto own = fit_.candidates_of(TaskId(t));
      for (std::size_t c = 0; c < own.size(); ++c) {
        const double q = fit_.probabilities_of(TaskId(t))[c];
        if (q > 0.02) doubts.push_back({index(own[c]), number(q)});
      }
      bytes += 14 * doubts.size();
      row["classes"] = std::move(doubts);
      row["gold"] = result_.data.has_gold(TaskId(t)) ? codes(result_.data.gold_of(TaskId(t))) : Json(nullptr);
      row["said"] = said_of(t, bytes);
      row["why"] = Json::array();
      if (wrong(t)) row["why"].push_back("not as gold");
      if (known && sure[t] < kUnsure) row["why"].push_back("unsure");
      if (!known) row["why"].push_back("no answers");
      if (bytes > kSetTaskBytes) break;
      rows.push_back(std::move(row));
    }
    const std::string chosen_by =
        result_.evaluation ? "sets that are not as gold, then the least sure" : "the least sure";
    if (rows.size() < all.size()) {
      sampling_.push_back(fmt::format("{} of {} are listed: {}. sets.csv has all of them.", grouped(rows.size()),
                                      counted(all.size(), "task"), chosen_by));
    }
    document["tasks"] = {{"total", all.size()}, {"chosen_by", chosen_by}, {"rows", std::move(rows)}};
    std::vector<std::uint64_t> per_task, per_worker;
    for (std::size_t t = 0; t < fit_.task_count; ++t) per_task.push_back(offsets[t + 1] - offsets[t]);
    for (const SetWorkerSummary& worker : result_.workers) per_worker.push_back(worker.answers);
    if (!per_task.empty()) document["answers_per_task_histogram"] = count_histogram(per_task);
    if (!per_worker.empty()) document["answers_per_worker_histogram"] = count_histogram(per_worker);
  }

  [[nodiscard]] double usual_sensitivity() const {
    std::vector<double> rates;
    for (const SetWorkerSummary& worker : result_.workers) {
      if (worker.answers > 0 && !std::isnan(worker.sensitivity)) rates.push_back(worker.sensitivity);
    }
    if (rates.empty()) return 0;
    const auto half = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
    std::nth_element(rates.begin(), half, rates.end());
    return *half;
  }

  void add_workers(Json& document) {
    Order all(fit_.worker_count);
    std::iota(all.begin(), all.end(), 0U);
    const double usual = usual_sensitivity();
    Json rows = Json::array();
    std::size_t bytes = 0;
    for (const std::uint32_t w : first_by(all, kMostSetWorkers, [&](std::uint32_t a, std::uint32_t b) {
           return result_.workers[a].answers > result_.workers[b].answers;
         })) {
      const SetWorkerSummary& worker = result_.workers[w];
      Json row = {{"name", shown_name(answers_.worker_names()[w])},
                  {"answers", worker.answers},
                  {"set_size", number(worker.set_size)},
                  {"sensitivity", number(worker.sensitivity)},
                  {"specificity", number(worker.specificity)}};
      bytes += embedded_size(row["name"].get<std::string>()) + 130;
      if (worker.gold_answers > 0) {
        row["gold_answers"] = worker.gold_answers;
        row["gold_jaccard"] = number(worker.gold_jaccard);
      }
      row["why"] = Json::array();
      if (worker.sensitivity + worker.specificity - 1 < kGuesses) row["why"].push_back("guesses");
      if (worker.sensitivity < kNamesLittle * usual) row["why"].push_back("misses much");
      if (worker.answers < 3) row["why"].push_back("few answers");
      if (bytes > kSetWorkerBytes) break;
      rows.push_back(std::move(row));
    }
    if (rows.size() < all.size()) {
      sampling_.push_back(fmt::format("{} of {} are listed: those with most answers. workers.csv has all of them.",
                                      grouped(rows.size()), counted(all.size(), "worker")));
    }
    document["workers"] = {{"total", all.size()}, {"rows", std::move(rows)}};
  }

  void add_gold(Json& document) {
    if (!result_.evaluation) return;
    const SetEvaluation& scores = *result_.evaluation;
    const auto estimate = [](const Estimate& e) {
      return Json{{"value", number(e.value, 6)}, {"low", number(e.low, 6)}, {"high", number(e.high, 6)}};
    };
    document["gold"] = {{"tasks", scores.tasks},
                        {"missing", scores.missing},
                        {"exact_match", estimate(scores.exact_match)},
                        {"jaccard", estimate(scores.jaccard)},
                        {"micro_f1", estimate(scores.micro_f1)},
                        {"hamming", estimate(scores.hamming)},
                        {"micro_precision", number(scores.micro_precision)},
                        {"micro_recall", number(scores.micro_recall)},
                        {"macro_f1", number(scores.macro_f1)},
                        {"brier", number(scores.brier)}};
  }

  void add_rest(Json& document) {
    if (fit_.iterations > 1) document["convergence"] = convergence_facts(fit_, true, sampling_);
    document["sampling"] = sampling_;
  }

  const SetResult result_;  ///< with the digits of the files
  const SetDescription description_;
  const ReportOptions& options_;
  const RunContext& context_;
  const SetAnswers& answers_;
  const SetFit& fit_;
  std::vector<std::string> sampling_;
};

}  // namespace

Json sets_document(const SetResult& result, const ReportOptions& options, const RunContext& context) {
  return SetPage(result, options, context).document();
}

}  // namespace wisecrowd::report
