#include "wisecrowd/trust_study.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Random numbers that judging may draw: a few seconds on one core.
constexpr std::size_t kMostTrustDraws = 20'000'000, kFewestTrustDraws = 60;

int urgency(const TrustStudy& study, std::uint32_t worker) {
  const std::uint32_t group = study.group[worker];
  if (group != TrustStudy::kAlone && kind_of_group(study.dependence, study.dependence.groups[group]) == "colluders") {
    return 0;
  }
  switch (study.workers[worker].advice) {
    case WorkerAdvice::stop: return 1;
    case WorkerAdvice::recode: return 2;
    case WorkerAdvice::retrain: return 3;
    case WorkerAdvice::check: return 4;
    case WorkerAdvice::unsure: return 5;
    case WorkerAdvice::keep: return 6;
  }
  return 6;
}

}  // namespace

void judge_drift(const Drift& drift, std::vector<WorkerAssessment>& workers) {
  for (const DriftAlarm& alarm : drift.alarms) {
    WorkerAssessment& judged = workers[index(alarm.worker)];
    if (!alarm.lasts || judged.advice != WorkerAdvice::keep) continue;
    judged.advice = WorkerAdvice::check;
    judged.reason = AdviceReason::worse_lately;
    judged.before = alarm.before;
    judged.lately = alarm.lately;
  }
}

KnownGroups knowing_groups(const CategoryData& data, Parameters parameters, const Dependence& found, bool uses_gold) {
  KnownGroups known{data, std::move(parameters)};
  if (!uses_gold) known.data.gold.clear();
  if (known.data.worker_groups.empty()) known.data.worker_groups = found.voices;
  if (!found.acts() && known.parameters.all().contains("find_groups")) {
    known.parameters.set_value("find_groups", false);
  }
  return known;
}

TrustStudy study_trust(const CategoryData& data, const CategoryFit& fit, Dependence found, const AnswerTimes& times,
                       const RunContext& context) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t workers = answers.worker_count(), classes = answers.class_count();
  TrustStudy study;
  study.dependence = std::move(found);
  study.order = times.order;
  study.group.assign(workers, TrustStudy::kAlone);
  for (std::uint32_t g = 0; g < study.dependence.groups.size(); ++g) {
    for (const WorkerId worker : study.dependence.groups[g].workers) study.group[index(worker)] = g;
  }
  const std::vector<double> tables = worker_confusion(data, fit, context);
  if (tables.empty() && workers > 0 && classes > 0) {
    throw Error(ErrorCode::unsupported,
                "tables of so many workers and classes would take more than 2 GB, and workers cannot be judged "
                "without: use a method that learns tables, or merge rare classes");
  }
  const JudgedCrowd crowd{answers,
                          tables,
                          fit.class_prior,
                          study.dependence.groups,
                          data.gold,
                          times.times,
                          study.dependence.everybody_grouped};
  JudgeOptions judging;
  judging.draws = std::clamp(kMostTrustDraws / std::max<std::size_t>(classes * classes * workers, 1), kFewestTrustDraws,
                             judging.draws);
  study.workers = judge_workers(crowd, judging, context);
  if (times.order != AnswerOrder::unknown && !context.cancelled()) study.drift = find_drift(crowd, {}, context);
  judge_drift(study.drift, study.workers);
  return study;
}

std::vector<std::uint32_t> workers_to_look_at(const TrustStudy& study) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t w = 0; w < study.workers.size(); ++w) {
    if (urgency(study, w) < 5) order.push_back(w);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int first = urgency(study, a), second = urgency(study, b);
    if (first != second) return first < second;
    if (first == 0 && study.group[a] != study.group[b]) return study.group[a] < study.group[b];
    return study.workers[a].answers > study.workers[b].answers;
  });
  return order;
}

std::vector<std::string> trust_limits(const CategoryData& data, const TrustStudy& study) {
  std::vector<std::string> limits;
  for (const Warning& warning : dependence_warnings(data, study.dependence)) {
    if (warning.code == "dependent_workers" && !warning.remedy.empty()) limits.push_back(warning.remedy);
  }
  std::uint64_t few = 0;
  for (const WorkerAssessment& judged : study.workers) few += judged.reason == AdviceReason::few_answers ? 1 : 0;
  if (few > 0) {
    limits.push_back(fmt::format("{} of {} workers gave too few answers to be judged.", few, study.workers.size()));
  }
  if (study.order == AnswerOrder::unknown) {
    limits.push_back("When the answers were given is not known, so nobody can be seen to get tired.");
  } else {
    limits.push_back(fmt::format(
        "{}{} of {} workers gave answers enough to be seen getting worse. Where a worker is right in 70 % or less, a "
        "change to guessing is mostly not seen.",
        study.order == AnswerOrder::rows
            ? "There is no time column, so the rows are taken to be in the order of time (`time=COLUMN` names one). "
            : "",
        study.drift.looked_at, study.workers.size()));
  }
  return limits;
}

CategoryResult result_of(const TrustRun& run, const RunContext& context) {
  CategoryFit fit = run.fit;
  fit.dependence = run.study.dependence;
  CategoryResult result = make_result(run.data, std::move(fit), run.record, context);
  result.times = run.times;
  return result;
}

}  // namespace wisecrowd
