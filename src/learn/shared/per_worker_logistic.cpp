#include "learn/shared/per_worker_logistic.hpp"

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kWorkersPerBlock = 16;
constexpr int kNewtonSteps = 4, kConjugateSteps = 25, kHalvings = 10;
constexpr double kTolerance = 1e-7;  // of a Newton step

}  // namespace

PerWorkerLogistic::PerWorkerLogistic(const Features& features, std::size_t workers, Options options, ThreadPool& pool)
    : features_(&features), options_(options), pool_(&pool), column_offset_(workers + 1, 0) {}

/// entry(place, value) for what the row and the worker have in common, the bias last.
template <class Entry>
void PerWorkerLogistic::for_each_place(std::size_t worker, std::uint32_t row, const Entry& entry) const {
  const std::uint64_t begin = column_offset_[worker], bias = column_offset_[worker + 1] - 1;
  if (options_.use_features && row != kNoRow) {
    if (features_->is_sparse()) {
      auto place = columns_.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = columns_.begin() + static_cast<std::ptrdiff_t>(bias);
      for_each_entry(*features_, row, [&](std::size_t column, double value) {
        place = std::lower_bound(place, last, static_cast<std::uint32_t>(column));
        if (place != last && *place == column) {
          entry(static_cast<std::size_t>(place - columns_.begin()), value);
        }
      });
    } else {
      for_each_entry(*features_, row, [&](std::size_t column, double value) { entry(begin + column, value); });
    }
  }
  entry(bias, 1.0);
}

void PerWorkerLogistic::index_answers(const TrainingSet& set) {
  indexed_ = &set;
  const std::size_t workers = set.worker_count;
  answer_offset_.assign(workers + 1, 0);
  for (const std::uint32_t worker : set.worker) ++answer_offset_[worker + 1];
  for (std::size_t j = 0; j < workers; ++j) answer_offset_[j + 1] += answer_offset_[j];
  answers_.resize(set.answer_count());
  task_of_answer_.resize(set.answer_count());
  std::vector<std::uint32_t> place(answer_offset_.begin(), answer_offset_.end() - 1);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      answers_[place[set.worker[a]]++] = a;
      task_of_answer_[a] = static_cast<std::uint32_t>(i);
    }
  }
  column_offset_.assign(workers + 1, 0);
  columns_.clear();
  const bool sparse = features_->is_sparse();
  std::vector<std::uint32_t> own;
  for (std::size_t j = 0; j < workers; ++j) {
    own.clear();
    if (options_.use_features && sparse) {
      for (std::uint32_t n = answer_offset_[j]; n < answer_offset_[j + 1]; ++n) {
        const std::uint32_t row = set.row[task_of_answer_[answers_[n]]];
        for_each_entry(*features_, row,
                       [&](std::size_t column, double) { own.push_back(static_cast<std::uint32_t>(column)); });
      }
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      columns_.insert(columns_.end(), own.begin(), own.end());
      columns_.push_back(0);  // the bias
    }
    const std::size_t size = !options_.use_features ? 0 : (sparse ? own.size() : features_->columns());
    column_offset_[j + 1] = column_offset_[j] + size + 1;
  }
  weights_.assign(column_offset_.back(), 0.0);
  for (std::size_t j = 0; j < workers; ++j) weights_[column_offset_[j + 1] - 1] = common_;
}

void PerWorkerLogistic::fit(const TrainingSet& set, std::span<const double> right) {
  // The common log odds, with a little faith in workers, so that they stay finite.
  double sum = 0.7, count = 1;
  for (const double p : right) {
    sum += p;
    count += 1;
  }
  common_ = std::log(sum / (count - sum + 1e-9));
  if (indexed_ != &set) index_answers(set);
  const Blocks blocks{set.worker_count, kWorkersPerBlock};
  pool_->for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) fit_worker(j, set, right);
  });
}

