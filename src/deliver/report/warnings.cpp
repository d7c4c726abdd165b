#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

/// From these on a finding is worth a warning.
constexpr double kTooSureBy = 0.05;       // mean probability minus accuracy on gold
constexpr double kManyTorn = 0.2;         // share of tasks
constexpr double kManySpamAnswers = 0.1;  // share of answers
constexpr double kLowAlpha = 0.2;
/// Shares of the tasks in the largest part of the data.
constexpr double kMost = 0.8, kNearlyAll = 0.99;

struct Known {
  std::string_view code, severity, title;
  std::string_view remedy = {};  ///< for messages that do not end with what to do
};

/// What the warnings of readers, methods and descriptions are called. Others get their code as a title.
constexpr std::array kKnown = {
    Known{"no_answers", "serious", "There are no answers"},
    Known{"one_answer_per_task", "serious", "Only one answer per task"},
    Known{"single_worker", "serious", "All answers come from one worker"},
    Known{"single_class", "serious", "Every answer is the same"},
    Known{"flipped_solution", "serious", "The solution may be flipped"},
    Known{"one_worker_decides", "serious", "One worker decides"},
    Known{"network_knows_nothing", "serious", "The network learned nothing"},
    Known{"volume_collapsed", "serious", "The worker tables collapsed"},
    Known{"class_vanished", "serious", "A class vanished"},
    Known{"prior_expects_no_skill", "serious", "The prior expects no skill"},
    Known{"separate_parts", "care", "The workers fall into separate parts"},
    Known{"few_answers_per_task", "care", "Few answers per task"},
    Known{"few_answers_per_worker", "care", "Many workers gave hardly any answers"},
    Known{"dependent_answers", "care", "Workers err together"},
    Known{"methods_disagree", "care", "The choice of the method matters"},
    Known{"not_converged", "care", "It stopped before it settled"},
    Known{"messages_not_settled", "care", "It stopped before it settled"},
    Known{"oscillating_messages", "care", "It swings instead of settling"},
    Known{"skills_not_settled", "care", "It stopped before it settled"},
    Known{"chains_disagree", "care", "The chains disagree"},
    Known{"similar_labels", "care", "Labels that look alike"},
    Known{"rows_dropped", "care", "Rows were dropped"},
    Known{"answers_outside_train", "care", "Some answers were not learned from"},
    Known{"tasks_without_features", "care", "Tasks without features"},
    Known{"gold_not_used", "care", "The method could not use gold",
          "To let gold take part, choose a method that can use it (wisecrowd methods says which)"},
    Known{"gold_without_answers", "care", "Gold for tasks that nobody answered"},
    Known{"gold_without_task", "care", "Gold for unknown tasks"},
    Known{"unanswered_tasks", "care", "Tasks without answers"},
    Known{"workers_alone", "care", "Workers who share no task"},
    Known{"thin_workers", "care", "Workers with little in common"},
    Known{"thin_pairs", "care", "Workers with little in common"},
    Known{"confusion_left_out", "note", "Confusion tables were left out"},
    Known{"silent_workers", "note", "Workers without answers",
          "Leave them out of the list if they will not work any more"},
    Known{"unused_classes", "note", "Classes that nobody uses"},
    Known{"duplicates", "note", "Repeated answers",
          "If every answer should count, read them with --duplicates repeat; if none should repeat, clean the file"},
};

/// Messages say first what is the matter and at the end what to do: "…. Do this." or "…; do this."
std::pair<std::string, std::string> parted(const std::string& message) {
  for (std::size_t at = message.size(); at-- > 1;) {
    const bool sentence = message[at] == ' ' && message[at - 1] == '.' && at + 1 < message.size() &&
                          message[at + 1] >= 'A' && message[at + 1] <= 'Z';
    if (sentence) return {message.substr(0, at), message.substr(at + 1)};
  }
  const std::size_t semicolon = message.rfind("; ");
  if (semicolon != std::string::npos) return {message.substr(0, semicolon), message.substr(semicolon + 2)};
  return {message, ""};
}

std::string title_from(std::string_view code) {
  std::string title(code);
  std::replace(title.begin(), title.end(), '_', ' ');
  return with_capital(title);
}

class List {
 public:
  void add(std::string_view severity, std::string title, std::string words, std::string remedy) {
    const std::size_t rank = severity == "serious" ? 0 : severity == "care" ? 1 : 2;
    by_rank_[rank].push_back(
        {{"severity", severity},
         {"title", std::move(title)},
         {"words", with_stop(with_capital(shown_words(words)))},
         {"remedy", remedy.empty() ? Json(nullptr) : Json(with_stop(with_capital(shown_words(remedy))))}});
  }
  void add(const Warning& warning) {
    const auto known =
        std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.code == warning.code; });
    const auto [words, remedy] = parted(warning.message);
    if (known == kKnown.end()) {
      add("care", title_from(warning.code), words, remedy);
    } else if (!known->remedy.empty()) {
      add(known->severity, std::string(known->title), warning.message, std::string(known->remedy));
    } else {
      add(known->severity, std::string(known->title), words, remedy);
    }
  }
  /// The same with another severity.
  void add(const Warning& warning, std::string_view severity, std::string title) {
    const auto [words, remedy] = parted(warning.message);
    add(severity, std::move(title), words, remedy);
  }
  [[nodiscard]] Json json() const {
    Json all = Json::array();
    for (const auto& rank : by_rank_) {
      for (const Json& entry : rank) all.push_back(entry);
    }
    return all;
  }

 private:
  std::array<std::vector<Json>, 3> by_rank_;
};

