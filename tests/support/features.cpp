#include "support/features.hpp"

#include "base/rng.hpp"

namespace wisecrowd::testing {

Features random_rows(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Features features;
  features.rows = rows;
  features.shape = {columns};
  Rng rng(seed);
  for (std::size_t v = 0; v < rows * columns; ++v) features.dense.push_back(static_cast<float>(rng.normal()));
  return features;
}

Features as_sparse(const Features& dense) {
  Features sparse;
  sparse.rows = dense.rows;
  sparse.shape = dense.shape;
  sparse.offsets.push_back(0);
  for (std::size_t r = 0; r < dense.rows; ++r) {
    for (std::size_t c = 0; c < dense.columns(); ++c) {
      if (dense.row(r)[c] == 0) continue;
      sparse.indices.push_back(static_cast<std::uint32_t>(c));
      sparse.values.push_back(dense.row(r)[c]);
    }
    sparse.offsets.push_back(sparse.values.size());
  }
  return sparse;
}

}  // namespace wisecrowd::testing
