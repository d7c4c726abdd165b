#pragma once

#include "wisecrowd/comparison_data.hpp"
#include "wisecrowd/comparison_fit.hpp"

namespace wisecrowd::comparisons {

/// Fills fit.pair_posterior: what is probably true of each pair, its first item better, its second, neither. Beforehand
/// the scores speak, with probabilities in proportion to e^(d/2), e^(−d/2) and ν; then the pair's own answers, each as
/// much as its worker deserves. A worker has five rates: right, wrong and tie where one item is better, tie and not
/// where neither is; ν and the rates are found by expectation maximisation. Known outcomes are certain. Where nobody
/// ever said tie, and no known outcome is one, there is none: ν = 0.
void label_pairs(const ComparisonData& data, ComparisonFit& fit, const RunContext& context);

}  // namespace wisecrowd::comparisons
