#include "aggregate/shared/confusion_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Tasks per block of work: fixed, because sums over blocks decide the bits of the objective.
constexpr std::size_t kTasksPerBlock = 4096;
/// Tasks whose rows are kept in the first-level cache between the three steps.
constexpr std::size_t kTasksPerBatch = 64;
/// How many answers ahead the rows of large tables are requested.
constexpr std::size_t kPrefetchDistance = 24;
/// Tables beyond this size miss the second-level cache often enough for prefetching to pay.
constexpr std::size_t kCachedBytes = std::size_t{1} << 20;
/// All tables together stay below this; with more threads than fit, some rest during the sweep.
constexpr std::size_t kMostTableBytes = std::size_t{4} << 30;
/// log 0 for padding and impossible classes: exp_nonpositive turns any difference to it into exactly 0.
constexpr double kLogZero = -1e9;

std::size_t stride_for(std::size_t classes) {
  if (classes <= 2) return 2;
  return classes <= 16 ? (classes + 1) / 2 * 2 : (classes + 7) / 8 * 8;
}

int bits_for(const Annotations& answers, double gold_weight) {
  std::vector<std::uint64_t> degree(answers.worker_count(), 0);
  for (const WorkerId w : answers.workers()) ++degree[index(w)];
  const std::uint64_t most = degree.empty() ? 0 : *std::max_element(degree.begin(), degree.end());
  const double bound = std::ceil((static_cast<double>(most) + 1) * std::max(gold_weight, 1.0));
  return std::clamp(62 - static_cast<int>(std::ceil(std::log2(bound))), 8, 52);
}

/// Requests a whole row: its logs are read soon and its counts written soon after.
template <std::size_t Stride>
inline void prefetch_row(const double* row) {
  for (std::size_t k = 0; k < 2 * Stride; k += 8) __builtin_prefetch(row + k, 1);
}

/// Counts live in the table as integers; `double` there is only storage.
template <std::size_t Stride>
inline void add_counts(double* to, const std::int64_t* add, std::size_t stride) {
  constexpr std::size_t kLanes = 2;
  using Lanes [[gnu::vector_size(kLanes * 8), gnu::aligned(8), gnu::may_alias]] = std::int64_t;
  const std::size_t size = Stride != 0 ? Stride : stride;
  auto* const counts = reinterpret_cast<Lanes*>(to);
  const auto* const more = reinterpret_cast<const Lanes*>(add);
#pragma GCC unroll 16
  for (std::size_t k = 0; k < size / kLanes; ++k) counts[k] += more[k];
}

std::int64_t count_at(const double* place) { return std::bit_cast<std::int64_t>(*place); }

}  // namespace

struct ConfusionPass::BlockSums {
  double log_likelihood = 0;
  std::vector<double> class_mass;
};

ConfusionPass::ConfusionPass(const Dataset& data, const RunContext& context, double gold_weight)
    : data_(data),
      context_(context),
      tasks_(data.answers.task_count()),
      workers_(data.answers.worker_count()),
      classes_(data.answers.class_count()),
      stride_(stride_for(classes_)),
      gold_weight_(gold_weight),
      fraction_bits_(bits_for(data.answers, gold_weight)),
      log_prior_(stride_, kLogZero) {
  const std::size_t table_rows = workers_ * classes_;
  if (table_rows >= 0xFFFFFFFFULL) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("{} workers × {} classes need a confusion table each: too many for memory. Merge classes, or "
                    "use majority_vote or wawa.",
                    workers_, classes_));
  }
  const std::size_t cells = std::max<std::size_t>(table_rows, 1) * 2 * stride_;
  const std::size_t bytes = cells * sizeof(double);
  tables_.resize(std::clamp<std::size_t>(kMostTableBytes / bytes, 1, context.threads()));
  prefetch_ = bytes > kCachedBytes;

  const auto workers = data.answers.workers();
  const auto labels = data.answers.labels();
  rows_.resize(workers.size() + kPrefetchDistance);
  const Blocks answer_blocks{workers.size(), std::size_t{1} << 18};
  context.pool().for_each_block(answer_blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t a = answer_blocks.begin(block); a < answer_blocks.end(block); ++a) {
      rows_[a] = static_cast<std::uint32_t>(index(workers[a]) * classes_ + index(labels[a]));
    }
  });
  std::fill(rows_.end() - kPrefetchDistance, rows_.end(), 0U);

  context.pool().for_each_block(tables_.size(), [&](std::size_t t, unsigned) {
    tables_[t].resize(cells);
    std::fill(tables_[t].begin(), tables_[t].end(), 0.0);  // also the integer 0
  });

  if (!data.task_priors.empty()) {
    log_task_priors_.resize(tasks_ * stride_);
    const Blocks blocks{tasks_, kTasksPerBlock};
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        for (std::size_t k = 0; k < stride_; ++k) {
          log_task_priors_[t * stride_ + k] =
              k < classes_ ? std::log(std::max(data.task_priors[t * classes_ + k], kProbabilityFloor)) : kLogZero;
        }
      }
    });
  }
}

