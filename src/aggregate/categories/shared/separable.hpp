#pragma once

#include <vector>

#include "aggregate/categories/shared/moments.hpp"
#include "aggregate/categories/shared/table_model.hpp"

namespace wisecrowd {

/// How a worker's table was found.
enum class Solved : std::uint8_t {
  separately,     ///< from its own pairs
  with_partners,  ///< from pairs with workers who were solved
  not_at_all,     ///< it keeps the table that the caller gave
};

struct SeparableFit {
  TableModel model;
  std::vector<Solved> how;  ///< per worker
};

/// MultiSPA (Ibrahim, Fu, Kargas and Huang 2019). In the statistics of a worker with all partners, each column is a
/// mixture of the K rows of the worker's table; where some partner (almost) only says l when the truth is k, a column
/// is (almost) such a row. Successive projections find the K most extreme columns.
///
/// `guide` has a table per worker: rows are named so that they are nearest to it, and who cannot be solved keeps it.
/// `column_shrinkage` answers of the worker's average are added to each column, so that columns of a few answers,
/// which are extreme by chance, do not win.
[[nodiscard]] SeparableFit separable_tables(const PairMoments& pairs, const RunContext& context,
                                            const TableModel& guide, double column_shrinkage);

/// Successive projection: the indices of `count` columns (of `rows` numbers each, one after the other) that span the
/// others best; fewer when the rest of the columns vanishes.
[[nodiscard]] std::vector<std::size_t> extreme_columns(std::vector<double> columns, std::size_t rows,
                                                       std::size_t count);

/// The class prior by least squares from all pairs and labels of the workers marked, weighted by their tasks.
[[nodiscard]] std::vector<double> class_prior_from_pairs(const PairMoments& pairs, const TableModel& model,
                                                         const std::vector<bool>& use);

}  // namespace wisecrowd
