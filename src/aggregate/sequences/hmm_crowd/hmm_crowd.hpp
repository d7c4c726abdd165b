#pragma once

#include "aggregate/sequences/shared/crowd_chain.hpp"
#include "aggregate/sequences/shared/sequence_method.hpp"

namespace wisecrowd::hmm_crowd {

struct Options {
  Options();
  sequences::ChainOptions chain;
};

/// HMM-Crowd: the truth is a chain of tags, workers recognise each tag with a probability of their own; all by
/// expectation–maximisation.
class HmmCrowd final : public SequenceAggregator {
 public:
  explicit HmmCrowd(Options options = {}) : options_(options) {}
  [[nodiscard]] SequenceFit fit(const SequenceData& data, const RunContext& context,
                                const SequenceStart& start = {}) const override;
  /// All tags of an answer together, over all sequences that the truth may be.
  [[nodiscard]] std::vector<double> log_predictive(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::hmm_crowd
