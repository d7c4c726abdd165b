#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_vector.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// What is kept of every pair of workers.
enum class PairDetail {
  agreements,  ///< how often they said the same: 40 bytes per pair
  joint,       ///< how often one said l and the other l', for all K² cells: 40 + 8 K² bytes per pair
};

struct PairOptions {
  PairDetail detail = PairDetail::joint;
  /// Pairs with fewer tasks in common are unavailable; 0: max(10, 2 K).
  std::size_t min_common = 0;
  /// Adds one worker behind the others, who says the truth wherever gold is known. It makes gold part of every method
  /// that works on pairs: its table is the identity.
  bool gold_as_worker = false;
  std::uint64_t memory_limit = std::uint64_t{2} << 30;  ///< bytes; beyond it the pairs are refused
};

/// The threshold that 0 stands for.
[[nodiscard]] std::size_t default_min_common(std::size_t classes) noexcept;

/// Second moments of the crowd: for each pair of workers with enough tasks in common, what the two said there.
/// Pairs are sorted by (first, second) with first < second. The same bits for any number of threads (integer counts).
/// Repeated answers of a worker to a task each count.
class PairMoments {
 public:
  struct Pair {
    std::uint32_t first, second;
    double common;      ///< n_jj': tasks that both answered
    double agreements;  ///< of those, with the same label
  };
  struct Partner {
    std::uint32_t worker;
    std::uint32_t pair;  ///< index into pairs()
  };

  PairMoments() = default;
  /// Counts. Time Σ_i m_i², memory O(M) per thread besides the pairs. Throws `unsupported` with a remedy when the pairs
  /// would not fit the memory limit. Cancelled, it has no pairs.
  PairMoments(const CategoryData& data, const RunContext& context, const PairOptions& options);
  /// Given moments, such as those of a model (tests, simulations). `pairs` sorted as above; `joint` is empty or has K²
  /// cells per pair; `label_counts` is workers × classes.
  PairMoments(std::size_t workers, std::size_t classes, std::vector<Pair> pairs, std::vector<double> joint,
              std::vector<double> label_counts);

  /// The gold worker included.
  [[nodiscard]] std::size_t worker_count() const noexcept { return workers_; }
  [[nodiscard]] std::size_t class_count() const noexcept { return classes_; }
  [[nodiscard]] bool has_gold_worker() const noexcept { return has_gold_worker_; }
  [[nodiscard]] bool has_joint() const noexcept { return !joint_.empty(); }

  [[nodiscard]] std::span<const Pair> pairs() const noexcept { return pairs_; }
  /// Available partners of a worker, ascending.
  [[nodiscard]] std::span<const Partner> partners(std::size_t worker) const noexcept {
    return std::span(partners_).subspan(offsets_[worker], offsets_[worker + 1] - offsets_[worker]);
  }
  /// Counts, K × K: row = label of the first worker, column = label of the second. They sum to `common`.
  [[nodiscard]] std::span<const double> joint(std::size_t pair) const noexcept {
    return std::span<const double>(joint_).subspan(pair * classes_ * classes_, classes_ * classes_);
  }
  /// R_jj' as seen from `worker`: counts / common, row = label of `worker`, column = label of the partner.
  void joint_shares(std::size_t worker, const Partner& partner, std::span<double> out) const;
  /// Answers of a worker per label; n_j μ_j.
  [[nodiscard]] std::span<const double> label_counts(std::size_t worker) const noexcept {
    return std::span(label_counts_).subspan(worker * classes_, classes_);
  }
  [[nodiscard]] double answers(std::size_t worker) const noexcept;

 private:
  void count_labels(const CategoryData& data);
  void link_partners();

  std::size_t workers_ = 0;
  std::size_t classes_ = 0;
  bool has_gold_worker_ = false;
  HugeVector<Pair> pairs_;
  HugeVector<double> joint_;
  std::vector<std::size_t> offsets_{0};
  HugeVector<Partner> partners_;
  std::vector<double> label_counts_;
};

/// Third moments of selected triples of workers a < b < c.
class TripleMoments {
 public:
  struct Triple {
    std::uint32_t workers[3];
    double common;  ///< tasks that all three answered
  };

  TripleMoments() = default;
  /// Counts the given triples; those with fewer than `min_common` common tasks (0: max(10, 2 K)) are left out. Worker
  /// index worker_count() of the data stands for gold. Repeated answers: the last one of a worker to a task counts.
  TripleMoments(const CategoryData& data, const RunContext& context, std::span<const Triple> wanted,
                std::size_t min_common = 0);
  TripleMoments(std::size_t classes, std::vector<Triple> triples, std::vector<double> joint);

  [[nodiscard]] std::size_t class_count() const noexcept { return classes_; }
  [[nodiscard]] std::span<const Triple> triples() const noexcept { return triples_; }
  /// Counts, K × K × K in the order of the workers.
  [[nodiscard]] std::span<const double> joint(std::size_t triple) const noexcept {
    const std::size_t cells = classes_ * classes_ * classes_;
    return std::span<const double>(joint_).subspan(triple * cells, cells);
  }

 private:
  std::size_t classes_ = 0;
  std::vector<Triple> triples_;
  HugeVector<double> joint_;
};

/// The triples worth counting: for every worker the `per_worker` ones whose thinnest pair is thickest, each listed
/// once, sorted. Only triples all of whose pairs are available.
[[nodiscard]] std::vector<TripleMoments::Triple> select_triples(const PairMoments& pairs, std::size_t per_worker);

}  // namespace wisecrowd
