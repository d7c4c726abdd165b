#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

constexpr double kClearlyBetter = 0.005;  // points of accuracy on gold that are worth a sentence

/// The majority vote's accuracy on the same gold, if it was compared.
const ComparedMethod* majority(const Source& source) {
  if (!source.options.comparison || source.options.comparison->by != "gold") return nullptr;
  for (const ComparedMethod& row : source.options.comparison->rows) {
    if (row.method == "majority_vote" && !row.is_this && !std::isnan(row.accuracy.value)) return &row;
  }
  return nullptr;
}

Json accuracy_headline(const Source& source, const Certainty& sure) {
  if (source.facts.gold) {
    const Evaluation& score = source.facts.gold->evaluation;
    return with_interval(
        headline("accuracy", "Labels that are right", number(score.accuracy.value, kHeadlineDigits), "share",
                 fmt::format("On {} whose truth is known and which the method did not see, {} of the labels are right "
                             "(95 % interval {}).",
                             counted(score.tasks, "task"), percent(score.accuracy.value),
                             percents(score.accuracy.low, score.accuracy.high)),
                 "measured on gold"),
        score.accuracy.low, score.accuracy.high);
  }
  return with_interval(
      headline("accuracy", "Labels expected to be right", number(sure.expected_accuracy, kHeadlineDigits), "share",
               fmt::format("If the model is right about the workers, {} of the labels are right. Nothing was measured: "
                           "that takes tasks whose truth is known.",
                           percent(sure.expected_accuracy)),
               "estimated by the model"),
      sure.low, sure.high);
}

void add_learned(const Source& source, Json& list) {
  if (!source.options.learned) return;
  for (const LearnScore& score : source.options.learned->scores) {
    if (score.part != "test_rows") continue;
    const Estimate& accuracy = score.chosen.accuracy;
    list.push_back(with_interval(
        headline(
            "classifier", "Classifier on new tasks", number(accuracy.value, kHeadlineDigits), "share",
            fmt::format("On {} that had no part in training, the classifier alone labels {} rightly (95 % interval "
                        "{}).",
                        counted(score.chosen.tasks, "test row"), percent(accuracy.value),
                        percents(accuracy.low, accuracy.high)),
            "measured on gold"),
        accuracy.low, accuracy.high));
  }
}

std::string advice_words(const AdviceCounts& counts, std::size_t judged, std::size_t all) {
  return fmt::format(
      "{}: {} to keep, {} to retrain, {}{} to check, {} to stop asking, and {} of whom too little is known.",
      judged == all ? fmt::format("Of {}", counted(all, "worker"))
                    : fmt::format("Of the {} who were judged", counted(judged, "worker")),
      grouped(counts.keep), grouped(counts.retrain), counts.recode == 0 ? "" : grouped(counts.recode) + " to recode, ",
      grouped(counts.check), grouped(counts.stop), grouped(counts.unsure));
}

std::string trust_words(const Source& source, const Certainty& sure) {
  if (source.facts.description.answers == 0) return "There are no answers, so the labels mean nothing.";
  if (!source.facts.gold) {
    return fmt::format("How many are right was not measured; if the model is right about the workers, {}.",
                       percent(sure.expected_accuracy));
  }
  const Evaluation& score = source.facts.gold->evaluation;
  std::string words =
      fmt::format("{} of {} with known truth are right (95 % interval {})", percent(score.accuracy.value),
                  counted(score.tasks, "label"), percents(score.accuracy.low, score.accuracy.high));
  const ComparedMethod* vote = majority(source);
  if (vote != nullptr && std::abs(score.accuracy.value - vote->accuracy.value) >= kClearlyBetter) {
    const double points = 100 * (score.accuracy.value - vote->accuracy.value);
    words +=
        fmt::format(", {:.1f} points {} than with a majority vote", std::abs(points), points > 0 ? "more" : "fewer");
  } else if (vote != nullptr) {
    words += ", as many as with a majority vote";
  }
  return words + ".";
}

