#include "set_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "screen_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kShownSetWorkers = 3;  // of the best, and of the worst
constexpr std::size_t kShownSetTasks = 3;
constexpr std::size_t kShownSetClasses = 12;

std::string set_words(std::span<const ClassId> set, const NameTable& classes) {
  if (set.empty()) return "(none)";
  std::string text;
  for (const ClassId label : set) text += (text.empty() ? "" : ", ") + printable(classes[index(label)]);
  return text;
}

/// By the mean of both rates, where guessing is worth one half.
double balanced(const SetWorkerSummary& worker) { return (worker.sensitivity + worker.specificity) / 2; }

std::string set_worker_table(const SetResult& result, const Screen& screen) {
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < result.workers.size(); ++w) {
    if (result.workers[w].answers > 0 && !std::isnan(balanced(result.workers[w]))) order.push_back(w);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(-balanced(result.workers[a]), a) < std::pair(-balanced(result.workers[b]), b);
  });
  Table table({{"worker", Column::Side::left}, {"answers"}, {"classes named"}, {"sensitivity"}, {"specificity"}});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool shown = i < kShownSetWorkers || i + kShownSetWorkers >= order.size();
    if (!shown && i == kShownSetWorkers) {
      table.add({fmt::format("… {} more", grouped(order.size() - 2 * kShownSetWorkers))});
    }
    if (!shown) continue;
    const SetWorkerSummary& worker = result.workers[order[i]];
    table.add({printable(result.data.answers.worker_names()[order[i]]), grouped(worker.answers),
               fixed(worker.set_size, 2), percent(worker.sensitivity), percent(worker.specificity)});
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

std::string set_task_table(const SetResult& result, const Screen& screen) {
  const SetFit& fit = result.fit;
  Table table({{"task", Column::Side::left}, {"answers"}, {"set", Column::Side::left}, {"least sure"}});
  for (std::size_t t = 0; t < std::min(fit.task_count, kShownSetTasks); ++t) {
    const auto answers = grouped(result.data.answers.workers_of(TaskId(t)).size());
    const std::string name = printable(result.data.answers.task_names()[t]);
    if (!fit.is_known(TaskId(t))) {
      table.add({name, answers, "–", "–"});
      continue;
    }
    double least = 1;
    for (const double q : fit.probabilities_of(TaskId(t))) least = std::min(least, std::max(q, 1 - q));
    table.add({name, answers, set_words(fit.set_of(TaskId(t)), result.data.answers.class_names()), percent(least)});
  }
  if (fit.task_count > kShownSetTasks) {
    table.add({fmt::format("… {} more", grouped(fit.task_count - kShownSetTasks))});
  }
  return table.empty() ? "" : table.text(screen.width, screen.dim_on(), screen.off());
}

std::string interval_words(const Estimate& e) { return fmt::format("{} – {}", fixed(e.low, 3), fixed(e.high, 3)); }

/// The classes to show, most frequent first.
template <class Count>
std::vector<std::size_t> most_frequent_classes(std::size_t classes, const Count& count) {
  std::vector<std::size_t> order(classes);
  for (std::size_t k = 0; k < classes; ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return count(a) > count(b); });
  if (classes > kShownSetClasses) {
    order.resize(kShownSetClasses);
  } else {
    std::sort(order.begin(), order.end());
  }
  return order;
}

}  // namespace

std::string set_data_line(const SetAnswers& answers, const Screen& screen) {
  return fmt::format(
      "{}     {} by {} to {}, sets of {}\n", screen.bold("Data"), counted(answers.answer_count(), "answer"),
      counted(answers.worker_count(), "worker"), counted(answers.task_count(), "task"),
      answers.class_count() == 1 ? "1 class" : fmt::format("{} classes", grouped(answers.class_count())));
}

std::string set_score_lines(const SetEvaluation& evaluation, const NameTable& classes, const Screen& screen) {
  Table table({{"", Column::Side::left}, {"value"}, {"95 %"}});
  table.add({"exact match", fixed(evaluation.exact_match.value, 3), interval_words(evaluation.exact_match)});
  table.add({"Jaccard", fixed(evaluation.jaccard.value, 3), interval_words(evaluation.jaccard)});
  table.add({"micro F1", fixed(evaluation.micro_f1.value, 3), interval_words(evaluation.micro_f1)});
  table.add({"macro F1", fixed(evaluation.macro_f1, 3), ""});
  table.add({"Hamming loss", fixed(evaluation.hamming.value, 4), interval_words(evaluation.hamming)});
  std::string text = table.text(screen.width, screen.dim_on(), screen.off());
  Table by_class({{"class", Column::Side::left}, {"gold"}, {"predicted"}, {"precision"}, {"recall"}, {"F1"}});
  for (const std::size_t k :
       most_frequent_classes(evaluation.classes.size(), [&](std::size_t k) { return evaluation.classes[k].gold; })) {
    const SetClassScore& own = evaluation.classes[k];
    by_class.add({printable(classes[k]), grouped(own.gold), grouped(own.predicted), fixed(own.precision(), 3),
                  fixed(own.recall(), 3), fixed(own.f1(), 3)});
  }
  if (evaluation.classes.size() > kShownSetClasses) {
    by_class.add({fmt::format("… {} more", grouped(evaluation.classes.size() - kShownSetClasses))});
  }
  return text + "\n" + by_class.text(screen.width, screen.dim_on(), screen.off());
}

