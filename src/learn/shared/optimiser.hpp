#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wisecrowd/enum_names.hpp"
#include "wisecrowd/ids.hpp"

namespace wisecrowd {

class ThreadPool;

struct OptimiserOptions {
  enum class Kind { adam, rmsprop, sgd };
  Kind kind = Kind::adam;
  double learning_rate = 1e-3;
  double weight_decay = 0;     ///< added to the gradient: weight_decay · w
  double decoupled_decay = 0;  ///< share of every weight that a step takes away, beside the gradient
  double momentum = 0.9;       ///< sgd
};

inline constexpr auto kOptimiserNames =
    enum_names<OptimiserOptions::Kind>({{OptimiserOptions::Kind::adam, "adam"},
                                        {OptimiserOptions::Kind::rmsprop, "rmsprop"},
                                        {OptimiserOptions::Kind::sgd, "sgd"}});

/// Moves one block of parameters, all in one pass over the memory.
class Optimiser {
 public:
  Optimiser(OptimiserOptions options, std::size_t parameters);
  /// One step with learning rate · pace; then sets the gradients to 0.
  void step(std::span<float> parameters, std::span<float> gradients, double pace, ThreadPool& pool) {
    step(parameters, gradients, pace, {}, 0, pool);
  }
  /// The same, and moves a running mean of the parameters by `share` of the way to where they are now.
  void step(std::span<float> parameters, std::span<float> gradients, double pace, std::span<float> average,
            double share, ThreadPool& pool);

 private:
  OptimiserOptions options_;
  std::vector<float> first_, second_;  // moments
  std::uint64_t steps_ = 0;
};

/// Parameters that belong to many owners (workers, answers), a block each, of which a step touches few: time and state
/// move only for those that were touched (Adam, with the bias correction of each owner's own steps).
class BlockAdam {
 public:
  BlockAdam() = default;
  BlockAdam(std::vector<double> parameters, std::size_t block, double learning_rate, double weight_decay = 0);

  [[nodiscard]] std::span<const double> of(std::size_t owner) const {
    return std::span(parameters_).subspan(owner * block_, block_);
  }
  [[nodiscard]] std::span<double> of(std::size_t owner) {
    return std::span(parameters_).subspan(owner * block_, block_);
  }
  [[nodiscard]] std::span<const double> of(WorkerId worker) const { return of(index(worker)); }
  [[nodiscard]] std::span<double> of(WorkerId worker) { return of(index(worker)); }
  [[nodiscard]] const std::vector<double>& all() const noexcept { return parameters_; }
  [[nodiscard]] std::size_t count() const noexcept { return block_ == 0 ? 0 : parameters_.size() / block_; }

  /// Where to add the owner's gradient; all 0 at the first call since the last step(). The place is valid until another
  /// owner is asked for.
  [[nodiscard]] std::span<double> gradient(std::size_t owner);
  [[nodiscard]] std::span<double> gradient(WorkerId worker) { return gradient(index(worker)); }
  /// Owners whose gradient was asked for since the last step().
  [[nodiscard]] std::span<const std::uint32_t> touched() const noexcept { return touched_; }
  void step(double pace);

 private:
  std::vector<double> parameters_;
  std::size_t block_ = 0;
  double learning_rate_ = 0, weight_decay_ = 0;
  std::vector<float> first_, second_;
  std::vector<std::uint32_t> steps_;  // per owner
  std::vector<std::uint32_t> place_;  // per owner: its place among the touched, or none
  std::vector<std::uint32_t> touched_;
  std::vector<double> gradients_;  // one block per touched owner
};

}  // namespace wisecrowd
