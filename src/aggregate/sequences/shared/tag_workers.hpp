#pragma once

#include <span>
#include <vector>

#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/sequence_data.hpp"

namespace wisecrowd::sequences {

/// What a worker's tag depends on beside the truth.
enum class WorkerModel {
  seq,  ///< a table per tag that the worker gave to the token before
  cm,   ///< a confusion table: nothing else
  cv,   ///< the same, with wrong tags alike: how often each true tag is recognised
};
inline constexpr auto kWorkerModelNames =
    enum_names<WorkerModel>({{WorkerModel::seq, "seq"}, {WorkerModel::cm, "cm"}, {WorkerModel::cv, "cv"}});

/// How parameters are set from expected counts.
enum class Estimation {
  bayes,  ///< posterior Dirichlet distributions; weights are exp E ln θ
  point,  ///< their most probable values
};

/// What is believed of workers beforehand.
struct WorkerPrior {
  Estimation estimation = Estimation::bayes;
  double right = 2;           ///< bayes: Dirichlet parameter of the right tag
  double wrong = 1;           ///< bayes: of each wrong tag
  double pseudo_count = 0.1;  ///< point: added to every cell
};

/// The workers' tables: context (the worker's tag before; one if the model has none) × answer × truth, one after the
/// other. Truth varies fastest, so that an answer speaks for all tags in one stretch of memory.
class TagWorkers {
 public:
  /// Throws unsupported when the tables would not fit in memory.
  TagWorkers(const SequenceData& data, WorkerModel model, const WorkerPrior& prior);

  /// Expected counts from the probability of each tag at each token.
  void count(std::span<const double> posterior, const RunContext& context);
  /// Sets the tables from the counts. Returns what this adds to the objective: minus the divergence from the prior
  /// (bayes), or the logarithm of the prior density up to a constant (point).
  double update(const RunContext& context);

  /// Adds what an answer says of each token to `log_weights`, tokens × tags of its document.
  void speak(WorkerId worker, std::uint32_t first, std::span<const TagId> tags, std::span<double> log_weights) const {
    speak(tables_, worker, first, tags, log_weights);
  }
  /// Tables of logarithms of posterior means: what an answer's probability is under them.
  [[nodiscard]] std::vector<double> log_means(const RunContext& context) const;
  void speak(std::span<const double> tables, WorkerId worker, std::uint32_t first, std::span<const TagId> tags,
             std::span<double> log_weights) const;

  /// Workers × truth × answer: mean probabilities, over what the worker said before.
  [[nodiscard]] std::vector<double> mean_tables() const;
  /// Per worker: the expected share of right tags.
  [[nodiscard]] std::vector<double> accuracy() const;

 private:
  [[nodiscard]] std::size_t worker_size() const noexcept { return contexts_ * tags_ * tags_; }
  double update_tables(std::size_t worker);
  double update_vector(std::size_t worker);

  const SequenceData& data_;
  WorkerModel model_;
  WorkerPrior prior_;
  std::size_t tags_;
  std::size_t contexts_;
  std::vector<double> counts_, tables_;  // both as said above
};

}  // namespace wisecrowd::sequences