void ConfusionPass::set_log_prior(std::span<const double> log_prior) {
  std::copy(log_prior.begin(), log_prior.end(), log_prior_.begin());
}

template <std::size_t Stride>
void ConfusionPass::process_block(Source source, bool count, std::size_t block, unsigned thread, const double* given,
                                  double* posterior, BlockSums& sums) {
  const std::size_t stride = Stride != 0 ? Stride : stride_;
  const std::size_t first = block * kTasksPerBlock;
  const std::size_t last = std::min(tasks_, first + kTasksPerBlock);
  const auto offsets = data_.answers.task_offsets();
  const std::uint32_t* rows = rows_.data();
  const std::size_t pitch = 2 * stride;
  double* const table = tables_[thread].data();
  const double scale = std::ldexp(1.0, fraction_bits_);
  const bool has_gold = data_.has_gold();

  thread_local std::vector<double> values;       // batch × stride: log joint, then posterior
  thread_local std::vector<std::int64_t> fixed;  // the posterior as fixed point
  thread_local std::vector<double> sum_of;       // per task of the batch: Σ_k exp(log joint − top)
  values.resize(kTasksPerBatch * stride);
  fixed.resize(kTasksPerBatch * stride);
  sum_of.resize(kTasksPerBatch);
  std::vector<double>& mass = sums.class_mass;
  mass.assign(stride, 0.0);
  double log_likelihood = 0;

  for (std::size_t batch = first; batch < last; batch += kTasksPerBatch) {
    const std::size_t size = std::min(kTasksPerBatch, last - batch);
    double* const value = values.data();

    // 1. log joint, vote shares or given rows.
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t t = batch + i;
      double* const row = value + i * stride;
      if (source == Source::tables) {
        const double* start = log_task_priors_.empty() ? log_prior_.data() : log_task_priors_.data() + t * stride;
        if constexpr (Stride != 0) {
          std::array<double, Stride> sum;
          for (std::size_t k = 0; k < Stride; ++k) sum[k] = start[k];
          for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
            if (prefetch_) prefetch_row<Stride>(table + std::size_t{rows[a + kPrefetchDistance]} * pitch);
            const double* answer = table + std::size_t{rows[a]} * pitch;
#pragma omp simd
            for (std::size_t k = 0; k < Stride; ++k) sum[k] += answer[k];
          }
          for (std::size_t k = 0; k < Stride; ++k) row[k] = sum[k];
        } else {
          std::copy(start, start + stride, row);
          for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
            const double* answer = table + std::size_t{rows[a]} * pitch;
#pragma omp simd
            for (std::size_t k = 0; k < stride; ++k) row[k] += answer[k];
          }
        }
      } else if (source == Source::votes) {
        std::fill(row, row + stride, 0.0);
        const double share = 1.0 / static_cast<double>(std::max<AnswerIndex>(offsets[t + 1] - offsets[t], 1));
        const auto labels = data_.answers.labels();
        for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) row[index(labels[a])] += share;
      } else {
        std::fill(row, row + stride, 0.0);
        std::copy(given + t * classes_, given + (t + 1) * classes_, row);
      }
    }

    // 2. Posterior.
    if (source == Source::tables) {
      std::array<double, kTasksPerBatch> top;
      for (std::size_t i = 0; i < size; ++i) {
        double* const row = value + i * stride;
        if (has_gold && data_.gold[batch + i] != kNoClass && offsets[batch + i + 1] != offsets[batch + i]) {
          log_likelihood += gold_weight_ * row[index(data_.gold[batch + i])];
        }
        double most = row[0];
        for (std::size_t k = 1; k < stride; ++k) most = row[k] > most ? row[k] : most;
        top[i] = most;
        for (std::size_t k = 0; k < stride; ++k) row[k] -= most;
      }
      const std::size_t entries = size * stride;
#pragma omp simd
      for (std::size_t e = 0; e < entries; ++e) value[e] = exp_nonpositive(value[e]);
      double product = 1;  // of the sums, whose logarithm is taken once in a while
      for (std::size_t i = 0; i < size; ++i) {
        double* const row = value + i * stride;
        double total = 0;
        for (std::size_t k = 0; k < stride; ++k) total += row[k];
        sum_of[i] = total;
        const double inverse = 1 / total;
        for (std::size_t k = 0; k < stride; ++k) row[k] *= inverse;
        const std::size_t t = batch + i;
        const bool answered = offsets[t + 1] != offsets[t];
        if (!answered || (has_gold && data_.gold[t] != kNoClass)) continue;
        log_likelihood += top[i];
        product *= total;
        if (product > 1e250) {
          log_likelihood += std::log(product);
          product = 1;
        }
      }
      log_likelihood += std::log(product);
    }
    if (has_gold) {
      for (std::size_t i = 0; i < size; ++i) {
        const ClassId gold = data_.gold[batch + i];
        if (gold == kNoClass) continue;
        double* const row = value + i * stride;
        std::fill(row, row + stride, 0.0);
        row[index(gold)] = 1;
      }
    }
    if (posterior != nullptr) {
      for (std::size_t i = 0; i < size; ++i) {
        std::copy(value + i * stride, value + i * stride + classes_, posterior + (batch + i) * classes_);
      }
    }
    if (!count) continue;

    // 3. Counts.
    if (has_gold && gold_weight_ != 1.0) {
      for (std::size_t i = 0; i < size; ++i) {
        if (data_.gold[batch + i] != kNoClass) value[i * stride + index(data_.gold[batch + i])] = gold_weight_;
      }
    }
    const std::size_t entries = size * stride;
    std::int64_t* const integer = fixed.data();
    for (std::size_t e = 0; e < entries; ++e) integer[e] = static_cast<std::int64_t>(value[e] * scale + 0.5);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t t = batch + i;
      if (offsets[t + 1] == offsets[t]) continue;
      const double* const row = value + i * stride;
      for (std::size_t k = 0; k < stride; ++k) mass[k] += row[k];
      const std::int64_t* const add = integer + i * stride;
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        add_counts<Stride>(table + std::size_t{rows[a]} * pitch + stride, add, stride);
      }
    }
  }
  sums.log_likelihood = log_likelihood;
}

