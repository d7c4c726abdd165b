#pragma once

#include <span>
#include <vector>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// What moment methods find: a table per worker and the class prior. The truth follows from it by one E-step.
struct TableModel {
  std::size_t classes = 0;
  std::vector<double> tables;       ///< workers × truth × label, rows sum to 1
  std::vector<double> class_prior;  ///< P(truth = k)

  [[nodiscard]] std::size_t worker_count() const noexcept {
    return classes == 0 ? 0 : tables.size() / (classes * classes);
  }
  [[nodiscard]] std::span<double> table(std::size_t worker) {
    return std::span(tables).subspan(worker * classes * classes, classes * classes);
  }
  [[nodiscard]] std::span<const double> table(std::size_t worker) const {
    return std::span(tables).subspan(worker * classes * classes, classes * classes);
  }
};

/// The M-step: tables from a posterior (gold pinned), each drawn towards the crowd's common table, which counts as much
/// as four answers; a worker without answers has exactly that one. Moment methods begin here, and fall back to it for
/// workers whom they cannot solve. `extra_workers` perfect workers are appended (see PairOptions::gold_as_worker).
[[nodiscard]] TableModel tables_from_posterior(const CategoryData& data, const RunContext& context,
                                               std::span<const double> posterior, std::size_t extra_workers = 0);

/// Adds `pseudo_count` answers to each cell of a table estimated from the worker's answers, of which a share of
/// class_prior[k] falls on row k; and one task to every class of the prior.
void smooth(TableModel& model, const CategoryAnswers& answers, double pseudo_count);

/// One naming of the truth for all workers: the one with the largest Σ_j weight_j tr(th_j).
void align_truth(TableModel& model, std::span<const double> worker_weights);

/// The E-step: fills posterior, labels, class prior, confusion and log-likelihood. Tables of appended workers are left
/// out. Cells are floored at 1e-9.
void conclude(const CategoryData& data, const RunContext& context, const TableModel& model, TieRule ties,
              CategoryFit& result);

/// The posterior that the tables of a fit imply: its own, or, where it has none, those that its posterior gives.
[[nodiscard]] std::vector<double> posterior_from_tables(const CategoryData& data, const CategoryFit& fit,
                                                        const RunContext& context);

}  // namespace wisecrowd
