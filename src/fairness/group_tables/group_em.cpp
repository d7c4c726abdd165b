#include "fairness/group_tables/group_em.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd::fairness {
namespace {

/// Parts of the tasks that are counted apart, and cells of all their tables (half a gigabyte at most).
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kMostPartCells = std::size_t{1} << 26;
constexpr std::size_t kWorkersPerBlock = 64;

/// Logarithms become probabilities; returns the logarithm of their sum. The exponentials are most of the work.
double quick_softmax(std::span<double> row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& value : row) sum += value = exp_nonpositive(value - top);
  for (double& value : row) value /= sum;
  return top + math::log(sum);
}

}  // namespace

GroupEm::GroupEm(const CategoryData& data, const TaskGroups& groups, const GroupTableOptions& options)
    : data_(data), groups_(groups), options_(options), classes_(data.answers.class_count()) {
  lay_out_blocks();
}

void GroupEm::lay_out_blocks() {
  const CategoryAnswers& answers = data_.answers;
  layout_.class_count = classes_;
  block_of_answer_.resize(answers.answer_count());
  std::vector<GroupId> seen;
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    layout_.first_block.push_back(static_cast<std::uint32_t>(layout_.blocks.size()));
    const auto tasks = answers.tasks_of(WorkerId(w));
    const auto edges = answers.answers_of(WorkerId(w));
    seen.clear();
    for (const TaskId task : tasks) seen.push_back(groups_.of_task[index(task)]);
    std::sort(seen.begin(), seen.end());  // kNoGroup is the largest
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    const std::size_t first = layout_.blocks.size();
    for (const GroupId group : seen) layout_.blocks.push_back({WorkerId(w), group, 0});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto at = std::lower_bound(seen.begin(), seen.end(), groups_.of_task[index(tasks[i])]) - seen.begin();
      const std::size_t block = first + static_cast<std::size_t>(at);
      block_of_answer_[edges[i]] = static_cast<std::uint32_t>(block);
      ++layout_.blocks[block].answers;
    }
  }
  layout_.first_block.push_back(static_cast<std::uint32_t>(layout_.blocks.size()));
}

std::vector<double> GroupEm::vote_shares(std::span<const char> hidden) const {
  const CategoryAnswers& answers = data_.answers;
  std::vector<double> shares(answers.task_count() * classes_, 0.0);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const std::span row(shares.data() + t * classes_, classes_);
    for (std::size_t a = offsets[t]; a < offsets[t + 1]; ++a) {
      if (hidden.empty() || hidden[a] == 0) row[index(answers.labels()[a])] += 1;
    }
    normalise(row);
  }
  return shares;
}

void GroupEm::pin_gold(std::vector<double>& posterior) const {
  for (std::size_t t = 0; t < data_.gold.size(); ++t) {
    if (data_.gold[t] == kNoClass) continue;
    const std::span row(posterior.data() + t * classes_, classes_);
    std::fill(row.begin(), row.end(), 0.0);
    row[index(data_.gold[t])] = 1;
  }
}

void GroupEm::count_worker(std::size_t worker, std::span<const char> hidden, State& state) const {
  const CategoryAnswers& answers = data_.answers;
  const std::size_t cells = classes_ * classes_;
  const std::size_t first = layout_.first_block[worker];
  const std::size_t last = layout_.first_block[worker + 1];
  std::fill(state.counts.begin() + static_cast<std::ptrdiff_t>(first * cells),
            state.counts.begin() + static_cast<std::ptrdiff_t>(last * cells), 0.0);
  const auto tasks = answers.tasks_of(WorkerId(worker));
  const auto edges = answers.answers_of(WorkerId(worker));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!hidden.empty() && hidden[edges[i]] != 0) continue;
    const double* q = state.posterior.data() + index(tasks[i]) * classes_;
    double* cell = state.counts.data() + block_of_answer_[edges[i]] * cells + index(answers.labels()[edges[i]]);
    for (std::size_t k = 0; k < classes_; ++k) cell[k * classes_] += q[k];
  }
}

void GroupEm::learn_worker(std::size_t worker, double kappa, State& state) const {
  const std::size_t cells = classes_ * classes_;
  const std::size_t first = layout_.first_block[worker];
  const std::size_t last = layout_.first_block[worker + 1];
  const std::span pooled(state.pooled.data() + worker * cells, cells);
  std::fill(pooled.begin(), pooled.end(), options_.pseudo_count);
  for (std::size_t b = first; b < last; ++b) {
    for (std::size_t c = 0; c < cells; ++c) pooled[c] += state.counts[b * cells + c];
  }
  normalise_rows(pooled, classes_);
  for (std::size_t b = first; b < last; ++b) {
    const std::span table(state.tables.data() + b * cells, cells);
    if (std::isinf(kappa) || layout_.blocks[b].group == kNoGroup) {
      std::copy(pooled.begin(), pooled.end(), table.begin());
      continue;
    }
    for (std::size_t c = 0; c < cells; ++c) table[c] = kappa * pooled[c] + state.counts[b * cells + c];
    normalise_rows(table, classes_);
  }
}

void GroupEm::learn_priors(State& state) const {
  const CategoryAnswers& answers = data_.answers;
  const std::size_t groups = groups_.count();
  state.group_prior.assign((groups + 1) * classes_, 0.0);
  std::vector<double> all(classes_, 0.0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (answers.workers_of(TaskId(t)).empty()) continue;  // it says nothing of the shares
    const GroupId group = groups_.of_task[t];
    for (std::size_t k = 0; k < classes_; ++k) {
      const double q = state.posterior[t * classes_ + k];
      all[k] += q;
      if (group != kNoGroup) state.group_prior[index(group) * classes_ + k] += q;
    }
  }
  for (std::size_t g = 0; g <= groups; ++g) {
    const std::span row(state.group_prior.data() + g * classes_, classes_);
    if (options_.shared_prior || g == groups) std::copy(all.begin(), all.end(), row.begin());
    for (double& share : row) share += options_.prior_count;
    normalise(row);
  }
}

