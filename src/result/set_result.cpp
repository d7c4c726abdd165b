#include "wisecrowd/set_result.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/csv_text.hpp"

namespace wisecrowd {
namespace {

constexpr double kNoShare = std::numeric_limits<double>::quiet_NaN();

double jaccard_of(std::span<const ClassId> a, std::span<const ClassId> b) {
  std::vector<ClassId> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either == 0 ? 1 : static_cast<double>(both.size()) / static_cast<double>(either);
}

/// A worker's rates over classes, weighted by how often each is true, or not.
void take_rates(const SetFit& fit, std::size_t worker, SetWorkerSummary& summary) {
  double hits = 0, truths = 0, clear = 0, others = 0;
  for (std::size_t k = 0; k < fit.class_count; ++k) {
    const double p = fit.class_prior[k];
    hits += p * fit.sensitivity[worker * fit.class_count + k];
    truths += p;
    clear += (1 - p) * fit.specificity[worker * fit.class_count + k];
    others += 1 - p;
  }
  summary.sensitivity = truths > 0 ? hits / truths : kNoShare;
  summary.specificity = others > 0 ? clear / others : kNoShare;
}

}  // namespace

SetResult make_result(SetData data, SetFit fit, RunRecord record) {
  SetResult result;
  const SetAnswers& answers = data.answers;
  record.data_hash = answers.content_hash();
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    SetWorkerSummary& worker = result.workers.emplace_back();
    const auto own = answers.answers_of(WorkerId(w));
    const auto tasks = answers.tasks_of(WorkerId(w));
    worker.answers = own.size();
    take_rates(fit, w, worker);
    double named = 0, jaccard = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      named += static_cast<double>(answers.set(own[i]).size());
      if (!data.has_gold(tasks[i])) continue;
      ++worker.gold_answers;
      jaccard += jaccard_of(answers.set(own[i]), data.gold_of(tasks[i]));
    }
    worker.set_size = own.empty() ? kNoShare : named / static_cast<double>(own.size());
    worker.gold_jaccard = worker.gold_answers == 0 ? kNoShare : jaccard / static_cast<double>(worker.gold_answers);
  }
  result.data = std::move(data);
  result.fit = std::move(fit);
  result.record = std::move(record);
  return result;
}

SetResult rounded_for_files(const SetResult& result) {
  SetResult written = result;
  SetFit& fit = written.fit;
  for (auto* values : {&fit.probability, &fit.sensitivity, &fit.specificity}) {
    for (double& value : *values) value = written_number(value);
  }
  for (std::size_t w = 0; w < written.workers.size(); ++w) take_rates(fit, w, written.workers[w]);
  for (SetWorkerSummary& worker : written.workers) {
    for (double* value : {&worker.sensitivity, &worker.specificity}) *value = written_number(*value);
  }
  return written;
}

}  // namespace wisecrowd
