#include "learn/dalc/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "base/linear_algebra.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/lbfgs.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::dalc {
namespace {

constexpr double kOrdinaryLogOdds = 0.85;  // right in 70 %
constexpr double kStartScale = 0.1;        // of F elsewhere: exact zeros are a saddle
/// The ridge is for features of mean square 1 and shrinks with theirs, but not for words so rare that nothing would
/// hold them back.
constexpr double kLeastMeanSquare = 0.01;
constexpr std::size_t kWorkersPerBlock = 64, kRowsPerBlock = 512, kMostBlocks = 16;
constexpr std::size_t kSharedIterations = 8;
constexpr int kNewtonSteps = 3, kHalvings = 10;

std::vector<double> mean_squares(const Features& features) {
  std::vector<double> result(features.columns(), 0.0);
  const double share = 1 / static_cast<double>(std::max<std::size_t>(features.rows, 1));
  for (std::size_t row = 0; row < features.rows; ++row) {
    for_each_entry(features, row, [&](std::size_t column, double value) { result[column] += share * value * value; });
  }
  return result;
}

/// Blocks of tasks for sums that are as large as F: few of them, their number given by the size alone.
Blocks cut(std::size_t tasks) {
  return {tasks, std::max<std::size_t>(kRowsPerBlock, (tasks + kMostBlocks - 1) / kMostBlocks)};
}

}  // namespace

LowRank::LowRank(const Features& features, std::size_t workers, Options options, Rng rng, ThreadPool& pool)
    : features_(&features),
      options_(options),
      pool_(&pool),
      width_(features.columns() + 1),
      workers_(workers * options.rank, 0.0),
      shared_(width_ * options.rank),
      pull_(mean_squares(features)) {
  for (double& pull : pull_) pull = std::max(pull, kLeastMeanSquare);
  pull_.push_back(1);
  for (std::size_t j = 0; j < workers; ++j) workers_[j * options_.rank] = 1;
  for (double& value : shared_) value = kStartScale * rng.normal() / std::sqrt(static_cast<double>(options_.rank));
  double* const constant = shared_.data() + (width_ - 1) * options_.rank;
  std::fill_n(constant, options_.rank, 0.0);
  constant[0] = kOrdinaryLogOdds;
  project_all();
}

void LowRank::project(std::span<const double> shared, std::uint32_t row, std::span<double> out) const {
  const std::size_t rank = options_.rank;
  std::copy_n(shared.begin() + static_cast<std::ptrdiff_t>((width_ - 1) * rank), rank, out.begin());
  for_each_entry(*features_, row, [&](std::size_t column, double value) {
    const double* const from = shared.data() + column * rank;
    for (std::size_t r = 0; r < rank; ++r) out[r] += value * from[r];
  });
}

void LowRank::project_all() {
  projections_.resize(features_->rows * options_.rank);
  const Blocks blocks{features_->rows, kRowsPerBlock};
  pool_->for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t row = blocks.begin(block); row < blocks.end(block); ++row) {
      project(shared_, static_cast<std::uint32_t>(row),
              std::span(projections_).subspan(row * options_.rank, options_.rank));
    }
  });
}

double LowRank::log_odds(WorkerId worker, std::uint32_t row) const {
  const double* const u = workers_.data() + index(worker) * options_.rank;
  const double* const v =
      row == kNoRow ? shared_.data() + (width_ - 1) * options_.rank : projections_.data() + row * options_.rank;
  double sum = 0;
  for (std::size_t r = 0; r < options_.rank; ++r) sum += u[r] * v[r];
  return sum;
}

void LowRank::remember(RowSkill& skill) const {
  skill.basis = RowSkill::Basis::projection;
  skill.width = options_.rank;
  skill.weights = workers_;
  skill.projection = shared_;
}

ReliabilityNumbers LowRank::numbers() const {
  ReliabilityNumbers numbers{.shared = shared_, .own = workers_};
  for (std::size_t j = 0; j <= workers_.size() / options_.rank; ++j) numbers.offset.push_back(j * options_.rank);
  return numbers;
}

void LowRank::restore(const ReliabilityNumbers& numbers) {
  const std::size_t workers = workers_.size() / options_.rank;
  if (numbers.shared.size() != shared_.size() || numbers.offset.size() != workers + 1) {
    throw Error(ErrorCode::bad_input, "reliabilities were learned from features of another width, or of another rank");
  }
  shared_ = numbers.shared;
  for (std::size_t j = 0; j < workers; ++j) {
    const std::uint64_t begin = numbers.offset[j], end = numbers.offset[j + 1];
    if (begin == end) continue;  // an ordinary worker, as everybody is at first
    if (end - begin != options_.rank) {
      throw Error(ErrorCode::bad_input, "a worker's reliability has another rank than the one asked for");
    }
    std::copy_n(numbers.own.begin() + static_cast<std::ptrdiff_t>(begin), options_.rank,
                workers_.begin() + static_cast<std::ptrdiff_t>(j * options_.rank));
  }
  project_all();
}

