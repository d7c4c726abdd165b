#include <fmt/core.h>

#include <algorithm>

#include "aggregate/sequences/shared/crowd_chain.hpp"

namespace wisecrowd::sequences {

std::vector<double> vote_shares(const SequenceData& data) {
  const SequenceAnswers& answers = data.answers;
  const std::size_t K = answers.tag_count();
  std::vector<double> shares(answers.token_count() * K, 0.0), all(K, 0.0);
  const auto offsets = answers.token_offsets();
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    for (AnswerIndex a = answers.task_offsets()[d]; a < answers.task_offsets()[d + 1]; ++a) {
      const auto tags = answers.tags(a);
      for (std::size_t t = 0; t < tags.size(); ++t) {
        if (tags[t] == kNoTag) continue;
        shares[(offsets[d] + answers.first(a) + t) * K + index(tags[t])] += 1;
        all[index(tags[t])] += 1;
      }
    }
  }
  double sum = 0;
  for (const double count : all) sum += count;
  for (std::size_t k = 0; k < K; ++k) all[k] = sum > 0 ? all[k] / sum : 1 / static_cast<double>(K);
  for (std::size_t t = 0; t < answers.token_count(); ++t) {
    double* const own = shares.data() + t * K;
    double votes = 0;
    for (std::size_t k = 0; k < K; ++k) votes += own[k];
    for (std::size_t k = 0; k < K; ++k) own[k] = votes > 0 ? own[k] / votes : all[k];
    if (!data.has_gold() || data.gold[t] == kNoTag) continue;
    std::fill_n(own, K, 0.0);
    own[index(data.gold[t])] = 1;
  }
  return shares;
}

SequenceFit start_sequence_fit(const SequenceData& data) {
  const SequenceAnswers& answers = data.answers;
  SequenceFit fit;
  fit.document_count = answers.task_count();
  fit.worker_count = answers.worker_count();
  fit.tag_count = answers.tag_count();
  std::vector<bool> tagged(answers.token_count(), false);
  std::size_t untagged = answers.token_count();
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    for (AnswerIndex a = answers.task_offsets()[d]; a < answers.task_offsets()[d + 1]; ++a) {
      const auto tags = answers.tags(a);
      const std::size_t first = answers.token_offsets()[d] + answers.first(a);
      for (std::size_t t = 0; t < tags.size(); ++t) {
        if (tags[t] == kNoTag || tagged[first + t]) continue;
        tagged[first + t] = true;
        --untagged;
      }
    }
  }
  if (untagged > 0) {
    fit.warnings.push_back({"untagged_tokens",
                            fmt::format("{} of {} tokens have no answer: their tags follow from their neighbours, or "
                                        "from what is common.",
                                        untagged, answers.token_count()),
                            "", Severity::note});
  }
  return fit;
}

std::vector<double> dawid_skene_start(const SequenceData& data, const RunContext& context) {
  ChainOptions options;
  options.truth = TruthModel::tokens;
  options.workers = WorkerModel::cm;
  options.prior.estimation = Estimation::point;
  options.prior.pseudo_count = 0.1;
  options.transition_prior = 0.1;
  options.max_iterations = 100;
  CrowdChain chain(data, options, context);
  SequenceFit fit;
  chain.iterate(vote_shares(data), fit);
  return std::move(fit.posterior);
}

SequenceFit fit_chain(const SequenceData& data, const ChainOptions& options, const RunContext& context,
                      const SequenceStart& start,
                      std::vector<double> (*own_start)(const SequenceData&, const RunContext&)) {
  SequenceFit fit = start_sequence_fit(data);
  CrowdChain chain(data, options, context);
  chain.iterate(
      start.empty() ? own_start(data, context) : std::vector<double>(start.posterior.begin(), start.posterior.end()),
      fit);
  chain.deliver(fit);
  return fit;
}

std::vector<double> predict_by_chain(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                     const ChainOptions& options, const RunContext& context,
                                     std::vector<double> (*own_start)(const SequenceData&, const RunContext&)) {
  CrowdChain chain(data, options, context);
  SequenceFit fit;
  chain.iterate(own_start(data, context), fit);
  return chain.log_predictive(answers);
}

void iteration_parameters(ParameterVisitor& v, ChainOptions& o) {
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "iterations at most");
  v.real("tolerance", o.tolerance, 0, 1,
         "converged when the largest change of a token's probabilities, averaged over tokens, is at most this");
}

void decode_parameter(ParameterVisitor& v, ChainOptions& o) {
  v.choice("decode", o.decode, kDecodeNames,
           "the most probable tag of each token, or the most probable sequence, which keeps to the BIO scheme");
}

}  // namespace wisecrowd::sequences
