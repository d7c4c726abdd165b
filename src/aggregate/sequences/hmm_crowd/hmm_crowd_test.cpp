#include "aggregate/sequences/hmm_crowd/hmm_crowd.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/evaluate_sequences.hpp"
#include "wisecrowd/simulate_sequences.hpp"

namespace wisecrowd {
namespace {

SequenceSimulation documents_of(std::size_t count, std::uint64_t seed) {
  Parameters parameters(sequence_simulation_parameters());
  parameters.set_value("length", 60.0);
  return simulate_sequences({.documents = count, .workers = 10, .answers_per_document = 5, .types = 2}, parameters,
                            RunContext({.seed = seed}));
}

TEST(HmmCrowd, WrongTagsAreAlike) {
  SequenceData data = documents_of(30, 1).data;
  data.gold.clear();
  const SequenceFit fit = hmm_crowd::HmmCrowd().fit(data, RunContext());
  for (std::size_t row = 0; row < 10 * 5; ++row) {
    const std::size_t k = row % 5;
    const double* const table = fit.worker_tables.data() + row * 5;
    for (std::size_t l = 0; l < 5; ++l) {
      if (l != k) EXPECT_NEAR(table[l], (1 - table[k]) / 4, 1e-12);
    }
  }
}

TEST(HmmCrowd, FindsSpansBetterThanTheVote) {
  for (const std::uint64_t seed : {2, 3}) {
    const SequenceSimulation simulation = documents_of(80, seed);
    SequenceData data = simulation.data;
    data.gold.clear();
    const auto f1 = [&](const SequenceFit& fit) {
      return evaluate_sequences(data.answers.token_offsets(), fit.tags, simulation.data.gold, 2).strict.f1.value;
    };
    EXPECT_GT(f1(hmm_crowd::HmmCrowd().fit(data, RunContext())), f1(aggregate(data, "token_vote"))) << seed;
  }
}

}  // namespace
}  // namespace wisecrowd
