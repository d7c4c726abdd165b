#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "base/intervals.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/held_out.hpp"

// What HeldOut does, for any kind of answers. A kind says in its held_out.cpp how its data are divided, and makes the
// functions for itself by WISECROWD_HELD_OUT(Kind).

namespace wisecrowd {

/// What one fold leaves and what it hides; `fold_of` has an entry per answer.
template <class Kind>
void divide(const typename Kind::Data& data, std::span<const std::uint32_t> fold_of, std::uint32_t fold,
            typename Kind::Data& visible, std::vector<typename Kind::Answer>& hidden);

/// Whether a fold may hide all answers to a task: only where others tell what to expect of it.
template <class Kind>
inline constexpr bool kHidesWholeTasks = false;

/// Makes a method for data of the kind; throws unsupported when it cannot take them.
template <class Kind>
std::unique_ptr<Aggregator<Kind>> method_for(const typename Kind::Data&, const MethodStage& stage) {
  return make_method<Kind>(stage.method, stage.parameters);
}

/// Names are not needed to fit; as many empty ones as there were.
inline NameTable blank_names(std::size_t count) { return NameTable("", std::vector<std::uint64_t>(count + 1, 0)); }

/// Mean and normal interval.
inline Estimate mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  const double error = n > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
  return {mean, mean - kNormal95 * error, mean + kNormal95 * error};
}

template <class Kind>
HeldOut<Kind>::HeldOut(const Data& data, const HeldOutOptions& options, const RunContext& context)
    : answers_(data.answers) {
  if (options.folds == 0 || !(options.share > 0) || options.share * static_cast<double>(options.folds) > 1 + 1e-9) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} folds that hide a share of {} each: folds × share must be above 0 and at most 1",
                            options.folds, options.share));
  }
  const AnswerGraph& answers = data.answers;
  const auto offsets = answers.task_offsets();
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
      if (kHidesWholeTasks<Kind> || offsets[t + 1] == offsets[t] || fold_of[offsets[t]] == none) continue;
      const bool whole = std::all_of(fold_of.begin() + static_cast<std::ptrdiff_t>(offsets[t]),
                                     fold_of.begin() + static_cast<std::ptrdiff_t>(offsets[t + 1]),
                                     [&](std::uint32_t f) { return f == fold_of[offsets[t]]; });
      if (whole) fold_of[offsets[t]] = static_cast<std::uint32_t>(none);
    }
  });

  folds_.resize(options.folds);
  for (std::size_t f = 0; f < options.folds; ++f) {
    divide<Kind>(data, fold_of, static_cast<std::uint32_t>(f), folds_[f].visible, folds_[f].hidden);
    hidden_count_ += folds_[f].hidden.size();
  }
}

template <class Kind>
typename Kind::Data sampled_tasks(const typename Kind::Data& data, std::size_t most, const RunContext& context) {
  const AnswerGraph& answers = data.answers;
  if (answers.answer_count() <= most) return data;
  const double share = static_cast<double>(most) / static_cast<double>(answers.answer_count());
  Rng rng = context.rng("tasks to choose a method by");
  std::vector<std::uint32_t> left_out(answers.answer_count(), 0);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (rng.uniform() < share) continue;
    std::fill(left_out.begin() + static_cast<std::ptrdiff_t>(offsets[t]),
              left_out.begin() + static_cast<std::ptrdiff_t>(offsets[t + 1]), 1U);
  }
  typename Kind::Data drawn;
  std::vector<typename Kind::Answer> rest;
  divide<Kind>(data, left_out, 1, drawn, rest);
  return drawn;
}

template <class Kind>
std::vector<double> HeldOut<Kind>::log_probabilities(const Aggregator<Kind>& method, std::size_t fold,
                                                     const RunContext& context) const {
  return method.log_predictive(folds_[fold].visible, folds_[fold].hidden, context);
}

template <class Kind>
std::vector<double> HeldOut<Kind>::log_probabilities(const Aggregator<Kind>& method, const RunContext& context) const {
  std::vector<double> logs;
  logs.reserve(hidden_count_);
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    if (context.cancelled()) return {};
    const auto part = log_probabilities(method, f, context);
    logs.insert(logs.end(), part.begin(), part.end());
  }
  return logs;
}

template <class Kind>
double HeldOut<Kind>::z_score(std::span<const double> better, std::span<const double> worse) const {
  std::map<TaskId, double> by_task;
  std::size_t at = 0;
  for (const Fold& fold : folds_) {
    if (at >= better.size()) break;
    for (const Answer& answer : fold.hidden) {
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

template <class Kind>
std::vector<HeldOutScore> score_by_held_out_answers(const HeldOut<Kind>& held_out, std::span<const MethodStage> methods,
                                                    const RunContext& context) {
  std::vector<HeldOutScore> scores(methods.size());
  std::vector<std::vector<double>> logs(methods.size());
  for (std::size_t m = 0; m < methods.size(); ++m) {
    scores[m].method = methods[m].method;
    const auto started = std::chrono::steady_clock::now();
    try {
      logs[m] = held_out.log_probabilities(*method_for<Kind>(held_out.visible(0), methods[m]), context);
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

#define WISECROWD_HELD_OUT(Kind)                                                                                   \
  template class HeldOut<Kind>;                                                                                    \
  template Kind::Data sampled_tasks<Kind>(const Kind::Data&, std::size_t, const RunContext&);                      \
  template std::vector<HeldOutScore> score_by_held_out_answers(const HeldOut<Kind>&, std::span<const MethodStage>, \
                                                               const RunContext&)

}  // namespace wisecrowd
