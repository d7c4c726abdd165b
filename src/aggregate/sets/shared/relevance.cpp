#include "aggregate/sets/shared/relevance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "aggregate/sets/shared/relevance_pass.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::sets {
namespace {

constexpr std::size_t kTasksPerVoteBlock = 4096;

/// The classes that somebody named for a task, or that are its truth.
std::vector<ClassId> named_classes(const SetData& data, std::size_t task) {
  std::vector<ClassId> named;
  const auto offsets = data.answers.task_offsets();
  for (AnswerIndex a = offsets[task]; a < offsets[task + 1]; ++a) {
    const auto set = data.answers.set(a);
    named.insert(named.end(), set.begin(), set.end());
  }
  if (data.has_gold(TaskId(task))) {
    named.insert(named.end(), data.gold_of(TaskId(task)).begin(), data.gold_of(TaskId(task)).end());
  }
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

void warn_of_few_answers(const SetData& data, SetFit& fit) {
  const auto offsets = data.answers.task_offsets();
  std::size_t unanswered = 0, single = 0;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    unanswered += offsets[t + 1] == offsets[t] ? 1 : 0;
    single += offsets[t + 1] == offsets[t] + 1 ? 1 : 0;
  }
  if (unanswered > 0) {
    fit.warnings.push_back(
        {"unanswered_tasks",
         fmt::format("{} of {} tasks have no answer, so there is no set for them.", unanswered, fit.task_count),
         "Ask for answers, or drop these tasks.", Severity::note});
  }
  if (single > 0 && single + unanswered == fit.task_count) {
    fit.warnings.push_back({"one_answer_per_task",
                            "no task has more than one answer, so workers cannot be compared with one another.",
                            "Ask for a second answer to some tasks.", Severity::serious});
  }
}

}  // namespace

void set_parameters(ParameterVisitor& v, SetOptions& options) {
  v.real("threshold", options.threshold, 0, 1, "classes that are more probable than this make the set of a task");
  v.choice("candidates", options.candidates, kCandidatesNames,
           "which classes of a task get a probability: all, those that somebody named for it, or all while answers × "
           "classes is below 2^28");
}

void iteration_parameters(ParameterVisitor& v, RelevanceOptions& options) {
  v.integer("max_iterations", options.max_iterations, 1, 1e6, "iterations after which it stops at the latest");
  v.real("tolerance", options.tolerance, 0, 1, "stop when the objective gains less than this share of its size");
  set_parameters(v, options.sets);
}

SetFit start_set_fit(const SetData& data, const SetOptions& options) {
  const SetAnswers& answers = data.answers;
  SetFit fit;
  fit.task_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.class_count = answers.class_count();
  fit.threshold = options.threshold;
  fit.known.resize(fit.task_count);
  fit.offsets.assign(1, 0);
  fit.offsets.reserve(fit.task_count + 1);
  const double cells = static_cast<double>(answers.answer_count()) * static_cast<double>(fit.class_count);
  const bool all =
      options.candidates == Candidates::all || (options.candidates == Candidates::automatic && cells <= kMostCells);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    fit.known[t] = offsets[t + 1] > offsets[t] || data.has_gold(TaskId(t)) ? 1 : 0;
    if (fit.known[t] != 0 && all) {
      for (std::size_t k = 0; k < fit.class_count; ++k) fit.candidates.push_back(ClassId(k));
    } else if (fit.known[t] != 0) {
      const auto named = named_classes(data, t);
      fit.candidates.insert(fit.candidates.end(), named.begin(), named.end());
    }
    fit.offsets.push_back(fit.candidates.size());
  }
  fit.probability.assign(fit.candidates.size(), 0);
  fit.class_prior.assign(fit.class_count, 0);
  fit.sensitivity.assign(fit.worker_count * fit.class_count, 0);
  fit.specificity = fit.sensitivity;
  warn_of_few_answers(data, fit);
  return fit;
}

void vote(const SetData& data, SetFit& fit, const RunContext& context) {
  const SetAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  const Blocks blocks{fit.task_count, kTasksPerVoteBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t t = blocks.begin(b); t < blocks.end(b) && !context.cancelled(); ++t) {
      const CandidateRow row(fit, t);
      double* const q = fit.probability.data() + fit.offsets[t];
      if (data.has_gold(TaskId(t))) {
        row.for_each(data.gold_of(TaskId(t)), [&](std::size_t c) { q[c] = 1; });
        continue;
      }
      const auto count = static_cast<double>(offsets[t + 1] - offsets[t]);
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        row.for_each(answers.set(a), [&](std::size_t c) { q[c] += 1; });
      }
      for (std::size_t c = 0; c < row.size(); ++c) q[c] /= count;
    }
  });
}

void take_class_prior(SetFit& fit) {
  std::fill(fit.class_prior.begin(), fit.class_prior.end(), 0.0);
  double known = 0;
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    known += fit.known[t];
    const auto own = fit.candidates_of(TaskId(t));
    for (std::size_t c = 0; c < own.size(); ++c) fit.class_prior[index(own[c])] += fit.probability[fit.offsets[t] + c];
  }
  for (double& p : fit.class_prior) p = known > 0 ? p / known : 0;
}

}  // namespace wisecrowd::sets
