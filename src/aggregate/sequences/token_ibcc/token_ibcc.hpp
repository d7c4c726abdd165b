#pragma once

#include "aggregate/sequences/shared/crowd_chain.hpp"
#include "aggregate/sequences/shared/sequence_method.hpp"

namespace wisecrowd::token_ibcc {

struct Options {
  Options();
  sequences::ChainOptions chain;
};

/// IBCC on single tokens: as if tokens were tasks of their own.
class TokenIbcc final : public SequenceAggregator {
 public:
  explicit TokenIbcc(Options options = {}) : options_(options) {}
  [[nodiscard]] SequenceFit fit(const SequenceData& data, const RunContext& context,
                                const SequenceStart& start = {}) const override;
  /// All tags of an answer together, over all sequences that the truth may be.
  [[nodiscard]] std::vector<double> log_predictive(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::token_ibcc
