#pragma once

#include "aggregate/sequences/shared/crowd_chain.hpp"
#include "aggregate/sequences/shared/sequence_method.hpp"

namespace wisecrowd::bsc {

struct Options {
  sequences::ChainOptions chain;
};

/// Bayesian sequence combination: the truth is a chain of tags, workers have tables that may depend on what they said
/// before, and both are inferred by variational Bayes.
class Bsc final : public SequenceAggregator {
 public:
  explicit Bsc(Options options = {}) : options_(options) {}
  [[nodiscard]] SequenceFit fit(const SequenceData& data, const RunContext& context,
                                const SequenceStart& start = {}) const override;
  /// All tags of an answer together, over all sequences that the truth may be.
  [[nodiscard]] std::vector<double> log_predictive(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::bsc
