#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "number_run.hpp"
#include "number_text.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

/// Rows of a part of the data that have gold, with what the network says of them.
struct ScoredPart {
  const char* name;
  std::vector<double> estimate, low, high, gold;

  void add(std::span<const double> at, std::span<const double> deviation, std::span<const double> truth) {
    for (std::size_t d = 0; d < at.size(); ++d) {
      estimate.push_back(at[d]);
      low.push_back(at[d] - kInterval * deviation[d]);
      high.push_back(at[d] + kInterval * deviation[d]);
      gold.push_back(truth[d]);
    }
  }
  static constexpr double kInterval = 1.959963984540054;  // 95 % of a normal distribution
};

bool is_known(std::span<const double> gold) { return !gold.empty() && !std::isnan(gold[0]); }

/// Every part of the data that has gold: rows by the network alone, answered tasks by network and answers.
std::vector<NumberLearnScore> score_numbers(const NumberLearningInput& input, const LearnedNumbers& learned) {
  const NumberLearningData& data = input.data;
  const std::size_t dimensions = data.crowd.answers.dimensions();
  std::vector<NumberLearnScore> scores;
  if (input.row_gold.empty()) return scores;
  std::vector<bool> answered(data.features.rows, false);
  for (const std::uint32_t row : data.row_of_task) {
    if (row != kNoRow) answered[row] = true;
  }
  ScoredPart test{"test_rows", {}, {}, {}, {}}, valid{"valid_rows", {}, {}, {}, {}},
      unanswered{"unanswered_rows", {}, {}, {}, {}};
  for (std::size_t r = 0; r < data.features.rows; ++r) {
    const auto gold = std::span(input.row_gold).subspan(r * dimensions, dimensions);
    if (!is_known(gold) || (data.split[r] == Split::train && answered[r])) continue;
    ScoredPart& part = data.split[r] == Split::test ? test : data.split[r] == Split::valid ? valid : unanswered;
    part.add(std::span(learned.row_estimate).subspan(r * dimensions, dimensions), learned.row_deviation, gold);
  }
  for (const ScoredPart* part : {&test, &valid, &unanswered}) {
    if (part->gold.empty()) continue;
    scores.push_back({part->name, evaluate_numbers(part->estimate, part->low, part->high, part->gold, dimensions)});
  }
  bool tasks = false;
  for (std::size_t t = 0; t * dimensions < input.task_gold.size(); ++t) {
    tasks = tasks || is_known(std::span(input.task_gold).subspan(t * dimensions, dimensions));
  }
  const NumberFit& fit = learned.crowd;
  if (tasks) {
    scores.push_back(
        {"answered_tasks", evaluate_numbers(fit.estimate, fit.low, fit.high, input.task_gold, dimensions)});
  }
  return scores;
}

std::uint64_t known_gold(const NumberLearningInput& input) {
  const std::size_t dimensions = input.data.crowd.answers.dimensions();
  std::uint64_t known = 0;
  for (std::size_t at = 0; at < input.row_gold.size(); at += dimensions) {
    known += std::isnan(input.row_gold[at]) ? 0 : 1;
  }
  for (std::size_t t = 0; t * dimensions < input.task_gold.size(); ++t) {
    known += input.data.row_of_task[t] == kNoRow && !std::isnan(input.task_gold[t * dimensions]) ? 1 : 0;
  }
  return known;
}

std::string summary(const NumberLearnResult& result, bool is_default, double seconds, const Screen& screen) {
  const NumberAnswers& answers = result.crowd.data.answers;
  const auto line = [&](const std::string& title, const std::string& words) {
    return summary_line(title, words, screen);
  };
  std::string text = number_data_line(answers, screen);
  text += line("Rows", rows_text(result));
  text += line("Method",
               fmt::format("{}{}, {}", result.crowd.record.method, is_default ? " (default)" : "", duration(seconds)));
  text += line("Network", network_text(result.network));
  text += line("Epochs", epochs_text(result, "log density"));
  std::vector<std::string> names;
  for (std::size_t d = 0; d < answers.dimensions(); ++d) names.emplace_back(answers.dimension_names()[d]);
  for (const NumberLearnScore& score : result.scores) {
    if (score.part == "answered_tasks") continue;  // follows with the tasks
    text += fmt::format("\n{}   against gold of {} {}, by the network\n", screen.bold("Scored"),
                        grouped(score.evaluation.tasks),
                        score.part == "test_rows"    ? "test rows"
                        : score.part == "valid_rows" ? "valid rows"
                                                     : "rows that nobody answered");
    text += number_score_lines(score.evaluation, names, screen);
  }
  return text + "\n" + number_tables(result.crowd, screen);
}

