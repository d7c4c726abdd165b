#include "aggregate/sequences/shared/crowd_chain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::sequences {
namespace {

constexpr std::size_t kTokensPerBatch = 4096;

}  // namespace

CrowdChain::CrowdChain(const SequenceData& data, const ChainOptions& options, const RunContext& context)
    : data_(data),
      options_(options),
      context_(context),
      tags_(data.answers.tag_count()),
      workers_(data, options.workers, options.prior) {
  transitions_.tags = tags_;
  transitions_.weight.assign(tags_ * tags_, 1 / static_cast<double>(tags_));
  transition_counts_.resize(tags_ * tags_);
  const auto offsets = data.answers.token_offsets();
  for (std::size_t d = 0; d < data.answers.task_count(); ++d) {
    if (batches_.empty() || offsets[d] - offsets[batches_.back().begin] >= kTokensPerBatch) batches_.push_back({d, d});
    batches_.back().end = d + 1;
  }
}

void CrowdChain::for_each_batch(
    const std::function<void(std::size_t batch, TagChain& chain, std::vector<double>& memory)>& work) const {
  std::vector<TagChain> chains(context_.pool().size(), TagChain(transitions_));
  std::vector<std::vector<double>> memory(chains.size());
  context_.pool().for_each_block(batches_.size(), [&](std::size_t b, unsigned thread) {
    if (!context_.cancelled()) work(b, chains[thread], memory[thread]);
  });
}

void CrowdChain::weigh(TaskId document, std::vector<double>& log_weights) const {
  const SequenceAnswers& answers = data_.answers;
  log_weights.assign(answers.length(document) * tags_, 0.0);
  for (AnswerIndex a = answers.task_offsets()[index(document)]; a < answers.task_offsets()[index(document) + 1]; ++a) {
    workers_.speak(answers.workers()[a], answers.first(a), answers.tags(a), log_weights);
  }
}

double CrowdChain::set_row(std::span<const double> counts, std::span<const std::size_t> allowed,
                           std::span<double> weights) const {
  std::fill(weights.begin(), weights.end(), 0.0);
  const bool bayes = options_.prior.estimation == Estimation::bayes;
  // What is believed of forbidden transitions goes to those that are allowed.
  const double prior =
      options_.transition_prior * static_cast<double>(counts.size()) / static_cast<double>(allowed.size());
  double total = 0, gain = 0;
  for (const std::size_t k : allowed) total += counts[k] + prior;
  const double base = bayes ? digamma(total) : math::log(total);
  for (const std::size_t k : allowed) {
    const double g = counts[k] + prior;
    const double log_weight = (bayes ? digamma(g) : math::log(g)) - base;
    weights[k] = math::exp(log_weight);
    gain += bayes ? log_gamma(g) - log_gamma(prior) - counts[k] * log_weight : prior * log_weight;
  }
  const double all_prior = options_.transition_prior * static_cast<double>(counts.size());
  return bayes ? gain - log_gamma(total) + log_gamma(all_prior) : gain;
}

double CrowdChain::set_transitions() {
  std::vector<std::size_t> allowed;
  if (options_.truth == TruthModel::uniform) return 0;
  if (options_.truth == TruthModel::tokens) {
    std::vector<double> counts(tags_, 0.0);
    for (std::size_t i = 0; i < transition_counts_.size(); ++i) counts[i % tags_] += transition_counts_[i];
    for (std::size_t k = 0; k < tags_; ++k) allowed.push_back(k);
    std::vector<double> row(tags_);
    const double gain = set_row(counts, allowed, row);
    for (std::size_t i = 0; i < transitions_.weight.size(); ++i) transitions_.weight[i] = row[i % tags_];
    return gain;
  }
  double gain = 0;
  for (std::size_t p = 0; p < tags_; ++p) {
    allowed.clear();
    for (std::size_t k = 0; k < tags_; ++k) {
      if (!options_.bio || may_follow(TagId(p), TagId(k))) allowed.push_back(k);
    }
    gain += set_row(std::span(transition_counts_).subspan(p * tags_, tags_), allowed,
                    std::span(transitions_.weight).subspan(p * tags_, tags_));
  }
  return gain;
}

double CrowdChain::set_parameters(std::span<const double> posterior) {
  workers_.count(posterior, context_);
  return workers_.update(context_) + set_transitions();
}

void CrowdChain::guess_transitions(std::span<const double> posterior) {
  const auto offsets = data_.answers.token_offsets();
  std::fill(transition_counts_.begin(), transition_counts_.end(), 0.0);
  std::vector<double> pair(tags_ * tags_), outside(tags_, 0.0);
  outside[index(kOutside)] = 1;
  for (std::size_t d = 0; d < data_.answers.task_count(); ++d) {
    for (std::size_t t = offsets[d]; t < offsets[d + 1]; ++t) {
      const double* const before = t == offsets[d] ? outside.data() : posterior.data() + (t - 1) * tags_;
      const double* const own = posterior.data() + t * tags_;
      double sum = 0;
      for (std::size_t p = 0; p < tags_; ++p) {
        for (std::size_t k = 0; k < tags_; ++k) {
          const bool allowed = options_.truth != TruthModel::chain || !options_.bio || may_follow(TagId(p), TagId(k));
          pair[p * tags_ + k] = allowed ? before[p] * own[k] : 0;
          sum += pair[p * tags_ + k];
        }
      }
      if (!(sum > 0)) continue;
      for (std::size_t i = 0; i < pair.size(); ++i) transition_counts_[i] += pair[i] / sum;
    }
  }
}

