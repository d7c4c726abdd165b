#include "select/shared/information_tables.hpp"

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd::selecting {
namespace {

constexpr std::size_t kWorkersPerBlock = 512;

void for_each_worker(std::size_t workers, const RunContext& context, const std::function<void(std::size_t)>& work) {
  const Blocks blocks{workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) work(j);
  });
}

}  // namespace

void InformationTables::prepare(const RunContext& context) {
  row_sums_.resize(tables_.size() / classes_);
  for_each_worker(row_sums_.size() / classes_, context, [&](std::size_t worker) {
    for (std::size_t row = worker * classes_; row < (worker + 1) * classes_; ++row) {
      row_sums_[row] = -entropy(std::span<const double>(tables_).subspan(row * classes_, classes_));
    }
  });
}

InformationTables InformationTables::means(const CrowdView& crowd, const RunContext& context) {
  InformationTables made(crowd.class_count);
  const std::size_t k = crowd.class_count;
  made.tables_.assign(crowd.worker_counts.begin(), crowd.worker_counts.end());
  for_each_worker(crowd.worker_count(), context, [&](std::size_t worker) {
    for (std::size_t row = worker * k; row < (worker + 1) * k; ++row) {
      normalise(std::span(made.tables_).subspan(row * k, k));
    }
  });
  made.prepare(context);
  return made;
}

InformationTables InformationTables::drawn(const CrowdView& crowd, std::uint64_t round, const RunContext& context) {
  InformationTables made(crowd.class_count);
  const std::size_t k = crowd.class_count;
  made.tables_.resize(crowd.worker_counts.size());
  const Rng base = context.rng("select: drawn tables", round);
  for_each_worker(crowd.worker_count(), context, [&](std::size_t worker) {
    Rng rng = base.fork("worker", worker);
    for (std::size_t row = worker * k; row < (worker + 1) * k; ++row) {
      rng.dirichlet(crowd.worker_counts.subspan(row * k, k), std::span(made.tables_).subspan(row * k, k));
    }
  });
  made.prepare(context);
  return made;
}

}  // namespace wisecrowd::selecting