ConfusionPass::Sums ConfusionPass::run(Source source, bool count, const double* given, double* posterior) {
  const std::size_t blocks = (tasks_ + kTasksPerBlock - 1) / kTasksPerBlock;
  std::vector<BlockSums> partial(blocks);
  const auto work = [&](std::size_t block, unsigned thread) {
    switch (stride_) {
      case 2: process_block<2>(source, count, block, thread, given, posterior, partial[block]); break;
      case 4: process_block<4>(source, count, block, thread, given, posterior, partial[block]); break;
      case 6: process_block<6>(source, count, block, thread, given, posterior, partial[block]); break;
      case 8: process_block<8>(source, count, block, thread, given, posterior, partial[block]); break;
      case 10: process_block<10>(source, count, block, thread, given, posterior, partial[block]); break;
      case 12: process_block<12>(source, count, block, thread, given, posterior, partial[block]); break;
      case 14: process_block<14>(source, count, block, thread, given, posterior, partial[block]); break;
      case 16: process_block<16>(source, count, block, thread, given, posterior, partial[block]); break;
      default: process_block<0>(source, count, block, thread, given, posterior, partial[block]);
    }
  };
  if (tables_.size() == context_.threads()) {
    context_.pool().for_each_block(blocks, work);
  } else {
    // Fewer tables than threads: each table is one long block of work.
    context_.pool().for_each_block(tables_.size(), [&](std::size_t table, unsigned) {
      for (std::size_t block = table; block < blocks; block += tables_.size())
        work(block, static_cast<unsigned>(table));
    });
  }
  Sums sums;
  sums.class_mass.assign(classes_, 0.0);
  for (const BlockSums& part : partial) {
    sums.log_likelihood += part.log_likelihood;
    for (std::size_t k = 0; k < classes_; ++k) sums.class_mass[k] += part.class_mass[k];
  }
  for (const double mass : sums.class_mass) sums.answered_tasks += mass;
  return sums;
}

ConfusionPass::Sums ConfusionPass::sweep(bool count, std::span<double> posterior) {
  return run(Source::tables, count, nullptr, posterior.empty() ? nullptr : posterior.data());
}
ConfusionPass::Sums ConfusionPass::sweep_votes() { return run(Source::votes, true, nullptr, nullptr); }
ConfusionPass::Sums ConfusionPass::sweep_given(std::span<const double> posterior) {
  return run(Source::given, true, posterior.data(), nullptr);
}

void ConfusionPass::set_log_rows(std::size_t worker, const double* log_rows) noexcept {
  for (auto& table : tables_) {
    double* row = table.data() + worker * classes_ * 2 * stride_;
    for (std::size_t l = 0; l < classes_; ++l) std::copy_n(log_rows + l * stride_, stride_, row + l * 2 * stride_);
  }
}

void ConfusionPass::log_rows(std::size_t worker, double* out) const noexcept {
  const double* row = tables_[0].data() + worker * classes_ * 2 * stride_;
  for (std::size_t l = 0; l < classes_; ++l) std::copy_n(row + l * 2 * stride_, stride_, out + l * stride_);
}

void ConfusionPass::counts(std::size_t worker, double* out) const noexcept {
  const double unit = std::ldexp(1.0, -fraction_bits_);
  for (std::size_t l = 0; l < classes_; ++l) {
    const std::size_t at = ((worker * classes_ + l) * 2 + 1) * stride_;
    for (std::size_t k = 0; k < stride_; ++k) {
      std::int64_t sum = 0;
      for (const auto& table : tables_) sum += count_at(table.data() + at + k);
      out[l * stride_ + k] = static_cast<double>(sum) * unit;
    }
  }
}

void ConfusionPass::take_counts(std::size_t worker, double* out) noexcept {
  counts(worker, out);
  for (auto& table : tables_) {
    for (std::size_t l = 0; l < classes_; ++l) {
      std::fill_n(table.data() + ((worker * classes_ + l) * 2 + 1) * stride_, stride_, 0.0);
    }
  }
}

}  // namespace wisecrowd
