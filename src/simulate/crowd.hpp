#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "simulate/world.hpp"
#include "wisecrowd/ids.hpp"
#include "wisecrowd/simulate.hpp"
#include "wisecrowd/task_groups.hpp"

namespace wisecrowd {

/// A uniform number for every (task, someone) that is always the same one: whoever asks, in whatever order. This is how
/// a copy can know what its source says of a task, even where the source was not asked.
class PairDraws {
 public:
  explicit PairDraws(const Rng& rng) noexcept : rng_(rng) {}
  [[nodiscard]] double operator()(std::uint64_t task, std::uint64_t someone) const noexcept {
    return rng_.fork({}, task << 32 | someone).uniform();
  }

 private:
  Rng rng_;
};

/// The k with F(k-1) ≤ u < F(k) for the cumulative distribution F of `row`; never one of probability 0.
[[nodiscard]] inline std::size_t pick(std::span<const double> row, double u) noexcept {
  std::size_t last = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] <= 0) continue;
    last = k;
    u -= row[k];
    if (u < 0) return k;
  }
  return last;
}

/// What a worker says of a task, given the truth. Must be a pure function.
using AnswerRule = std::function<std::size_t(std::uint64_t task, std::size_t truth, std::size_t worker)>;

/// The probability that a worker's answer to a task is right. Must be a pure function.
using ReliabilityRule = std::function<double(std::uint64_t task, std::size_t worker)>;

/// The workers of a simulation.
struct Crowd {
  std::vector<double> confusion;   ///< workers × truth × label, rows sum to 1
  std::vector<std::string> kinds;  ///< one per worker
  AnswerRule answer;               ///< empty: answers are drawn independently from `confusion`
  ReliabilityRule reliability;     ///< empty: does not depend on the task
  std::vector<double> expertise;   ///< with `reliability`: each worker's mean
  TaskGroups groups;               ///< of the tasks, where workers look at them
  /// Where workers change: how many answers each gives before it does, in the order of the tasks, and its table from
  /// then on (as `confusion`). Both empty: nobody changes.
  std::vector<std::uint64_t> change;
  std::vector<double> changed;
  bool ordered = false;  ///< the order of classes means something
  /// The last so many workers answer every task, besides the answers_per_task of the others.
  std::size_t everywhere = 0;
};

/// What a kind gets to draw its workers with.
struct CrowdRequest {
  const SimulationSize& size;
  const Parameters& parameters;
  Rng rng;  ///< for everything about workers; kinds fork it by name
  const World& world;
  const RunContext& context;
};

/// The name of worker w: worker_000001, ….
[[nodiscard]] std::string worker_name(std::size_t worker);

/// `count` random workers out of `workers`, in random order.
[[nodiscard]] std::vector<std::uint32_t> choose_workers(std::size_t workers, std::size_t count, Rng rng);

/// Rounds share × workers.
[[nodiscard]] std::size_t share_of(double share, std::size_t workers) noexcept;

}  // namespace wisecrowd
