#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "comparison_run.hpp"
#include "failure.hpp"
#include "help_text.hpp"
#include "learn_run.hpp"
#include "number_run.hpp"
#include "report_run.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "similarity_run.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {
namespace {

struct LearnArguments {
  std::string labels;
  std::string method;
  std::string gold;
  std::string gold_for = "evaluation";
  std::string out;
  std::string report;
  bool force = false;
  std::vector<std::string> settings;
  std::string without;
  bool torchscript = false;
  bool json = false;
  FeatureFlags features;
  NetworkFlags network;
  ReadFlags read;
  RunFlags run;
};

std::string part_text(const LearnScore& score) {
  const std::string& part = score.part;
  const std::string tasks = grouped(score.chosen.tasks);
  return part == "answered_tasks" ? tasks + " answered tasks, by classifier and answers"
         : part == "test_rows"    ? tasks + " test rows, by the classifier"
         : part == "valid_rows"   ? tasks + " valid rows, by the classifier"
                                  : tasks + " rows that nobody answered, by the classifier";
}

std::string summary(const LearnOutcome& outcome, bool method_is_default, const Screen& screen) {
  const LearnResult& result = outcome.result;
  const CategoryResult& crowd = result.crowd;
  const CategoryAnswers& answers = crowd.data.answers;
  const auto line = [&](const std::string& title, const std::string& words) {
    return summary_line(title, words, screen);
  };
  std::string text;
  text += line("Data", fmt::format("{} by {} to {}, {}", counted(answers.answer_count(), "answer"),
                                   counted(answers.worker_count(), "worker"), counted(answers.task_count(), "task"),
                                   counted(answers.class_count(), "class")));
  text += line("Rows", rows_text(result));
  text += line("Method", fmt::format("{}{}, {}", crowd.record.method, method_is_default ? " (default)" : "",
                                     duration(outcome.fit_seconds)));
  text += line("Network", network_text(result.network));
  text += line("Epochs", epochs_text(result, "log P"));
  if (!crowd.aggregation.explanation.empty()) text += line("Why", crowd.aggregation.explanation);
  if (crowd.record.gold_use == "inference") {
    text += line("Gold",
                 fmt::format("{}; those to train were learned from", counted(crowd.record.gold_tasks, "gold task")));
  }
  for (std::size_t i = 0; i < result.scores.size(); ++i) {
    const LearnScore& score = result.scores[i];
    text += line(i == 0 ? "Score" : "",
                 fmt::format("accuracy {} on {}; {} at the last epoch", percent_with_interval(score.chosen.accuracy),
                             part_text(score), percent(score.last.accuracy.value)));
  }
  return text + summary_tables(crowd, screen);
}

std::string what_was_written(const LearnArguments& options, const LearnResult& result, const Screen& screen) {
  const std::string folder = options.out + (options.out.ends_with('/') ? "" : "/");
  std::string text = fmt::format("\n{} {}\n", screen.bold("Written to"), shell_word(folder));
  const auto file = [&](const std::string& name, const std::string& what) {
    text += fmt::format("  {:<16} {}\n", name, what);
  };
  file("labels.csv", "a label for each task with answers or features");
  file("workers.csv", fmt::format("how reliable each of {} is", counted(result.crowd.workers.size(), "worker")));
  file("confusion.csv", "what each worker says for each truth");
  if (!result.answer_reliability.empty()) file("reliability.csv", "how likely each answer is right");
  file("model/", "the trained classifier, for wisecrowd predict");
  file("run.json", "how it was made: parameters, seed, learning curves, scores");
  return text;
}

std::string what_next(const LearnArguments& options, Session& session) {
  const Screen& screen = session.out_screen;
  std::string text = "\n";
  if (options.out.empty() && !options.report.empty()) return "";
  if (options.out.empty()) {
    text += wrapped("Nothing was written. To keep the results, add --out and a folder:", screen.width, 0) + "\n";
    return text + fmt::format("  {} --out result\n", session.typed);
  }
  text += wrapped("To label more of the same kind, give their features to the classifier:", screen.width, 0) + "\n";
  const bool own_module = !options.network.model.empty() && !is_native_network(options.network.model);
  return text + fmt::format("  wisecrowd predict {}{} --features NEW\n", shell_word(options.out),
                            own_module ? " --trust-model" : "");
}

/// What goes with classes alone, and methods other than the only one.
void refuse_flags_of_classes(const LearnArguments& options, const LearnerInfo& only) {
  if (!options.method.empty() && options.method != only.name) {
    throw usage_error(fmt::format("there is no learner of {} '{}': choose {}", options.read.kind,
                                  printable(options.method), only.name));
  }
  for (const auto& [given, flag] : {std::pair(!options.without.empty(), "--without"),
                                    {!options.report.empty(), "--report"},
                                    {options.torchscript, "--torchscript"},
                                    {options.gold_for == "inference", "--gold-for inference"}}) {
    if (given) throw usage_error(fmt::format("{} is not for learn --answers {}", flag, options.read.kind));
  }
}

/// Answers that say same or different: the networks find clusters.
void learn_similar_answers(const LearnArguments& options, Session& session) {
  refuse_flags_of_classes(options, similarity_learner());
  learn_clusters({options.labels, options.gold, options.features, options.network, options.settings, options.out,
                  options.json, options.read, options.run},
                 session);
}

/// Answers that compare two items: the network gives scores.
void learn_compared_answers(const LearnArguments& options, Session& session) {
  refuse_flags_of_classes(options, comparison_learner());
  learn_scores({options.labels, options.gold, options.features, options.network, options.settings, options.out,
                options.json, options.read, options.run},
               session);
}

/// Answers that are numbers: the network predicts numbers.
void learn_number_answers(const LearnArguments& options, Session& session) {
  for (const auto& [given, flag] : {std::pair(!options.without.empty(), "--without"),
                                    {options.torchscript, "--torchscript"},
                                    {options.gold_for == "inference", "--gold-for inference"}}) {
    if (given) throw usage_error(fmt::format("{} is not for learn --answers numbers", flag));
  }
  NumberLearningRequest request{options.labels,  options.gold,     options.method, options.features,
                                options.network, options.settings, options.out,    {},
                                options.json,    options.read,     options.run};
  request.report.path = options.report;
  request.report.force = options.force;
  learn_numbers_run(request, session);
}

void run_learn(const LearnArguments& options, Session& session) {
  if (options.read.kind == Similarities::name) return learn_similar_answers(options, session);
  if (options.read.kind == Comparisons::name) return learn_compared_answers(options, session);
  if (options.read.kind == Numbers::name) return learn_number_answers(options, session);
  if (!options.read.kind.empty() && options.read.kind != Categories::name) {
    throw usage_error(fmt::format("learn takes --answers categories, numbers, comparisons or similarities, not {}",
                                  options.read.kind));
  }
  LearnRequest request;
  request.files = options.features.files(options.labels, options.gold, options.gold_for == "inference");
  request.method = options.method;
  request.settings = options.settings;
  request.network = options.network;
  request.without = without_of(options.without);
  request.read = options.read.options();
  if (!options.out.empty()) request.out = options.out;
  request.torchscript = options.torchscript;
  const ReportRequest report{.path = options.report, .force = options.force};
  check_report(report);
  Work work(session, options.run);
  const LearnOutcome outcome = run_learn(request, session, work);
  session.warn(outcome.result.crowd.record.data_warnings);
  session.warn(outcome.result.crowd.aggregation.warnings);
  const std::size_t report_bytes =
      options.report.empty() ? 0 : write_run_report(outcome.result.crowd, summary_of(outcome.result), report, work);
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(run_json(outcome.result));
    json["summary"] = run_summary_json(outcome.result.crowd);
    json["out"] = request.out ? nlohmann::ordered_json(*request.out) : nlohmann::ordered_json(nullptr);
    if (!options.report.empty()) json["report"] = options.report;
    session.out.add_json(json);
    return;
  }
  if (options.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(summary(outcome, options.method.empty(), screen));
  if (request.out) session.out.add(what_was_written(options, outcome.result, screen));
  if (!options.report.empty()) session.out.add(report_line(options.report, report_bytes, screen));
  session.out.add(what_next(options, session));
}

std::string list_learners(const std::vector<std::string>&, const Screen& screen) {
  std::string text = "Learners\n";
  for (const LearnerInfo& info : learning_methods()) {
    const bool is_default = info.name == default_learning_method();
    text += help_entry(info.name, is_default ? info.summary + " (the default)" : info.summary, screen);
  }
  std::string_view kind;
  for (const OtherLearner& learner : other_learners()) {
    if (learner.kind != kind) text += fmt::format("Learners of {}\n", learner.kind);
    kind = learner.kind;
    text +=
        help_entry(learner.info->name, learner.info->summary + (learner.is_default ? " (the default)" : ""), screen);
  }
  return text + "  See wisecrowd methods NAME for parameters and advice.\n";
}

}  // namespace

