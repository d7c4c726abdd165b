#include <fmt/core.h>

#include <cmath>

#include "state/schema.hpp"
#include "state/state_file.hpp"

namespace wisecrowd {

std::vector<std::string> CrowdState::check(const RunContext& context) const {
  constexpr std::size_t kMostShown = 20;
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  std::vector<std::string> problems;
  const auto add = [&](std::string problem) {
    if (problems.size() < kMostShown) problems.push_back(std::move(problem));
  };
  Statement structure(file.database(), fmt::format("PRAGMA integrity_check({})", kMostShown));
  while (structure.step()) {
    if (structure.text(0) != "ok") add(std::string(structure.text(0)));
  }
  for (std::string& foreign : foreign_schema(file.database())) add(std::move(foreign));
  if (!problems.empty()) return problems;

  const CrowdState::Whole whole = read_whole(file, context);
  const CategoryAnswers& answers = whole.data.answers;
  const std::size_t classes = answers.class_count();
  const auto expected = expected_counts(answers, whole.aggregation.posterior);
  const bool exact = file.options().update == IncrementalOptions::Update::incremental;
  std::vector<double> counts(classes * classes);
  std::vector<std::uint64_t> given(answers.worker_count(), 0);
  for (const WorkerId w : answers.workers()) ++given[index(w)];
  Statement workers(file.database(), "SELECT id, answers, counts, right FROM worker ORDER BY id");
  for (std::size_t w = 0; workers.step(); ++w) {
    file.read_counts(workers.blob(2), counts, classes, workers.integer(0));
    if (workers.integer(1) != static_cast<std::int64_t>(given[w])) {
      add(fmt::format("worker '{}' gave {} answers, not {}", answers.worker_names()[w], given[w], workers.integer(1)));
    }
    const double right = right_answers(counts, classes, static_cast<double>(given[w]));
    if (std::abs(workers.real(3) - right) > 1e-6 * (1 + right)) {
      add(fmt::format("{:.3f} answers of worker '{}' are right, not {:.3f}", right, answers.worker_names()[w],
                      workers.real(3)));
    }
    for (std::size_t c = 0; exact && c < counts.size(); ++c) {
      if (std::abs(counts[c] - expected.table(WorkerId(w))[c]) <= 1e-6 * (1 + counts[c])) continue;
      add(fmt::format("the table of worker '{}' is not the sum of its answers", answers.worker_names()[w]));
      break;
    }
  }
  (void)file.alarms();  // refuses what cannot be right
  const bool pinned = file.settings().gold_use == GoldUse::inference;
  Statement tasks(file.database(), "SELECT id, label, probability, entropy, length(posterior) FROM task ORDER BY id");
  for (std::size_t t = 0; tasks.step(); ++t) {
    const auto posterior = whole.aggregation.posterior_of(TaskId(t));
    const TaskColumns columns = columns_of(posterior);
    const bool agrees = tasks.integer(1) == columns.label && std::abs(tasks.real(2) - columns.probability) < 1e-9 &&
                        std::abs(tasks.real(3) - columns.entropy) < 1e-9;
    if (!agrees && tasks.integer(4) > 0)
      add(fmt::format("the columns of task '{}' do not agree with its probabilities", answers.task_names()[t]));
    const ClassId truth = pinned ? whole.data.gold_of(TaskId(t)) : kNoClass;
    if (truth != kNoClass && posterior[index(truth)] != 1)
      add(fmt::format("the truth of task '{}' is known, but its label is not sure", answers.task_names()[t]));
  }
  return problems;
}

}  // namespace wisecrowd
