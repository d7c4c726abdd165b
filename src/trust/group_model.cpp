#include "trust/group_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numeric.hpp"

namespace wisecrowd::trust {
namespace {

/// Pseudo-answers in each cell of a table, and more on its diagonal.
constexpr double kSmoothing = 0.2, kMoreOnDiagonal = 0.4;
/// Tables that answers are compared with are hardly smoothed: they should say what the worker did.
constexpr double kMarginalSmoothing = 1e-3;
constexpr double kStartSmoothing = 0.05, kPriorSmoothing = 0.5;
constexpr int kMostIterations = 25;
constexpr double kTolerance = 2e-6;  // of the log-likelihood
constexpr std::size_t kTasksPerBlock = 4096, kWorkersPerBlock = 64;

/// Divides every column (truth) of a said × truth table by its sum.
void normalise_columns(double* table, std::size_t bins) {
  for (std::size_t k = 0; k < bins; ++k) {
    double sum = 0;
    for (std::size_t l = 0; l < bins; ++l) sum += table[l * bins + k];
    for (std::size_t l = 0; l < bins; ++l) table[l * bins + k] /= sum;
  }
}

}  // namespace

Grouping::Grouping(std::span<const std::uint32_t> labels) {
  std::vector<std::uint32_t> place;
  unit.reserve(labels.size());
  for (const std::uint32_t label : labels) {
    if (label >= place.size()) place.resize(label + std::size_t{1}, kNone);
    if (place[label] == kNone) {
      place[label] = static_cast<std::uint32_t>(size.size());
      size.push_back(0);
    }
    unit.push_back(place[label]);
    ++size[unit.back()];
  }
  for (const std::uint32_t members : size) {
    group.push_back(members > 1 ? static_cast<std::uint32_t>(groups++) : kNone);
  }
}

GroupModel::GroupModel(const CrowdSample& sample, Grouping grouping)
    : grouping_(std::move(grouping)), bins_(sample.bins), tasks_(sample.tasks) {
  find_slots(sample);
  q_.resize(tasks_ * bins_);
  log_joint_.resize(tasks_ * bins_);
  message_.resize(slot_group_.size() * bins_);
  hidden_.resize(slot_group_.size() * bins_);
}

void GroupModel::find_slots(const CrowdSample& sample) {
  slot_of_.assign(sample.answers(), Grouping::kNone);
  slot_offsets_.assign(1, 0);
  for (std::size_t t = 0; t < tasks_; ++t) {
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const std::uint32_t group = grouping_.group[grouping_.unit[sample.who[a]]];
      if (group == Grouping::kNone) continue;
      std::size_t slot = slot_offsets_.back();
      while (slot < slot_group_.size() && slot_group_[slot] != group) ++slot;
      if (slot == slot_group_.size()) slot_group_.push_back(group);
      slot_of_[a] = static_cast<std::uint32_t>(slot);
    }
    slot_offsets_.push_back(slot_group_.size());
  }
}

/// The vote in which each group counts once; its hidden answer is what its members say.
void GroupModel::start(const CrowdSample& sample) {
  std::fill(hidden_.begin(), hidden_.end(), 0.0);
  std::fill(q_.begin(), q_.end(), kStartSmoothing);
  for (std::size_t t = 0; t < tasks_; ++t) {
    double* const q = q_.data() + t * bins_;
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      if (slot_of_[a] == Grouping::kNone) {
        q[sample.bin[a]] += 1;
      } else {
        hidden_[slot_of_[a] * bins_ + sample.bin[a]] += 1;
      }
    }
    for (std::size_t s = slot_offsets_[t]; s < slot_offsets_[t + 1]; ++s) {
      const auto votes = std::span(hidden_).subspan(s * bins_, bins_);
      normalise(votes);
      for (std::size_t k = 0; k < bins_; ++k) q[k] += votes[k];
    }
    normalise({q, bins_});
  }
  xi_counts_.assign(grouping_.groups * bins_ * bins_, 0.0);
  for (std::size_t t = 0; t < tasks_; ++t) {
    for (std::size_t s = slot_offsets_[t]; s < slot_offsets_[t + 1]; ++s) {
      for (std::size_t k = 0; k < bins_; ++k) {
        for (std::size_t h = 0; h < bins_; ++h) {
          xi_counts_[(slot_group_[s] * bins_ + k) * bins_ + h] += q_[t * bins_ + k] * hidden_[s * bins_ + h];
        }
      }
    }
  }
}

void GroupModel::maximise(const CrowdSample& sample, const RunContext& context) {
  prior_.assign(bins_, kPriorSmoothing);
  for (std::size_t e = 0; e < q_.size(); ++e) prior_[e % bins_] += q_[e];
  normalise(prior_);
  xi_ = xi_counts_;
  for (std::size_t row = 0; row < grouping_.groups * bins_; ++row) {
    const auto cells = std::span(xi_).subspan(row * bins_, bins_);
    for (std::size_t h = 0; h < bins_; ++h) cells[h] += kSmoothing + (h == row % bins_ ? kMoreOnDiagonal : 0);
    normalise(cells);
  }
  const std::size_t cells = bins_ * bins_;
  log_tables_.resize(sample.workers * cells);
  const Blocks blocks{sample.workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      double* const table = log_tables_.data() + j * cells;
      std::fill(table, table + cells, kSmoothing);
      for (std::size_t k = 0; k < bins_; ++k) table[k * (bins_ + 1)] += kMoreOnDiagonal;
      for (std::uint64_t i = sample.worker_offsets[j]; i < sample.worker_offsets[j + 1]; ++i) {
        const std::uint64_t a = sample.answer_of[i];
        const double* const belief = slot_of_[a] == Grouping::kNone ? q_.data() + sample.task_of[i] * bins_
                                                                    : hidden_.data() + slot_of_[a] * bins_;
        double* const row = table + sample.bin[a] * bins_;
        for (std::size_t k = 0; k < bins_; ++k) row[k] += belief[k];
      }
      normalise_columns(table, bins_);
      for (std::size_t c = 0; c < cells; ++c) table[c] = std::log(table[c]);
    }
  });
}

