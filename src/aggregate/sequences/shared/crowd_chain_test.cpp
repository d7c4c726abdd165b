#include "aggregate/sequences/shared/crowd_chain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/simulate_sequences.hpp"

namespace wisecrowd {
namespace {

using namespace sequences;  // NOLINT

SequenceData crowd(std::size_t documents, std::size_t types = 2, std::uint64_t seed = 1, double length = 20) {
  Parameters parameters(sequence_simulation_parameters());
  parameters.set_value("length", length);
  parameters.set_value("partial", 0.2);
  SequenceData data =
      simulate_sequences({.documents = documents, .workers = 6, .answers_per_document = 4, .types = types}, parameters,
                         RunContext({.seed = seed}))
          .data;
  data.gold.clear();
  return data;
}

std::vector<ChainOptions> every_model() {
  std::vector<ChainOptions> all;
  for (const WorkerModel workers : {WorkerModel::seq, WorkerModel::cm, WorkerModel::cv}) {
    for (const Estimation estimation : {Estimation::bayes, Estimation::point}) {
      for (const TruthModel truth : {TruthModel::chain, TruthModel::tokens, TruthModel::uniform}) {
        for (const bool bio : {true, false}) {
          ChainOptions options;
          options.workers = workers;
          options.prior.estimation = estimation;
          options.truth = truth;
          options.bio = bio;
          options.max_iterations = 15;
          options.tolerance = 0;
          all.push_back(options);
        }
      }
    }
  }
  return all;
}

/// Of every combination of models: the bound, or the log posterior, never falls.
TEST(CrowdChain, ObjectiveNeverFalls) {
  const SequenceData data = crowd(12);
  const RunContext context({.threads = 1});
  for (const ChainOptions& options : every_model()) {
    CrowdChain chain(data, options, context);
    SequenceFit fit;
    chain.iterate(vote_shares(data), fit);
    ASSERT_EQ(fit.trace.size(), 15U);
    for (std::size_t i = 1; i < fit.trace.size(); ++i) {
      EXPECT_GE(fit.trace[i], fit.trace[i - 1] - 1e-8 * std::abs(fit.trace[i]));
    }
  }
}

/// ln of the evidence of a tiny crowd: over all sequences, and over all parameters by importance sampling from the
/// prior.
double sampled_log_evidence(const SequenceData& data, int draws) {
  const SequenceAnswers& answers = data.answers;
  const std::size_t K = answers.tag_count();
  Rng rng(3);
  const auto dirichlet = [&](std::vector<double> parameters) {
    double total = 0;
    for (double& p : parameters) total += p = std::exp(rng.log_gamma_draw(p));
    for (double& p : parameters) p /= total;
    return parameters;
  };
  double mean = 0;
  for (int i = 0; i < draws; ++i) {
    Transitions transitions{K, {}};
    for (std::size_t p = 0; p < K; ++p) {
      std::vector<double> prior;
      std::size_t allowed = 0;
      for (std::size_t k = 0; k < K; ++k) allowed += may_follow(TagId(p), TagId(k)) ? 1 : 0;
      for (std::size_t k = 0; k < allowed; ++k) {
        prior.push_back(static_cast<double>(K) / static_cast<double>(allowed));
      }
      const auto row = dirichlet(prior);
      std::size_t at = 0;
      for (std::size_t k = 0; k < K; ++k) {
        transitions.weight.push_back(may_follow(TagId(p), TagId(k)) ? row[at++] : 0);
      }
    }
    std::vector<std::vector<double>> tables;  // worker × truth
    for (std::size_t w = 0; w < answers.worker_count(); ++w) {
      for (std::size_t k = 0; k < K; ++k) {
        std::vector<double> prior(K, 1.0);
        prior[k] = 2;
        tables.push_back(dirichlet(prior));
      }
    }
    double log_likelihood = 0;
    for (std::size_t d = 0; d < answers.task_count(); ++d) {
      std::vector<double> log_weights(answers.length(TaskId(d)) * K, 0.0);
      for (AnswerIndex a = answers.task_offsets()[d]; a < answers.task_offsets()[d + 1]; ++a) {
        for (std::size_t t = 0; t < answers.tags(a).size(); ++t) {
          for (std::size_t k = 0; k < K; ++k) {
            log_weights[(answers.first(a) + t) * K + k] +=
                std::log(tables[index(answers.workers()[a]) * K + k][index(answers.tags(a)[t])]);
          }
        }
      }
      log_likelihood += TagChain(transitions).filter(log_weights, {});
    }
    mean += std::exp(log_likelihood) / draws;
  }
  return std::log(mean);
}

TEST(CrowdChain, BoundIsBelowTheEvidence) {
  SequenceAnswersBuilder builder;
  const std::vector<std::string> one = {"O", "B-x"}, two = {"B-x", "I-x"};
  builder.add("d1", "a", one).add("d1", "b", one).add("d2", "a", two).add("d2", "b", one);
  const SequenceData data{builder.build(), {}, {}, 0};
  ChainOptions options;
  options.workers = WorkerModel::cm;
  const RunContext context({.threads = 1});
  options.max_iterations = 200;
  CrowdChain chain(data, options, context);
  SequenceFit fit;
  chain.iterate(vote_shares(data), fit);
  const double evidence = sampled_log_evidence(data, 20'000);
  EXPECT_LT(fit.trace.back(), evidence);
  EXPECT_GT(fit.trace.back(), evidence - 4);  // and not far below
}

/// With gold everywhere, tables are counts with the prior, and transitions too.
TEST(CrowdChain, AllGoldLeavesCounts) {
  SequenceAnswersBuilder builder;
  const std::vector<std::string> tags = {"O", "B-x", "I-x", "O"}, other = {"O", "O", "O", "O"};
  builder.add("d", "a", tags).add("d", "b", other);
  SequenceData data{builder.build(), {}, {}, 0};
  data.gold = {kOutside, begin_tag(0), inside_tag(0), kOutside};
  ChainOptions options;
  options.workers = WorkerModel::cm;
  const RunContext context({.threads = 1});
  CrowdChain chain(data, options, context);
  SequenceFit fit;
  chain.iterate(vote_shares(data), fit);
  chain.deliver(fit);
  EXPECT_EQ(fit.tags, data.gold);
  for (const double p : fit.probability) EXPECT_EQ(p, 1);
  const auto table = [&](std::size_t w, std::size_t k, std::size_t l) {
    return fit.worker_tables[(w * 3 + k) * 3 + l];
  };
  EXPECT_NEAR(table(0, 0, 0), (2 + 2) / 6.0, 1e-12);  // two right of two, the prior has 2, 1, 1
  EXPECT_NEAR(table(1, 1, 0), (1 + 1) / 5.0, 1e-12);
  EXPECT_NEAR(table(1, 1, 1), 2 / 5.0, 1e-12);
  EXPECT_NEAR(fit.accuracy[1], 0.5, 1e-12);
  // From outside: O once at the start, B-x once; the row's prior of 3 is shared by the two that are allowed.
  EXPECT_NEAR(std::log(chain.transitions().row(0)[0]), digamma(1 + 1.5) - digamma(2 + 3.0), 1e-10);
  EXPECT_EQ(chain.transitions().row(0)[2], 0);
}

/// Answers that were not seen: probabilities of all that could have been said sum to 1.
TEST(CrowdChain, PredictiveProbabilitiesSumToOne) {
  const SequenceData data = crowd(6, 1, 2, 4);
  const RunContext context({.threads = 1});
  for (ChainOptions options : every_model()) {
    options.max_iterations = 3;
    CrowdChain chain(data, options, context);
    SequenceFit fit;
    chain.iterate(vote_shares(data), fit);
    std::vector<std::vector<TagId>> said;
    for (std::uint16_t a = 0; a < 3; ++a) {
      for (std::uint16_t b = 0; b < 3; ++b) said.push_back({TagId{a}, TagId{b}});
    }
    std::vector<SequenceAnswer> answers;
    for (const auto& tags : said) answers.push_back({TaskId{1}, WorkerId{2}, 0, tags});
    double sum = 0;
    for (const double log_probability : chain.log_predictive(answers)) sum += std::exp(log_probability);
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

}  // namespace
}  // namespace wisecrowd
