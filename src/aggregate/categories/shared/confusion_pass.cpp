#include "aggregate/categories/shared/confusion_pass.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "aggregate/categories/shared/task_batch.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Tables beyond this size miss the second-level cache often enough for prefetching to pay.
constexpr std::size_t kCachedBytes = std::size_t{1} << 20;
/// All tables together stay below this; with more threads than fit, some rest during the sweep.
constexpr std::size_t kMostTableBytes = std::size_t{4} << 30;
/// Tables of this size miss all caches, and the layout matters.
constexpr std::size_t kWorkersPerBlock = 64;
constexpr std::size_t kFarBeyondCaches = std::size_t{64} << 20;

std::size_t stride_for(std::size_t classes) {
  if (classes <= 2) return 2;
  return classes <= 16 ? (classes + 1) / 2 * 2 : (classes + 7) / 8 * 8;
}

int bits_for(const CategoryAnswers& answers, double gold_weight) {
  std::vector<std::uint64_t> degree(answers.worker_count(), 0);
  for (const WorkerId w : answers.workers()) ++degree[index(w)];
  const std::uint64_t most = degree.empty() ? 0 : *std::max_element(degree.begin(), degree.end());
  const double bound = std::ceil((static_cast<double>(most) + 1) * std::max(gold_weight, 1.0));
  return std::clamp(62 - static_cast<int>(std::ceil(math::log2(bound))), 8, 52);
}

/// sum = start + the rows of a task's answers. Rows some answers ahead are requested whole, logs and counts.
template <std::size_t Stride>
inline void add_rows(const double* table, const std::uint32_t* answer, const std::uint32_t* last, const double* start,
                     double* sum, std::size_t stride, std::size_t ahead, bool prefetch) {
  const std::size_t pitch = 2 * stride;
  const auto request = [&](std::uint32_t row) {
    const double* far = table + std::size_t{row} * pitch;
    for (std::size_t k = 0; k < pitch; k += 8) __builtin_prefetch(far + k, 1);  // written soon after
  };
  if constexpr (Stride != 0) {
    std::array<double, Stride> held;
    for (std::size_t k = 0; k < Stride; ++k) held[k] = start[k];
    for (; answer != last; ++answer) {
      if (prefetch) request(answer[ahead]);
      const double* row = table + std::size_t{*answer} * pitch;
#pragma omp simd
      for (std::size_t k = 0; k < Stride; ++k) held[k] += row[k];
    }
    for (std::size_t k = 0; k < Stride; ++k) sum[k] = held[k];
  } else {
    std::copy(start, start + stride, sum);
    for (; answer != last; ++answer) {
      if (prefetch) request(answer[ahead]);
      const double* row = table + std::size_t{*answer} * pitch;
#pragma omp simd
      for (std::size_t k = 0; k < stride; ++k) sum[k] += row[k];
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

ConfusionPass::Plan ConfusionPass::plan_for(std::size_t tasks, std::size_t workers, std::size_t classes,
                                            std::size_t threads) {
  const std::size_t stride = stride_for(classes), rows = workers * classes;
  const double bytes = static_cast<double>(rows) * 2 * static_cast<double>(stride) * sizeof(double);
  if (bytes > kFarBeyondCaches && rows >= tasks / 4) {
    constexpr std::size_t kLanes = 16;  // floats in a cache line
    const std::size_t line_stride = (stride + kLanes - 1) / kLanes * kLanes;
    return {true, static_cast<double>(rows + tasks) * static_cast<double>(line_stride) * sizeof(float)};
  }
  return {false,
          bytes * std::clamp(std::floor(kMostTableBytes / std::max(bytes, 1.0)), 1.0, static_cast<double>(threads))};
}

ConfusionPass::ConfusionPass(const CategoryData& data, const RunContext& context, double gold_weight, Layout layout)
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

  gathered_ = layout == Layout::gathered ||
              (layout == Layout::automatic && plan_for(tasks_, workers_, classes_, context.threads()).gathered);
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
              k < classes_ ? math::log(std::max(data.task_priors[t * classes_ + k], kProbabilityFloor)) : kLogZero;
        }
      }
    });
  }
}

