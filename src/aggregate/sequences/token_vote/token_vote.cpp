#include "aggregate/sequences/token_vote/token_vote.hpp"

#include <algorithm>

#include "aggregate/sequences/shared/crowd_chain.hpp"
#include "base/rng.hpp"

namespace wisecrowd::token_vote {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("ties", o.ties, kTagTieNames,
           "which of the tags with most votes a token gets: the one that is commoner among all answers, the first in "
           "order (O, then by type), or any");
}

/// How common each tag is among all answers.
std::vector<std::uint64_t> tag_totals(const SequenceAnswers& answers) {
  std::vector<std::uint64_t> totals(answers.tag_count(), 0);
  for (AnswerIndex a = 0; a < answers.answer_count(); ++a) {
    for (const TagId tag : answers.tags(a)) {
      if (tag != kNoTag) ++totals[index(tag)];
    }
  }
  return totals;
}

}  // namespace

SequenceMethod method() {
  MethodInfo info;
  info.title = "Vote on tokens";
  info.summary = "At each token the tag with most votes; every worker counts the same.";
  info.when_to_use = "As a baseline, or when each worker tagged so little that nothing can be learned about them.";
  info.reference = "folklore";
  info.assumptions = "Most workers are right at most tokens. Spans may come out broken: tokens do not know each other.";
  info.cost = "time S + T·K for S tags and T tokens with K kinds of tags; memory T·K";
  info.uses_gold = true;
  info.uses_chance = true;
  info.allows_repeats = false;
  return SequenceMethod::of<TokenVote, parameters>(std::move(info));
}

SequenceFit TokenVote::fit(const SequenceData& data, const RunContext& context, const SequenceStart&) const {
  SequenceFit fit = sequences::start_sequence_fit(data);
  const SequenceAnswers& answers = data.answers;
  const std::size_t K = fit.tag_count;
  fit.posterior = sequences::vote_shares(data);
  const auto totals = tag_totals(answers);
  Rng rng = context.rng("ties of tags");
  for (std::size_t t = 0; t < answers.token_count(); ++t) {
    const double* const q = fit.posterior.data() + t * K;
    const double most = *std::max_element(q, q + K);
    std::size_t chosen = K, tied = 0;
    for (std::size_t k = 0; k < K; ++k) {
      if (q[k] < most - 1e-9) continue;
      ++tied;
      const bool better = chosen == K || (options_.ties == TagTies::commonest && totals[k] > totals[chosen]) ||
                          (options_.ties == TagTies::random && rng.uniform() * static_cast<double>(tied) < 1);
      if (better) chosen = k;
    }
    fit.tags.push_back(TagId(chosen));
    fit.probability.push_back(q[chosen]);
  }
  // Each span as likely as if its tokens were independent.
  for (std::size_t d = 0; d < answers.task_count(); ++d) {
    const std::size_t begin = answers.token_offsets()[d], length = answers.length(TaskId(d));
    const std::size_t first = fit.spans.size();
    append_spans(TaskId(d), std::span(fit.tags).subspan(begin, length), fit.spans);
    for (std::size_t s = first; s < fit.spans.size(); ++s) {
      const Span& span = fit.spans[s];
      double probability = 1;
      for (std::size_t t = span.first; t < span.end; ++t) probability *= fit.probability[begin + t];
      if (span.end < length) probability *= 1 - fit.posterior_of(begin + span.end)[index(inside_tag(span.type))];
      fit.span_probability.push_back(probability);
    }
  }
  sequences::TagWorkers workers(data, sequences::WorkerModel::cm, {});
  workers.count(fit.posterior, context);
  fit.worker_tables = workers.mean_tables();
  fit.accuracy = workers.accuracy();
  fit.iterations = 1;
  if (context.cancelled()) fit.status = Status::cancelled;
  return fit;
}

}  // namespace wisecrowd::token_vote
