#pragma once

#include <functional>
#include <span>
#include <vector>

#include "aggregate/sequences/shared/tag_chain.hpp"
#include "aggregate/sequences/shared/tag_workers.hpp"
#include "base/parameter_visitor.hpp"
#include "wisecrowd/sequence_fit.hpp"

namespace wisecrowd::sequences {

/// What the tag of a token depends on.
enum class TruthModel {
  chain,    ///< the tag before
  tokens,   ///< nothing: every token is drawn alike
  uniform,  ///< nothing, and all tags are equally probable
};

/// Which tags are delivered.
enum class Decode {
  marginals,  ///< at each token the most probable one
  viterbi,    ///< the most probable sequence, which keeps to the scheme
};
inline constexpr auto kDecodeNames =
    enum_names<Decode>({{Decode::marginals, "marginals"}, {Decode::viterbi, "viterbi"}});

struct ChainOptions {
  TruthModel truth = TruthModel::chain;
  WorkerModel workers = WorkerModel::seq;
  WorkerPrior prior;
  double transition_prior = 1;  ///< of each transition: Dirichlet parameter (bayes), or count that is added (point)
  bool bio = true;              ///< I-x follows B-x or I-x alone
  std::size_t max_iterations = 20;
  double tolerance = 1e-4;  ///< mean over tokens of the largest change of a probability
  Decode decode = Decode::marginals;
};

/// A crowd that tags documents whose tags form a chain: expectations by forward–backward, parameters by variational
/// Bayes or expectation–maximisation, whatever the model of the workers.
class CrowdChain {
 public:
  CrowdChain(const SequenceData& data, const ChainOptions& options, const RunContext& context);

  /// Iterates from the probability of each tag at each token, which is left in `fit` with trace and status.
  void iterate(std::vector<double> start, SequenceFit& fit);
  /// Tags, spans and workers, after `iterate`.
  void deliver(SequenceFit& fit) const;
  /// After `iterate`: ln P of answers that were not seen, all tags of each together, given those that were.
  [[nodiscard]] std::vector<double> log_predictive(std::span<const SequenceAnswer> answers) const;

  [[nodiscard]] const Transitions& transitions() const noexcept { return transitions_; }

 private:
  /// Consecutive documents with some thousand tokens, whatever the number of threads.
  struct Batch {
    std::size_t begin, end;
  };
  /// The parameters that expected counts suggest; returns their part of the objective.
  double set_parameters(std::span<const double> posterior);
  double set_transitions();
  double set_row(std::span<const double> counts, std::span<const std::size_t> allowed, std::span<double> weights) const;
  /// The expectations that the parameters suggest; returns ln of the summed weight of all sequences.
  double set_expectations(std::vector<double>& posterior);
  void weigh(TaskId document, std::vector<double>& log_weights) const;
  /// Before the first expectations: pairs of neighbours as if they were independent.
  void guess_transitions(std::span<const double> posterior);
  void for_each_batch(
      const std::function<void(std::size_t batch, TagChain& chain, std::vector<double>& memory)>& work) const;

  const SequenceData& data_;
  ChainOptions options_;
  const RunContext& context_;
  std::size_t tags_;
  TagWorkers workers_;
  Transitions transitions_;
  std::vector<double> transition_counts_;
  std::vector<Batch> batches_;
};

/// Shares of the tags that each token got; where it got none, the shares of all tags. Gold is certain.
[[nodiscard]] std::vector<double> vote_shares(const SequenceData& data);

/// Sizes, and the warnings that hold for any method.
[[nodiscard]] SequenceFit start_sequence_fit(const SequenceData& data);

/// Where chains begin: Dawid–Skene on single tokens, by EM with 0.1 added to every cell, from shares of votes.
[[nodiscard]] std::vector<double> dawid_skene_start(const SequenceData& data, const RunContext& context);

/// One fit: from `start`, or from `own_start` if that is empty.
[[nodiscard]] SequenceFit fit_chain(const SequenceData& data, const ChainOptions& options, const RunContext& context,
                                    const SequenceStart& start,
                                    std::vector<double> (*own_start)(const SequenceData&, const RunContext&));
[[nodiscard]] std::vector<double> predict_by_chain(const SequenceData& data, std::span<const SequenceAnswer> answers,
                                                   const ChainOptions& options, const RunContext& context,
                                                   std::vector<double> (*own_start)(const SequenceData&,
                                                                                    const RunContext&));

/// Parameters that methods share.
void iteration_parameters(ParameterVisitor& v, ChainOptions& o);
void decode_parameter(ParameterVisitor& v, ChainOptions& o);

}  // namespace wisecrowd::sequences
