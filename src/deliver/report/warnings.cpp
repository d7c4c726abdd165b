#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd::report {
namespace {

/// From these on a finding is worth a warning.
constexpr double kTooSureBy = 0.05;       // mean probability minus accuracy on gold
constexpr double kManyTorn = 0.2;         // share of tasks
constexpr double kManySpamAnswers = 0.1;  // share of answers
constexpr double kLowAlpha = 0.2;

struct Title {
  std::string_view code, text;
};

/// What the warnings of readers, methods and descriptions are called. Others get their code as a title.
constexpr std::array kTitles = {
    Title{"no_answers", "There are no answers"},
    Title{"one_answer_per_task", "Only one answer per task"},
    Title{"single_worker", "All answers come from one worker"},
    Title{"single_class", "Every answer is the same"},
    Title{"flipped_solution", "The solution may be flipped"},
    Title{"one_worker_decides", "One worker decides"},
    Title{"network_knows_nothing", "The network learned nothing"},
    Title{"volume_collapsed", "The worker tables collapsed"},
    Title{"class_vanished", "A class vanished"},
    Title{"prior_expects_no_skill", "The prior expects no skill"},
    Title{"separate_parts", "The workers fall into separate parts"},
    Title{"few_answers_per_task", "Few answers per task"},
    Title{"few_answers_per_worker", "Many workers gave hardly any answers"},
    Title{"dependent_answers", "Workers err together"},
    Title{"methods_disagree", "The choice of the method matters"},
    Title{"not_converged", "It stopped before it settled"},
    Title{"messages_not_settled", "It stopped before it settled"},
    Title{"oscillating_messages", "It swings instead of settling"},
    Title{"skills_not_settled", "It stopped before it settled"},
    Title{"chains_disagree", "The chains disagree"},
    Title{"similar_labels", "Labels that look alike"},
    Title{"rows_dropped", "Rows were dropped"},
    Title{"answers_outside_train", "Some answers were not learned from"},
    Title{"tasks_without_features", "Tasks without features"},
    Title{"gold_not_used", "The method could not use gold"},
    Title{"gold_without_answers", "Gold for tasks that nobody answered"},
    Title{"gold_without_task", "Gold for unknown tasks"},
    Title{"unanswered_tasks", "Tasks without answers"},
    Title{"workers_alone", "Workers who share no task"},
    Title{"thin_workers", "Workers with little in common"},
    Title{"thin_pairs", "Workers with little in common"},
    Title{"confusion_left_out", "Confusion tables were left out"},
    Title{"silent_workers", "Workers without answers"},
    Title{"unused_classes", "Classes that nobody uses"},
    Title{"duplicates", "Repeated answers"},
    Title{"copied_workers", "Some workers do not work apart"},
    Title{"disconnected_parts", "The data fall into separate parts"},
};

std::string title_of(const Warning& warning) {
  if (warning.code == "disconnected_parts" && warning.severity == Severity::note) {
    return "Some splinters of the data stand alone";
  }
  for (const Title& title : kTitles) {
    if (title.code == warning.code) return std::string(title.text);
  }
  std::string title = warning.code;
  std::replace(title.begin(), title.end(), '_', ' ');
  return with_capital(title);
}

class List {
 public:
  /// A run of the command line is told its flags.
  explicit List(const RunRecord& record) : has_flags_(record.command.starts_with("wisecrowd ")) {}
  void add(Severity severity, std::string title, const std::string& words, const std::string& remedy) {
    constexpr std::string_view kWords[] = {"note", "care", "serious"};
    const auto rank = static_cast<std::size_t>(severity);
    by_rank_[rank].push_back({{"severity", kWords[rank]},
                              {"title", std::move(title)},
                              {"words", sentence(words)},
                              {"remedy", remedy.empty() ? Json(nullptr) : Json(sentence(remedy))}});
  }
  void add(const Warning& warning) { add(warning.severity, title_of(warning), warning.message, warning.remedy); }
  /// The gravest first.
  [[nodiscard]] Json json() const {
    Json all = Json::array();
    for (auto rank = by_rank_.rbegin(); rank != by_rank_.rend(); ++rank) {
      for (const Json& entry : *rank) all.push_back(entry);
    }
    return all;
  }

