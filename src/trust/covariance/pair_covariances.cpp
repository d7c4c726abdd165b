#include "trust/covariance/pair_covariances.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::size_t kWorkersPerBlock = 16;

/// Sums over the tasks that two workers share. Classes are small integers, so they are exact.
struct PairSums {
  std::uint32_t tasks = 0;
  double own = 0, other = 0, product = 0;
};

/// The partners of a few workers.
struct BlockRows {
  std::vector<std::uint32_t> partners_of;  // how many, per worker of the block
  std::vector<std::uint32_t> partner, common;
  std::vector<double> covariance;
};

void add_worker(const CategoryAnswers& answers, WorkerId self, std::vector<PairSums>& sums,
                std::vector<std::uint32_t>& met, BlockRows& rows) {
  const auto labels = answers.labels();
  const auto tasks = answers.tasks_of(self);
  const auto own = answers.answers_of(self);
  met.clear();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto y = static_cast<double>(index(labels[own[i]]));
    const auto others = answers.workers_of(tasks[i]);
    const auto said = answers.labels_of(tasks[i]);
    for (std::size_t a = 0; a < others.size(); ++a) {
      if (others[a] == self) continue;
      PairSums& pair = sums[index(others[a])];
      if (pair.tasks == 0) met.push_back(static_cast<std::uint32_t>(index(others[a])));
      const auto z = static_cast<double>(index(said[a]));
      ++pair.tasks;
      pair.own += y;
      pair.other += z;
      pair.product += y * z;
    }
  }
  std::sort(met.begin(), met.end());
  for (const std::uint32_t j : met) {
    const auto n = static_cast<double>(sums[j].tasks);
    rows.partner.push_back(j);
    rows.common.push_back(sums[j].tasks);
    rows.covariance.push_back((sums[j].product - sums[j].own * sums[j].other / n) / n);
    sums[j] = {};
  }
  rows.partners_of.push_back(static_cast<std::uint32_t>(met.size()));
}

}  // namespace

double most_pairs(const CategoryAnswers& answers) {
  double pairs = 0;
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
    const auto m = static_cast<double>(offsets[t + 1] - offsets[t]);
    pairs += m * (m - 1);
  }
  return pairs;
}

PairCovariances pair_covariances(const CategoryAnswers& answers, const RunContext& context) {
  const std::size_t workers = answers.worker_count();
  static_cast<void>(answers.worker_offsets());  // built here, not by the threads
  const Blocks blocks{workers, kWorkersPerBlock};
  std::vector<BlockRows> rows(blocks.count());
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    thread_local std::vector<PairSums> sums;
    thread_local std::vector<std::uint32_t> met;
    sums.assign(workers, {});
    for (std::size_t j = blocks.begin(block); j < blocks.end(block) && !context.cancelled(); ++j) {
      add_worker(answers, WorkerId{static_cast<std::uint32_t>(j)}, sums, met, rows[block]);
    }
  });
  PairCovariances pairs;
  pairs.first.assign(1, 0);
  for (BlockRows& block : rows) {
    for (const std::uint32_t n : block.partners_of) pairs.first.push_back(pairs.first.back() + n);
    pairs.partner.insert(pairs.partner.end(), block.partner.begin(), block.partner.end());
    pairs.common.insert(pairs.common.end(), block.common.begin(), block.common.end());
    pairs.covariance.insert(pairs.covariance.end(), block.covariance.begin(), block.covariance.end());
    block = {};
  }
  pairs.first.resize(workers + 1, pairs.first.back());  // after a stop
  return pairs;
}

}  // namespace wisecrowd::trust
