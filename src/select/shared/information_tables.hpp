#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "base/math.hpp"
#include "wisecrowd/select.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd::selecting {

/// The workers' tables, prepared so that the expected information of an answer takes K logarithms:
/// I(z; y) = H(y) − H(y | z) = −Σ_l P_l ln P_l + Σ_k q_k Σ_l th[k][l] ln th[k][l], where the last sum is kept per row.
class InformationTables {
 public:
  /// The means of the Dirichlet parameters: for one answer of an uncertain table the mean is exactly right, because
  /// P(y | z) = E th.
  static InformationTables means(const CrowdView& crowd, const RunContext& context);
  /// One draw per worker, for Thompson's rule; another one in every round.
  static InformationTables drawn(const CrowdView& crowd, std::uint64_t round, const RunContext& context);

  [[nodiscard]] std::span<const double> table(WorkerId worker) const noexcept {
    return std::span(tables_).subspan(index(worker) * classes_ * classes_, classes_ * classes_);
  }
  /// Expected information in nats.
  [[nodiscard]] double information(std::span<const double> posterior, WorkerId worker) const noexcept {
    const double* table = tables_.data() + index(worker) * classes_ * classes_;
    const double* row_sums = row_sums_.data() + index(worker) * classes_;
    double sum = 0;
    for (std::size_t k = 0; k < classes_; ++k) sum += posterior[k] * row_sums[k];
    for (std::size_t l = 0; l < classes_; ++l) {
      double p = 0;
      for (std::size_t k = 0; k < classes_; ++k) p += posterior[k] * table[k * classes_ + l];
      if (p > 0) sum -= p * math::log(p);
    }
    return sum > 0 ? sum : 0;
  }
  /// Σ_k q_k th[k][k]: how likely the answer is right.
  [[nodiscard]] double accuracy(std::span<const double> posterior, WorkerId worker) const noexcept {
    return accuracy_at(posterior, table(worker));
  }

 private:
  explicit InformationTables(std::size_t classes) : classes_(classes) {}
  void prepare(const RunContext& context);
  std::size_t classes_;
  std::vector<double> tables_;
  std::vector<double> row_sums_;
};

}  // namespace wisecrowd::selecting
