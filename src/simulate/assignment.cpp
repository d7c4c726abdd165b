#include "simulate/assignment.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/math.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "simulate/alias_table.hpp"
#include "simulate/crowd.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kTasksPerBlock = 8192;

/// Blocks of the two parts have different streams.
std::uint64_t stream_of(TaskPart part, std::size_t block) {
  return static_cast<std::uint64_t>(part) << 40 | static_cast<std::uint64_t>(block);
}

WorkerId to_worker(std::size_t worker) { return WorkerId{static_cast<std::uint32_t>(worker)}; }

bool contains(std::span<const WorkerId> workers, WorkerId wanted) {
  return std::find(workers.begin(), workers.end(), wanted) != workers.end();
}

/// Marks the workers chosen for one task; forgetting them for the next one costs nothing.
class Chosen {
 public:
  explicit Chosen(std::size_t workers) : workers_(workers) {}
  void start_task(std::size_t task) {
    if (mark_.empty()) mark_.resize(workers_, 0);
    task_ = static_cast<std::uint32_t>(task) + 1;
  }
  /// False if the worker was in already.
  bool insert(std::size_t worker) { return std::exchange(mark_[worker], task_) != task_; }
  [[nodiscard]] bool contains(std::size_t worker) const { return mark_[worker] == task_; }

 private:
  std::size_t workers_;
  std::vector<std::uint32_t> mark_;
  std::uint32_t task_ = 0;
};

/// Runs draw(task, rng, chosen, out) for every task, block by block with a stream each, and sorts what it put out.
template <class Draw>
bool for_each_task(const SimulationSize& size, const RunContext& context, TaskPart part, std::span<WorkerId> workers,
                   Draw draw) {
  const Blocks blocks{size.tasks, kTasksPerBlock};
  std::vector<Chosen> chosen(context.threads(), Chosen(size.workers));
  std::atomic<std::size_t> done{0};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned thread) {
    if (context.cancelled()) return;
    Rng rng = context.rng("simulate assignment", stream_of(part, b));
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      const auto out = workers.subspan(t * size.answers_per_task, size.answers_per_task);
      chosen[thread].start_task(t);
      draw(t, rng, chosen[thread], out);
      std::sort(out.begin(), out.end());
    }
    const auto finished = static_cast<double>(++done);
    if (thread == 0) {
      context.report({.stage = "assigning", .done = finished, .total = static_cast<double>(blocks.count())});
    }
  });
  return !context.cancelled();
}

/// Successive draws without replacement are the order of exponential clocks whose rates are the weights: fills the rest
/// of a task by comparing the clocks of all workers who are not in yet.
void fill_by_clocks(std::span<const double> weights, Chosen& chosen, Rng& rng, std::span<WorkerId> rest) {
  std::vector<std::pair<double, std::uint32_t>> clocks;
  for (std::size_t w = 0; w < weights.size(); ++w) {
    if (chosen.contains(w)) continue;
    clocks.emplace_back(-math::log1p(-rng.uniform()) / weights[w], static_cast<std::uint32_t>(w));
  }
  const auto end = clocks.begin() + static_cast<std::ptrdiff_t>(rest.size());
  std::partial_sort(clocks.begin(), end, clocks.end());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest[i] = WorkerId{clocks[i].second};
    chosen.insert(clocks[i].second);
  }
}

/// Replaces every repeated worker of a task by swapping slots with another task, never making a new repeat. While
/// per_task ≤ workers / 2 a fitting slot always exists: of the M·r slots at most (l−1)·r hold a worker of this task,
/// and at most (r−1)·l belong to tasks that have the repeated worker. It also exists where some workers have one task
/// less: then there are more than 2l·(r−1) slots, and at most 2(l−1)·(r−1) do not fit.
void swap_repeats_away(std::size_t tasks, std::size_t workers, std::size_t per_task, Rng rng,
                       std::span<WorkerId> slots) {
  Chosen chosen(workers);
  for (std::size_t t = 0; t < tasks; ++t) {
    const auto mine = slots.subspan(t * per_task, per_task);
    chosen.start_task(t);
    for (std::size_t s = 0; s < per_task; ++s) {
      if (chosen.insert(index(mine[s]))) continue;
      for (;;) {
        const std::size_t other = rng.below(slots.size());
        const auto theirs = slots.subspan(other / per_task * per_task, per_task);
        if (other / per_task == t || contains(mine, slots[other]) || contains(theirs, mine[s])) continue;
        std::swap(mine[s], slots[other]);
        chosen.insert(index(mine[s]));
        break;
      }
    }
  }
}

void draw_regular(std::size_t tasks, std::size_t workers, std::size_t per_task, const RunContext& context,
                  TaskPart part, std::span<WorkerId> slots) {
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = to_worker(i % workers);
  if (slots.size() % workers != 0) {
    // Who has one task more than others is left to chance.
    const auto order = choose_workers(workers, workers, context.rng("simulate remainder", stream_of(part, 0)));
    for (WorkerId& slot : slots) slot = WorkerId{order[index(slot)]};
  }
  context.rng("simulate regular", stream_of(part, 0)).shuffle(slots);
  swap_repeats_away(tasks, workers, per_task, context.rng("simulate repair", stream_of(part, 0)), slots);
}

}  // namespace

std::vector<ParameterSpec> assignment_parameters() {
  return {
      ParameterSpec::choice("assignment", "uniform", {"uniform", "power_law", "regular", "nearly_regular", "bernoulli"},
                            "who answers a task: any workers alike, active ones more often, every worker exactly the "
                            "same number of tasks (or one less, where it cannot be divided: nearly_regular), or every "
                            "worker every task with one probability, so that answers_per_task is a mean"),
      ParameterSpec::real("activity_exponent", 1, 0, 2,
                          "power_law only: the worker of activity rank r is asked with weight r^-exponent"),
      ParameterSpec::real("keep", 0, 0, 1,
                          "bernoulli only: the probability of an answer; 0 takes answers_per_task / workers")};
}

