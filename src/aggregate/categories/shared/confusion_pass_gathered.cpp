// The gathered layout of ConfusionPass: both kinds of rows are whole cache lines of floats, 16 classes each.

#include <algorithm>
#include <array>
#include <cmath>

#include "aggregate/categories/shared/confusion_pass.hpp"
#include "aggregate/categories/shared/task_batch.hpp"
#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kLanes = 16;
/// Single precision holds a sum of this many logarithms, or of this many probabilities, to about 1e-6 of it; longer
/// sums go on in double.
constexpr std::size_t kLogsPerFloat = 16;
constexpr std::size_t kMostInFloat = 4096;
/// The counts of a block of workers: half a second-level cache.
constexpr std::size_t kBlockBytes = std::size_t{640} << 10;

using Line [[gnu::vector_size(kLanes * sizeof(float)), gnu::aligned(64), gnu::may_alias]] = float;
static_assert(alignof(Line) == 64);

Line* as_lines(float* floats) { return reinterpret_cast<Line*>(floats); }
const Line* as_lines(const float* floats) { return reinterpret_cast<const Line*>(floats); }

}  // namespace

void ConfusionPass::lay_out_gathered(std::size_t rows) {
  line_stride_ = (stride_ + kLanes - 1) / kLanes * kLanes;
  prefetch_ = true;
  log_lines_.resize(std::max<std::size_t>(rows, 1) * line_stride_);
  task_lines_.resize(std::max<std::size_t>(tasks_, 1) * line_stride_);
  log_prior_line_.resize(line_stride_);
  std::fill(log_prior_line_.begin(), log_prior_line_.end(), static_cast<float>(kLogZero));
  const Blocks line_blocks{rows, std::size_t{1} << 14};
  context_.pool().for_each_block(line_blocks.count(), [&](std::size_t block, unsigned) {
    std::fill(log_lines_.data() + line_blocks.begin(block) * line_stride_,
              log_lines_.data() + line_blocks.end(block) * line_stride_, 0.0F);
  });
  lay_out_blocks();
}

/// Cuts workers into blocks and lists the answers of each block by task.
void ConfusionPass::lay_out_blocks() {
  const auto offsets = data_.answers.worker_offsets();
  const std::size_t most_workers =
      std::clamp<std::size_t>(kBlockBytes / (classes_ * line_stride_ * sizeof(float)), 1, 0xFFFF / classes_);
  const auto answers_of = [&](std::size_t w) { return static_cast<std::size_t>(offsets[w + 1] - offsets[w]); };
  for (std::size_t w = 0; w < workers_;) {
    first_worker_.push_back(w);
    first_answer_.push_back(offsets[w]);
    const std::size_t first = w++;
    if (answers_of(first) > kMostInFloat) continue;  // a block of its own
    while (w < workers_ && w - first < most_workers && answers_of(w) <= kMostInFloat) ++w;
  }
  const std::size_t answers = data_.answers.answer_count();
  first_worker_.push_back(workers_);
  first_answer_.push_back(answers);
  block_tasks_.resize(answers + kPrefetchDistance);
  block_rows_.resize(answers);
  std::fill(block_tasks_.end() - kPrefetchDistance, block_tasks_.end(), 0U);

  // Each part of the blocks is filled by one thread that reads all answers in the order of tasks.
  const std::size_t blocks = worker_blocks();
  std::vector<std::uint32_t> block_of(workers_);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::fill(block_of.begin() + static_cast<std::ptrdiff_t>(first_worker_[b]),
              block_of.begin() + static_cast<std::ptrdiff_t>(first_worker_[b + 1]), static_cast<std::uint32_t>(b));
  }
  const auto task_offsets = data_.answers.task_offsets();
  const auto workers = data_.answers.workers();
  const auto labels = data_.answers.labels();
  const std::size_t parts = std::min<std::size_t>(context_.threads(), std::max<std::size_t>(blocks, 1));
  context_.pool().for_each_block(parts, [&](std::size_t part, unsigned) {
    const std::size_t low = part * blocks / parts, high = (part + 1) * blocks / parts;
    std::vector<std::size_t> next(first_answer_.begin() + static_cast<std::ptrdiff_t>(low),
                                  first_answer_.begin() + static_cast<std::ptrdiff_t>(high));
    for (std::size_t t = 0; t < tasks_; ++t) {
      for (AnswerIndex a = task_offsets[t]; a < task_offsets[t + 1]; ++a) {
        const std::size_t worker = index(workers[a]);
        const std::size_t block = block_of[worker];
        if (block < low || block >= high) continue;
        const std::size_t place = next[block - low]++;
        block_tasks_[place] = static_cast<std::uint32_t>(t);
        block_rows_[place] = static_cast<std::uint16_t>((worker - first_worker_[block]) * classes_ + index(labels[a]));
      }
    }
  });
}

