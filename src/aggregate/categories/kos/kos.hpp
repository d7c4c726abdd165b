#pragma once

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::kos {

struct Options {
  enum class Variant { messages, singular };
  enum class ManyClasses { one_vs_rest, thresholds, refuse };
  enum class FirstMessages { votes, random };

  Variant variant = Variant::messages;
  ManyClasses many_classes = ManyClasses::one_vs_rest;
  FirstMessages start = FirstMessages::votes;
  std::size_t max_iterations = 30;
  double tolerance = 1e-6;  ///< singular only: messages need not settle, their signs do
  TieRule ties = TieRule::lowest;
};

/// Message passing of Karger, Oh and Shah, and its limit, the leading singular vector of the answers.
class Kos final : public CategoryAggregator {
 public:
  explicit Kos(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::kos
