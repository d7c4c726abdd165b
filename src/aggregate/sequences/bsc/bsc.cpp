#include "aggregate/sequences/bsc/bsc.hpp"

namespace wisecrowd::bsc {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("worker_model", o.chain.workers, sequences::kWorkerModelNames,
           "what a worker's tag depends on: the truth and the tag it gave before (seq), the truth alone (cm), or the "
           "truth with all wrong tags alike (cv)");
  v.real("right_prior", o.chain.prior.right, 1e-3, 1e9, "Dirichlet parameter of the right tag in every row of a table");
  v.real("wrong_prior", o.chain.prior.wrong, 1e-3, 1e9, "Dirichlet parameter of each wrong tag");
  v.real("transition_prior", o.chain.transition_prior, 1e-3, 1e9, "Dirichlet parameter of each tag after another");
  v.flag("bio", o.chain.bio, "the truth keeps to the scheme: I-x follows B-x or I-x alone");
  sequences::decode_parameter(v, o.chain);
  sequences::iteration_parameters(v, o.chain);
}

}  // namespace

SequenceMethod method() {
  MethodInfo info;
  info.title = "Bayesian sequence combination";
  info.summary = "Tags form a chain; workers have tables that depend on the tag they gave before; variational Bayes.";
  info.when_to_use =
      "The standard for spans that several people marked: it knows that spans begin before they go on, and that "
      "workers forget tokens or draw ends wrongly.";
  info.reference = "E. Simpson and I. Gurevych, A Bayesian approach for sequence tagging with crowds, EMNLP 2019";
  info.assumptions =
      "The tag of a token depends on the one before; a worker's tag on the truth there and on the tag it gave "
      "before.";
  info.cost = "time T·K² + S·K + M·K³ digammas per iteration for T tokens, S tags, K kinds of tags; memory T·K + M·K³";
  info.uses_gold = true;
  info.uses_start = true;
  info.allows_repeats = false;
  return SequenceMethod::of<Bsc, parameters>(std::move(info));
}

SequenceFit Bsc::fit(const SequenceData& data, const RunContext& context, const SequenceStart& start) const {
  return sequences::fit_chain(data, options_.chain, context, start, sequences::dawid_skene_start);
}

std::vector<double> Bsc::log_predictive(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                        const RunContext& context) const {
  return sequences::predict_by_chain(data, answers, options_.chain, context, sequences::dawid_skene_start);
}

}  // namespace wisecrowd::bsc