void GroupEm::learn_tables(double kappa, State& state, const RunContext& context) const {
  const Blocks blocks{data_.answers.worker_count(), kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) learn_worker(w, kappa, state);
  });
  learn_priors(state);
}

double GroupEm::infer_truth(std::span<const char> hidden, State& state, const RunContext& context) const {
  const CategoryAnswers& answers = data_.answers;
  const std::size_t cells = classes_ * classes_;
  // Counts are made in the same pass over the answers, by each part of the tasks in a table of its own.
  const std::size_t parts =
      std::clamp<std::size_t>(kMostPartCells / std::max<std::size_t>(state.counts.size(), 1), 1, kMostParts);
  const std::size_t tasks = answers.task_count();
  const Blocks blocks{tasks, std::max<std::size_t>((tasks + parts - 1) / parts, 1)};
  std::vector<double> change(blocks.count(), 0.0), evidence(blocks.count(), 0.0);
  std::vector<std::vector<double>> counts(blocks.count());
  std::vector<double> log_tables(state.tables.size()), log_prior(state.group_prior.size());
  const auto log_of = [](double p) { return math::log(std::max(p, kProbabilityFloor)); };
  std::transform(state.tables.begin(), state.tables.end(), log_tables.begin(), log_of);
  std::transform(state.group_prior.begin(), state.group_prior.end(), log_prior.begin(), log_of);
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    std::vector<double> row(classes_);
    counts[b].assign(state.counts.size(), 0.0);
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      const GroupId group = groups_.of_task[t];
      const std::size_t g = group == kNoGroup ? groups_.count() : index(group);
      const std::size_t begin = answers.task_offsets()[t], end = answers.task_offsets()[t + 1];
      std::copy_n(log_prior.begin() + static_cast<std::ptrdiff_t>(g * classes_), classes_, row.begin());
      for (std::size_t a = begin; a < end; ++a) {
        if (!hidden.empty() && hidden[a] != 0) continue;
        const double* cell = log_tables.data() + block_of_answer_[a] * cells + index(answers.labels()[a]);
        for (std::size_t k = 0; k < classes_; ++k) row[k] += cell[k * classes_];
      }
      double* q = state.posterior.data() + t * classes_;
      const ClassId gold = data_.gold_of(TaskId(t));
      if (gold != kNoClass) {
        evidence[b] += row[index(gold)];
      } else {
        evidence[b] += quick_softmax(row);
        for (std::size_t k = 0; k < classes_; ++k) {
          change[b] = std::max(change[b], std::abs(row[k] - q[k]));
          q[k] = row[k];
        }
      }
      for (std::size_t a = begin; a < end; ++a) {
        if (!hidden.empty() && hidden[a] != 0) continue;
        double* cell = counts[b].data() + block_of_answer_[a] * cells + index(answers.labels()[a]);
        for (std::size_t k = 0; k < classes_; ++k) cell[k * classes_] += q[k];
      }
    }
  });
  state.log_likelihood = 0;
  for (const double part : evidence) state.log_likelihood += part;
  std::fill(state.counts.begin(), state.counts.end(), 0.0);
  for (const auto& part : counts) {
    for (std::size_t c = 0; c < part.size(); ++c) state.counts[c] += part[c];
  }
  return blocks.count() == 0 ? 0 : *std::max_element(change.begin(), change.end());
}

GroupEm::State GroupEm::run(double kappa, std::span<const double> start, std::span<const char> hidden,
                            const RunContext& context) const {
  State state;
  state.posterior = start.empty() ? vote_shares(hidden) : std::vector<double>(start.begin(), start.end());
  pin_gold(state.posterior);
  const std::size_t cells = classes_ * classes_;
  state.pooled.resize(data_.answers.worker_count() * cells);
  state.counts.resize(layout_.blocks.size() * cells);
  state.tables.resize(state.counts.size());
  state.status = Status::iteration_limit;
  for (std::size_t w = 0; w < data_.answers.worker_count(); ++w) count_worker(w, hidden, state);
  learn_tables(kappa, state, context);
  while (state.iterations < options_.max_iterations) {
    if (context.cancelled()) {
      state.status = Status::cancelled;
      break;
    }
    const double change = infer_truth(hidden, state, context);
    learn_tables(kappa, state, context);
    ++state.iterations;
    context.report({.stage = "groups", .done = static_cast<double>(state.iterations)});
    if (change < options_.tolerance) {
      state.status = Status::converged;
      break;
    }
  }
  return state;
}

GroupEm::HiddenScore GroupEm::score(const State& state, std::span<const char> hidden) const {
  const CategoryAnswers& answers = data_.answers;
  const std::size_t cells = classes_ * classes_;
  HiddenScore sum;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const double* q = state.posterior.data() + t * classes_;
    for (std::size_t a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      if (hidden[a] == 0) continue;
      const double* cell = state.tables.data() + block_of_answer_[a] * cells + index(answers.labels()[a]);
      double p = 0;
      for (std::size_t k = 0; k < classes_; ++k) p += q[k] * cell[k * classes_];
      sum.log_probability += math::log(std::max(p, kProbabilityFloor));
      ++sum.answers;
    }
  }
  return sum;
}

}  // namespace wisecrowd::fairness
