#include "base/csv_text.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/category_result.hpp"

namespace wisecrowd {
namespace {

void round_for_files(std::vector<double>& values, const RunContext& context) {
  const Blocks blocks{values.size(), 65536};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) values[i] = written_probability(values[i]);
  });
}

}  // namespace

CategoryResult rounded_for_files(const CategoryResult& result, const RunContext& context) {
  CategoryResult written;
  written.data = result.data;
  written.record = result.record;
  written.dependence = result.dependence;
  written.times = result.times;
  if (result.worker_confusion.size() <= kMostShownCells) written.worker_confusion = result.worker_confusion;
  round_for_files(written.worker_confusion, context);
  const CategoryFit& fit = result.aggregation;
  CategoryFit& copy = written.aggregation;
  static_cast<FitSummary&>(copy) = fit;
  copy.task_count = fit.task_count;
  copy.worker_count = fit.worker_count;
  copy.class_count = fit.class_count;
  copy.posterior = fit.posterior;
  round_for_files(copy.posterior, context);
  copy.labels = fit.labels;
  copy.tie_rule = fit.tie_rule;
  copy.class_prior = fit.class_prior;
  // Its own tables are left out: the files do not say whether theirs are the method's or were estimated.
  written.workers = summarise_workers(written.data, copy, written.worker_confusion, context);
  return written;
}

}  // namespace wisecrowd
