#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "judges/reliability/reliability.hpp"
#include "judges/shared/estimates.hpp"
#include "judges/shared/voices.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace {

/// Fewer tasks of people than this say little of a judge, and nothing of how many more are wanted.
constexpr std::uint64_t kFewTasks = 20;

void check_options(const JudgeData& data, const JudgeStudyOptions& options) {
  if (!(options.target_width > 0 && options.target_width < 0.5)) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("`target_width` {} is no ± between 0 and 0.5", options.target_width));
  }
  if (options.draws < 100) throw Error(ErrorCode::bad_parameter, "`draws` must be 100 at least");
  if (options.positive != kNoClass && index(options.positive) >= data.class_count()) {
    throw Error(ErrorCode::bad_parameter, "`positive` is a class that is not there");
  }
}

std::uint64_t tasks_of_people(const JudgeData& data) {
  std::vector<char> seen(data.tasks.size(), 0);
  for (const JudgeAnswer& answer : data.answers) {
    if (!data.is_machine(answer.worker)) seen[index(answer.task)] = 1;
  }
  for (std::size_t t = 0; t < seen.size(); ++t) {
    if (data.gold_of(TaskId(t)) != kNoClass) seen[t] = 1;
  }
  return static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), 1));
}

/// What people's answers say of a judge, and of the shares of classes by its answers.
void add_people(const JudgeData& data, const JudgeStudyOptions& options, const RunContext& context,
                JudgeReliability& judge, JudgeStudy& study) {
  const AgainstPeople found = judge_against_people(data, study.fit, judge.worker, options.draws, context);
  judge.people_tasks = found.tasks;
  judge.people_answers = found.people_answers;
  if (found.accuracy.empty()) return;
  judge.against_people = judges::of_draws(found.accuracy);
  judge.half_width = (judge.against_people.high - judge.against_people.low) / 2;
  judge.needs_known = found.tasks >= kFewTasks;
  if (judge.needs_known) {
    judge.more_tasks = tasks_until(judge.half_width, found.tasks, options.target_width);
    const double per_task = std::max(1.0, static_cast<double>(found.people_answers) / static_cast<double>(found.tasks));
    judge.more_answers = static_cast<std::uint64_t>(std::ceil(static_cast<double>(judge.more_tasks) * per_task));
  }
  const std::size_t classes = data.class_count(), draws = found.accuracy.size();
  if (data.kind == JudgedKind::comparisons) return;  // shares of first and second say nothing
  const judges::Voices voices(data);
  for (std::size_t k = 0; k < classes; ++k) {
    PrevalenceEstimate share;
    share.worker = judge.worker;
    share.of = ClassId(k);
    for (const std::uint32_t v : voices.of_worker(index(judge.worker))) {
      ++share.tasks;
      share.raw += index(voices[v].said) == k ? 1 : 0;
    }
    share.raw /= static_cast<double>(share.tasks);
    std::vector<double> values(draws);
    for (std::size_t d = 0; d < draws; ++d) values[d] = found.prevalence[d * classes + k];
    share.corrected = judges::of_draws(values);
    study.prevalence.push_back(share);
  }
}

void add_warnings(const JudgeData& data, JudgeStudy& study) {
  const auto warn = [&](const char* code, std::string message, const char* remedy, Severity severity) {
    study.warnings.push_back({code, std::move(message), remedy, severity});
  };
  if (study.people_tasks == 0) {
    warn("no_people",
         "No person answered any task and no truth is known, so machines are judged by one another: an error that all "
         "share cannot be seen.",
         "Let people answer some tasks, or give `gold`.", Severity::serious);
  } else if (study.people_tasks < kFewTasks) {
    warn("few_people",
         fmt::format("People answered {} tasks: what is said of judges is mostly not known yet.", study.people_tasks),
         "Look at the intervals; `next` chooses tasks to show to people.", Severity::caution);
  }
  std::uint64_t unnamed = 0;
  for (const WorkerId judge : study.judges) unnamed += data.judges[index(judge)].family.empty() ? 1 : 0;
  if (unnamed > 1 && unnamed == study.judges.size()) {
    warn("no_families",
         fmt::format("No family is known of {} machines, so each counts as an independent voice: models of one maker "
                     "often err together.",
                     unnamed),
         "Give a column 'family', or a table of workers with one.", Severity::caution);
  }
  if (study.fit.status == Status::iteration_limit) {
    warn("not_converged", "The truth of all together did not settle within the iterations that are allowed.",
         "Look whether some class is hardly ever said.", Severity::caution);
  }
}

}  // namespace

JudgeStudy study_judges(const JudgeData& data, const JudgeStudyOptions& options, const RunContext& context) {
  validate(data);
  check_options(data, options);
  JudgeStudy study;
  for (std::size_t w = 0; w < data.workers.size(); ++w) {
    if (data.is_machine(WorkerId(w))) study.judges.push_back(WorkerId(w));
  }
  if (study.judges.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("none of the {} workers is a machine, so there is no judge to look at: say who is by a "
                            "column 'kind' (human or machine), or by a table of workers with one",
                            data.workers.size()));
  }
  study.people_tasks = tasks_of_people(data);
  study.fit = fit_mixed_crowd(data, options.crowd, context);
  study.reliability = judges::reliabilities(data, study.fit);
  study.agreement = agreement_of(data);
  ClassId positive = options.positive;
  if (positive == kNoClass && data.kind == JudgedKind::categories && data.class_count() == 2) positive = ClassId{1};
  for (const WorkerId judge : study.judges) {
    if (context.cancelled()) return study;
    context.report({.stage = "judging", .done = static_cast<double>(index(judge))});
    add_people(data, options, context, study.reliability[index(judge)], study);
    const auto biases = judge_biases(data, study.fit, judge, positive);
    study.biases.insert(study.biases.end(), biases.begin(), biases.end());
  }
  study.families = judge_families(data, study.fit);
  study.versions = version_changes(data);
  if (data.kind == JudgedKind::comparisons) {
    study.everybody = rank_items(data, study.fit, false);
    if (study.people_tasks > 0) study.people = rank_items(data, study.fit, true);
  }
  study.next = next_tasks(data, study.fit, options.next, context);
  add_warnings(data, study);
  return study;
}

}  // namespace wisecrowd
