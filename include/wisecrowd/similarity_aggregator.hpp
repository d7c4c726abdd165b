#pragma once

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/similarity_data.hpp"
#include "wisecrowd/similarity_fit.hpp"

namespace wisecrowd {

/// For similarities, by default: s (1 − false_different) + (1 − s) false_same that the worker says "same", where s is
/// the fit's probability that the items are the same.
template <>
std::vector<double> Aggregator<Similarities>::log_predictive(const SimilarityData& data,
                                                             std::span<const SimilarityAnswer> answers,
                                                             const RunContext& context) const;

using SimilarityAggregator = Aggregator<Similarities>;

}  // namespace wisecrowd
