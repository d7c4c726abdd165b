#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"
#include "shared_json.hpp"
#include "table.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/trust.hpp"
#include "worker_offers.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 10;

struct Advised : Advice {
  const CategoryAnswers& answers;
  const CategoryFit& fit;
};

double top(const Advised& advice, TaskId task) {
  const auto q = advice.fit.posterior_of(task);
  return *std::max_element(q.begin(), q.end());
}

std::string class_name(const Advised& advice, ClassId label) {
  return std::string(advice.answers.class_names()[index(label)]);
}

std::string number(double x) { return fmt::format("{:.6g}", x); }

std::string tasks_csv(const Advised& advice) {
  std::string csv = "task,label,probability,answers,ask,expected_gain\n";
  for (const Choice& choice : advice.tasks.choices) {
    const std::size_t i = index(choice.task);
    csv += fmt::format("{},{},{},{},{},{}\n", csv_name(advice.answers.task_names()[i]),
                       csv_name(class_name(advice, advice.fit.labels[i])), number(top(advice, choice.task)),
                       advice.known.task_answers[i], csv_name(advice.answers.worker_names()[index(choice.worker)]),
                       number(choice.expected_gain));
  }
  return csv;
}

std::string workers_csv(const Advised& advice) {
  std::string csv =
      "worker,advice,reason,effect,answers,accuracy,accuracy_low,accuracy_high,spammer,score,score_low,score_high,"
      "information_"
      "bits,"
      "capacity_bits\n";
  for (std::size_t j = 0; j < advice.workers.size(); ++j) {
    const WorkerAssessment& judged = advice.workers[j];
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_name(advice.answers.worker_names()[j]),
                       to_string(judged.advice), csv_name(reason_of(judged, advice.answers.class_names())),
                       csv_name(effect_of(judged, advice.answers.task_count())), judged.answers,
                       number(judged.accuracy.value), number(judged.accuracy.low), number(judged.accuracy.high),
                       number(judged.spammer), number(judged.score.value), number(judged.score.low),
                       number(judged.score.high), number(judged.information.value / std::log(2.0)),
                       number(judged.capacity / std::log(2.0)));
  }
  return csv;
}

std::vector<std::size_t> counts_of(const Advised& advice) {
  std::vector<std::size_t> counts(kWorkerAdviceCount, 0);
  for (const WorkerAssessment& judged : advice.workers) ++counts[static_cast<std::size_t>(judged.advice)];
  return counts;
}

std::string tasks_table(const Advised& advice, const Screen& screen) {
  Table table({{"task", Column::Side::left}, {"label"}, {"probability"}, {"answers"}, {"ask"}, {"gain, nats"}});
  for (std::size_t n = 0; n < std::min(kShown, advice.tasks.choices.size()); ++n) {
    const Choice& choice = advice.tasks.choices[n];
    const std::size_t i = index(choice.task);
    table.add({printable(advice.answers.task_names()[i]), shortened_name(class_name(advice, advice.fit.labels[i]), 16),
               percent(top(advice, choice.task)), grouped(advice.known.task_answers[i]),
               shortened_name(advice.answers.worker_names()[index(choice.worker)], 20),
               fixed(choice.expected_gain, 3)});
  }
  return table.text(screen.width, screen.dim_on(), screen.off());
}

/// A reason for a narrow column: without the numbers, which stand in others.
std::string in_short(const WorkerAssessment& judged, const NameTable& classes) {
  std::string words = reason_of(judged, classes);
  if (judged.reason != AdviceReason::takes_one_for_another || judged.copies > 0) {
    for (const std::string_view mark : {", ", ": ", "; ", " ("}) words = words.substr(0, words.find(mark));
  }
  return shortened(words, 40);
}

/// Those whom something should be done about, who gave most answers first.
std::string workers_table(const Advised& advice, const Screen& screen) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < advice.workers.size(); ++j) {
    const WorkerAdvice what = advice.workers[j].advice;
    if (what != WorkerAdvice::keep && what != WorkerAdvice::unsure) order.push_back(j);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return advice.workers[a].answers > advice.workers[b].answers; });
  if (order.empty()) return "";
  Table table({{"worker", Column::Side::left},
               {"do", Column::Side::left},
               {"answers"},
               {"accuracy"},
               {"90 %"},
               {"why", Column::Side::left}});
  for (std::size_t n = 0; n < std::min(kShown, order.size()); ++n) {
    const WorkerAssessment& judged = advice.workers[order[n]];
    table.add({shortened_name(advice.answers.worker_names()[order[n]], 20), std::string(to_string(judged.advice)),
               grouped(judged.answers), percent(judged.accuracy.value),
               fmt::format("{} to {}", percent(judged.accuracy.low), percent(judged.accuracy.high)),
               in_short(judged, advice.answers.class_names())});
  }
  return table.text(screen.width, screen.dim_on(), screen.off());
}

}  // namespace