void check_regular(const SimulationSize& size) {
  const std::size_t answers = size.tasks * size.answers_per_task;
  if (answers % size.workers == 0) return;
  // The nearest number of tasks that divides: tasks must be a multiple of workers / gcd(workers, answers per task).
  const std::size_t step = size.workers / std::gcd(size.workers, size.answers_per_task);
  const std::size_t fewer = size.tasks / step * step;
  throw Error(
      ErrorCode::bad_parameter,
      fmt::format("a regular assignment needs tasks × answers per task to be a multiple of the workers, but {} × {} "
                  "= {} cannot be divided evenly among {}: take {}{} tasks, or other numbers",
                  size.tasks, size.answers_per_task, answers, size.workers,
                  fewer > 0 ? fmt::format("{} or ", fewer) : "", fewer + step));
}

bool assign_uniformly(const SimulationSize& size, const RunContext& context, std::span<WorkerId> workers,
                      TaskPart part) {
  return for_each_task(size, context, part, workers,
                       [&](std::size_t, Rng& rng, Chosen& chosen, std::span<WorkerId> out) {
                         // Floyd's sampling: one draw per worker wanted, whatever the number of workers.
                         for (std::size_t i = 0; i < out.size(); ++i) {
                           const std::size_t last = size.workers - out.size() + i;
                           std::size_t worker = rng.below(last + 1);
                           if (!chosen.insert(worker)) {
                             worker = last;
                             chosen.insert(worker);
                           }
                           out[i] = to_worker(worker);
                         }
                       });
}

bool assign_by_power_law(const SimulationSize& size, double exponent, const RunContext& context,
                         std::span<WorkerId> workers, TaskPart part) {
  std::vector<double> weights(size.workers);
  const auto by_rank = choose_workers(size.workers, size.workers, context.rng("simulate activity"));
  for (std::size_t r = 0; r < by_rank.size(); ++r)
    weights[by_rank[r]] = math::pow(static_cast<double>(r + 1), -exponent);
  const AliasTable table(weights);
  // When nearly all weight is in already, comparing all clocks is cheaper than waiting for a new name to come up.
  const std::size_t patience = std::max(size.workers, 64 * size.answers_per_task);
  return for_each_task(size, context, part, workers,
                       [&](std::size_t, Rng& rng, Chosen& chosen, std::span<WorkerId> out) {
                         std::size_t filled = 0;
                         for (std::size_t tries = 0; filled < out.size() && tries < patience; ++tries) {
                           const std::size_t worker = table.draw(rng);
                           if (chosen.insert(worker)) out[filled++] = to_worker(worker);
                         }
                         if (filled < out.size()) fill_by_clocks(weights, chosen, rng, out.subspan(filled));
                       });
}

bool assign_regularly(const SimulationSize& size, const RunContext& context, std::span<WorkerId> workers,
                      TaskPart part) {
  if (size.answers_per_task * 2 <= size.workers) {
    draw_regular(size.tasks, size.workers, size.answers_per_task, context, part, workers);
    return for_each_task(size, context, part, workers, [](std::size_t, Rng&, Chosen&, std::span<WorkerId>) {});
  }
  // Dense graphs leave no room for swaps: draw who does not answer, which is regular too.
  const std::size_t absent_per_task = size.workers - size.answers_per_task;
  HugeVector<WorkerId> absent(size.tasks * absent_per_task);
  if (absent_per_task > 0) draw_regular(size.tasks, size.workers, absent_per_task, context, part, absent);
  return for_each_task(size, context, part, workers, [&](std::size_t t, Rng&, Chosen& chosen, std::span<WorkerId> out) {
    for (const WorkerId w : std::span(absent).subspan(t * absent_per_task, absent_per_task)) chosen.insert(index(w));
    std::size_t filled = 0;
    for (std::size_t w = 0; w < size.workers; ++w) {
      if (!chosen.contains(w)) out[filled++] = to_worker(w);
    }
  });
}

bool assign_by_chance(const SimulationSize& size, double probability, const RunContext& context, ChanceAssignment& out,
                      TaskPart part) {
  const Blocks blocks{size.tasks, kTasksPerBlock};
  std::vector<std::vector<WorkerId>> found(blocks.count());
  out.counts.assign(size.tasks, 0);
  std::atomic<std::size_t> done{0};
  const double log_miss = math::log1p(-probability);  // −∞ when everybody answers: then no one is skipped
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned thread) {
    if (context.cancelled()) return;
    Rng rng = context.rng("simulate assignment", stream_of(part, b));
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      // How many are skipped before the next one answers is geometric.
      for (double worker = 0;; worker += 1) {
        worker += std::floor(math::log1p(-rng.uniform()) / log_miss);
        if (!(worker < static_cast<double>(size.workers))) break;
        found[b].push_back(to_worker(static_cast<std::size_t>(worker)));
        ++out.counts[t];
      }
    }
    const auto finished = static_cast<double>(++done);
    if (thread == 0) {
      context.report({.stage = "assigning", .done = finished, .total = static_cast<double>(blocks.count())});
    }
  });
  if (context.cancelled()) return false;
  std::size_t total = 0;
  for (const auto& block : found) total += block.size();
  out.workers.resize(total);
  auto to = out.workers.begin();
  for (auto& block : found) {
    to = std::copy(block.begin(), block.end(), to);
    std::vector<WorkerId>().swap(block);
  }
  return true;
}

}  // namespace wisecrowd
