#pragma once

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/enum_names.hpp"

namespace wisecrowd::crh_numbers {

enum class Distance { squared, absolute };
inline constexpr auto kDistanceNames =
    enum_names<Distance>({{Distance::squared, "squared"}, {Distance::absolute, "absolute"}});

struct Options {
  Distance distance = Distance::squared;
  std::size_t max_iterations = 100;
  double tolerance = 1e-6;
};

/// Weighted means (or medians), and weights by how far a worker is from them, in turn.
class CrhNumbers final : public Aggregator<Numbers> {
 public:
  explicit CrhNumbers(Options options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;

 private:
  Options options_;
};

/// The value that half of the weight lies below and half above; between two values, their middle.
[[nodiscard]] double weighted_median(std::span<std::pair<double, double>> values_and_weights);

}  // namespace wisecrowd::crh_numbers
