#include "learn/shared/per_worker_logistic.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "learn/shared/answer_memory.hpp"
#include "wisecrowd/error.hpp"

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
  const std::uint64_t begin = column_offset_[index(worker)], bias = column_offset_[index(worker) + 1] - 1;
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
  for (const WorkerId worker : set.worker) ++answer_offset_[index(worker) + 1];
  for (std::size_t j = 0; j < workers; ++j) answer_offset_[j + 1] += answer_offset_[j];
  answers_.resize(set.answer_count());
  task_of_answer_.resize(set.answer_count());
  std::vector<std::uint32_t> place(answer_offset_.begin(), answer_offset_.end() - 1);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      answers_[place[index(set.worker[a])]++] = a;
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

/// One worker's regression: its answers, its weights, and products with its rows X.
class PerWorkerLogistic::WorkerFit {
 public:
  WorkerFit(PerWorkerLogistic& model, std::size_t worker, const TrainingSet& set, std::span<const double> right)
      : model_(model),
        worker_(worker),
        set_(set),
        right_(right),
        begin_(model.column_offset_[index(worker)]),
        size_(model.column_offset_[index(worker) + 1] - begin_),
        mine_(std::span(model.answers_)
                  .subspan(model.answer_offset_[index(worker)],
                           model.answer_offset_[index(worker) + 1] - model.answer_offset_[index(worker)])),
        weights_(std::span(model.weights_).subspan(begin_, size_)),
        scores_(mine_.size()),
        slopes_(mine_.size()),
        curvature_(mine_.size()),
        trial_scores_(mine_.size()),
        step_(size_),
        residual_(size_),
        towards_(size_),
        product_(size_),
        trial_(size_) {}

  /// Newton's method, its steps found by conjugate gradients, so that nothing of size columns² is needed.
  void run() {
    times(weights_, scores_);
    double value = objective(weights_, scores_);
    for (int newton = 0; newton < kNewtonSteps; ++newton) {
      find_gradient();
      find_step();
      double largest = 0;
      for (const double s : step_) largest = std::max(largest, std::abs(s));
      if (!move(value) || largest < kTolerance) break;
    }
  }

 private:
  [[nodiscard]] std::uint32_t row_of(std::size_t n) const { return set_.row[model_.task_of_answer_[mine_[n]]]; }

  void times(std::span<const double> v, std::vector<double>& out) const {  // X v
    for (std::size_t n = 0; n < mine_.size(); ++n) {
      double dot = 0;
      model_.for_each_place(worker_, row_of(n),
                            [&](std::size_t place, double value) { dot += value * v[place - begin_]; });
      out[n] = dot;
    }
  }

  void add_transposed(std::span<const double> v, std::vector<double>& out) const {  // out += Xᵀ v
    for (std::size_t n = 0; n < mine_.size(); ++n) {
      model_.for_each_place(worker_, row_of(n),
                            [&](std::size_t place, double value) { out[place - begin_] += value * v[n]; });
    }
  }

  [[nodiscard]] double objective(std::span<const double> v, const std::vector<double>& scores) const {
    double value = 0;
    for (std::size_t n = 0; n < mine_.size(); ++n) {
      const double c = right_[mine_[n]];
      value += c * log_sigmoid(scores[n]) + (1 - c) * log_sigmoid(-scores[n]);
    }
    for (std::size_t p = 0; p < size_; ++p) {
      const double away = v[p] - (p + 1 == size_ ? model_.common_ : 0);
      value -= model_.options_.ridge / 2 * away * away;
    }
    return value;
  }

  /// The gradient, in residual_, and the curvature of each answer.
  void find_gradient() {
    for (std::size_t n = 0; n < mine_.size(); ++n) {
      const double eta = sigmoid(scores_[n]);
      slopes_[n] = right_[mine_[n]] - eta;
      curvature_[n] = eta * (1 - eta);
    }
    for (std::size_t p = 0; p < size_; ++p) {
      residual_[p] = -model_.options_.ridge * (weights_[p] - (p + 1 == size_ ? model_.common_ : 0));
    }
    add_transposed(slopes_, residual_);
  }

  void find_step() {
    std::fill(step_.begin(), step_.end(), 0.0);
    towards_ = residual_;
    double norm = 0;
    for (const double r : residual_) norm += r * r;
    const double first = norm;
    for (int c = 0; c < kConjugateSteps && norm > 1e-16 * first && norm > 1e-24; ++c) {
      times(towards_, trial_scores_);
      for (std::size_t n = 0; n < mine_.size(); ++n) trial_scores_[n] *= curvature_[n];
      for (std::size_t p = 0; p < size_; ++p) product_[p] = (model_.options_.ridge + 1e-12) * towards_[p];
      add_transposed(trial_scores_, product_);
      double bend = 0;
      for (std::size_t p = 0; p < size_; ++p) bend += towards_[p] * product_[p];
      const double length = norm / bend;
      double next = 0;
      for (std::size_t p = 0; p < size_; ++p) {
        step_[p] += length * towards_[p];
        residual_[p] -= length * product_[p];
        next += residual_[p] * residual_[p];
      }
      for (std::size_t p = 0; p < size_; ++p) towards_[p] = residual_[p] + next / norm * towards_[p];
      norm = next;
    }
  }