/// Log joints of tasks, less their maximum, which goes to `top`. Sums of more than a few answers go on in double.
template <std::size_t Lines>
void ConfusionPass::add_lines(std::size_t first, std::size_t last, float* values, double* top) const {
  const std::size_t lines = Lines != 0 ? Lines : line_stride_ / kLanes;
  const std::size_t stride = lines * kLanes;
  const auto offsets = data_.answers.task_offsets();
  const std::uint32_t* const rows = rows_.data();
  const Line* const table = as_lines(log_lines_.data());
  const Line* const prior = as_lines(log_prior_line_.data());
  thread_local HugeVector<double> joint;
  joint.resize(stride);
  for (std::size_t t = first; t < last; ++t) {
    Line* const sum = as_lines(values + (t - first) * stride);
    const auto add = [&](AnswerIndex begin, AnswerIndex end) {
      if constexpr (Lines == 1) {
        Line held = *sum;
        for (AnswerIndex a = begin; a < end; ++a) {
          __builtin_prefetch(table + rows[a + kPrefetchDistance]);
          held += table[rows[a]];
        }
        *sum = held;
      } else {
        for (AnswerIndex a = begin; a < end; ++a) {
          const Line* const ahead = table + std::size_t{rows[a + kPrefetchDistance]} * lines;
          const Line* const row = table + std::size_t{rows[a]} * lines;
          for (std::size_t v = 0; v < lines; ++v) {
            __builtin_prefetch(ahead + v);
            sum[v] += row[v];
          }
        }
      }
    };
    float* const value = values + (t - first) * stride;
    if (offsets[t + 1] - offsets[t] <= kLogsPerFloat && log_task_priors_.empty()) {
      for (std::size_t v = 0; v < lines; ++v) sum[v] = prior[v];
      add(offsets[t], offsets[t + 1]);
      float most = value[0];
#pragma omp simd reduction(max : most)
      for (std::size_t k = 0; k < stride; ++k) most = value[k] > most ? value[k] : most;
#pragma omp simd
      for (std::size_t k = 0; k < stride; ++k) value[k] -= most;
      top[t - first] = static_cast<double>(most);
      continue;
    }
    const double* start = log_task_priors_.empty() ? log_prior_.data() : log_task_priors_.data() + t * stride_;
    std::copy_n(start, stride_, joint.data());
    std::fill(joint.begin() + static_cast<std::ptrdiff_t>(stride_), joint.end(), kLogZero);
    for (AnswerIndex chunk = offsets[t]; chunk < offsets[t + 1]; chunk += kLogsPerFloat) {
      for (std::size_t v = 0; v < lines; ++v) sum[v] = Line{};
      add(chunk, std::min<AnswerIndex>(chunk + kLogsPerFloat, offsets[t + 1]));
      for (std::size_t k = 0; k < stride; ++k) joint[k] += static_cast<double>(value[k]);
    }
    const double most = *std::max_element(joint.begin(), joint.end());
    for (std::size_t k = 0; k < stride; ++k) value[k] = static_cast<float>(joint[k] - most);
    top[t - first] = most;
  }
}

