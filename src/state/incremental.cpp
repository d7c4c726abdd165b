#include "wisecrowd/incremental.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

IncrementalCrowd::IncrementalCrowd(std::size_t classes, const IncrementalOptions& options)
    : options_(options), classes_(classes), class_mass_(classes, 0.0), log_prior_(classes), scratch_(classes) {
  update_log_prior();
}

/// π_k ∝ Σ_i q_ik + c0 over answered tasks.
void IncrementalCrowd::fill_prior(std::span<double> prior) const {
  std::fill(prior.begin(), prior.end(), 1.0);
  if (options_.learned_class_prior) {
    // Differences of sums may leave a class without members a little below zero.
    for (std::size_t k = 0; k < classes_; ++k) prior[k] = std::max(class_mass_[k], 0.0) + options_.class_pseudo_count;
  }
  normalise(prior);
}

void IncrementalCrowd::update_log_prior() {
  fill_prior(log_prior_);
  for (double& p : log_prior_) p = math::log(std::max(p, kProbabilityFloor));
}

std::vector<double> IncrementalCrowd::class_prior() const {
  std::vector<double> prior(classes_);
  fill_prior(prior);
  return prior;
}

namespace {

/// Rows of `from` columns become rows of `to`, filled up with zeros.
void widen(std::vector<double>& values, std::size_t from, std::size_t to) {
  const std::size_t rows = from == 0 ? 0 : values.size() / from;
  std::vector<double> wide(rows * to, 0.0);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(values.data() + r * from, from, wide.data() + r * to);
  }
  values = std::move(wide);
}

}  // namespace

ClassId IncrementalCrowd::add_class() {
  const std::size_t old = classes_++;
  widen(counts_, old, classes_);                        // more truths for every label …
  widen(counts_, old * classes_, classes_ * classes_);  // … and one label more
  widen(row_totals_, old, classes_);
  widen(posterior_, old, classes_);
  class_mass_.push_back(0);
  if (old == 0) {  // nothing to widen: sizes come from the numbers of workers and tasks
    counts_.assign(worker_count(), 0.0);
    row_totals_.assign(worker_count(), 0.0);
    posterior_.assign(task_count(), 0.0);
  }
  log_prior_.resize(classes_);
  scratch_.resize(classes_);
  update_log_prior();
  return ClassId(old);
}

WorkerId IncrementalCrowd::add_worker() {
  counts_.resize(counts_.size() + classes_ * classes_, 0.0);
  row_totals_.resize(row_totals_.size() + classes_, 0.0);
  answers_of_worker_.push_back(0);
  worker_changed_.push_back(0);
  return WorkerId(answers_of_worker_.size() - 1);
}

WorkerId IncrementalCrowd::add_worker(std::span<const double> counts, std::uint64_t answers) {
  const WorkerId worker = add_worker();
  answers_of_worker_.back() = answers;
  double* const table = counts_.data() + index(worker) * classes_ * classes_;
  double* const totals = row_totals_.data() + index(worker) * classes_;
  for (std::size_t k = 0; k < classes_; ++k) {
    for (std::size_t l = 0; l < classes_; ++l) {
      table[l * classes_ + k] = counts[k * classes_ + l];
      totals[k] += counts[k * classes_ + l];
    }
  }
  return worker;
}

TaskId IncrementalCrowd::add_task() {
  posterior_.resize(posterior_.size() + classes_, 0.0);
  pinned_.push_back(kNoClass);
  in_mass_.push_back(0);
  first_.push_back(kNone);
  const std::size_t task = first_.size() - 1;
  // Nobody has answered: the posterior is the prior.
  for (std::size_t k = 0; k < classes_; ++k) posterior_[task * classes_ + k] = math::exp(log_prior_[k]);
  return TaskId(task);
}

TaskId IncrementalCrowd::add_task(std::span<const double> posterior) {
  const TaskId task = add_task();
  std::copy_n(posterior.data(), classes_, posterior_.data() + index(task) * classes_);
  in_mass_.back() = 1;
  return task;
}

void IncrementalCrowd::pin(TaskId task, ClassId truth) { pinned_[index(task)] = truth; }

void IncrementalCrowd::add_known_answer(TaskId task, WorkerId worker, ClassId label) {
  edges_.push_back({static_cast<std::uint32_t>(worker), static_cast<std::uint16_t>(label), true, first_[index(task)]});
  first_[index(task)] = static_cast<std::uint32_t>(edges_.size() - 1);
}

void IncrementalCrowd::set_totals(std::span<const double> class_mass, double answered_tasks, std::uint64_t answers) {
  class_mass_.assign(class_mass.begin(), class_mass.end());
  answered_ = answered_tasks;
  answers_ = answers;
  update_log_prior();
}

void IncrementalCrowd::add_answer(TaskId task, WorkerId worker, ClassId label) {
  add_known_answer(task, worker, label);
  edges_.back().counted = false;
  ++answers_of_worker_[index(worker)];
  ++answers_;
  worker_changed_[index(worker)] = 1;
}