std::string verdict(const Source& source, const Certainty& sure, const Json& warnings) {
  const Description& description = source.facts.description;
  const auto blank = static_cast<std::size_t>(std::count(source.labels.begin(), source.labels.end(), kNoClass));
  const std::string& title = source.options.method_title;
  std::string words = fmt::format(
      "{} labelled from {} by {}; method: {}. ",
      blank == 0 ? fmt::format("{} {} {}", description.tasks == 1 ? "The" : "All", counted(description.tasks, "task"),
                               description.tasks == 1 ? "was" : "were")
                 : fmt::format("{} of {} were", grouped(description.tasks - blank), counted(description.tasks, "task")),
      counted(description.answers, "answer"), counted(description.workers, "worker"),
      title.empty() ? source.result.record.method : title);
  words += trust_words(source, sure);
  const std::string serious = serious_words(warnings, "the labels");
  words += serious;
  if (serious.empty() && description.answers > 0) {
    const double share =
        static_cast<double>(sure.sure) / static_cast<double>(std::max<std::size_t>(description.tasks, 1));
    words += fmt::format(" {} of the labels are sure (probability 95 % or more).", percent(share));
  }
  return words;
}

}  // namespace

void add_headlines(const Source& source, Json& document) {
  const Description& description = source.facts.description;
  const Certainty sure = certainty(source);
  const auto tasks = static_cast<double>(std::max<std::size_t>(description.tasks, 1));
  Json list = Json::array();
  if (description.answers > 0) list.push_back(accuracy_headline(source, sure));
  add_learned(source, list);
  const double sure_share = static_cast<double>(sure.sure) / tasks;
  list.push_back(headline("sure", "Labels that are sure", number(sure_share, kHeadlineDigits), "share",
                          fmt::format("{} of {} have a label with a probability of 95 % or more.{}", grouped(sure.sure),
                                      counted(description.tasks, "task"),
                                      dependence_casts_doubt(source.answers(), source.result.dependence)
                                          ? " Do not rely on it: some workers answer as one and are counted as many."
                                          : ""),
                          "estimated by the model"));
  list.push_back(headline("torn", "Tasks that are a toss-up", sure.torn, "count",
                          sure.torn == 0
                              ? std::string("No label has a probability below 60 %.")
                              : fmt::format("{} have a label with a probability below 60 %: ask more workers "
                                            "about them, or read them yourself.",
                                            counted(sure.torn, "task")),
                          "estimated by the model"));
  if (source.advice.judged_count > 0) {
    const AdviceCounts counts = advice_counts(source);
    list.push_back(headline("workers", "Workers to keep", counts.keep, "count",
                            advice_words(counts, source.advice.judged_count, description.workers),
                            "estimated by the model"));
  }
  const AgreementFacts& agreement = source.facts.agreement;
  if (agreement.pairs > 0) {
    std::string words = fmt::format("Two answers to the same task are alike {} of the time", percent(agreement.share));
    if (!std::isnan(description.krippendorff_alpha)) {
      words += fmt::format("; beyond chance that is an alpha of {:.2f} (0 is chance, 1 is perfect)",
                           description.krippendorff_alpha);
    }
    list.push_back(with_interval(headline("agreement", "Agreement of two answers",
                                          number(agreement.share, kHeadlineDigits), "share", words + ".", "counted"),
                                 agreement.low, agreement.high));
  }
  list.push_back(headline("tasks", "Answers per task", number(description.answers_per_task.mean, kHeadlineDigits),
                          "none", per_task_words(description), "counted"));
  if (source.options.savings) {
    for (const Savings::Row& row : source.options.savings->rows) {
      if (!row.reached || row.slack != 0 || !(row.saved > 0)) continue;
      list.push_back(
          with_interval(headline("savings", "Answers that could be saved", number(row.saved, kHeadlineDigits), "share",
                                 source.options.savings->words, "measured on gold"),
                        row.low, row.high));
      break;
    }
  }
  document["headlines"] = std::move(list);
  document["verdict"] = verdict(source, sure, document["warnings"]);
}

}  // namespace wisecrowd::report