double LowRank::objective(const TrainingSet& set, std::span<const double> right, std::span<const double> shared,
                          std::span<double> gradient) const {
  const std::size_t rank = options_.rank, constant = (width_ - 1) * rank;
  const Blocks blocks = cut(set.task_count());
  std::vector<double> values(blocks.count(), 0.0);
  std::vector<std::vector<double>> parts(blocks.count());
  pool_->for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double>& part = parts[block];
    part.assign(shared.size(), 0.0);
    std::vector<double> v(rank), at_v(rank);
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
      project(shared, set.row[i], v);
      std::fill(at_v.begin(), at_v.end(), 0.0);
      for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
        const double* const u = workers_.data() + index(set.worker[a]) * rank;
        double score = 0;
        for (std::size_t r = 0; r < rank; ++r) score += u[r] * v[r];
        values[block] += right[a] * log_sigmoid(score) + (1 - right[a]) * log_sigmoid(-score);
        const double slope = right[a] - sigmoid(score);
        for (std::size_t r = 0; r < rank; ++r) at_v[r] += slope * u[r];
      }
      for_each_entry(*features_, set.row[i], [&](std::size_t column, double value) {
        double* const to = part.data() + column * rank;
        for (std::size_t r = 0; r < rank; ++r) to[r] += value * at_v[r];
      });
      for (std::size_t r = 0; r < rank; ++r) part[constant + r] += at_v[r];
    }
  });
  double value = 0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t block = 0; block < blocks.count(); ++block) {
    value += values[block];
    for (std::size_t p = 0; p < gradient.size(); ++p) gradient[p] += parts[block][p];
  }
  // The constant column carries the level of the ordinary worker; only its other entries are held back.
  for (std::size_t p = 0; p < shared.size(); ++p) {
    if (p == constant) continue;
    const double ridge = options_.shared_ridge * pull_[p / rank];
    value -= ridge / 2 * shared[p] * shared[p];
    gradient[p] -= ridge * shared[p];
  }
  for (std::size_t p = 0; p < workers_.size(); ++p) {
    const double away = workers_[p] - (p % rank == 0 ? 1 : 0);
    value -= options_.worker_ridge / 2 * away * away;
  }
  return value;
}

void LowRank::index_answers(const TrainingSet& set) {
  indexed_ = &set;
  answer_offset_.assign(set.worker_count + 1, 0);
  for (const WorkerId worker : set.worker) ++answer_offset_[index(worker) + 1];
  for (std::size_t j = 0; j < set.worker_count; ++j) answer_offset_[j + 1] += answer_offset_[j];
  answers_.resize(set.answer_count());
  task_of_answer_.resize(set.answer_count());
  std::vector<std::uint32_t> place(answer_offset_.begin(), answer_offset_.end() - 1);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    for (std::uint32_t a = set.offset[i]; a < set.offset[i + 1]; ++a) {
      answers_[place[index(set.worker[a])]++] = a;
      task_of_answer_[a] = static_cast<std::uint32_t>(i);
    }
  }
}

void LowRank::fit(const TrainingSet& set, std::span<const double> right) {
  if (indexed_ != &set) index_answers(set);
  for (std::size_t round = 0; round < options_.rounds; ++round) {
    fit_workers(set, right);
    lbfgs(shared_,
          [&](std::span<const double> point, std::span<double> gradient) {
            const double value = objective(set, right, point, gradient);
            for (double& g : gradient) g = -g;
            return -value;
          },
          {.iterations = kSharedIterations});
    project_all();
  }
}

void LowRank::fit_workers(const TrainingSet& set, std::span<const double> right) {
  const Blocks blocks{set.worker_count, kWorkersPerBlock};
  pool_->for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) fit_worker(j, set, right);
  });
}

/// Newton's method in rank dimensions.
void LowRank::fit_worker(std::size_t worker, const TrainingSet& set, std::span<const double> right) {
  const std::size_t rank = options_.rank;
  const auto size = static_cast<Eigen::Index>(rank);
  const auto mine = std::span(answers_).subspan(answer_offset_[index(worker)],
                                                answer_offset_[index(worker) + 1] - answer_offset_[index(worker)]);
  Eigen::Map<Eigen::VectorXd> u(workers_.data() + index(worker) * rank, size);
  const Eigen::VectorXd ordinary = Eigen::VectorXd::Unit(size, 0);
  const auto direction = [&](std::uint32_t answer) {
    return Eigen::Map<const Eigen::VectorXd>(projections_.data() + set.row[task_of_answer_[answer]] * rank, size);
  };
  const auto value_at = [&](const Eigen::VectorXd& point) {
    double value = -options_.worker_ridge / 2 * (point - ordinary).squaredNorm();
    for (const std::uint32_t a : mine) {
      const double score = point.dot(direction(a));
      value += right[a] * log_sigmoid(score) + (1 - right[a]) * log_sigmoid(-score);
    }
    return value;
  };
  double value = value_at(u);
  for (int newton = 0; newton < kNewtonSteps; ++newton) {
    Eigen::VectorXd gradient = -options_.worker_ridge * (u - ordinary);
    Eigen::MatrixXd curvature = (options_.worker_ridge + 1e-9) * Eigen::MatrixXd::Identity(size, size);
    for (const std::uint32_t a : mine) {
      const auto v = direction(a);
      const double eta = sigmoid(u.dot(v));
      gradient += (right[a] - eta) * v;
      curvature.selfadjointView<Eigen::Lower>().rankUpdate(v, eta * (1 - eta));
    }
    const Eigen::VectorXd step = cholesky_solve(curvature, gradient);
    double length = 1;
    int halvings = 0;
    for (; halvings < kHalvings; ++halvings, length /= 2) {
      const Eigen::VectorXd trial = u + length * step;
      const double reached = value_at(trial);
      if (reached < value) continue;
      value = reached;
      u = trial;
      break;
    }
    if (halvings == kHalvings || step.lpNorm<Eigen::Infinity>() < 1e-7) break;
  }
}

}  // namespace wisecrowd::dalc