double CrowdChain::set_expectations(std::vector<double>& posterior) {
  const auto offsets = data_.answers.token_offsets();
  const std::size_t cells = tags_ * tags_;
  std::vector<double> counts(batches_.size() * cells, 0.0), weights(batches_.size(), 0.0);
  for_each_batch([&](std::size_t b, TagChain& chain, std::vector<double>& log_weights) {
    for (std::size_t d = batches_[b].begin; d < batches_[b].end; ++d) {
      weigh(TaskId(d), log_weights);
      weights[b] += chain.filter(log_weights, data_.gold_of(TaskId(d)));
      chain.smooth(std::span(posterior).subspan(offsets[d] * tags_, log_weights.size()),
                   std::span(counts).subspan(b * cells, cells));
    }
  });
  std::fill(transition_counts_.begin(), transition_counts_.end(), 0.0);
  double total = 0;
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    total += weights[b];
    for (std::size_t i = 0; i < cells; ++i) transition_counts_[i] += counts[b * cells + i];
  }
  return total;
}

void CrowdChain::iterate(std::vector<double> start, SequenceFit& fit) {
  const auto began = std::chrono::steady_clock::now();
  std::vector<double> posterior = std::move(start), next(posterior.size());
  const std::size_t tokens = data_.answers.token_count();
  fit.objective_name = options_.prior.estimation == Estimation::bayes ? "evidence lower bound" : "log posterior";
  fit.objective_is_monotone = true;
  fit.status = Status::iteration_limit;
  guess_transitions(posterior);
  while (fit.iterations < options_.max_iterations) {
    const double gain = set_parameters(posterior);
    const double weight = set_expectations(next);
    if (context_.cancelled()) {
      fit.status = Status::cancelled;
      break;
    }
    double change = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
      double largest = 0;
      for (std::size_t k = 0; k < tags_; ++k) {
        largest = std::max(largest, std::abs(next[t * tags_ + k] - posterior[t * tags_ + k]));
      }
      change += largest;
    }
    std::swap(posterior, next);
    ++fit.iterations;
    fit.trace.push_back(weight + gain);
    context_.report({.stage = "iterating",
                     .done = static_cast<double>(fit.iterations),
                     .total = static_cast<double>(options_.max_iterations),
                     .objective = weight + gain,
                     .has_objective = true});
    if (!(change > options_.tolerance * static_cast<double>(tokens))) {
      fit.status = Status::converged;
      break;
    }
  }
  if (fit.iterations > 0) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fit.seconds_per_iteration = took.count() / static_cast<double>(fit.iterations);
  }
  fit.posterior = std::move(posterior);
}

void CrowdChain::deliver(SequenceFit& fit) const {
  const auto offsets = data_.answers.token_offsets();
  fit.tags.resize(data_.answers.token_count());
  fit.probability.resize(fit.tags.size());
  fit.worker_tables = workers_.mean_tables();
  fit.accuracy = workers_.accuracy();
  std::vector<std::vector<Span>> spans(batches_.size());
  std::vector<std::vector<double>> probabilities(batches_.size());
  for_each_batch([&](std::size_t b, TagChain& chain, std::vector<double>& log_weights) {
    for (std::size_t d = batches_[b].begin; d < batches_[b].end; ++d) {
      const auto gold = data_.gold_of(TaskId(d));
      const std::size_t length = offsets[d + 1] - offsets[d];
      const std::span<TagId> tags = std::span(fit.tags).subspan(offsets[d], length);
      const std::span<double> posterior = std::span(fit.posterior).subspan(offsets[d] * tags_, length * tags_);
      weigh(TaskId(d), log_weights);
      (void)chain.filter(log_weights, gold);
      chain.smooth(posterior, {});
      if (options_.decode == Decode::viterbi) {
        chain.best_path(log_weights, gold, tags);
      } else {
        for (std::size_t t = 0; t < length; ++t) {
          const double* const q = posterior.data() + t * tags_;
          tags[t] = TagId(std::max_element(q, q + tags_) - q);
        }
      }
      for (std::size_t t = 0; t < length; ++t) fit.probability[offsets[d] + t] = posterior[t * tags_ + index(tags[t])];
      const std::size_t first = spans[b].size();
      append_spans(TaskId(d), tags, spans[b]);
      for (std::size_t s = first; s < spans[b].size(); ++s) {
        probabilities[b].push_back(chain.span_probability(spans[b][s], tags[spans[b][s].first], posterior));
      }
    }
  });
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    fit.spans.insert(fit.spans.end(), spans[b].begin(), spans[b].end());
    fit.span_probability.insert(fit.span_probability.end(), probabilities[b].begin(), probabilities[b].end());
  }
}

std::vector<double> CrowdChain::log_predictive(std::span<const SequenceAnswer> answers) const {
  const std::vector<double> means = workers_.log_means(context_);
  std::vector<double> logs(answers.size());
  constexpr std::size_t kAnswersPerBlock = 8;
  const Blocks blocks{answers.size(), kAnswersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    TagChain chain(transitions_);
    std::vector<double> log_weights;
    double without = 0;
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      const SequenceAnswer& answer = answers[i];
      const auto gold = data_.gold_of(answer.task);
      weigh(answer.task, log_weights);
      if (i == blocks.begin(b) || answer.task != answers[i - 1].task) without = chain.filter(log_weights, gold);
      workers_.speak(means, answer.worker, answer.first, answer.tags, log_weights);
      logs[i] = chain.filter(log_weights, gold) - without;
    }
  });
  return logs;
}

}  // namespace wisecrowd::sequences