void IncrementalCrowd::replace_answer(TaskId task, WorkerId worker, ClassId label) {
  for (std::uint32_t e = first_[index(task)]; e != kNone; e = edges_[e].next) {
    Edge& edge = edges_[e];
    if (edge.worker != index(worker)) continue;
    // A running mean cannot give an answer back; it takes the new one on top.
    const bool exact = options_.update == IncrementalOptions::Update::incremental;
    if (edge.counted && exact) move_counts(edge, posterior_.data() + index(task) * classes_, -1);
    edge.label = static_cast<std::uint16_t>(label);
    edge.counted = false;
    worker_changed_[index(worker)] = 1;
    return;
  }
}

void IncrementalCrowd::withdraw_answer(TaskId task, WorkerId worker) {
  const bool exact = options_.update == IncrementalOptions::Update::incremental;
  const double* const posterior = posterior_.data() + index(task) * classes_;
  for (std::uint32_t* link = &first_[index(task)]; *link != kNone; link = &edges_[*link].next) {
    const Edge& edge = edges_[*link];
    if (edge.worker != index(worker)) continue;
    if (edge.counted && exact) move_counts(edge, posterior, -1);
    *link = edge.next;
    --answers_of_worker_[index(worker)];
    --answers_;
    worker_changed_[index(worker)] = 1;
    break;
  }
  if (first_[index(task)] != kNone || in_mass_[index(task)] == 0) return;
  // Nobody's answer is left: the task tells nothing of the classes any more.
  in_mass_[index(task)] = 0;
  answered_ -= 1;
  for (std::size_t k = 0; exact && k < classes_; ++k) class_mass_[k] -= posterior[k];
  update_log_prior();
}

void IncrementalCrowd::move_counts(const Edge& edge, const double* amount, double sign) {
  double* const cells = counts_.data() + (edge.worker * classes_ + edge.label) * classes_;
  double* const totals = row_totals_.data() + edge.worker * classes_;
  for (std::size_t k = 0; k < classes_; ++k) {
    cells[k] += sign * amount[k];
    totals[k] += sign * amount[k];
  }
  worker_changed_[edge.worker] = 1;
}

/// log q_ik = log π_k + Σ_j log th_j[k][y_ij] − log Z_i with th_j[k][l] = (n_jkl + c_kl) / (n_jk. + c_k.)
void IncrementalCrowd::posterior_by_tables(std::uint32_t task, bool counted_only, double* out,
                                           std::uint32_t without) const {
  const double right = options_.prior.right(classes_), wrong = options_.prior.wrong(classes_);
  std::copy(log_prior_.begin(), log_prior_.end(), out);
  for (std::uint32_t e = first_[task]; e != kNone; e = edges_[e].next) {
    const Edge& edge = edges_[e];
    if ((counted_only && !edge.counted) || edge.worker == without) continue;
    const double* const cells = counts_.data() + (edge.worker * classes_ + edge.label) * classes_;
    const double* const totals = row_totals_.data() + edge.worker * classes_;
    for (std::size_t k = 0; k < classes_; ++k) {
      const double cell = cells[k] + (k == edge.label ? right : wrong);
      out[k] += log_positive(std::max(cell, kProbabilityFloor) /
                             std::max(totals[k] + options_.prior.answers, kProbabilityFloor));
    }
  }
  softmax({out, classes_});
}

void IncrementalCrowd::posterior_from_counts(TaskId task, std::span<double> posterior) const {
  posterior_by_tables(static_cast<std::uint32_t>(task), true, posterior.data());
}

void IncrementalCrowd::posterior_without(TaskId task, WorkerId worker, std::span<double> posterior) const {
  const ClassId known = pinned_[index(task)];
  if (known == kNoClass) {
    posterior_by_tables(static_cast<std::uint32_t>(task), false, posterior.data(), static_cast<std::uint32_t>(worker));
  } else {
    std::fill(posterior.begin(), posterior.end(), 0.0);
    posterior[index(known)] = 1;
  }
}

