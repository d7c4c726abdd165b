#include "aggregate/categories/shared/table_model.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/confusion_pass.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/assignment.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kWorkersPerBlock = 64;
constexpr double kTableFloor = 1e-9;

}  // namespace

TableModel tables_from_posterior(const CategoryData& data, const RunContext& context, std::span<const double> posterior,
                                 std::size_t extra_workers) {
  const std::size_t classes = data.answers.class_count(), workers = data.answers.worker_count();
  const std::size_t cells = classes * classes;
  if (classes == 0) return {};
  ConfusionPass pass(data, context);
  std::vector<double> class_prior = pass.sweep_given(posterior).class_mass;
  class_prior.resize(classes);
  normalise(class_prior);

  const std::size_t blocks = pass.worker_blocks();
  WorkerTables tables(workers, classes);
  std::vector<double> partial(blocks * cells, 0.0);
  pass.visit_counts([&](std::size_t block, std::size_t worker, const double* counts) {
    const auto table = tables.table(WorkerId(worker));
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) {
        table[k * classes + l] = counts[l * pass.stride() + k];
        partial[block * cells + k * classes + l] += table[k * classes + l];
      }
    }
  });
  // One answer in all is what a crowd begins with of which nothing is known; each worker begins with a few of the
  // crowd.
  std::vector<double> common = TablePrior{.answers = 1}.table(classes);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t c = 0; c < cells; ++c) common[c] += partial[b * cells + c];
  }
  normalise_rows(common, classes);
  tables.add(common, TablePrior{}.answers);
  tables.normalise();
  std::vector<double> identity(cells, 0.0);
  for (std::size_t k = 0; k < classes; ++k) identity[k * (classes + 1)] = 1;
  for (std::size_t w = 0; w < extra_workers; ++w) tables.append(identity);
  return {classes, std::move(tables).release(), std::move(class_prior)};
}

void smooth(TableModel& model, const CategoryAnswers& answers, double pseudo_count) {
  const std::size_t classes = model.classes;
  std::vector<double> given(answers.worker_count(), 0.0);
  for (const WorkerId w : answers.workers()) given[index(w)] += 1;
  for (std::size_t w = 0; w < given.size(); ++w) {
    for (std::size_t k = 0; k < classes; ++k) {
      const auto row = model.table(w).subspan(k * classes, classes);
      for (double& p : row) p = p * given[w] * model.class_prior[k] + pseudo_count;
      normalise(row);
    }
  }
  const auto tasks = static_cast<double>(answers.task_count());
  for (double& p : model.class_prior) p = p * tasks + 1;
  normalise(model.class_prior);
}

void align_truth(TableModel& model, std::span<const double> worker_weights) {
  const std::size_t classes = model.classes, cells = classes * classes;
  std::vector<double> gain(cells, 0.0);  // (class that a row would become, row)
  for (std::size_t w = 0; w < worker_weights.size(); ++w) {
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l)
        gain[l * classes + k] += worker_weights[w] * model.table(w)[k * classes + l];
    }
  }
  const auto row_of = best_assignment(gain, classes);
  const auto permuted = [&](std::span<double> rows, std::size_t width) {
    const std::vector<double> old(rows.begin(), rows.end());
    for (std::size_t k = 0; k < classes; ++k)
      std::copy_n(old.data() + row_of[k] * width, width, rows.data() + k * width);
  };
  for (std::size_t w = 0; w < model.worker_count(); ++w) permuted(model.table(w), classes);
  permuted(model.class_prior, 1);
}

void conclude(const CategoryData& data, const RunContext& context, const TableModel& model, TieRule ties,
              CategoryFit& result) {
  const std::size_t classes = model.classes, workers = data.answers.worker_count();
  result.tie_rule = ties;
  result.class_prior = model.class_prior;
  result.confusion.assign(model.tables.begin(),
                          model.tables.begin() + static_cast<std::ptrdiff_t>(workers * classes * classes));
  for (double& p : result.confusion) p = std::max(p, kTableFloor);
  normalise_rows(result.confusion, classes);
  ConfusionPass pass(data, context);
  std::vector<double> log_prior(classes);
  for (std::size_t k = 0; k < classes; ++k) log_prior[k] = math::log(std::max(model.class_prior[k], kTableFloor));
  pass.set_log_prior(log_prior);
  const Blocks blocks{workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> rows(classes * pass.stride(), 0.0);
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      for (std::size_t k = 0; k < classes; ++k) {
        for (std::size_t l = 0; l < classes; ++l) {
          rows[l * pass.stride() + k] = math::log(result.confusion[(w * classes + k) * classes + l]);
        }
      }
      pass.set_log_rows(w, rows.data());
    }
  });
  result.posterior.resize(result.task_count * classes);
  result.log_likelihood = pass.sweep(false, result.posterior).log_likelihood;
  result.has_log_likelihood = true;
  result.labels = hard_labels(result.posterior, classes, ties, context);
}

std::vector<double> posterior_from_tables(const CategoryData& data, const CategoryFit& fit, const RunContext& context) {
  TableModel model = fit.confusion.empty() || fit.class_prior.empty()
                         ? tables_from_posterior(data, context, fit.posterior)
                         : TableModel{fit.class_count, fit.confusion, fit.class_prior};
  CategoryFit result = start_aggregation(data);
  conclude(data, context, model, TieRule::lowest, result);
  return std::move(result.posterior);
}

}  // namespace wisecrowd
