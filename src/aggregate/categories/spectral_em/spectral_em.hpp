#pragma once

#include <array>
#include <optional>
#include <vector>

#include "aggregate/categories/shared/confusion_em.hpp"
#include "aggregate/categories/shared/table_model.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {
class Rng;
}

namespace wisecrowd::spectral_em {

/// Averages over tasks of products of vote counts of three groups of workers.
struct GroupMoments {
  std::size_t classes = 0;
  std::vector<double> first_second, first_third, second_third;  ///< K × K
  std::vector<double> triple;                                   ///< K × K × K
};

/// What the groups look like as workers: column k of a table holds the expected votes per label when the truth is k.
struct GroupTables {
  std::array<std::vector<double>, 3> votes;  ///< labels × truth
  std::vector<double> class_prior;
};

struct PowerOptions {
  std::size_t starts = 30;
  std::size_t iterations = 100;
};

/// Orthogonal tensor decomposition of each group's third moment (steps 2 to 5 of METHOD.md). Nothing when some moment
/// is too near to singular.
[[nodiscard]] std::optional<GroupTables> decompose(const GroupMoments& moments, const Rng& rng,
                                                   const PowerOptions& options);

/// A worker's table from its joint votes with the two groups it is not in (label × label of theirs) and their tables.
void table_from_groups(std::span<const double> joint, std::span<const double> votes,
                       std::span<const double> class_prior, std::size_t classes, std::span<double> table);

struct Options {
  EmOptions em;
  double pseudo_count = 0.01;
  std::size_t partitions = 5;
  PowerOptions power;
};

/// Zhang, Chen, Zhou and Jordan's start from third moments, then EM for Dawid–Skene.
class SpectralEm final : public CategoryAggregator {
 public:
  explicit SpectralEm(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::spectral_em
