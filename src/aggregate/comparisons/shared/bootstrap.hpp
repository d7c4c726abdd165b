#pragma once

#include "data/item_graph.hpp"
#include "wisecrowd/comparison_fit.hpp"
#include "wisecrowd/enum_names.hpp"

namespace wisecrowd::comparisons {

/// What is drawn anew.
enum class Resampled { answers, workers };
inline constexpr auto kResampledNames =
    enum_names<Resampled>({{Resampled::answers, "answers"}, {Resampled::workers, "workers"}});

/// Fits scores to answers that are drawn anew, with replacement, so many times, and takes deviations and the 95 %
/// intervals of scores and ranks from what comes out. False when cancelled.
bool bootstrap_ranking(const ComparisonData& data, const ItemGraph& graph, const Connectivity& found,
                       std::size_t replicates, Resampled resampled, double ridge, ComparisonFit& fit,
                       const RunContext& context);

}  // namespace wisecrowd::comparisons
