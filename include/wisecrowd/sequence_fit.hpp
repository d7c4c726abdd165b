#pragma once

#include <span>
#include <vector>

#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd {

/// What an aggregator of sequences returns: a value, complete, never half-fitted. Tokens are those of all documents one
/// after the other (SequenceAnswers::token_offsets).
struct SequenceFit : FitSummary {
  std::size_t document_count = 0;
  std::size_t worker_count = 0;
  std::size_t tag_count = 0;

  std::vector<double> posterior;         ///< tokens × tags; empty when read back from files, which do not hold it
  std::vector<TagId> tags;               ///< the tag of each token
  std::vector<double> probability;       ///< of that tag
  std::vector<Span> spans;               ///< those that the tags make, in order
  std::vector<double> span_probability;  ///< of each span: that it is there, with these ends and this type

  /// Workers × truth × answer: probabilities of a worker's tags, whatever it said before; empty when read back.
  std::vector<double> worker_tables;
  std::vector<double> accuracy;  ///< per worker: the expected share of right tags; NaN for those without answers

  [[nodiscard]] std::span<const double> posterior_of(std::size_t token) const {
    return std::span(posterior).subspan(token * tag_count, tag_count);
  }
};

/// Where a fit begins: what another method found out, or nothing.
struct SequenceStart {
  std::span<const double> posterior;  ///< tokens × tags; empty for the method's own start
  [[nodiscard]] bool empty() const noexcept { return posterior.empty(); }
};

}  // namespace wisecrowd
