#include "wisecrowd/held_out.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "aggregate/categories/shared/table_model.hpp"
#include "aggregate/registry.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kNormalQuantile = 1.959963984540054;

/// Names are not needed to fit; as many empty ones as there were.
CategoryAnswerNames no_names(const CategoryAnswers& answers) {
  const auto blank = [](std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); };
  return {blank(answers.task_count()), blank(answers.worker_count()), answers.class_names()};
}

/// Mean and normal interval.
MeanEstimate mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double error = n > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
  return {mean, mean - kNormalQuantile * error, mean + kNormalQuantile * error};
}

}  // namespace

HeldOut::HeldOut(const CategoryData& data, const HeldOutOptions& options, const RunContext& context) {
  if (options.folds == 0 || !(options.share > 0) || options.share * static_cast<double>(options.folds) > 1 + 1e-9) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} folds that hide a share of {} each: folds × share must be above 0 and at most 1",
                            options.folds, options.share));
  }
  const CategoryAnswers& answers = data.answers;
  const auto offsets = answers.task_offsets();
  const auto workers = answers.workers();
  const auto labels = answers.labels();
  // Which fold hides an answer, if any. A task that a fold would hide whole keeps its first answer there.
  const std::size_t none = options.folds;
  std::vector<std::uint32_t> fold_of(answers.answer_count());
  const Rng stream = context.rng("held-out answers");
  const Blocks blocks{answers.task_count(), 4096};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    Rng rng = stream.fork("block", block);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        const auto fold = static_cast<std::size_t>(rng.uniform() / options.share);
        fold_of[a] = static_cast<std::uint32_t>(std::min(fold, none));
      }
      if (offsets[t + 1] == offsets[t] || fold_of[offsets[t]] == none) continue;
      const bool whole = std::all_of(fold_of.begin() + static_cast<std::ptrdiff_t>(offsets[t]),
                                     fold_of.begin() + static_cast<std::ptrdiff_t>(offsets[t + 1]),
                                     [&](std::uint32_t f) { return f == fold_of[offsets[t]]; });
      if (whole) fold_of[offsets[t]] = static_cast<std::uint32_t>(none);
    }
  });

  folds_.resize(options.folds);
  for (std::size_t f = 0; f < options.folds; ++f) {
    Fold& fold = folds_[f];
    std::vector<CategoryAnswer> seen;
    seen.reserve(answers.answer_count());
    for (std::size_t t = 0; t < answers.task_count(); ++t) {
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        const CategoryAnswer answer{TaskId{static_cast<std::uint32_t>(t)}, workers[a], labels[a]};
        (fold_of[a] == f ? fold.hidden : seen).push_back(answer);
      }
    }
    fold.visible.answers = make_category_answers(seen, no_names(answers), DuplicatePolicy::repeat);
    fold.visible.gold = data.gold;
    fold.visible.task_priors = data.task_priors;
    hidden_count_ += fold.hidden.size();
  }
}

template <>
std::vector<double> Aggregator<Categories>::log_predictive(const CategoryData& data,
                                                           std::span<const CategoryAnswer> answers,
                                                           const RunContext& context) const {
  const CategoryFit result = fit(data, context);
  const std::size_t classes = result.class_count;
  std::vector<double> estimated;
  if (result.confusion.empty()) estimated = tables_from_posterior(data, context, result.posterior).tables;
  const std::vector<double>& tables = result.confusion.empty() ? estimated : result.confusion;
  std::vector<double> logs;
  logs.reserve(answers.size());
  for (const CategoryAnswer& answer : answers) {
    const double* const posterior = result.posterior.data() + index(answer.task) * classes;
    const double* const table = tables.data() + index(answer.worker) * classes * classes;
    double probability = 0;
    for (std::size_t k = 0; k < classes; ++k) probability += posterior[k] * table[k * classes + index(answer.label)];
    logs.push_back(std::log(std::max(probability, kProbabilityFloor)));
  }
  return logs;
}

std::vector<double> HeldOut::log_probabilities(const CategoryAggregator& method, std::size_t fold,
                                               const RunContext& context) const {
  return method.log_predictive(folds_[fold].visible, folds_[fold].hidden, context);
}

std::vector<double> HeldOut::log_probabilities(const CategoryAggregator& method, const RunContext& context) const {
  std::vector<double> logs;
  logs.reserve(hidden_count_);
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    if (context.cancelled()) return {};
    const auto part = log_probabilities(method, f, context);
    logs.insert(logs.end(), part.begin(), part.end());
  }
  return logs;
}

double HeldOut::z_score(std::span<const double> better, std::span<const double> worse) const {
  std::map<TaskId, double> by_task;
  std::size_t at = 0;
  for (const Fold& fold : folds_) {
    if (at >= better.size()) break;
    for (const CategoryAnswer& answer : fold.hidden) {
      by_task[answer.task] += better[at] - worse[at];
      ++at;
    }
  }
  double sum = 0, squares = 0;
  for (const auto& [task, difference] : by_task) {
    sum += difference;
    squares += difference * difference;
  }
  return squares > 0 ? sum / std::sqrt(squares) : 0;
}

std::vector<HeldOutScore> score_by_held_out_answers(const HeldOut& held_out, std::span<const MethodStage> methods,
                                                    const RunContext& context) {
  std::vector<HeldOutScore> scores(methods.size());
  std::vector<std::vector<double>> logs(methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    scores[m].method = methods[m].method;
    const auto started = std::chrono::steady_clock::now();
    try {
      require_fit(aggregation_method(methods[m].method), held_out.visible(0), false);
      logs[m] = held_out.log_probabilities(*make_aggregator(methods[m].method, methods[m].parameters), context);
      if (!logs[m].empty()) scores[m].log_probability = mean_of(logs[m]);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      scores[m].refusal = error.what();
      logs[m].clear();
    }
    scores[m].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }
  std::size_t best = methods.size();
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (logs[m].empty()) continue;
    if (best == methods.size() || scores[m].log_probability.value > scores[best].log_probability.value) best = m;
  }
  for (std::size_t m = 0; m < methods.size(); ++m) {
    if (logs[m].empty() || m == best || logs[m].size() != logs[best].size()) continue;
    std::vector<double> behind(logs[m].size());
    for (std::size_t i = 0; i < behind.size(); ++i) behind[i] = logs[best][i] - logs[m][i];
    scores[m].behind_best = mean_of(behind);
  }
  return scores;
}

}  // namespace wisecrowd
