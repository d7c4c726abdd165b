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
/// Tables of this size miss all caches, and the layout matters.
constexpr std::size_t kFarBeyondCaches = std::size_t{64} << 20;
constexpr std::size_t kWorkersPerBlock = 256;
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

/// sum = start + the rows of a task's answers. Rows some answers ahead are requested whole: `fetched` numbers each.
template <std::size_t Stride, class Real>
inline void add_rows(const Real* table, std::size_t pitch, std::size_t fetched, const std::uint32_t* answer,
                     const std::uint32_t* last, const double* start, double* sum, std::size_t stride, bool prefetch) {
  constexpr std::size_t kLine = 64 / sizeof(Real);
  // Scattered rows are written soon after, gathered ones are not.
  constexpr int kToWrite = std::is_same_v<Real, double> ? 1 : 0;
  if constexpr (Stride != 0) {
    std::array<double, Stride> held;
    for (std::size_t k = 0; k < Stride; ++k) held[k] = start[k];
    for (; answer != last; ++answer) {
      if (prefetch) {
        const Real* ahead = table + std::size_t{answer[kPrefetchDistance]} * pitch;
        for (std::size_t k = 0; k < (kToWrite != 0 ? 2 * Stride : Stride); k += kLine)
          __builtin_prefetch(ahead + k, kToWrite);
      }
      const Real* row = table + std::size_t{*answer} * pitch;
#pragma omp simd
      for (std::size_t k = 0; k < Stride; ++k) held[k] += static_cast<double>(row[k]);
    }
    for (std::size_t k = 0; k < Stride; ++k) sum[k] = held[k];
  } else {
    std::copy(start, start + stride, sum);
    for (; answer != last; ++answer) {
      if (prefetch) {
        const Real* ahead = table + std::size_t{answer[kPrefetchDistance]} * pitch;
        for (std::size_t k = 0; k < fetched; k += kLine) __builtin_prefetch(ahead + k, kToWrite);
      }
      const Real* row = table + std::size_t{*answer} * pitch;
#pragma omp simd
      for (std::size_t k = 0; k < stride; ++k) sum[k] += static_cast<double>(row[k]);
    }
  }
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

ConfusionPass::ConfusionPass(const Dataset& data, const RunContext& context, double gold_weight, Layout layout)
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

  const std::size_t table_bytes = table_rows * 2 * stride_ * sizeof(double);
  gathered_ = layout == Layout::gathered || (layout == Layout::automatic && table_bytes > kFarBeyondCaches &&
                                             table_rows * stride_ >= tasks_ * stride_ / 4);
  if (gathered_) {
    lay_out_gathered(table_rows);
  } else {
    lay_out_scattered(table_rows);
  }

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

void ConfusionPass::lay_out_scattered(std::size_t rows) {
  const std::size_t cells = std::max<std::size_t>(rows, 1) * 2 * stride_;
  const std::size_t bytes = cells * sizeof(double);
  tables_.resize(std::clamp<std::size_t>(kMostTableBytes / bytes, 1, context_.threads()));
  prefetch_ = bytes > kCachedBytes;
  context_.pool().for_each_block(tables_.size(), [&](std::size_t t, unsigned) {
    tables_[t].resize(cells);
    std::fill(tables_[t].begin(), tables_[t].end(), 0.0);  // also the integer 0
  });
}

void ConfusionPass::lay_out_gathered(std::size_t rows) {
  line_stride_ = (stride_ + 15) / 16 * 16;
  prefetch_ = true;
  log_lines_.resize(std::max<std::size_t>(rows, 1) * line_stride_);
  task_lines_.resize(std::max<std::size_t>(tasks_, 1) * line_stride_);
  const std::size_t answers = data_.answers.answer_count();
  worker_tasks_.resize(answers + kPrefetchDistance);
  worker_labels_.resize(answers);
  std::fill(worker_tasks_.end() - kPrefetchDistance, worker_tasks_.end(), 0U);
  const auto offsets = data_.answers.worker_offsets();
  const auto labels = data_.answers.labels();
  const Blocks blocks{workers_, kWorkersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      const auto worker = WorkerId{static_cast<std::uint32_t>(w)};
      const auto tasks = data_.answers.tasks_of(worker);
      const auto answered = data_.answers.answers_of(worker);
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        worker_tasks_[offsets[w] + i] = static_cast<std::uint32_t>(tasks[i]);
        worker_labels_[offsets[w] + i] = static_cast<std::uint16_t>(labels[answered[i]]);
      }
    }
  });
}

void ConfusionPass::set_log_prior(std::span<const double> log_prior) {
  std::copy(log_prior.begin(), log_prior.end(), log_prior_.begin());
}