/// Posteriors from the log tables.
template <std::size_t Lines>
void ConfusionPass::normalise_lines(TaskBatch<float> batch, double& log_likelihood) const {
  const std::size_t stride = Lines != 0 ? Lines * kLanes : line_stride_;
  float* const values = batch.values;
  std::array<double, kTasksPerBatch> top;
  add_lines<Lines>(batch.first, batch.first + batch.size, values, top.data());
  for (std::size_t i = 0; i < batch.size && batch.has_gold; ++i) {
    const ClassId gold = batch.gold_of(i);
    if (gold == kNoClass || !batch.is_answered(i)) continue;
    log_likelihood += gold_weight_ * (top[i] + static_cast<double>(values[i * stride + index(gold)]));
  }
  const std::size_t entries = batch.size * stride;
#pragma omp simd
  for (std::size_t e = 0; e < entries; ++e) values[e] = exp_nonpositive(values[e]);
  double product = 1;  // of the sums, whose logarithm is taken once in a while
  for (std::size_t i = 0; i < batch.size; ++i) {
    float* const row = values + i * stride;
    const float total = lane_sum<float>(stride, [&](std::size_t k) { return row[k]; });
    const float inverse = 1 / total;
#pragma omp simd
    for (std::size_t k = 0; k < stride; ++k) row[k] *= inverse;
    if (!batch.is_answered(i) || batch.gold_of(i) != kNoClass) continue;
    log_likelihood += top[i];
    product *= static_cast<double>(total);
    if (product > 1e250) {
      log_likelihood += math::log(product);
      product = 1;
    }
  }
  log_likelihood += math::log(product);
}

/// Weighs gold tasks and adds up the mass of the classes. The counts of workers are gathered later.
template <std::size_t Lines>
void ConfusionPass::count_lines(TaskBatch<float> batch, BlockSums& sums) const {
  const std::size_t stride = Lines != 0 ? Lines * kLanes : line_stride_;
  thread_local std::vector<float> mass;
  mass.assign(stride, 0.0F);
  for (std::size_t i = 0; i < batch.size; ++i) {
    float* const row = batch.values + i * stride;
    const ClassId gold = batch.gold_of(i);
    const double weight = gold == kNoClass ? 1.0 : gold_weight_;
    if (gold != kNoClass) row[index(gold)] = static_cast<float>(weight);
    if (!batch.is_answered(i)) continue;
    sums.answered_tasks += weight;
#pragma omp simd
    for (std::size_t k = 0; k < stride; ++k) mass[k] += row[k];
  }
  for (std::size_t k = 0; k < stride; ++k) sums.class_mass[k] += static_cast<double>(mass[k]);
}

template <std::size_t Lines>
void ConfusionPass::process_lines(Source source, bool count, std::size_t block, const double* given, double* posterior,
                                  BlockSums& sums) {
  const std::size_t last = std::min(tasks_, (block + 1) * kTasksPerBlock);
  const std::size_t stride = Lines != 0 ? Lines * kLanes : line_stride_;
  const bool has_gold = data_.has_gold();
  sums.class_mass.assign(stride, 0.0);
  thread_local HugeVector<float> spare;  // where posteriors stand that nobody counts
  spare.resize(kTasksPerBatch * stride);

  for (std::size_t first = block * kTasksPerBlock; first < last; first += kTasksPerBatch) {
    const std::size_t size = std::min(kTasksPerBatch, last - first);
    float* const values = count ? task_lines_.data() + first * stride : spare.data();
    const TaskBatch<float> batch{data_, data_.answers.task_offsets(), has_gold, first, size, stride, values};
    switch (source) {
      case Source::tables: normalise_lines<Lines>(batch, sums.log_likelihood); break;
      case Source::votes: batch.fill_with_votes(); break;
      case Source::given: batch.fill_with(given, classes_); break;
    }
    batch.pin_gold();
    for (std::size_t i = 0; i < size && posterior != nullptr; ++i) {
      double* const out = posterior + (first + i) * classes_;
      double total = 0;  // single precision leaves sums of 1 ± 1e-7
      for (std::size_t k = 0; k < classes_; ++k) total += out[k] = static_cast<double>(values[i * stride + k]);
      for (std::size_t k = 0; k < classes_; ++k) out[k] /= total;
    }
    if (count) count_lines<Lines>(batch, sums);
  }
}

