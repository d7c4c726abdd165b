#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/rng.hpp"
#include "fairness/group_tables/group_em.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {

std::size_t GroupTables::find(WorkerId worker, GroupId group) const noexcept {
  const auto begin = blocks.begin() + first_block[index(worker)];
  const auto end = blocks.begin() + first_block[index(worker) + 1];
  const auto at = std::lower_bound(begin, end, group, [](const Block& b, GroupId g) { return b.group < g; });
  return at == end || at->group != group ? blocks.size() : static_cast<std::size_t>(at - blocks.begin());
}

namespace {

using fairness::GroupEm;

constexpr std::array kKappas = {5.0, 10.0, 20.0, 50.0};
constexpr std::size_t kKappaFolds = 5;
constexpr double kHiddenShare = 0.1;

void check(const CategoryData& data, const TaskGroups& groups, const GroupTableOptions& options,
           const CategoryStart& start) {
  validate(data);
  validate(groups, data.answers.task_count());
  if (!(options.kappa >= 0)) {
    throw Error(ErrorCode::bad_parameter, fmt::format("kappa is {}: give a number from 0 on", options.kappa));
  }
  if (!start.empty() && start.posterior.size() != data.answers.task_count() * data.answers.class_count()) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("a start has {} probabilities, but needs {} tasks × {} classes", start.posterior.size(),
                            data.answers.task_count(), data.answers.class_count()));
  }
}

/// A tenth of the answers at random; the answers that a task has left are never none.
std::vector<char> hide_answers(const CategoryAnswers& answers, Rng rng) {
  std::vector<char> hidden(answers.answer_count(), 0);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    std::size_t left = offsets[t + 1] - offsets[t];
    for (std::size_t a = offsets[t]; a < offsets[t + 1] && left > 1; ++a) {
      if (!rng.bernoulli(kHiddenShare)) continue;
      hidden[a] = 1;
      --left;
    }
  }
  return hidden;
}

std::vector<std::pair<double, double>> score_kappas(const GroupEm& em, const CategoryAnswers& answers,
                                                    const RunContext& context) {
  std::vector<std::pair<double, double>> scores;
  std::array<GroupEm::HiddenScore, kKappas.size()> sums{};
  for (std::size_t fold = 0; fold < kKappaFolds && !context.cancelled(); ++fold) {
    const std::vector<char> hidden = hide_answers(answers, context.rng("fairness hidden answers", fold));
    for (std::size_t i = 0; i < kKappas.size(); ++i) {
      // No start: it would have seen what is hidden.
      const auto found = em.score(em.run(kKappas[i], {}, hidden, context), hidden);
      sums[i].log_probability += found.log_probability;
      sums[i].answers += found.answers;
    }
  }
  for (std::size_t i = 0; i < kKappas.size() && sums[0].answers > 0; ++i) {
    scores.emplace_back(kKappas[i], sums[i].log_probability / static_cast<double>(sums[i].answers));
  }
  return scores;
}

}  // namespace

GroupFit fit_group_tables(const CategoryData& data, const TaskGroups& groups, const GroupTableOptions& options,
                          const RunContext& context, const CategoryStart& start) {
  check(data, groups, options, start);
  const GroupEm em(data, groups, options);
  GroupFit fit;
  fit.kappa = options.kappa;
  if (options.choose_kappa) {
    fit.kappa_scores = score_kappas(em, data.answers, context);
    const auto best = std::max_element(fit.kappa_scores.begin(), fit.kappa_scores.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best != fit.kappa_scores.end()) {
      fit.kappa = best->first;
    } else if (!context.cancelled()) {
      fit.warnings.push_back({"kappa_not_chosen",
                              "No answer can be hidden, because no task has more than one: kappa was not chosen by "
                              "hidden answers.",
                              "Ask several workers per task.", Severity::caution});
    }
  }
  GroupEm::State state = em.run(fit.kappa, start.posterior, {}, context);
  const std::size_t classes = data.answers.class_count();
  fit.task_count = data.answers.task_count();
  fit.worker_count = data.answers.worker_count();
  fit.class_count = classes;
  fit.posterior = std::move(state.posterior);
  fit.confusion = std::move(state.pooled);
  fit.by_group = em.layout();
  fit.by_group.counts = std::move(state.counts);
  fit.by_group.tables = std::move(state.tables);
  const auto shares = state.group_prior.begin() + static_cast<std::ptrdiff_t>(groups.count() * classes);
  fit.group_prior.assign(state.group_prior.begin(), shares);
  fit.class_prior.assign(shares, state.group_prior.end());
  fit.iterations = state.iterations;
  fit.status = state.status;
  fit.log_likelihood = state.log_likelihood;
  fit.has_log_likelihood = true;
  fit.labels.reserve(fit.task_count);
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    const auto row = fit.posterior_of(TaskId(t));
    fit.labels.push_back(ClassId(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return fit;
}

std::vector<double> group_accuracies(const GroupFit& fit, std::size_t groups) {
  const std::size_t classes = fit.class_count;
  std::vector<double> accuracy(fit.worker_count * groups, 0.0);
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t block = fit.by_group.find(WorkerId(w), GroupId(g));
      // Without answers to the group, what is known of the worker is its own table.
      const auto table =
          block == fit.by_group.blocks.size() ? fit.confusion_of(WorkerId(w)) : fit.by_group.table(block);
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) sum += fit.group_prior[g * classes + k] * table[k * (classes + 1)];
      accuracy[w * groups + g] = std::min(sum, 1.0);
    }
  }
  return accuracy;
}

}  // namespace wisecrowd
