#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/estimate.hpp"

namespace wisecrowd {

class VoteRows;

/// How a model's posterior q becomes a probability that can be believed: p = (1 − vote_share) q^power / Σ q^power +
/// vote_share v, where v are the shares of votes with one vote more that is spread as the task's prior is.
struct Tempering {
  double power = 1;
  double vote_share = 0;
  /// Half of v are votes weighed by how often a worker agrees with the plain vote; constant workers have no say.
  bool weighted = false;
};

/// A tempering chosen without gold, and how sure that is.
struct TemperingFit {
  Tempering chosen;
  /// 0 where hidden answers look as the model says that they should, 1 where they plainly do not.
  double misfit = 0;
  double gain = 0;  ///< nats by which the best tempering predicts hidden answers better than the model's own
  /// By how much labels may be more probable than the posterior says, on average: where it is doubtful whether a model
  /// that is surer should have been mixed with others.
  double may_be_surer = 0;
  /// Temperings that the hidden answers do not exclude: 95 % by their likelihood.
  std::vector<Tempering> plausible;
};

/// Finds out how far the posterior of a fit can be believed.
///
/// First, a crowd is drawn from the fitted model itself: the same workers answer the same tasks, with known truth. A
/// fit to it shows how overconfident the algorithm is where the model is right, and gives the model's own power. Then
/// folds of hidden answers are compared with what tempered posteriors predict.
class TemperingSearch {
 public:
  /// `fit` is what `method` (which has worker tables) makes of `data`.
  TemperingSearch(const CategoryData& data, const CategoryFit& fit, const CategoryAggregator& method,
                  const RunContext& context);
  /// What a fit to `visible` says of answers that were hidden from it.
  void add_fold(const CategoryData& visible, const CategoryFit& fit, std::span<const CategoryAnswer> hidden,
                const RunContext& context);
  [[nodiscard]] TemperingFit conclude() const;

 private:
  double own_power_ = 1;      // on all answers
  double visible_power_ = 1;  // on those that a fold leaves
  std::size_t tasks_ = 0;
  std::size_t hidden_ = 0;
  std::vector<double> totals_;  // powers × shares: ln P of the hidden answers
};

/// The whole search for one method: three folds, each without a fifth of the answers, of at most `most_answers`.
[[nodiscard]] TemperingFit fit_tempering(const CategoryData& data, const CategoryFit& fit, std::string_view method,
                                         const Parameters& parameters, std::size_t most_answers,
                                         const RunContext& context);

/// Tempers the posterior of `fit`; gold stays what it is, and so do the labels: where votes would have made another
/// class more probable, both become about equally so. Returns the expected share of
/// right labels, whose 95 % interval allows for what is not known of the tempering and for the chance of the tasks at
/// hand, and notes it in fit.learned with the power and the share of votes.
Estimate temper(const CategoryData& data, const TemperingFit& tempering, CategoryFit& fit, const RunContext& context);

/// What the model itself said of the tasks of a tempered fit: what is known of workers must come from that, because a
/// tempered posterior makes good workers look worse than they are and bad ones better.
class ModelPosterior {
 public:
  ModelPosterior(const CategoryData& data, const CategoryFit& fit);
  /// The row of a task as it was before it was tempered; that of the fit if it was not.
  void row(std::size_t task, std::span<double> out) const;

 private:
  const CategoryData& data_;
  const CategoryFit& fit_;
  Tempering tempering_;
  std::shared_ptr<const VoteRows> votes_;  // only if it was tempered
};

/// The data, or a random part of the tasks with about so many answers, and those who answered them. Classes stay.
struct TaskSample {
  CategoryData data;
  std::vector<std::uint32_t> tasks, workers;  ///< their ids in the whole; empty if it is the whole
};
[[nodiscard]] TaskSample sample_of_tasks(const CategoryData& data, std::size_t most_answers, const RunContext& context);
/// The fit of those tasks.
[[nodiscard]] CategoryFit rows_of(const TaskSample& sample, const CategoryFit& fit);

}  // namespace wisecrowd
