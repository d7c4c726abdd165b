#pragma once

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/set_data.hpp"
#include "wisecrowd/set_fit.hpp"

namespace wisecrowd {

/// By default: every class of the set by itself, q s + (1 − q) (1 − c) where it is named and q (1 − s) + (1 − q) c
/// where it is not, with the task's probability q and the worker's sensitivity s and specificity c.
template <>
std::vector<double> Aggregator<Sets>::log_predictive(const SetData& data, std::span<const SetAnswer> answers,
                                                     const RunContext& context) const;

using SetAggregator = Aggregator<Sets>;

}  // namespace wisecrowd
