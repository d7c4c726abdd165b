#include "aggregate/sequences/hmm_crowd/hmm_crowd.hpp"

namespace wisecrowd::hmm_crowd {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("pseudo_count", o.chain.prior.pseudo_count, 1e-6, 1e9, "added to every cell of a worker's table");
  v.real("transition_pseudo_count", o.chain.transition_prior, 1e-6, 1e9,
         "added to the count of each tag after another");
  v.flag("bio", o.chain.bio, "the truth keeps to the scheme: I-x follows B-x or I-x alone");
  sequences::decode_parameter(v, o.chain);
  sequences::iteration_parameters(v, o.chain);
}

}  // namespace

Options::Options() {
  chain.workers = sequences::WorkerModel::cv;
  chain.prior.estimation = sequences::Estimation::point;
  chain.transition_prior = 0.1;
  chain.max_iterations = 100;
}

SequenceMethod method() {
  MethodInfo info;
  info.title = "HMM-Crowd";
  info.summary = "Tags form a chain; workers recognise each tag with a probability of their own; EM.";
  info.when_to_use = "When workers have tagged little each: it has few parameters per worker.";
  info.reference = "A. T. Nguyen et al., Aggregating and predicting sequence labels from crowd annotations, ACL 2017";
  info.assumptions =
      "The tag of a token depends on the one before; whoever is wrong chooses among the other tags alike.";
  info.cost = "time T·K² + S·K per iteration for T tokens, S tags, K kinds of tags; memory T·K + M·K²";
  info.uses_gold = true;
  info.uses_start = true;
  info.allows_repeats = false;
  return SequenceMethod::of<HmmCrowd, parameters>(std::move(info));
}

SequenceFit HmmCrowd::fit(const SequenceData& data, const RunContext& context, const SequenceStart& start) const {
  return sequences::fit_chain(data, options_.chain, context, start, sequences::dawid_skene_start);
}

std::vector<double> HmmCrowd::log_predictive(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                             const RunContext& context) const {
  return sequences::predict_by_chain(data, answers, options_.chain, context, sequences::dawid_skene_start);
}

}  // namespace wisecrowd::hmm_crowd