void ConfusionPass::lay_out_scattered(std::size_t rows) {
  for (std::size_t w = 0; w < workers_; w += kWorkersPerBlock) first_worker_.push_back(w);
  first_worker_.push_back(workers_);
  const std::size_t cells = std::max<std::size_t>(rows, 1) * 2 * stride_;
  const std::size_t bytes = cells * sizeof(double);
  tables_.resize(std::clamp<std::size_t>(kMostTableBytes / bytes, 1, context_.threads()));
  prefetch_ = bytes > kCachedBytes;
  context_.pool().for_each_block(tables_.size(), [&](std::size_t t, unsigned) {
    tables_[t].resize(cells);
    std::fill(tables_[t].begin(), tables_[t].end(), 0.0);  // also the integer 0
  });
}

void ConfusionPass::set_log_prior(std::span<const double> log_prior) {
  std::copy(log_prior.begin(), log_prior.end(), log_prior_.begin());
  if (gathered_) std::copy(log_prior.begin(), log_prior.end(), log_prior_line_.begin());
}

/// Adds up log tables: the log joint of each task and class.
template <std::size_t Stride>
void ConfusionPass::add_tables(TaskBatch<double> batch, const double* table) const {
  const std::size_t stride = Stride != 0 ? Stride : stride_;
  const std::uint32_t* const rows = rows_.data();
  for (std::size_t i = 0; i < batch.size; ++i) {
    const std::size_t t = batch.first + i;
    const double* start = log_task_priors_.empty() ? log_prior_.data() : log_task_priors_.data() + t * stride;
    add_rows<Stride>(table, rows + batch.offsets[t], rows + batch.offsets[t + 1], start, batch.values + i * stride,
                     stride, kPrefetchDistance, prefetch_);
  }
}

/// Turns log joints into posteriors.
template <std::size_t Stride>
void ConfusionPass::normalise_batch(TaskBatch<double> batch, double& log_likelihood) const {
  const std::size_t stride = Stride != 0 ? Stride : stride_;
  double* const value = batch.values;
  std::array<double, kTasksPerBatch> top;
  for (std::size_t i = 0; i < batch.size; ++i) {
    double* const row = value + i * stride;
    if (const ClassId gold = batch.gold_of(i); gold != kNoClass && batch.is_answered(i)) {
      log_likelihood += gold_weight_ * row[index(gold)];
    }
    double most = row[0];
    for (std::size_t k = 1; k < stride; ++k) most = row[k] > most ? row[k] : most;
    top[i] = most;
    for (std::size_t k = 0; k < stride; ++k) row[k] -= most;
  }
  const std::size_t entries = batch.size * stride;
#pragma omp simd
  for (std::size_t e = 0; e < entries; ++e) value[e] = exp_nonpositive(value[e]);
  double product = 1;  // of the sums, whose logarithm is taken once in a while
  for (std::size_t i = 0; i < batch.size; ++i) {
    double* const row = value + i * stride;
    double total = 0;
    for (std::size_t k = 0; k < stride; ++k) total += row[k];
    const double inverse = 1 / total;
    for (std::size_t k = 0; k < stride; ++k) row[k] *= inverse;
    if (!batch.is_answered(i) || batch.gold_of(i) != kNoClass) continue;
    log_likelihood += top[i];
    product *= total;
    if (product > 1e250) {
      log_likelihood += math::log(product);
      product = 1;
    }
  }
  log_likelihood += math::log(product);
}

/// Adds each posterior to the counts of the workers who answered.
template <std::size_t Stride>
void ConfusionPass::count_batch(TaskBatch<double> batch, double* table, BlockSums& sums) const {
  const std::size_t stride = Stride != 0 ? Stride : stride_;
  const std::size_t pitch = 2 * stride;
  const std::uint32_t* const rows = rows_.data();
  double* const value = batch.values;
  double* const mass = sums.class_mass.data();
  if (batch.has_gold && gold_weight_ != 1.0) {
    for (std::size_t i = 0; i < batch.size; ++i) {
      if (const ClassId gold = batch.gold_of(i); gold != kNoClass) value[i * stride + index(gold)] = gold_weight_;
    }
  }
  thread_local std::vector<std::int64_t> fixed;  // the posterior as fixed point
  fixed.resize(kTasksPerBatch * stride);
  std::int64_t* const integer = fixed.data();
  const double scale = std::ldexp(1.0, fraction_bits_);
  const std::size_t entries = batch.size * stride;
  for (std::size_t e = 0; e < entries; ++e) integer[e] = static_cast<std::int64_t>(value[e] * scale + 0.5);
  for (std::size_t i = 0; i < batch.size; ++i) {
    if (!batch.is_answered(i)) continue;
    sums.answered_tasks += batch.gold_of(i) != kNoClass ? gold_weight_ : 1.0;
    const double* const row = value + i * stride;
#pragma omp simd
    for (std::size_t k = 0; k < stride; ++k) mass[k] += row[k];
    const std::int64_t* const add = integer + i * stride;
    const AnswerIndex end = batch.offsets[batch.first + i + 1];
    for (AnswerIndex a = batch.offsets[batch.first + i]; a < end; ++a) {
      add_counts<Stride>(table + std::size_t{rows[a]} * pitch + stride, add, stride);
    }
  }
}

