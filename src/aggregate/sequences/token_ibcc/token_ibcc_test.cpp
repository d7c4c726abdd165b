#include "aggregate/sequences/token_ibcc/token_ibcc.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "wisecrowd/simulate_sequences.hpp"

namespace wisecrowd {
namespace {

SequenceData tokens_of_crowd(std::uint64_t seed) {
  SequenceData data = simulate_sequences({.documents = 10, .workers = 8, .answers_per_document = 4, .types = 2},
                                         Parameters(sequence_simulation_parameters()), RunContext({.seed = seed}))
                          .data;
  data.gold.clear();
  return data;
}

/// Every token a task: what the method for categories says of them.
CategoryFit ibcc_of_tokens(const SequenceData& data, double right, std::size_t iterations) {
  const SequenceAnswers& answers = data.answers;
  std::vector<CategoryAnswer> list;
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    for (AnswerIndex a = answers.task_offsets()[d]; a < answers.task_offsets()[d + 1]; ++a) {
      for (std::size_t t = 0; t < answers.tags(a).size(); ++t) {
        const std::size_t token = answers.token_offsets()[d] + answers.first(a) + t;
        list.push_back({TaskId(token), answers.workers()[a], ClassId{static_cast<std::uint16_t>(answers.tags(a)[t])}});
      }
    }
  }
  const auto blank = [](std::size_t n) { return NameTable("", std::vector<std::uint64_t>(n + 1, 0)); };
  CategoryData tasks;
  tasks.answers = make_category_answers(
      list, {blank(answers.token_count()), blank(answers.worker_count()), blank(answers.tag_count())});
  Parameters parameters(aggregation_method("ibcc").parameters);
  parameters.set_value("diagonal_prior", right);
  parameters.set_value("tolerance", 0.0);
  parameters.set_value("class_pseudo_count", 1.0);
  parameters.set_value("max_iterations", static_cast<std::int64_t>(iterations));
  return aggregate(tasks, "ibcc", parameters, RunContext());
}

TEST(TokenIbcc, IsIbccWithTokensAsTasks) {
  const SequenceData data = tokens_of_crowd(1);
  token_ibcc::Options options;
  options.chain.tolerance = 0;
  options.chain.max_iterations = 20;
  const SequenceFit fit = token_ibcc::TokenIbcc(options).fit(data, RunContext());
  const CategoryFit slow = ibcc_of_tokens(data, 4, 20);
  ASSERT_EQ(fit.posterior.size(), slow.posterior.size());
  for (std::size_t i = 0; i < fit.posterior.size(); ++i) EXPECT_NEAR(fit.posterior[i], slow.posterior[i], 1e-6);
}

/// Documents of one token: the chain has no second link, so that a chain with plain tables is ibcc.
TEST(TokenIbcc, IsAChainOnDocumentsOfOneToken) {
  Parameters parameters(sequence_simulation_parameters());
  parameters.set_value("length", 1.0);
  parameters.set_value("density", 0.5);
  SequenceData data = simulate_sequences({.documents = 300, .workers = 8, .answers_per_document = 4, .types = 2},
                                         parameters, RunContext({.seed = 4}))
                          .data;
  data.gold.clear();
  sequences::ChainOptions options;
  options.workers = sequences::WorkerModel::cm;
  options.bio = false;
  options.tolerance = 0;
  const RunContext context({.threads = 1});
  SequenceFit chain;
  sequences::CrowdChain(data, options, context).iterate(sequences::vote_shares(data), chain);
  const CategoryFit slow = ibcc_of_tokens(data, 2, 20);
  ASSERT_EQ(chain.posterior.size(), slow.posterior.size());
  for (std::size_t i = 0; i < chain.posterior.size(); ++i) EXPECT_NEAR(chain.posterior[i], slow.posterior[i], 1e-6);
}

/// A uniform chain says nothing: tokens are independent, with equal shares of tags.
TEST(TokenIbcc, UniformTransitionsLeaveTokensAlone) {
  const SequenceData data = tokens_of_crowd(2);
  sequences::ChainOptions options;
  options.truth = sequences::TruthModel::uniform;
  options.workers = sequences::WorkerModel::cm;
  options.tolerance = 0;
  options.max_iterations = 5;
  const RunContext context({.threads = 1});
  sequences::CrowdChain chain(data, options, context);
  SequenceFit fit;
  chain.iterate(sequences::vote_shares(data), fit);
  // By hand: the posterior of a token is the product of what its own answers say.
  sequences::TagWorkers workers(data, options.workers, options.prior);
  std::vector<double> q = sequences::vote_shares(data);
  for (int i = 0; i < 5; ++i) {
    workers.count(q, context);
    (void)workers.update(context);
    for (std::size_t d = 0; d < data.answers.task_count(); ++d) {
      const std::size_t begin = data.answers.token_offsets()[d] * 5, size = data.answers.length(TaskId(d)) * 5;
      std::vector<double> log_weights(size, 0.0);
      for (AnswerIndex a = data.answers.task_offsets()[d]; a < data.answers.task_offsets()[d + 1]; ++a) {
        workers.speak(data.answers.workers()[a], data.answers.first(a), data.answers.tags(a), log_weights);
      }
      for (std::size_t t = 0; t < size; t += 5) {
        double sum = 0;
        for (std::size_t k = 0; k < 5; ++k) sum += std::exp(log_weights[t + k]);
        for (std::size_t k = 0; k < 5; ++k) q[begin + t + k] = std::exp(log_weights[t + k]) / sum;
      }
    }
  }
  for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(fit.posterior[i], q[i], 1e-9);
}

}  // namespace
}  // namespace wisecrowd
