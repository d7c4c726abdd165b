#pragma once

#include <vector>

#include "base/rng.hpp"
#include "learn/shared/reliability_model.hpp"

namespace wisecrowd {
class ThreadPool;
}

namespace wisecrowd::dalc {

/// Reliability that all workers learn from together: log odds = u_j · F x_i, with u_j of few dimensions and one F for
/// all. x has a constant 1 as its last column.
class LowRank final : public Reliability {
 public:
  struct Options {
    std::size_t rank = 10;
    double worker_ridge = 10;   ///< on the distance of u_j from the ordinary worker (1, 0, …)
    double shared_ridge = 100;  ///< on F for features of mean square 1, its constant column aside
    std::size_t rounds = 1;     ///< of alternation per fit
  };
  LowRank(const Features& features, std::size_t workers, Options options, Rng rng, ThreadPool& pool);

  void fit(const TrainingSet& set, std::span<const double> right) override;
  [[nodiscard]] double log_odds(WorkerId worker, std::uint32_t row) const override;
  void remember(RowSkill& skill) const override;
  [[nodiscard]] std::unique_ptr<Reliability> clone() const override { return std::make_unique<LowRank>(*this); }

  [[nodiscard]] ReliabilityNumbers numbers() const override;
  void restore(const ReliabilityNumbers& numbers) override;

  /// What fit maximises, with its gradient at F (rank × columns + 1), for the given F and the workers as they are.
  [[nodiscard]] double objective(const TrainingSet& set, std::span<const double> right, std::span<const double> shared,
                                 std::span<double> gradient) const;
  [[nodiscard]] const std::vector<double>& shared() const noexcept { return shared_; }

 private:
  void index_answers(const TrainingSet& set);
  /// F x of a row, rank numbers.
  void project(std::span<const double> shared, std::uint32_t row, std::span<double> out) const;
  void fit_workers(const TrainingSet& set, std::span<const double> right);
  void fit_worker(std::size_t worker, const TrainingSet& set, std::span<const double> right);
  void project_all();

  const Features* features_;
  Options options_;
  ThreadPool* pool_;
  std::size_t width_;                // columns and the constant
  std::vector<double> workers_;      // u, workers × rank
  std::vector<double> shared_;       // F, by column: width × rank, so that a sparse row touches few places
  std::vector<double> projections_;  // F x of every row
  std::vector<double> pull_;         // per column: what F's ridge is multiplied with
  const TrainingSet* indexed_ = nullptr;
  std::vector<std::uint32_t> answer_offset_, answers_, task_of_answer_;
};

}  // namespace wisecrowd::dalc