  /// Takes the step, or a part of it that does not lower `value`; false if there is none.
  bool move(double& value) {
    double length = 1;
    for (int halvings = 0; halvings < kHalvings; ++halvings, length /= 2) {
      for (std::size_t p = 0; p < size_; ++p) trial_[p] = weights_[p] + length * step_[p];
      times(trial_, trial_scores_);
      const double reached = objective(trial_, trial_scores_);
      if (reached < value) continue;
      value = reached;
      std::copy(trial_.begin(), trial_.end(), weights_.begin());
      std::swap(scores_, trial_scores_);
      return true;
    }
    return false;
  }

  PerWorkerLogistic& model_;
  std::size_t worker_;
  const TrainingSet& set_;
  std::span<const double> right_;
  std::uint64_t begin_;  // of its weights among those of all workers
  std::size_t size_;
  std::span<const std::uint32_t> mine_;
  std::span<double> weights_;
  std::vector<double> scores_, slopes_, curvature_, trial_scores_;   // by answer
  std::vector<double> step_, residual_, towards_, product_, trial_;  // by weight
};

void PerWorkerLogistic::fit(const TrainingSet& set, std::span<const double> right) {
  // The common log odds, with a little faith in workers, so that they stay finite.
  double sum = 0.7, count = 1;
  for (const double p : right) {
    sum += p;
    count += 1;
  }
  common_ = options_.pooled_level ? math::log(sum / (count - sum + 1e-9)) : 0;
  if (indexed_ != &set) index_answers(set);
  const Blocks blocks{set.worker_count, kWorkersPerBlock};
  pool_->for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) WorkerFit(*this, j, set, right).run();
  });
}

void PerWorkerLogistic::restore(const ReliabilityNumbers& numbers) {
  const std::size_t workers = column_offset_.size() - 1;
  const bool by_column = options_.use_features && features_->is_sparse();
  if (numbers.shared.size() != 1 || numbers.offset.size() != workers + 1 ||
      (by_column && numbers.columns.size() != numbers.own.size())) {
    throw Error(ErrorCode::bad_input, "reliabilities were learned from other features");
  }
  common_ = numbers.shared.front();
  indexed_ = nullptr;
  weights_.clear();
  columns_.clear();
  for (std::size_t j = 0; j < workers; ++j) {
    const auto begin = static_cast<std::ptrdiff_t>(numbers.offset[j]);
    const auto end = static_cast<std::ptrdiff_t>(numbers.offset[j + 1]);
    const std::size_t dense = options_.use_features && !by_column ? features_->columns() : 0;
    if (begin == end) {  // an ordinary worker
      weights_.resize(weights_.size() + dense, 0.0);
      weights_.push_back(common_);
      if (by_column) columns_.push_back(0);
    } else {
      if (!by_column && static_cast<std::size_t>(end - begin) != dense + 1) {
        throw Error(ErrorCode::bad_input, "reliabilities were learned from features of another width");
      }
      weights_.insert(weights_.end(), numbers.own.begin() + begin, numbers.own.begin() + end);
      if (by_column) columns_.insert(columns_.end(), numbers.columns.begin() + begin, numbers.columns.begin() + end);
    }
    column_offset_[j + 1] = weights_.size();
  }
}

double PerWorkerLogistic::log_odds(WorkerId worker, std::uint32_t row) const {
  if (weights_.empty()) return common_;
  double sum = 0;
  for_each_place(index(worker), row, [&](std::size_t place, double value) { sum += value * weights_[place]; });
  return sum;
}

void PerWorkerLogistic::remember(RowSkill& skill) const {
  skill.basis = RowSkill::Basis::columns;
  const std::size_t workers = column_offset_.size() - 1;
  if (weights_.empty()) {
    skill.width = 1;
    skill.weights.assign(workers, common_);
    return;
  }
  skill.weights = weights_;
  skill.width = options_.use_features ? features_->columns() + 1 : 1;
  if (!options_.use_features || !features_->is_sparse()) return;
  skill.offsets.assign(column_offset_.begin(), column_offset_.end());
  skill.columns.assign(columns_.begin(), columns_.end());
  for (std::size_t j = 0; j < workers; ++j) skill.columns[column_offset_[j + 1] - 1] = features_->columns();
}

}  // namespace wisecrowd