void ConfusionPass::process_lines(Source source, bool count, std::size_t block, const double* given, double* posterior,
                                  BlockSums& sums) {
  if (line_stride_ == kLanes) {
    process_lines<1>(source, count, block, given, posterior, sums);
  } else {
    process_lines<0>(source, count, block, given, posterior, sums);
  }
}

void ConfusionPass::store_lines(std::size_t worker, const double* log_rows) noexcept {
  float* line = log_lines_.data() + worker * classes_ * line_stride_;
  for (std::size_t l = 0; l < classes_; ++l, line += line_stride_) {
#pragma omp simd
    for (std::size_t k = 0; k < stride_; ++k) line[k] = static_cast<float>(log_rows[l * stride_ + k]);
  }
}

/// The counts of a block stand in a table that fits the second-level cache, and are filled in the order of tasks: the
/// rows of tasks are then met from low to high addresses, which memory serves half as fast again as at random.
void ConfusionPass::gather_block(std::size_t block, double* counts, const CountsVisitor& visit) const {
  const std::size_t lines = line_stride_ / kLanes;
  const std::size_t first = first_worker_[block], workers = first_worker_[block + 1] - first;
  thread_local HugeVector<float> held;
  held.resize(workers * classes_ * line_stride_);
  Line* const sums = as_lines(held.data());
  const Line* const table = as_lines(task_lines_.data());
  const std::uint32_t* const tasks = block_tasks_.data();
  const std::uint16_t* const rows = block_rows_.data();
  const auto gather = [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = 0; v < workers * classes_ * lines; ++v) sums[v] = Line{};
    if (lines == 1) {
      for (std::size_t i = begin; i < end; ++i) {
        __builtin_prefetch(table + tasks[i + kPrefetchDistance]);
        sums[rows[i]] += table[tasks[i]];
      }
      return;
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Line* const ahead = table + std::size_t{tasks[i + kPrefetchDistance]} * lines;
      const Line* const row = table + std::size_t{tasks[i]} * lines;
      Line* const sum = sums + std::size_t{rows[i]} * lines;
      for (std::size_t v = 0; v < lines; ++v) {
        __builtin_prefetch(ahead + v);
        sum[v] += row[v];
      }
    }
  };
  const auto add = [&](std::size_t worker, bool fresh) {
    for (std::size_t l = 0; l < classes_; ++l) {
      const float* const from = held.data() + (worker * classes_ + l) * line_stride_;
      double* const to = counts + l * stride_;
      for (std::size_t k = 0; k < stride_; ++k) to[k] = (fresh ? 0.0 : to[k]) + static_cast<double>(from[k]);
    }
  };
  const std::size_t begin = first_answer_[block], end = first_answer_[block + 1];
  if (workers > 1) {
    gather(begin, end);
    for (std::size_t w = 0; w < workers; ++w) {
      add(w, true);
      visit(block, first + w, counts);
    }
    return;
  }
  std::fill_n(counts, classes_ * stride_, 0.0);
  for (std::size_t chunk = begin; chunk < end; chunk += kMostInFloat) {
    gather(chunk, std::min(chunk + kMostInFloat, end));
    add(0, false);
  }
  visit(block, first, counts);
}

}  // namespace wisecrowd