 private:
  [[nodiscard]] std::string sentence(const std::string& words) const {
    return with_stop(with_capital(shown_words(has_flags_ ? with_flags(words) : words)));
  }
  bool has_flags_;
  std::array<std::vector<Json>, 3> by_rank_;
};

/// A method of the comparison that is better beyond doubt.
const ComparedMethod* clearly_better(const Source& source) {
  if (!source.options.comparison || source.options.comparison->by != "gold") return nullptr;
  const std::vector<ComparedMethod>& rows = source.options.comparison->rows;
  const auto own = std::find_if(rows.begin(), rows.end(), [](const ComparedMethod& row) { return row.is_this; });
  if (own == rows.end()) return nullptr;
  const ComparedMethod* best = nullptr;
  for (const ComparedMethod& row : rows) {
    if (!(row.accuracy.low > own->accuracy.high)) continue;
    if (best == nullptr || row.accuracy.value > best->accuracy.value) best = &row;
  }
  return best;
}

void add_own(const Source& source, List& list) {
  const CategoryFit& fit = source.result.aggregation;
  const RunRecord& record = source.result.record;
  const Description& description = source.facts.description;
  if (fit.status == Status::cancelled) {
    list.add(Severity::serious, "The run was stopped by hand",
             fmt::format("it was cancelled after {}; labels and workers are as good as it had got",
                         counted(fit.iterations, "iteration")),
             "run it again to the end before you use the labels");
  }
  if (source.facts.gold) {
    const GoldFacts& gold = *source.facts.gold;
    const double confidence = gold.mean_confidence();
    const Estimate& accuracy = gold.evaluation.accuracy;
    if (confidence - accuracy.value > kTooSureBy && confidence > accuracy.high) {
      list.add(Severity::caution, "The probabilities are too sure",
               fmt::format("labels of gold tasks have a mean probability of {}, but {} are right", percent(confidence),
                           percent(accuracy.value)),
               "use the probabilities to order tasks, not as odds; choose thresholds on gold tasks");
    }
  }
  if (const ComparedMethod* better = clearly_better(source)) {
    list.add(Severity::caution, "Another method does better here",
             fmt::format("on the gold tasks {} is right more often ({}), beyond what chance explains", better->method,
                         percent(better->accuracy.value)),
             source.options.learned
                 ? fmt::format("look at what it does otherwise: wisecrowd aggregate … `method={}`", better->method)
                 : fmt::format("run again with `method={}`", better->method));
  }
  const Certainty sure = certainty(source);
  const auto tasks = static_cast<double>(std::max<std::size_t>(description.tasks, 1));
  if (description.answers > 0 && static_cast<double>(sure.torn) / tasks > kManyTorn) {
    list.add(Severity::caution, "Many labels are a toss-up",
             fmt::format("{} of {} have a label with a probability below 60 %", grouped(sure.torn),
                         counted(description.tasks, "task")),
             "ask more workers about these tasks (wisecrowd select `advise` says which and whom), or leave such labels "
             "blank with `abstain_below=0.6`");
  }
  const AdviceCounts advice = advice_counts(source);
  const auto answers = static_cast<double>(std::max<std::size_t>(description.answers, 1));
  if (static_cast<double>(advice.answers_of_stopped) / answers > kManySpamAnswers) {
    list.add(
        Severity::caution, "Many answers tell nothing",
        fmt::format("{} of all answers come from {} whose answers hardly depend on the truth",
                    percent(static_cast<double>(advice.answers_of_stopped) / answers), counted(advice.stop, "worker")),
        "stop asking them (the table of workers names them) and spend the budget on others");
  }
  if (description.krippendorff_alpha < kLowAlpha) {
    list.add(Severity::caution, "Workers hardly agree",
             fmt::format("two answers to the same task are alike {} of the time, little more than by chance "
                         "(Krippendorff's alpha {:.2f})",
                         percent(description.pairwise_agreement), description.krippendorff_alpha),
             "read some hard tasks below: are instructions and classes clear? If so, look for workers to retrain");
  }
  if (record.gold_use == "inference") {
    list.add(Severity::note, "Gold was used, so nothing is measured on it",
             fmt::format("the method was given the truth of {}, so they are no test of the labels",
                         counted(record.gold_tasks, "task")),
             "keep some gold aside with `gold_for=evaluation` to measure accuracy");
  } else if (record.gold_use == "none") {
    list.add(Severity::note, "Nothing was measured",
             "without tasks whose truth is known, accuracy is what the model believes of itself",
             "learn the truth of a hundred random tasks and run again with `gold=FILE` `gold_for=evaluation`");
  }
}

}  // namespace

void add_warnings(const Source& source, Json& document) {
  List list(source.result.record);
  std::vector<std::string_view> codes;
  const auto add_all = [&](const std::vector<Warning>& warnings) {
    for (const Warning& warning : warnings) {
      if (std::find(codes.begin(), codes.end(), warning.code) != codes.end()) continue;
      codes.push_back(warning.code);
      list.add(warning);
    }
  };
  add_all(source.result.record.data_warnings);
  add_all(source.result.aggregation.warnings);
  add_all(source.facts.description.warnings);
  add_own(source, list);
  document["warnings"] = list.json();
}

}  // namespace wisecrowd::report