namespace {

/// The most rewarding answers that can be paid for together.
void keep_within(double budget, Selection& tasks) {
  double left = budget;
  std::erase_if(tasks.choices, [&](const Choice& choice) {
    if (choice.cost > left + 1e-9) return true;
    left -= choice.cost;
    return false;
  });
}

}  // namespace

void select_advice(const SelectOptions& options, Session& session) {
  if (!options.out.empty()) {
    at_stage(Stage::creating, [&] { check_output_directory(options.out, "summary.json"); });
  }
  const SelectorInfo& policy =
      selector_named(options.policy.empty() ? std::string(default_selector()) : options.policy);
  const Parameters parameters = parameters_from(policy.parameters, options.settings, policy.name);
  warn_of_former_names(session, parameters);
  const std::string method = options.method.empty() ? std::string(default_refit_method()) : options.method;
  Work work(session, options.run);
  DataReport read;
  const CategoryData data = at_stage(Stage::reading, [&] {
    return read_dataset(options.advise, std::nullopt, options.read.options(), work.context(), &read);
  });
  work.check_stopped();
  session.warn(read.warnings);
  const MethodInfo& info = method_named(method);
  const CategoryFit fit = aggregate(data, info.name, Parameters(info.parameters), work.context());
  work.check_stopped();
  std::optional<NamedOffers> offers;
  if (!options.workers.empty()) offers = at_stage(Stage::reading, [&] { return read_offers(options.workers); });
  Advised advice{advise(data.answers, fit, offers, policy.name, parameters, work.context()), data.answers, fit};
  work.check_stopped();
  const std::size_t worth_asking = advice.tasks.choices.size();
  if (options.budget > 0) keep_within(options.budget, advice.tasks);
  const auto counts = counts_of(advice);
  const auto count = [&](WorkerAdvice what) { return counts[static_cast<std::size_t>(what)]; };
  std::vector<Warning> warnings = describe(data.answers).warnings;
  warnings.insert(warnings.end(), fit.warnings.begin(), fit.warnings.end());
  for (Warning& warning : dependence_warnings(data, advice.dependence)) warnings.push_back(std::move(warning));
  session.warn(warnings);
  const Json listed = warnings_json(warnings);
  Json summary = {{"answers", options.advise},
                  {"method", info.name},
                  {"policy", policy.name},
                  {"tasks", data.answers.task_count()},
                  {"workers", data.answers.worker_count()},
                  {"tasks_worth_asking", worth_asking},
                  {"tasks_settled", advice.tasks.settled},
                  {"tasks_not_worth_the_price", advice.tasks.not_worth_cost},
                  {"workers_to_keep", count(WorkerAdvice::keep)},
                  {"workers_to_retrain", count(WorkerAdvice::retrain)},
                  {"workers_to_recode", count(WorkerAdvice::recode)},
                  {"workers_to_check", count(WorkerAdvice::check)},
                  {"workers_to_stop_asking", count(WorkerAdvice::stop)},
                  {"workers_unsure", count(WorkerAdvice::unsure)},
                  {"warnings", listed}};
  if (options.budget > 0) {
    summary["budget"] = options.budget;
    summary["tasks_within_budget"] = advice.tasks.choices.size();
    summary["cost"] = advice.tasks.cost();
  }
  if (!options.out.empty()) {
    const std::vector<std::pair<std::string, std::string>> files = {{"tasks.csv", tasks_csv(advice)},
                                                                    {"workers.csv", workers_csv(advice)}};
    at_stage(Stage::writing, [&] { write_selection_folder(options.out, files, summary.dump()); });
  }
  if (options.json) {
    session.out.add_json(summary);
    return;
  }
  const Screen& screen = session.out_screen;
  session.out.add(fmt::format("{}\n", screen.bold("Tasks that deserve more answers, the most rewarding first")));
  session.out.add(tasks_table(advice, screen));
  if (options.budget > 0) {
    session.out.add(fmt::format("  {} of {} that are worth it can be asked within the budget of {}\n",
                                counted(advice.tasks.choices.size(), "task"), grouped(worth_asking),
                                fmt::format("{:g}", options.budget)));
  }
  session.out.add(fmt::format("\n{}  keep {}, retrain {}, recode {}, stop asking {}, check {}, unsure about {}\n",
                              screen.bold("Workers"), count(WorkerAdvice::keep), count(WorkerAdvice::retrain),
                              count(WorkerAdvice::recode), count(WorkerAdvice::stop), count(WorkerAdvice::check),
                              count(WorkerAdvice::unsure)));
  session.out.add(workers_table(advice, screen));
  if (!options.out.empty()) {
    session.out.add(fmt::format("\n{}  {}: tasks.csv, workers.csv, summary.json\n", screen.bold("Written"),
                                printable(options.out)));
  }
}

}  // namespace wisecrowd::app
