#pragma once

#include <functional>

#include "aggregate/categories/shared/moments.hpp"
#include "aggregate/categories/shared/table_model.hpp"

namespace wisecrowd::testing {

/// A crowd given by its model, from which moments follow without noise, and data with.

/// Random tables, better than chance, and a class prior away from the corners. The first experts_per_class · K workers
/// are class experts: worker e says e mod K only when it is true.
[[nodiscard]] TableModel random_model(std::uint64_t seed, std::size_t workers, std::size_t classes,
                                      std::size_t experts_per_class);

/// The pairs that the model implies, each as if counted over `common` tasks. `available` may leave pairs out.
[[nodiscard]] PairMoments population_pairs(const TableModel& model, double common = 1e12,
                                           const std::function<bool(std::size_t, std::size_t)>& available = {});
[[nodiscard]] TripleMoments population_triples(const TableModel& model, double common = 1e12);

/// Draws answers: each worker answers each task with probability `share`.
struct Sampled {
  CategoryData data;
  std::vector<ClassId> truth;
};
[[nodiscard]] Sampled sample(const TableModel& model, std::size_t tasks, double share, std::uint64_t seed);

/// The table that a method may begin with when it knows nothing: right answers likelier than others.
[[nodiscard]] TableModel leaning_model(std::size_t workers, std::size_t classes, double accuracy = 0.7);

[[nodiscard]] double largest_difference(std::span<const double> a, std::span<const double> b);
[[nodiscard]] double mean_difference(std::span<const double> a, std::span<const double> b);

/// Accuracy of a method on a real set, and of Dawid–Skene started from its posterior. Ties are averaged.
struct RealScore {
  double alone = 0, finished = 0;
};
[[nodiscard]] RealScore score_on(const std::string& folder, const std::string& method,
                                 const std::vector<std::pair<std::string, std::string>>& settings = {},
                                 std::size_t finish_iterations = 300);

}  // namespace wisecrowd::testing
