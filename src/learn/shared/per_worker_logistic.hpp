#pragma once

#include <vector>

#include "learn/shared/reliability_model.hpp"

namespace wisecrowd {

class ThreadPool;

/// Reliability as a logistic regression of each worker's own: log odds = v_j · x + c_j, with a ridge on v_j and on how
/// far c_j lies from the common log odds of all workers. Without features, one coin per worker.
class PerWorkerLogistic final : public Reliability {
 public:
  struct Options {
    double ridge = 0.3;
    bool use_features = true;
    bool pooled_level = true;  ///< otherwise c_j is drawn towards 0, a coin, whatever the others do
  };
  /// `features` may be others than the network's; `row`s count theirs. Both outlive the object, as does the pool.
  PerWorkerLogistic(const Features& features, std::size_t workers, Options options, ThreadPool& pool);

  void fit(const TrainingSet& set, std::span<const double> right) override;
  [[nodiscard]] double log_odds(WorkerId worker, std::uint32_t row) const override;
  /// The basis is the columns of the features that it was made with.
  void remember(RowSkill& skill) const override;
  [[nodiscard]] std::unique_ptr<Reliability> clone() const override {
    return std::make_unique<PerWorkerLogistic>(*this);
  }

  [[nodiscard]] ReliabilityNumbers numbers() const override {
    return {.shared = {common_}, .offset = column_offset_, .own = weights_, .columns = columns_};
  }
  void restore(const ReliabilityNumbers& numbers) override;

 private:
  class WorkerFit;

  /// Answers by worker, and for sparse features which columns each worker's rows touch.
  void index_answers(const TrainingSet& set);
  template <class Entry>
  void for_each_place(std::size_t worker, std::uint32_t row, const Entry& entry) const;

  const Features* features_;
  Options options_;
  ThreadPool* pool_;
  const TrainingSet* indexed_ = nullptr;
  std::vector<std::uint32_t> answer_offset_, answers_, task_of_answer_;
  std::vector<std::uint64_t> column_offset_;  // a worker's places: its columns, then the bias
  std::vector<std::uint32_t> columns_;        // sparse features: the column of each place but the last
  std::vector<double> weights_;
  double common_ = 0.85;  // log odds of an ordinary worker
};

}  // namespace wisecrowd
