#include "aggregate/sequences/bsc/bsc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/crowds.hpp"
#include "wisecrowd/evaluate_sequences.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/read_sequences.hpp"
#include "wisecrowd/simulate_sequences.hpp"

namespace wisecrowd {
namespace {

using bsc::Bsc;
using sequences::Decode;
using sequences::WorkerModel;

double strict_f1(const SequenceData& data, const SequenceFit& fit) {
  return evaluate_sequences(data.answers.token_offsets(), fit.tags, data.gold, data.answers.type_names().size())
      .strict.f1.value;
}

SequenceData without_gold(SequenceData data) {
  data.gold.clear();
  return data;
}

SequenceSimulation crowd(std::uint64_t seed, double guessers = 0) {
  Parameters parameters(sequence_simulation_parameters());
  parameters.set_value("guessers", guessers);
  parameters.set_value("length", 60.0);
  return simulate_sequences({.documents = 80, .workers = 12, .answers_per_document = 5, .types = 2}, parameters,
                            RunContext({.seed = seed}));
}

TEST(Bsc, FindsSpansBetterThanTheVote) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const SequenceSimulation simulation = crowd(seed);
    const SequenceData data = without_gold(simulation.data);
    const double vote = strict_f1(simulation.data, aggregate(data, "token_vote"));
    EXPECT_GT(strict_f1(simulation.data, Bsc().fit(data, RunContext())), vote + 0.01) << seed;
  }
}

TEST(Bsc, KnowsWhoGuesses) {
  const SequenceSimulation simulation = crowd(5, 0.3);
  const SequenceFit fit = Bsc().fit(without_gold(simulation.data), RunContext());
  double worst_honest = 1, best_guesser = 0;
  for (std::size_t w = 0; w < fit.accuracy.size(); ++w) {
    if (simulation.worker_kind[w] == "honest") worst_honest = std::min(worst_honest, fit.accuracy[w]);
    if (simulation.worker_kind[w] == "guesser") best_guesser = std::max(best_guesser, fit.accuracy[w]);
  }
  EXPECT_GT(best_guesser, 0);
  EXPECT_GT(worst_honest, best_guesser);
}

TEST(Bsc, ViterbiKeepsToTheScheme) {
  const SequenceSimulation simulation = crowd(6);
  bsc::Options options;
  options.chain.decode = Decode::viterbi;
  const SequenceFit fit = Bsc(options).fit(without_gold(simulation.data), RunContext());
  const auto offsets = simulation.data.answers.token_offsets();
  for (std::size_t d = 0; d + 1 < offsets.size(); ++d) {
    for (std::size_t t = offsets[d]; t < offsets[d + 1]; ++t) {
      EXPECT_TRUE(may_follow(t == offsets[d] ? kOutside : fit.tags[t - 1], fit.tags[t]));
    }
  }
  ASSERT_EQ(fit.spans.size(), fit.span_probability.size());
  for (const double p : fit.span_probability) EXPECT_TRUE(p >= 0 && p <= 1);
}

/// A worker whose tags depend on what it said before (it never ends a span by itself): only seq can tell.
TEST(Bsc, SeqWorkersPredictSpansThatAreCutShort) {
  SequenceSimulation simulation = crowd(7);
  const SequenceData data = without_gold(simulation.data);
  bsc::Options plain;
  plain.chain.workers = WorkerModel::cm;
  const HeldOut<Sequences> held_out(data, {.folds = 3, .share = 0.2}, RunContext());
  const auto mean = [](const std::vector<double>& logs) {
    double sum = 0;
    for (const double l : logs) sum += l;
    return sum / static_cast<double>(logs.size());
  };
  EXPECT_GT(mean(held_out.log_probabilities(Bsc(), RunContext())),
            mean(held_out.log_probabilities(Bsc(plain), RunContext())));
}

/// Named entities by 47 workers: better than the vote and than tables of single tokens.
TEST(Bsc, NamedEntities) {
  const std::string ner = testing::real_data_folder().value_or("") + "/sequence/ner/";
  if (!std::filesystem::exists(ner + "labels.csv"))
    GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  SequenceFiles files;
  files.answers = ner + "labels.csv";
  files.gold = ner + "gold.csv";
  const SequenceData with_gold = read_sequences(files, {}, RunContext());
  const SequenceData data = without_gold(with_gold);
  const double own = strict_f1(with_gold, aggregate(data, "bsc"));
  EXPECT_GE(own, 0.75);
  EXPECT_GT(own, strict_f1(with_gold, aggregate(data, "token_ibcc")));
  EXPECT_GT(own, strict_f1(with_gold, aggregate(data, "token_vote")) + 0.1);
}

}  // namespace
}  // namespace wisecrowd
