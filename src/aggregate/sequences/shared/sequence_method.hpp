#pragma once

#include "aggregate/method.hpp"
#include "wisecrowd/sequence_data.hpp"
#include "wisecrowd/sequence_fit.hpp"

namespace wisecrowd {

using SequenceAggregator = Aggregator<Sequences>;
using SequenceMethod = Method<Sequences>;

/// By default: tokens are independent, and a worker answers by its table: Σ_t ln Σ_k q_tk th_j[k][y_t].
template <>
std::vector<double> Aggregator<Sequences>::log_predictive(const SequenceData& data,
                                                          std::span<const SequenceAnswer> answers,
                                                          const RunContext& context) const;

}  // namespace wisecrowd
