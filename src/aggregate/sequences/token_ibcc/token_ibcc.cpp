#include "aggregate/sequences/token_ibcc/token_ibcc.hpp"

namespace wisecrowd::token_ibcc {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("right_prior", o.chain.prior.right, 1e-3, 1e9, "Dirichlet parameter of the right tag in every row of a table");
  v.real("wrong_prior", o.chain.prior.wrong, 1e-3, 1e9, "Dirichlet parameter of each wrong tag");
  v.real("tag_prior", o.chain.transition_prior, 1e-3, 1e9,
         "Dirichlet parameter of every tag: tokens believed beforehand");
  sequences::iteration_parameters(v, o.chain);
}

std::vector<double> own_start(const SequenceData& data, const RunContext&) { return sequences::vote_shares(data); }

}  // namespace

Options::Options() {
  chain.truth = sequences::TruthModel::tokens;
  chain.workers = sequences::WorkerModel::cm;
  chain.prior.right = 4;
  chain.max_iterations = 500;
}

SequenceMethod method() {
  MethodInfo info;
  info.title = "IBCC on tokens";
  info.summary = "Every token is a task of its own; confusion tables by variational Bayes.";
  info.when_to_use = "As a yardstick: what workers' tables alone are worth, without a chain of tags.";
  info.reference = "H.-C. Kim and Z. Ghahramani, Bayesian classifier combination, 2012";
  info.assumptions = "Tokens are independent of each other, and so are the tags that a worker gives.";
  info.cost = "time T·K² + S·K + M·K² digammas per iteration for T tokens, S tags, K kinds of tags; memory T·K + M·K²";
  info.uses_gold = true;
  info.uses_start = true;
  info.allows_repeats = false;
  return SequenceMethod::of<TokenIbcc, parameters>(std::move(info));
}

SequenceFit TokenIbcc::fit(const SequenceData& data, const RunContext& context, const SequenceStart& start) const {
  return sequences::fit_chain(data, options_.chain, context, start, own_start);
}

std::vector<double> TokenIbcc::log_predictive(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                              const RunContext& context) const {
  return sequences::predict_by_chain(data, answers, options_.chain, context, own_start);
}

}  // namespace wisecrowd::token_ibcc
