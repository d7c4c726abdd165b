#pragma once

#include <cstdint>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::trust {

/// Covariances of the answers of two workers over the tasks that both answered, for all pairs that share some: the rows
/// of a sparse symmetric matrix.
struct PairCovariances {
  std::vector<std::uint64_t> first;    ///< per worker: where its partners start, and the end
  std::vector<std::uint32_t> partner;  ///< in rising order
  std::vector<std::uint32_t> common;   ///< tasks that both answered
  std::vector<double> covariance;      ///< of the numbers of the classes, with the means over those tasks

  [[nodiscard]] std::size_t worker_count() const noexcept { return first.size() - 1; }
};

/// At most how many entries they have; it takes as many additions.
[[nodiscard]] double most_pairs(const CategoryAnswers& answers);

[[nodiscard]] PairCovariances pair_covariances(const CategoryAnswers& answers, const RunContext& context);

}  // namespace wisecrowd::trust
