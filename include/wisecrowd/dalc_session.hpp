#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "wisecrowd/features.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

struct NetworkSpec;

/// What a session has learned, to be kept and taken up again: tasks, workers and classes by the numbers of its data.
struct DalcMemory {
  bool trained = false;                    ///< whether the network has seen answers
  std::vector<float> weights, buffers;     ///< of the network
  Scaling scaling;                         ///< of its inputs
  std::vector<CategoryAnswer> past;        ///< the answers that reliabilities were learned from …
  std::vector<double> past_right;          ///< … and how probably each of them is right
  std::vector<double> shared;              ///< of the reliabilities: what all workers share
  std::vector<std::uint64_t> own_offset;   ///< workers + 1: what is each worker's own is [offset[j], offset[j + 1])
  std::vector<double> own;                 ///< of a worker of whom nothing is known: nothing
  std::vector<std::uint32_t> own_columns;  ///< of the features, if these differ by worker
};

/// DALC's model while answers still come in: how far each worker can be trusted on each task was learned from tasks of
/// the past; the network learns from the answers that are added. Data and context outlive it.
class DalcSession {
 public:
  virtual ~DalcSession() = default;

  /// Answers that are known from now on.
  virtual void add(std::span<const CategoryAnswer> answers) = 0;
  /// So many epochs on the tasks with answers added, going on from the network as it is. Labels are inferred from
  /// network and answers every few epochs. `stream` names what is random in it.
  virtual void train(std::size_t epochs, std::string_view stream) = 0;
  /// Learns the reliabilities again, from the tasks of the past and from the labels of now.
  virtual void refresh_reliability() = 0;

  /// What the network says of tasks, and what network and added answers say together; tasks × classes.
  struct Opinion {
    std::vector<double> mean;          ///< over draws of MC-dropout
    std::vector<double> posterior;     ///< mean × what the answers say
    std::vector<double> draw_entropy;  ///< per task: mean entropy of the draws, not more than the entropy of the mean
  };
  [[nodiscard]] virtual Opinion opinion(std::span<const TaskId> tasks, std::size_t draws, std::string_view stream) = 0;
  /// rows × classes, without dropout.
  [[nodiscard]] virtual std::vector<double> predict(std::span<const std::uint32_t> rows) = 0;
  /// The network's last hidden layer, tasks × its width; of a network without one that we can see, its probabilities.
  [[nodiscard]] virtual std::vector<float> penultimate(std::span<const TaskId> tasks) = 0;
  /// Probability that the worker is right on the task.
  [[nodiscard]] virtual double reliability(WorkerId worker, TaskId task) const = 0;

  [[nodiscard]] virtual DalcMemory memory() = 0;
  /// The same state, to go another way from here.
  [[nodiscard]] virtual std::unique_ptr<DalcSession> clone() const = 0;
};

/// Learns the reliabilities from the answers to the tasks of `past`, which need rows of the train split. `parameters`
/// are those of the learner "dalc". The network starts anew: what it learned of the past is forgotten. Nothing depends
/// on the order of tasks and workers: rows and names decide. `known_rows`: those that inputs are scaled by; none: all
/// rows of the train split.
[[nodiscard]] std::unique_ptr<DalcSession> make_dalc_session(const LearningData& data, std::span<const TaskId> past,
                                                             const Parameters& parameters, const NetworkSpec& network,
                                                             std::string_view stream, const RunContext& context,
                                                             std::span<const std::uint32_t> known_rows = {});
/// Takes up a session where it was left, perhaps with more tasks, workers and answers. Of a worker who is new it knows
/// nothing: an ordinary one. The answers that were added must be added again.
[[nodiscard]] std::unique_ptr<DalcSession> resume_dalc_session(const LearningData& data, const DalcMemory& memory,
                                                               const Parameters& parameters, const NetworkSpec& network,
                                                               const RunContext& context);

}  // namespace wisecrowd