template <std::size_t Stride, bool Gathered>
void ConfusionPass::process_block(Source source, bool count, std::size_t block, unsigned thread, const double* given,
                                  double* posterior, BlockSums& sums) {
  const std::size_t stride = Stride != 0 ? Stride : stride_;
  const std::size_t first = block * kTasksPerBlock;
  const std::size_t last = std::min(tasks_, first + kTasksPerBlock);
  const auto offsets = data_.answers.task_offsets();
  const std::uint32_t* rows = rows_.data();
  const std::size_t pitch = 2 * stride;
  double* const table = Gathered ? nullptr : tables_[thread].data();
  const double scale = std::ldexp(1.0, fraction_bits_);
  const bool has_gold = data_.has_gold();

  thread_local std::vector<double> values;       // batch × stride: log joint, then posterior
  thread_local std::vector<std::int64_t> fixed;  // the posterior as fixed point
  values.resize(kTasksPerBatch * stride);
  fixed.resize(kTasksPerBatch * stride);
  sums.class_mass.assign(stride, 0.0);
  double* const mass = sums.class_mass.data();
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
        const auto first_answer = rows + offsets[t], last_answer = rows + offsets[t + 1];
        if constexpr (Gathered) {
          add_rows<Stride, float>(log_lines_.data(), line_stride_, line_stride_, first_answer, last_answer, start, row,
                                  stride, prefetch_);
        } else {
          add_rows<Stride, double>(table, pitch, pitch, first_answer, last_answer, start, row, stride, prefetch_);
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
    if constexpr (Gathered) {
      for (std::size_t i = 0; i < size; ++i) {
        const double* const row = value + i * stride;
        float* const line = task_lines_.data() + (batch + i) * line_stride_;
        for (std::size_t k = 0; k < stride; ++k) line[k] = static_cast<float>(row[k]);
        if (offsets[batch + i + 1] == offsets[batch + i]) continue;
#pragma omp simd
        for (std::size_t k = 0; k < stride; ++k) mass[k] += row[k];
      }
      continue;
    }
    const std::size_t entries = size * stride;
    std::int64_t* const integer = fixed.data();
    for (std::size_t e = 0; e < entries; ++e) integer[e] = static_cast<std::int64_t>(value[e] * scale + 0.5);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t t = batch + i;
      if (offsets[t + 1] == offsets[t]) continue;
      const double* const row = value + i * stride;
#pragma omp simd
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
    const auto sweep_block = [&]<std::size_t Stride>() {
      if (gathered_) {
        process_block<Stride, true>(source, count, block, thread, given, posterior, partial[block]);
      } else {
        process_block<Stride, false>(source, count, block, thread, given, posterior, partial[block]);
      }
    };
    switch (stride_) {
      case 2: sweep_block.operator()<2>(); break;
      case 4: sweep_block.operator()<4>(); break;
      case 6: sweep_block.operator()<6>(); break;
      case 8: sweep_block.operator()<8>(); break;
      case 10: sweep_block.operator()<10>(); break;
      case 12: sweep_block.operator()<12>(); break;
      case 14: sweep_block.operator()<14>(); break;
      case 16: sweep_block.operator()<16>(); break;
      default: sweep_block.operator()<0>();
    }
  };
  if (gathered_ || tables_.size() == context_.threads()) {
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
  if (gathered_) {
    for (std::size_t l = 0; l < classes_; ++l) {
      float* line = log_lines_.data() + (worker * classes_ + l) * line_stride_;
      for (std::size_t k = 0; k < stride_; ++k) line[k] = static_cast<float>(log_rows[l * stride_ + k]);
    }
    return;
  }
  for (auto& table : tables_) {
    double* row = table.data() + worker * classes_ * 2 * stride_;
    for (std::size_t l = 0; l < classes_; ++l) std::copy_n(log_rows + l * stride_, stride_, row + l * 2 * stride_);
  }
}

void ConfusionPass::log_rows(std::size_t worker, double* out) const noexcept {
  for (std::size_t l = 0; l < classes_; ++l) {
    if (gathered_) {
      std::copy_n(log_lines_.data() + (worker * classes_ + l) * line_stride_, stride_, out + l * stride_);
    } else {
      std::copy_n(tables_[0].data() + (worker * classes_ + l) * 2 * stride_, stride_, out + l * stride_);
    }
  }
}

void ConfusionPass::counts(std::size_t worker, double* out) const noexcept {
  if (gathered_) {
    gather_counts(worker, out);
    return;
  }
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

void ConfusionPass::gather_counts(std::size_t worker, double* out) const noexcept {
  std::fill_n(out, classes_ * stride_, 0.0);
  const auto offsets = data_.answers.worker_offsets();
  for (std::size_t i = offsets[worker]; i < offsets[worker + 1]; ++i) {
    const float* ahead = task_lines_.data() + std::size_t{worker_tasks_[i + kPrefetchDistance]} * line_stride_;
    for (std::size_t k = 0; k < line_stride_; k += 16) __builtin_prefetch(ahead + k);
    const float* line = task_lines_.data() + std::size_t{worker_tasks_[i]} * line_stride_;
    double* row = out + worker_labels_[i] * stride_;
#pragma omp simd
    for (std::size_t k = 0; k < stride_; ++k) row[k] += static_cast<double>(line[k]);
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