nlohmann::ordered_json set_evaluation_json(const SetEvaluation& evaluation, const NameTable& classes) {
  nlohmann::ordered_json json = {{"tasks", evaluation.tasks},
                                 {"missing", evaluation.missing},
                                 {"exact_match", estimate_json(evaluation.exact_match)},
                                 {"jaccard", estimate_json(evaluation.jaccard)},
                                 {"hamming", estimate_json(evaluation.hamming)},
                                 {"micro_f1", estimate_json(evaluation.micro_f1)},
                                 {"micro_precision", evaluation.micro_precision},
                                 {"micro_recall", evaluation.micro_recall},
                                 {"macro_f1", evaluation.macro_f1},
                                 {"brier", evaluation.brier}};
  json["classes"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < evaluation.classes.size(); ++k) {
    const SetClassScore& own = evaluation.classes[k];
    json["classes"].push_back({{"name", std::string(classes[k])},
                               {"gold", own.gold},
                               {"predicted", own.predicted},
                               {"right", own.right},
                               {"precision", own.precision()},
                               {"recall", own.recall()},
                               {"f1", own.f1()}});
  }
  return json;
}

std::string set_summary(const SetResult& result, bool is_default, double seconds, const Screen& screen) {
  std::string text = set_data_line(result.data.answers, screen);
  text += fmt::format("{}   {}{}, {}\n", screen.bold("Method"), result.record.method, is_default ? " (default)" : "",
                      duration(seconds));
  if (!result.fit.explanation.empty()) text += "  " + wrapped(result.fit.explanation, screen.width, 2) + "\n";
  text += "\n" + set_task_table(result, screen);
  if (result.evaluation) {
    text += fmt::format(
        "\n{}   against gold of {}{}\n", screen.bold("Scored"), counted(result.evaluation->tasks, "task"),
        result.evaluation->missing > 0 ? fmt::format("; {} more have no set", grouped(result.evaluation->missing))
                                       : "");
    text += set_score_lines(*result.evaluation, result.data.answers.class_names(), screen);
  }
  const std::string workers = set_worker_table(result, screen);
  if (!workers.empty()) text += "\n" + workers;
  return text;
}

std::string set_description_text(const SetDescription& d, const SetAnswers& answers, const Screen& screen) {
  std::string text = set_data_line(answers, screen) + "\n";
  Table counts({{"", Column::Side::left}, {"least"}, {"25 %"}, {"median"}, {"mean"}, {"75 %"}, {"most"}});
  const auto row = [&](const char* name, const Distribution& v) {
    counts.add({name, fmt::format("{:.4g}", v.minimum), fmt::format("{:.4g}", v.lower_quartile),
                fmt::format("{:.4g}", v.median), fmt::format("{:.4g}", v.mean), fmt::format("{:.4g}", v.upper_quartile),
                fmt::format("{:.4g}", v.maximum)});
  };
  row("answers per task", d.answers_per_task);
  row("answers per worker", d.answers_per_worker);
  row("classes per answer", d.set_sizes);
  text += counts.text(screen.width, screen.dim_on(), screen.off()) + "\n";
  text += fmt::format("{}   Jaccard alpha {}, MASI alpha {}; {} of the pairs of answers to a task are the same set\n\n",
                      screen.bold("Agreement"), fixed(d.jaccard_alpha, 3), fixed(d.masi_alpha, 3),
                      percent(d.identical_share));
  Table classes({{"class", Column::Side::left}, {"named"}, {"share of answers"}, {"alpha"}});
  for (const std::size_t k :
       most_frequent_classes(d.classes.size(), [&](std::size_t k) { return d.classes[k].named; })) {
    const double share =
        static_cast<double>(d.classes[k].named) / static_cast<double>(std::max<std::size_t>(d.answers, 1));
    classes.add({printable(answers.class_names()[k]), grouped(d.classes[k].named), percent(share),
                 fixed(d.classes[k].alpha, 3)});
  }
  if (d.classes.size() > kShownSetClasses) {
    classes.add({fmt::format("… {} more", grouped(d.classes.size() - kShownSetClasses))});
  }
  classes.add({"(none of them)", grouped(d.empty_answers),
               percent(static_cast<double>(d.empty_answers) / static_cast<double>(std::max<std::size_t>(d.answers, 1))),
               ""});
  text += classes.text(screen.width, screen.dim_on(), screen.off());
  text += "\n  " +
          wrapped(
              "alpha is Krippendorff's: 1 means that answers to a task are all alike, 0 that they differ as much as "
              "answers to any tasks; of whole sets by Jaccard or MASI distance, of a class by naming it or not.",
              screen.width, 2) +
          "\n";
  return text;
}

nlohmann::ordered_json set_description_json(const SetDescription& d, const SetAnswers& answers,
                                            const std::vector<Warning>& warnings) {
  nlohmann::ordered_json json = {{"answers_kind", "sets"},
                                 {"tasks", d.tasks},
                                 {"workers", d.workers},
                                 {"answers", d.answers},
                                 {"hash", fmt::format("{:016x}", answers.content_hash())},
                                 {"unanswered_tasks", d.unanswered_tasks},
                                 {"silent_workers", d.silent_workers},
                                 {"answers_per_task", distribution_json(d.answers_per_task)},
                                 {"answers_per_worker", distribution_json(d.answers_per_worker)},
                                 {"components", d.components},
                                 {"set_sizes", distribution_json(d.set_sizes)},
                                 {"empty_answers", d.empty_answers},
                                 {"jaccard_alpha", d.jaccard_alpha},
                                 {"masi_alpha", d.masi_alpha},
                                 {"identical_share", d.identical_share}};
  json["classes"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < d.classes.size(); ++k) {
    json["classes"].push_back({{"name", std::string(answers.class_names()[k])},
                               {"named", d.classes[k].named},
                               {"krippendorff_alpha", d.classes[k].alpha}});
  }
  json["warnings"] = warnings_json(warnings);
  return json;
}

}  // namespace wisecrowd::app
