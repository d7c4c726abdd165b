#pragma once

#include "aggregate/sequences/shared/sequence_method.hpp"
#include "wisecrowd/enum_names.hpp"

namespace wisecrowd::token_vote {

/// Which of the tags with most votes a token gets.
enum class TagTies {
  commonest,  ///< the one that is commoner among all answers
  lowest,     ///< O before all others, then the order of types
  random,
};
inline constexpr auto kTagTieNames =
    enum_names<TagTies>({{TagTies::commonest, "commonest"}, {TagTies::lowest, "lowest"}, {TagTies::random, "random"}});

struct Options {
  TagTies ties = TagTies::commonest;
};

/// At each token the tag with most votes.
class TokenVote final : public SequenceAggregator {
 public:
  explicit TokenVote(Options options = {}) : options_(options) {}
  [[nodiscard]] SequenceFit fit(const SequenceData& data, const RunContext& context,
                                const SequenceStart& start = {}) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::token_vote