/// Splinters beside one large part do no harm to the others.
std::string_view severity_of_parts(const Description& description) {
  const auto answered = static_cast<double>(description.tasks - description.unanswered_tasks);
  const double largest = static_cast<double>(description.largest_component_tasks) / std::max(answered, 1.0);
  return largest >= kNearlyAll ? "note" : largest >= kMost ? "care" : "serious";
}

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
    list.add("serious", "The run was stopped by hand",
             fmt::format("it was cancelled after {}; labels and workers are as good as it had got",
                         counted(fit.iterations, "iteration")),
             "run it again to the end before you use the labels");
  }
  if (source.facts.gold) {
    const GoldFacts& gold = *source.facts.gold;
    const double confidence = gold.mean_confidence();
    const Estimate& accuracy = gold.evaluation.accuracy;
    if (confidence - accuracy.value > kTooSureBy && confidence > accuracy.high) {
      list.add("care", "The probabilities are too sure",
               fmt::format("labels of gold tasks have a mean probability of {}, but {} are right", percent(confidence),
                           percent(accuracy.value)),
               "use the probabilities to order tasks, not as odds; choose thresholds on gold tasks");
    }
  }
  if (const ComparedMethod* better = clearly_better(source)) {
    list.add("care", "Another method does better here",
             fmt::format("on the gold tasks {} is right more often ({}), beyond what chance explains", better->method,
                         percent(better->accuracy.value)),
             source.options.learned
                 ? fmt::format("look at what it does otherwise: wisecrowd aggregate … --method {}", better->method)
                 : fmt::format("run again with --method {}", better->method));
  }
  const Certainty sure = certainty(source);
  const auto tasks = static_cast<double>(std::max<std::size_t>(description.tasks, 1));
  if (description.answers > 0 && static_cast<double>(sure.torn) / tasks > kManyTorn) {
    list.add("care", "Many labels are a toss-up",
             fmt::format("{} of {} have a label with a probability below 60 %", grouped(sure.torn),
                         counted(description.tasks, "task")),
             "ask more workers about these tasks (wisecrowd select --advise says which and whom), or leave such labels "
             "blank with --abstain-below 0.6");
  }
  const AdviceCounts advice = advice_counts(source);
  const auto answers = static_cast<double>(std::max<std::size_t>(description.answers, 1));
  if (static_cast<double>(advice.answers_of_stopped) / answers > kManySpamAnswers) {
    list.add(
        "care", "Many answers tell nothing",
        fmt::format("{} of all answers come from {} whose answers hardly depend on the truth",
                    percent(static_cast<double>(advice.answers_of_stopped) / answers), counted(advice.stop, "worker")),
        "stop asking them (the table of workers names them) and spend the budget on others");
  }
  if (description.krippendorff_alpha < kLowAlpha) {
    list.add("care", "Workers hardly agree",
             fmt::format("two answers to the same task are alike {} of the time, little more than by chance "
                         "(Krippendorff's alpha {:.2f})",
                         percent(description.pairwise_agreement), description.krippendorff_alpha),
             "read some hard tasks below: are instructions and classes clear? If so, look for workers to retrain");
  }
  if (record.gold_use == "inference") {
    list.add("note", "Gold was used, so nothing is measured on it",
             fmt::format("the method was given the truth of {}, so they are no test of the labels",
                         counted(record.gold_tasks, "task")),
             "keep some gold aside with --gold-for evaluation to measure accuracy");
  } else if (record.gold_use == "none") {
    list.add("note", "Nothing was measured",
             "without tasks whose truth is known, accuracy is what the model believes of itself",
             "learn the truth of a hundred random tasks and run again with --gold FILE --gold-for evaluation");
  }
}

}  // namespace

void add_warnings(const Source& source, Json& document) {
  List list;
  std::vector<std::string_view> codes;
  const auto add_all = [&](const std::vector<Warning>& warnings) {
    for (const Warning& warning : warnings) {
      if (std::find(codes.begin(), codes.end(), warning.code) != codes.end()) continue;
      codes.push_back(warning.code);
      if (warning.code == "copied_workers") {
        const bool doubtful = copies_cast_doubt(source.answers(), source.result.copied);
        list.add(warning, doubtful ? "serious" : "care", "Some workers do not work apart");
      } else if (warning.code == "disconnected_parts") {
        const std::string_view severity = severity_of_parts(source.facts.description);
        list.add(warning, severity,
                 severity == "note" ? "Some splinters of the data stand alone" : "The data fall into separate parts");
      } else {
        list.add(warning);
      }
    }
  };
  add_all(source.result.record.data_warnings);
  add_all(source.result.aggregation.warnings);
  add_all(source.facts.description.warnings);
  add_own(source, list);
  document["warnings"] = list.json();
}

}  // namespace wisecrowd::report
