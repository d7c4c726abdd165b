#pragma once

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/comparison_fit.hpp"

namespace wisecrowd {

/// For comparisons, by default: the worker's rate of ties, and otherwise the probability that the scores give, smoothed
/// by how uncertain they are.
template <>
std::vector<double> Aggregator<Comparisons>::log_predictive(const ComparisonData& data,
                                                            std::span<const ComparisonAnswer> answers,
                                                            const RunContext& context) const;

using ComparisonAggregator = Aggregator<Comparisons>;

}  // namespace wisecrowd
