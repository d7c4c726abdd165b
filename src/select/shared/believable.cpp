#include "select/shared/believable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::selecting {
namespace {

constexpr std::array kPowers = {0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
/// Deviation of the prior of ln t.
constexpr double kPowerDeviation = 0.25;
/// Larger crowds are judged by every n-th task.
constexpr std::size_t kMostCells = 400'000;
constexpr std::size_t kTasksPerBlock = 256;
/// What is left of a count when an answer is taken back, at least.
constexpr double kLeastCount = 1e-3;

using Totals = std::array<double, kPowers.size()>;

/// Adds ln P of the answers to one task, each without itself, at every power.
void add_task(const CrowdView& crowd, std::size_t task, std::span<const double> row_sums, std::vector<double>& rest,
              std::vector<double>& chance, Totals& totals) {
  const std::size_t classes = crowd.class_count;
  const auto q = crowd.posterior_of(TaskId(task));
  for (std::size_t a = crowd.answers.offsets[task]; a < crowd.answers.offsets[task + 1]; ++a) {
    const std::size_t worker = index(crowd.answers.workers[a]), label = index(crowd.answers.labels[a]);
    const auto counts = crowd.counts_of(WorkerId(worker));
    for (std::size_t k = 0; k < classes; ++k) {
      const double others = std::max(row_sums[worker * classes + k] - q[k], kLeastCount);
      chance[k] = std::min(std::max(counts[k * classes + label] - q[k], kLeastCount) / others, 1.0);
      rest[k] = math::log(std::max(q[k], kProbabilityFloor) / chance[k]);
    }
    const double top = *std::max_element(rest.begin(), rest.end());
    for (std::size_t p = 0; p < kPowers.size(); ++p) {
      double sum = 0, told = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const double weight = math::exp(kPowers[p] * (rest[k] - top));
        sum += weight;
        told += weight * chance[k];
      }
      totals[p] += math::log(told / sum);
    }
  }
}

}  // namespace

double believable_power(const CrowdView& crowd, const RunContext& context) {
  if (crowd.answers.empty() || crowd.class_count < 2) return 1;
  const std::size_t classes = crowd.class_count, tasks = crowd.task_count();
  std::vector<double> row_sums(crowd.worker_counts.size() / classes, 0);
  for (std::size_t cell = 0; cell < crowd.worker_counts.size(); ++cell) {
    row_sums[cell / classes] += crowd.worker_counts[cell];
  }
  const std::size_t every = 1 + crowd.answers.workers.size() * classes / kMostCells;
  const std::size_t judged = (tasks + every - 1) / every;
  const Blocks blocks{judged, kTasksPerBlock};
  std::vector<Totals> parts(blocks.count(), Totals{});
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> rest(classes), chance(classes);
    for (std::size_t n = blocks.begin(block); n < blocks.end(block); ++n) {
      const std::size_t task = n * every;
      if (crowd.answers.offsets[task + 1] - crowd.answers.offsets[task] < 2) continue;
      add_task(crowd, task, row_sums, rest, chance, parts[block]);
    }
  });
  double best = 0, power = 1;
  for (std::size_t p = kPowers.size(); p-- > 0;) {
    const double off = math::log(kPowers[p]) / kPowerDeviation;
    double total = -off * off / 2;
    for (const Totals& part : parts) total += part[p];
    if (p + 1 < kPowers.size() && total <= best) continue;
    best = total;
    power = kPowers[p];
  }
  return power;
}

double surest(std::span<const double> posterior, double power) noexcept {
  const double top = *std::max_element(posterior.begin(), posterior.end());
  if (power == 1 || top <= 0) return top;
  double sum = 0;
  for (const double q : posterior) sum += math::pow(q / top, power);
  return 1 / sum;
}

}  // namespace wisecrowd::selecting
