#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::numbers_automatic {

struct Options {
  double threshold = 5;
  std::size_t folds = 5;
  std::size_t most_answers = 100'000;
};

/// Chooses between mean, median and models of the workers by how well each predicts hidden answers.
class NumbersAutomatic final : public Aggregator<Numbers> {
 public:
  explicit NumbersAutomatic(Options options = {}) : options_(options) {}
  [[nodiscard]] NumberFit fit(const NumberData& data, const RunContext& context,
                              const NumberStart& start = {}) const override;
  /// Of the method that it chooses for these data.
  [[nodiscard]] std::vector<double> log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

/// What was chosen and why.
struct Choice {
  std::string method;
  std::string explanation;
  std::vector<std::pair<std::string, double>> scores;  ///< by candidate, mean ln P of a hidden answer
};
[[nodiscard]] Choice choose(const NumberData& data, const Options& options, const RunContext& context);

/// Log probabilities of the values that were answered, given log densities of all values (rows × values) and which one
/// it was: densities are weighed, by value, such that each value is expected as often as it was answered. So a value
/// that everybody uses (0, a round number, the end of a scale) speaks for no method by itself.
[[nodiscard]] std::vector<double> calibrated(std::span<const double> log_density,
                                             std::span<const std::uint32_t> answered, std::size_t values);

}  // namespace wisecrowd::numbers_automatic