double IncrementalCrowd::estimate(TaskId id) {
  const auto task = static_cast<std::uint32_t>(id);
  double* const old = posterior_.data() + index(id) * classes_;
  double* const fresh = scratch_.data();
  const ClassId known = pinned_[index(id)];
  if (known == kNoClass) {
    posterior_by_tables(task, false, fresh);
  } else {
    std::fill_n(fresh, classes_, 0.0);
    fresh[index(known)] = 1;
  }
  double largest = 0;
  for (std::size_t k = 0; k < classes_; ++k) largest = std::max(largest, std::abs(fresh[k] - old[k]));
  if (first_[task] == kNone) {
    std::copy_n(fresh, classes_, old);
    return largest;
  }
  if (options_.update == IncrementalOptions::Update::stochastic) {
    std::copy_n(fresh, classes_, old);
    for (std::uint32_t e = first_[task]; e != kNone; e = edges_[e].next) {
      if (!edges_[e].counted) absorb_by_step(task, edges_[e]);
    }
    return largest;
  }
  const double enough = known == kNoClass ? options_.least_change : 0;  // what is known is taken over exactly
  const bool stays = in_mass_[task] != 0 && largest <= enough;
  if (in_mass_[task] == 0) {
    std::copy_n(fresh, classes_, old);
    for (std::size_t k = 0; k < classes_; ++k) class_mass_[k] += fresh[k];
    in_mass_[task] = 1;
    answered_ += 1;
    update_log_prior();
  } else if (!stays) {
    for (std::size_t k = 0; k < classes_; ++k) {
      const double moved = fresh[k] - old[k];
      class_mass_[k] += moved;
      old[k] = fresh[k];
      fresh[k] = moved;  // from here on the difference
    }
    update_log_prior();
  }
  for (std::uint32_t e = first_[task]; e != kNone; e = edges_[e].next) {
    Edge& edge = edges_[e];
    if (!edge.counted) {
      move_counts(edge, old, 1);
      edge.counted = true;
    } else if (!stays) {
      move_counts(edge, fresh, 1);
    }
  }
  return stays ? 0 : largest;
}

/// Running means: s_j ← (1 − λ) s_j + λ q_i ⊗ y_ij with λ = n_j^-γ; the counts are n_j s_j.
void IncrementalCrowd::absorb_by_step(std::uint32_t task, Edge& edge) {
  const double* const posterior = posterior_.data() + std::size_t{task} * classes_;
  edge.counted = true;
  const auto step = [&](double n) {
    const double shrinking = math::pow(n, -options_.step_exponent);
    return options_.memory > 0 ? std::max(shrinking, 1 / std::max(options_.memory, 1.0)) : shrinking;
  };
  const auto weight = [&](double n) { return options_.memory > 0 ? std::min(n, options_.memory) : n; };

  const auto n = static_cast<double>(std::max<std::uint64_t>(answers_of_worker_[edge.worker], 1));
  double* const cells = counts_.data() + edge.worker * classes_ * classes_;
  double* const totals = row_totals_.data() + edge.worker * classes_;
  double before = 0;
  for (std::size_t k = 0; k < classes_; ++k) before += totals[k];
  const double lambda = before > 0 ? step(n) : 1;
  const double keep = before > 0 ? (1 - lambda) * weight(n) / before : 0;
  for (std::size_t c = 0; c < classes_ * classes_; ++c) cells[c] *= keep;
  for (std::size_t k = 0; k < classes_; ++k) {
    cells[edge.label * classes_ + k] += lambda * weight(n) * posterior[k];
    totals[k] = totals[k] * keep + lambda * weight(n) * posterior[k];
  }
  worker_changed_[edge.worker] = 1;

  if (in_mass_[task] == 0) {
    in_mass_[task] = 1;
    answered_ += 1;
  }
  double mass = 0;
  for (const double m : class_mass_) mass += m;
  const double lambda_all = mass > 0 ? step(static_cast<double>(std::max<std::uint64_t>(answers_, 1))) : 1;
  const double keep_all = mass > 0 ? (1 - lambda_all) * answered_ / mass : 0;
  for (std::size_t k = 0; k < classes_; ++k) {
    class_mass_[k] = class_mass_[k] * keep_all + lambda_all * answered_ * posterior[k];
  }
  update_log_prior();
}

double IncrementalCrowd::sweep() {
  double largest = 0;
  for (std::size_t t = 0; t < task_count(); ++t) largest = std::max(largest, estimate(TaskId(t)));
  return largest;
}

Status IncrementalCrowd::converge(std::size_t max_sweeps, double tolerance, const RunContext& context) {
  for (std::size_t s = 0; s < max_sweeps; ++s) {
    const double moved = sweep();
    context.report(
        {.stage = "iterating", .done = static_cast<double>(s + 1), .total = static_cast<double>(max_sweeps)});
    if (moved <= tolerance) return Status::converged;
    if (context.cancelled()) return Status::cancelled;
  }
  return Status::iteration_limit;
}

std::vector<double> IncrementalCrowd::counts_of(WorkerId worker) const {
  const double* const table = counts_.data() + index(worker) * classes_ * classes_;
  std::vector<double> counts(classes_ * classes_);
  for (std::size_t k = 0; k < classes_; ++k) {
    // Differences of sums may leave a cell without members a little below zero.
    for (std::size_t l = 0; l < classes_; ++l) counts[k * classes_ + l] = std::max(table[l * classes_ + k], 0.0);
  }
  return counts;
}

std::vector<double> IncrementalCrowd::confusion_of(WorkerId worker) const {
  WorkerTables table(1, classes_, counts_of(worker));
  table.add(options_.prior.table(classes_));
  table.normalise();
  return std::move(table).release();
}

}  // namespace wisecrowd
