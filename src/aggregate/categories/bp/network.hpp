#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aggregate/categories/bp/bp.hpp"
#include "base/huge_vector.hpp"

namespace wisecrowd::bp {

/// What the worker factors of one iteration gave.
struct WorkerSums {
  double log_evidence = 0;  ///< Σ_j ln Z_j − Σ_e ln Z_e
  double change = 0;        ///< largest change of a message, as a probability
};
struct TaskSums {
  double log_evidence = 0;  ///< Σ_i ln Z_i
  std::vector<double> class_mass;
};

/// Messages between tasks and workers. Two kinds: for one coin a message is one number, for tables K of them.
class Network {
 public:
  virtual ~Network() = default;
  /// Tasks to workers, from the messages that workers sent. `start` (tasks × classes), if given, takes the place of
  /// the beliefs once.
  virtual TaskSums tell_workers(std::span<const double> log_class_prior, std::span<const double> start) = 0;
  virtual WorkerSums tell_tasks(double damping, std::size_t iteration) = 0;
  virtual void beliefs(std::span<const double> log_class_prior, std::span<double> posterior) = 0;
  /// What workers said last, to go on from there another time: log M_{j→i}, one number per answer, or K of them.
  [[nodiscard]] virtual std::vector<double> messages() const = 0;
  virtual void set_messages(std::span<const double> messages) = 0;
  /// Tables and skills.
  virtual void describe_workers(CategoryFit& result, std::vector<WorkerBelief>* beliefs) = 0;
};

[[nodiscard]] std::unique_ptr<Network> make_coin_network(const CategoryData& data, const RunContext& context,
                                                         const Options& options);
[[nodiscard]] std::unique_ptr<Network> make_table_network(const CategoryData& data, const RunContext& context,
                                                          const Options& options);

// ---- shared by the two kinds -------------------------------------------------------------------------------------

inline constexpr std::size_t kTasksPerBlock = 4096;
/// Stands for infinity among log ratios; exp of it is finite.
inline constexpr double kLargestLogRatio = 700;
/// Workers with more answers than this get particles of their own, drawn around what they seem to be.
inline constexpr std::size_t kFewAnswers = 20;
/// Their centre moves with the messages for so many iterations, then stands still, so that a fixed point exists.
inline constexpr std::size_t kMovingIterations = 5;

/// Blocks of workers with about the same number of answers each: first worker of each block, then the end.
[[nodiscard]] std::vector<std::size_t> worker_blocks(const CategoryAnswers& answers);
/// Logarithms of the task priors, or nothing.
[[nodiscard]] HugeVector<double> log_task_priors(const CategoryData& data, const RunContext& context);

}  // namespace wisecrowd::bp