template <std::size_t Stride>
void ConfusionPass::process_block(Source source, bool count, std::size_t block, unsigned thread, const double* given,
                                  double* posterior, BlockSums& sums) {
  const std::size_t stride = Stride != 0 ? Stride : stride_;
  const std::size_t last = std::min(tasks_, (block + 1) * kTasksPerBlock);
  const bool has_gold = data_.has_gold();
  double* const table = tables_[thread].data();
  thread_local std::vector<double> values;
  values.resize(kTasksPerBatch * stride);
  sums.class_mass.assign(stride, 0.0);
  double log_likelihood = 0;
  for (std::size_t first = block * kTasksPerBlock; first < last; first += kTasksPerBatch) {
    const std::size_t size = std::min(kTasksPerBatch, last - first);
    const TaskBatch<double> batch{data_, data_.answers.task_offsets(), has_gold, first, size, stride, values.data()};
    switch (source) {
      case Source::tables:
        add_tables<Stride>(batch, table);
        normalise_batch<Stride>(batch, log_likelihood);
        break;
      case Source::votes: batch.fill_with_votes(); break;
      case Source::given: batch.fill_with(given, classes_); break;
    }
    batch.pin_gold();
    if (posterior != nullptr) {
      for (std::size_t i = 0; i < size; ++i) std::copy_n(batch.row(i), classes_, posterior + (first + i) * classes_);
    }
    if (count) count_batch<Stride>(batch, table, sums);
  }
  sums.log_likelihood = log_likelihood;
}

ConfusionPass::Sums ConfusionPass::run(Source source, bool count, const double* given, double* posterior) {
  const std::size_t blocks = (tasks_ + kTasksPerBlock - 1) / kTasksPerBlock;
  std::vector<BlockSums> partial(blocks);
  const auto scatter = [&]<std::size_t Stride>(std::size_t block, unsigned thread) {
    process_block<Stride>(source, count, block, thread, given, posterior, partial[block]);
  };
  const auto work = [&](std::size_t block, unsigned thread) {
    if (gathered_) {
      process_lines(source, count, block, given, posterior, partial[block]);
      return;
    }
    switch (stride_) {
      case 2: scatter.operator()<2>(block, thread); break;
      case 4: scatter.operator()<4>(block, thread); break;
      case 6: scatter.operator()<6>(block, thread); break;
      case 8: scatter.operator()<8>(block, thread); break;
      case 10: scatter.operator()<10>(block, thread); break;
      case 12: scatter.operator()<12>(block, thread); break;
      case 14: scatter.operator()<14>(block, thread); break;
      case 16: scatter.operator()<16>(block, thread); break;
      default: scatter.operator()<0>(block, thread);
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
    sums.answered_tasks += part.answered_tasks;
    for (std::size_t k = 0; k < classes_; ++k) sums.class_mass[k] += part.class_mass[k];
  }
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
    store_lines(worker, log_rows);
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

void ConfusionPass::add_up(std::size_t worker, double* out) const noexcept {
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

void ConfusionPass::visit_counts(const CountsVisitor& visit) const {
  context_.pool().for_each_block(worker_blocks(), [&](std::size_t block, unsigned) {
    std::vector<double> counts(classes_ * stride_);
    if (gathered_ && !read_counts_) {
      gather_block(block, counts.data(), visit);
      return;
    }
    for (std::size_t w = first_worker_[block]; w < first_worker_[block + 1]; ++w) {
      if (read_counts_) {
        read_counts_(w, counts.data());
      } else {
        add_up(w, counts.data());
      }
      visit(block, w, counts.data());
    }
  });
}

void ConfusionPass::take_counts(const CountsVisitor& visit) {
  visit_counts([&](std::size_t block, std::size_t worker, double* counts) {
    for (auto& table : tables_) {
      for (std::size_t l = 0; l < classes_; ++l) {
        std::fill_n(table.data() + ((worker * classes_ + l) * 2 + 1) * stride_, stride_, 0.0);
      }
    }
    visit(block, worker, counts);
  });
}

}  // namespace wisecrowd