void add_learn(CommandSet& commands) {
  Command& command = commands.add("learn", "a classifier, trained on answers that may be wrong, and labels by both");
  command.details =
      "Reads answers (task, worker, label) and features of the tasks, trains a classifier and learns on the way whom "
      "to "
      "believe. Tasks with answers get a label from classifier and answers together; rows that nobody answered get the "
      "classifier's.\n"
      "The epoch is chosen by held-out likelihood, never by gold. Gold is only for scoring, unless --gold-for "
      "inference hands the truth of train tasks to the learner.\n"
      "With --answers numbers the network predicts numbers, and each worker has a bias, a scale and, if asked for, a "
      "slope; --out then writes estimates.csv instead of labels.csv and confusion.csv. With --answers comparisons it "
      "gives scores to items, and each worker has a reliability: scores.csv. With --answers similarities it finds "
      "clusters: clusters.csv.\n"
      "With --out it writes labels.csv (task, label, probability, source, and p_CLASS for every class), workers.csv, "
      "confusion.csv, run.json and the folder model/, which wisecrowd predict reads. The folder appears complete or "
      "not "
      "at all.";
  auto options = std::make_shared<LearnArguments>();
  command
      .add_text("ANSWERS", options->labels, "FILE",
                "the answers: CSV, TSV or JSON Lines, plain, .gz or .zst; - for standard input",
                {ValueHint::Kind::file})
      ->required();
  options->features.add_to(command, true, true);
  command.add_text("--method,-m", options->method, "NAME", "how to learn; see below", {ValueHint::Kind::learner});
  options->network.add_to(command);
  command.add_text("--gold,-g", options->gold, "FILE", "tasks whose truth is known: task, label",
                   {ValueHint::Kind::file});
  command.add_choice(
      "--gold-for", options->gold_for, {"evaluation", "inference"},
      "what gold is for. evaluation (the default): the learner does not see it, and labels are scored on "
      "it. inference: the truth of train tasks is learned from; valid and test rows are scored");
  add_without(command, options->without);
  add_settings(command, options->settings, "set a parameter of the learner or of training; may be repeated");
  command.add_text("--out,-o", options->out, "DIR", "where to write the results", ValueHint::written_folder());
  command.add_text("--report", options->report, "FILE",
                   "also write a report: one HTML file to look at, for people too (wisecrowd report makes one later)",
                   ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--torchscript", options->torchscript,
                   "also write model/classifier.pt, a TorchScript module that takes rows as they are in the file");
  command.add_flag("--json", options->json, "print one JSON object instead of the summary");
  options->read.add_to(command, true);
  options->read.add_kind_to(command);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.more = list_learners;
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 400 --gaussian-features 1.5 --test-tasks 200 --out crowd\n"
      "wisecrowd learn crowd/answers.csv --features crowd/features.npy --tasks crowd/tasks.csv\n"
      "wisecrowd learn crowd/answers.csv -f crowd/features.npy -t crowd/tasks.csv --gold crowd/gold.csv --out result\n"
      "wisecrowd learn crowd/answers.csv -f crowd/features.npy -t crowd/tasks.csv --model linear --set epochs=20 "
      "--json\n"
      "wisecrowd predict result --features crowd/features.npy --tasks crowd/tasks.csv --out predicted.csv";
  command.run = [options](Session& session) { run_learn(*options, session); };
}

}  // namespace wisecrowd::app
