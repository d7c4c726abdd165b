#include "compare_learners.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "aggregate_run.hpp"
#include "failure.hpp"
#include "run_summary.hpp"
#include "score_text.hpp"
#include "screen_text.hpp"
#include "shared_json.hpp"
#include "table.hpp"
#include "wisecrowd/messages.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

struct LearnerRow {
  std::string learner;
  std::string refusal;
  double held_out = std::nan("");  ///< mean log probability of answers to held-out tasks, at the chosen epoch
  std::size_t epochs = 0;
  std::size_t chosen_epoch = 0;
  double seconds = 0;
  std::vector<LearnScore> scores;
};

const LearnScore* score_of(const LearnerRow& row, const std::string& part) {
  const auto found =
      std::find_if(row.scores.begin(), row.scores.end(), [&](const LearnScore& score) { return score.part == part; });
  return found == row.scores.end() ? nullptr : &*found;
}

/// Columns of accuracy that there is gold for, with their titles.
struct PartColumn {
  std::string part, title;
};
std::vector<PartColumn> part_columns(const std::vector<LearnerRow>& rows) {
  std::vector<PartColumn> columns;
  for (const PartColumn& column : {PartColumn{"test_rows", "test rows"},
                                   {"valid_rows", "valid rows"},
                                   {"unanswered_rows", "unanswered"},
                                   {"answered_tasks", "tasks"}}) {
    const bool there = std::any_of(rows.begin(), rows.end(),
                                   [&](const LearnerRow& row) { return score_of(row, column.part) != nullptr; });
    if (there) columns.push_back(column);
  }
  return columns;
}

std::string table_text(const std::vector<LearnerRow>& rows, const Screen& screen) {
  const auto parts = part_columns(rows);
  std::vector<Column> columns = {{"learner", Column::Side::left}, {"log P"}};
  for (const PartColumn& part : parts) columns.push_back({part.title});
  columns.push_back({"epoch"});
  columns.push_back({"time"});
  Table table(std::move(columns), 1);
  for (const LearnerRow& row : rows) {
    std::vector<std::string> values = {row.learner, fixed(row.held_out, 4)};
    std::vector<std::string> intervals = {"", ""};
    for (const PartColumn& part : parts) {
      const LearnScore* score = score_of(row, part.part);
      values.push_back(score != nullptr ? percent(score->chosen.accuracy.value) : "–");
      intervals.push_back(score != nullptr ? fmt::format("{:.1f}–{:.1f}", 100 * score->chosen.accuracy.low,
                                                         100 * score->chosen.accuracy.high)
                                           : "");
    }
    values.push_back(row.refusal.empty() ? fmt::format("{}/{}", row.chosen_epoch, row.epochs) : "–");
    values.push_back(row.refusal.empty() ? duration(row.seconds) : "cannot");
    table.add(std::move(values));
    if (!parts.empty() && row.refusal.empty()) table.add(std::move(intervals));
  }
  return table.text(screen.width, screen.dim_on(), screen.off());
}

Json rows_json(const std::vector<LearnerRow>& rows) {
  Json list = Json::array();
  for (const LearnerRow& row : rows) {
    Json entry = {{"learner", row.learner}};
    if (!row.refusal.empty()) {
      entry["error"] = row.refusal;
    } else {
      entry["held_out_log_probability"] = row.held_out;
      entry["epochs"] = row.epochs;
      entry["chosen_epoch"] = row.chosen_epoch;
      entry["seconds"] = row.seconds;
      for (const LearnScore& score : row.scores) {
        entry[score.part] = {{"chosen_epoch", score_json(score.chosen)}, {"last_epoch", score_json(score.last)}};
      }
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

void compare_learners(const LearnerComparison& comparison, Session& session, Work& work) {
  const auto parameters = parameters_for_each(
      comparison.learners,
      [](const std::string& name) -> const std::vector<ParameterSpec>& { return learner_named(name).parameters; },
      comparison.settings);
  for (const Parameters& own : parameters) warn_of_former_names(session, own);
  std::vector<NetworkSpec> networks;
  for (const std::string& name : comparison.learners) networks.push_back(comparison.network.spec(learner_named(name)));
  DataReport report;
  LearningInput input = at_stage(
      Stage::reading, [&] { return read_learning_data(comparison.files, comparison.read, work.context(), &report); });
  work.check_stopped();
  RunRecord record;
  leave_out(comparison.without, input.data.crowd, record, work);
  session.warn(record.data_warnings);
  std::vector<LearnerRow> rows;
  for (std::size_t i = 0; i < comparison.learners.size(); ++i) {
    LearnerRow& row = rows.emplace_back();
    row.learner = learner_named(comparison.learners[i]).name;
    Stopwatch watch;
    try {
      const Learned learned = learn(input.data, row.learner, parameters[i], networks[i], work.context());
      work.check_stopped();
      row.seconds = watch.lap();
      row.epochs = learned.epochs;
      row.chosen_epoch = learned.chosen_epoch;
      if (row.chosen_epoch > 0 && row.chosen_epoch <= learned.curve.size()) {
        row.held_out = learned.curve[row.chosen_epoch - 1].held_out;
      }
      row.scores = score_learned(input, learned, true, work.context());
      work.check_stopped();
    } catch (const Error& error) {
      const bool diverged = dynamic_cast<const Diverged*>(&error) != nullptr;
      if (error.code() != ErrorCode::unsupported && !diverged) throw;
      row.refusal = with_flags(error.what());
    }
  }
  // The best first; what cannot be judged by held-out answers, and what cannot run, last.
  std::stable_sort(rows.begin(), rows.end(), [](const LearnerRow& a, const LearnerRow& b) {
    const auto rank = [](const LearnerRow& row) { return !row.refusal.empty() ? 2 : std::isnan(row.held_out) ? 1 : 0; };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return rank(a) == 0 && a.held_out > b.held_out;
  });
  const CategoryAnswers& answers = input.data.crowd.answers;
  session.warn(report.warnings);
  if (comparison.json) {
    Json json = {{"tasks", answers.task_count()}, {"rows", input.data.features.rows}, {"learners", rows_json(rows)}};
    json["warnings"] = warnings_json(report.warnings);
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  session.out.add(
      summary_line("Data",
                   fmt::format("{} by {} to {}, {}; {} of features", counted(answers.answer_count(), "answer"),
                               counted(answers.worker_count(), "worker"), counted(answers.task_count(), "task"),
                               counted(answers.class_count(), "class"), counted(input.data.features.rows, "row")),
                   screen));
  session.out.add("\n" + table_text(rows, screen) + "\n  ");
  session.out.add(
      wrapped("log P is the mean logarithm of the probability of answers to tasks that were held out while the "
              "epoch was chosen: higher is better, and it needs no gold. Under the accuracies, at the chosen "
              "epoch: 95 % intervals.",
              screen.width, 2) +
      "\n");
  for (const LearnerRow& row : rows) {
    if (!row.refusal.empty()) session.out.add(fmt::format("  {}: {}\n", row.learner, row.refusal));
  }
}

}  // namespace wisecrowd::app
