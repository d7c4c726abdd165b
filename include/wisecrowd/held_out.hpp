#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/estimate.hpp"

namespace wisecrowd {

/// How to hide answers.
struct HeldOutOptions {
  std::size_t folds = 5;  ///< fits per method, each without other answers
  double share = 0.1;     ///< of the answers hidden in a fold; folds × share is at most 1
};

/// Answers in several folds: in each a random share is hidden, and what a method has learned from the rest is judged by
/// the probability that it gives to what was hidden. No gold is needed, and the same answers are hidden from every
/// method. A task keeps at least one answer.
template <class Kind>
class HeldOut {
 public:
  using Data = typename Kind::Data;
  using Answer = typename Kind::Answer;

  HeldOut(const Data& data, const HeldOutOptions& options, const RunContext& context);

  [[nodiscard]] std::size_t folds() const noexcept { return folds_.size(); }
  /// All hidden answers together; 0 when nothing can be hidden (one answer per task).
  [[nodiscard]] std::size_t hidden_count() const noexcept { return hidden_count_; }
  /// The data that a fold leaves to the methods: all tasks and workers, fewer answers.
  [[nodiscard]] const Data& visible(std::size_t fold) const { return folds_[fold].visible; }

  /// What it hides, in the order of tasks.
  [[nodiscard]] std::span<const Answer> hidden(std::size_t fold) const { return folds_[fold].hidden; }

  /// ln P(hidden answer) for each hidden answer of all folds, one after the other, by fits to what is visible.
  [[nodiscard]] std::vector<double> log_probabilities(const Aggregator<Kind>& method, const RunContext& context) const;
  /// The same for one fold.
  [[nodiscard]] std::vector<double> log_probabilities(const Aggregator<Kind>& method, std::size_t fold,
                                                      const RunContext& context) const;
  /// By how many standard errors the first of two methods predicts better, given their log_probabilities on all folds
  /// or on the first ones. The answers of one task count as one observation, because its truth decides over all of
  /// them.
  [[nodiscard]] double z_score(std::span<const double> better, std::span<const double> worse) const;

 private:
  struct Fold {
    Data visible;
    std::vector<Answer> hidden;
  };
  typename Kind::Answers answers_;  ///< hidden answers refer to them; a copy shares its storage
  std::vector<Fold> folds_;
  std::size_t hidden_count_ = 0;
};

HeldOut(const CategoryData&, const HeldOutOptions&, const RunContext&)->HeldOut<Categories>;
HeldOut(const NumberData&, const HeldOutOptions&, const RunContext&)->HeldOut<Numbers>;

/// A random part of the tasks with all of their answers, about `most` of these, where there are more. Tasks that are
/// not drawn stay without answers.
template <class Kind>
[[nodiscard]] typename Kind::Data sampled_tasks(const typename Kind::Data& data, std::size_t most,
                                                const RunContext& context);

/// How one method did on hidden answers.
struct HeldOutScore {
  std::string method;
  std::string refusal;       ///< why it could not be fitted; empty if it could
  Estimate log_probability;  ///< mean ln P of a hidden answer, with a 95 % interval
  /// How much better the best method of the comparison predicts an answer, on the same answers; its interval is much
  /// narrower than the difference of two log_probability intervals. 0 for the best one.
  Estimate behind_best;
  double seconds = 0;  ///< of all fits
};

/// Scores every method on the same hidden answers. Methods that refuse the data are kept, with the reason.
template <class Kind>
[[nodiscard]] std::vector<HeldOutScore> score_by_held_out_answers(const HeldOut<Kind>& held_out,
                                                                  std::span<const MethodStage> methods,
                                                                  const RunContext& context);

}  // namespace wisecrowd