std::string what_was_written(const NumberLearningRequest& request, const Screen& screen) {
  return fmt::format(
      "\n{} {}\n"
      "  estimates.csv  a number for each task with answers or features\n"
      "  workers.csv    bias, scale and slope of each worker\n"
      "  model/         the trained network, for wisecrowd predict\n"
      "  run.json       how it was made: parameters, seed, learning curves, scores\n"
      "\nTo predict more of the same kind, give their features to the network:\n"
      "  wisecrowd predict {} --features NEW\n",
      screen.bold("Written to"), shell_word(request.out), shell_word(request.out));
}

}  // namespace

void learn_numbers_run(const NumberLearningRequest& request, Session& session) {
  // Everything that can be refused is refused before the long work.
  const LearnerInfo& info =
      number_learner_named(request.method.empty() ? std::string(default_number_learning_method()) : request.method);
  const Parameters parameters = parameters_from(info.parameters, request.settings, info.name);
  const NetworkSpec network = request.network.spec(info);
  const LearningFiles files = request.features.files(request.answers, request.gold, false);
  const ReadOptions reading = request.read.options();
  if (!request.out.empty()) at_stage(Stage::creating, [&] { check_output_directory(request.out); });
  check_report(request.report);
  Work work(session, request.run);
  RunRecord record;
  record.version = WISECROWD_VERSION;
  record.command = session.typed;
  record.method = info.name;
  record.parameters = as_list(parameters);
  record.reading = reading_record(reading);
  record.seed = work.context().seed();
  record.threads = work.context().threads();
  record.inputs.emplace_back("answers", files.answers);
  if (files.gold) record.inputs.emplace_back("gold", *files.gold);
  record.inputs.emplace_back("features", files.features);
  if (files.tasks) record.inputs.emplace_back("tasks", *files.tasks);

  Stopwatch watch;
  DataReport report;
  NumberLearningInput input =
      at_stage(Stage::reading, [&] { return read_number_learning_data(files, reading, work.context(), &report); });
  work.check_stopped();
  record.timings.emplace_back("read", watch.lap());
  record.data_warnings = report.warnings;
  for (Warning& warning : describe(input.data.crowd.answers).warnings) {
    record.data_warnings.push_back(std::move(warning));
  }
  record.gold_tasks = known_gold(input);
  if (!input.task_gold.empty()) record.gold_use = "evaluation";
  LearnedNumbers learned = learn_numbers(input.data, info.name, parameters, network, work.context());
  work.check_stopped();
  const double seconds = watch.lap();
  record.timings.emplace_back("fit", seconds);
  auto scores = score_numbers(input, learned);
  NumberLearnResult result = make_learn_result(std::move(input.data), std::move(input.task_gold), std::move(learned),
                                               network, std::move(record));
  for (const NumberLearnScore& score : scores) {
    if (score.part == "answered_tasks") result.crowd.evaluation = score.evaluation;
  }
  result.scores = std::move(scores);
  session.warn(result.crowd.record.data_warnings);
  session.warn(result.crowd.fit.warnings);
  if (!request.out.empty()) {
    session.interrupts.writes_to(request.out);
    const Status status = at_stage(Stage::writing, [&] { return write_result(result, request.out, work.context()); });
    session.interrupts.writes_to("");
    if (status == Status::cancelled) throw Stopped();
  }
  const std::size_t report_bytes =
      request.report.path.empty() ? 0 : write_run_report(result.crowd, summary_of(result), request.report, work);
  if (request.json) {
    auto json = nlohmann::ordered_json::parse(run_json(result));
    json["out"] = request.out.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(request.out);
    if (!request.report.path.empty()) json["report"] = request.report.path;
    session.out.add_json(json);
    return;
  }
  if (request.run.quiet) return;
  const Screen& screen = session.out_screen;
  session.out.add(summary(result, request.method.empty(), seconds, screen));
  if (!request.out.empty()) session.out.add(what_was_written(request, screen));
  if (!request.report.path.empty()) session.out.add(report_line(request.report.path, report_bytes, screen));
  if (request.out.empty() && request.report.path.empty()) {
    session.out.add("\n" +
                    wrapped("Nothing was written. To keep the results, add --out and a folder:", screen.width, 0) +
                    fmt::format("\n  {} --out result\n", session.typed));
  }
}

}  // namespace wisecrowd::app