/// `scratch` has room for two tables; `xi` takes up the counts of the groups' tables.
void GroupModel::expect_task(const CrowdSample& sample, std::size_t task, std::span<double> scratch,
                             std::span<double> xi) {
  double* const joint = log_joint_.data() + task * bins_;
  double* const q = q_.data() + task * bins_;
  for (std::size_t k = 0; k < bins_; ++k) joint[k] = std::log(prior_[k]);
  for (std::size_t s = slot_offsets_[task]; s < slot_offsets_[task + 1]; ++s) {
    std::fill_n(hidden_.begin() + static_cast<std::ptrdiff_t>(s * bins_), bins_, 0.0);
  }
  for (std::uint64_t a = sample.offsets[task]; a < sample.offsets[task + 1]; ++a) {
    const double* const row = log_tables_.data() + row_of(sample, a);
    double* const sum = slot_of_[a] == Grouping::kNone ? joint : hidden_.data() + slot_of_[a] * bins_;
    for (std::size_t k = 0; k < bins_; ++k) sum[k] += row[k];
  }
  for (std::size_t s = slot_offsets_[task]; s < slot_offsets_[task + 1]; ++s) {
    const double* const table = xi_.data() + slot_group_[s] * bins_ * bins_;
    double* const said = hidden_.data() + s * bins_;
    for (std::size_t k = 0; k < bins_; ++k) {
      for (std::size_t h = 0; h < bins_; ++h) scratch[h] = std::log(table[k * bins_ + h]) + said[h];
      message_[s * bins_ + k] = log_sum_exp(scratch.subspan(0, bins_));
      joint[k] += message_[s * bins_ + k];
    }
  }
  std::copy_n(joint, bins_, q);
  softmax({q, bins_});
  for (std::size_t s = slot_offsets_[task]; s < slot_offsets_[task + 1]; ++s) {
    const std::size_t at = slot_group_[s] * bins_ * bins_;
    double* const said = hidden_.data() + s * bins_;
    const auto sum = scratch.subspan(0, bins_);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t k = 0; k < bins_; ++k) {
      for (std::size_t h = 0; h < bins_; ++h) {
        const double p = q[k] * xi_[at + k * bins_ + h] * std::exp(said[h] - message_[s * bins_ + k]);
        xi[at + k * bins_ + h] += p;
        sum[h] += p;
      }
    }
    std::copy(sum.begin(), sum.end(), said);
  }
}

void GroupModel::expect(const CrowdSample& sample, const RunContext& context) {
  const std::size_t cells = grouping_.groups * bins_ * bins_;
  const Blocks blocks{tasks_, kTasksPerBlock};
  std::vector<std::vector<double>> counts(blocks.count());
  std::vector<double> logs(blocks.count(), 0.0);
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    counts[block].assign(cells, 0.0);
    std::vector<double> scratch(bins_);
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      expect_task(sample, t, scratch, counts[block]);
      if (sample.offsets[t] < sample.offsets[t + 1]) {
        logs[block] += log_sum_exp(std::span(log_joint_).subspan(t * bins_, bins_));
      }
    }
  });
  xi_counts_.assign(cells, 0.0);
  log_likelihood_ = 0;
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    log_likelihood_ += logs[b];
    for (std::size_t c = 0; c < cells; ++c) xi_counts_[c] += counts[b][c];
  }
}

void GroupModel::find_marginal_tables(const CrowdSample& sample, const RunContext& context) {
  const std::size_t cells = bins_ * bins_;
  marginal_.assign(sample.workers * cells, kMarginalSmoothing);
  const Blocks blocks{sample.workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      double* const table = marginal_.data() + j * cells;
      for (std::uint64_t i = sample.worker_offsets[j]; i < sample.worker_offsets[j + 1]; ++i) {
        const double* const q = q_.data() + sample.task_of[i] * bins_;
        double* const row = table + sample.bin[sample.answer_of[i]] * bins_;
        for (std::size_t k = 0; k < bins_; ++k) row[k] += q[k];
      }
      normalise_columns(table, bins_);
    }
  });
}

GroupModel GroupModel::fit(const CrowdSample& sample, const Grouping& grouping, const RunContext& context) {
  GroupModel model(sample, grouping);
  model.start(sample);
  double before = -std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < kMostIterations && !context.cancelled(); ++iteration) {
    model.maximise(sample, context);
    model.expect(sample, context);
    if (std::abs(model.log_likelihood_ - before) < kTolerance * std::max(1.0, std::abs(model.log_likelihood_))) break;
    before = model.log_likelihood_;
  }
  model.find_marginal_tables(sample, context);
  return model;
}

GroupModel GroupModel::applied_to(const CrowdSample& sample, const RunContext& context) const {
  GroupModel model(sample, grouping_);
  model.prior_ = prior_;
  model.log_tables_ = log_tables_;
  model.xi_ = xi_;
  model.expect(sample, context);
  model.find_marginal_tables(sample, context);
  return model;
}

double GroupModel::score() const noexcept {
  const auto bins = static_cast<double>(bins_);
  const double penalty = 0.5 * bins * (bins - 1) * std::log(std::max<double>(static_cast<double>(tasks_), 2));
  return log_likelihood_ - penalty * static_cast<double>(grouping_.groups);
}

}  // namespace wisecrowd::trust
