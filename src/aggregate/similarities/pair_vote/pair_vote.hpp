#pragma once

#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd::pair_vote {

enum class Grouping {
  correlation,  ///< clusters that contradict as few votes as can be found
  components,   ///< whatever hangs together by pairs that most call the same
};
inline constexpr auto kGroupingNames =
    enum_names<Grouping>({{Grouping::correlation, "correlation"}, {Grouping::components, "components"}});

struct Options {
  Grouping grouping = Grouping::correlation;
};

/// The majority of each pair's answers, and clusters made of these; every worker counts the same.
class PairVote final : public SimilarityAggregator {
 public:
  explicit PairVote(Options options = {}) : options_(options) {}
  [[nodiscard]] SimilarityFit fit(const SimilarityData& data, const RunContext& context,
                                  const SimilarityStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::pair_vote