/// Newton's method, its steps found by conjugate gradients, so that nothing of size columns² is needed.
void PerWorkerLogistic::fit_worker(std::size_t worker, const TrainingSet& set, std::span<const double> right) {
  const std::uint64_t begin = column_offset_[worker];
  const std::size_t size = column_offset_[worker + 1] - begin;
  const auto mine =
      std::span(answers_).subspan(answer_offset_[worker], answer_offset_[worker + 1] - answer_offset_[worker]);
  const auto weights = std::span(weights_).subspan(begin, size);
  const auto row_of = [&](std::size_t n) { return set.row[task_of_answer_[mine[n]]]; };
  const auto times = [&](std::span<const double> v, std::vector<double>& out) {  // X v
    for (std::size_t n = 0; n < mine.size(); ++n) {
      double dot = 0;
      for_each_place(worker, row_of(n), [&](std::size_t place, double value) { dot += value * v[place - begin]; });
      out[n] = dot;
    }
  };
  const auto add_transposed = [&](std::span<const double> v, std::vector<double>& out) {  // out += Xᵀ v
    for (std::size_t n = 0; n < mine.size(); ++n) {
      for_each_place(worker, row_of(n), [&](std::size_t place, double value) { out[place - begin] += value * v[n]; });
    }
  };
  const auto objective = [&](std::span<const double> v, const std::vector<double>& scores) {
    double value = 0;
    for (std::size_t n = 0; n < mine.size(); ++n) {
      const double c = right[mine[n]];
      value += c * log_sigmoid(scores[n]) + (1 - c) * log_sigmoid(-scores[n]);
    }
    for (std::size_t p = 0; p < size; ++p) {
      const double away = v[p] - (p + 1 == size ? common_ : 0);
      value -= options_.ridge / 2 * away * away;
    }
    return value;
  };
  std::vector<double> scores(mine.size()), slopes(mine.size()), curvature(mine.size()), trial_scores(mine.size());
  std::vector<double> step(size), residual(size), towards(size), product(size), trial(size);
  times(weights, scores);
  double value = objective(weights, scores);
  for (int newton = 0; newton < kNewtonSteps; ++newton) {
    for (std::size_t n = 0; n < mine.size(); ++n) {
      const double eta = sigmoid(scores[n]);
      slopes[n] = right[mine[n]] - eta;
      curvature[n] = eta * (1 - eta);
    }
    for (std::size_t p = 0; p < size; ++p) {
      residual[p] = -options_.ridge * (weights[p] - (p + 1 == size ? common_ : 0));
    }
    add_transposed(slopes, residual);
    std::fill(step.begin(), step.end(), 0.0);
    towards = residual;
    double norm = 0;
    for (const double r : residual) norm += r * r;
    const double first = norm;
    for (int c = 0; c < kConjugateSteps && norm > 1e-16 * first && norm > 1e-24; ++c) {
      times(towards, trial_scores);
      for (std::size_t n = 0; n < mine.size(); ++n) trial_scores[n] *= curvature[n];
      for (std::size_t p = 0; p < size; ++p) product[p] = (options_.ridge + 1e-12) * towards[p];
      add_transposed(trial_scores, product);
      double bend = 0;
      for (std::size_t p = 0; p < size; ++p) bend += towards[p] * product[p];
      const double length = norm / bend;
      double next = 0;
      for (std::size_t p = 0; p < size; ++p) {
        step[p] += length * towards[p];
        residual[p] -= length * product[p];
        next += residual[p] * residual[p];
      }
      for (std::size_t p = 0; p < size; ++p) towards[p] = residual[p] + next / norm * towards[p];
      norm = next;
    }
    double length = 1, largest = 0;
    for (const double s : step) largest = std::max(largest, std::abs(s));
    int halvings = 0;
    for (; halvings < kHalvings; ++halvings, length /= 2) {
      for (std::size_t p = 0; p < size; ++p) trial[p] = weights[p] + length * step[p];
      times(trial, trial_scores);
      const double reached = objective(trial, trial_scores);
      if (reached < value) continue;
      value = reached;
      std::copy(trial.begin(), trial.end(), weights.begin());
      std::swap(scores, trial_scores);
      break;
    }
    if (halvings == kHalvings || largest < kTolerance) break;
  }
}

double PerWorkerLogistic::log_odds(std::uint32_t worker, std::uint32_t row) const {
  if (weights_.empty()) return common_;
  double sum = 0;
  for_each_place(worker, row, [&](std::size_t place, double value) { sum += value * weights_[place]; });
  return sum;
}

}  // namespace wisecrowd
