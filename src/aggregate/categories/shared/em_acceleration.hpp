#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "aggregate/categories/shared/confusion_em.hpp"
#include "base/huge_vector.hpp"

namespace wisecrowd {

/// A probability and its complement as two entries of a state, by their square roots.
inline void save_share(double p, std::vector<double>& state) {
  state.push_back(std::sqrt(p));
  state.push_back(std::sqrt(std::max(1 - p, 0.0)));
}
[[nodiscard]] inline double load_share(const double*& next) {
  const double p = next[0] * next[0], rest = next[1] * next[1];
  next += 2;
  return p / (p + rest);
}

/// How far a squared extrapolation may go: SQUAREM's third step length, and a limit that grows with success.
class Reach {
 public:
  /// From the squared length of the first of two steps in a row and that of their difference: 1 is the end of the
  /// second step, larger is beyond.
  [[nodiscard]] double of(double step, double bend);
  void was_too_far();

 private:
  static constexpr double kFirst = 4, kGrowth = 4;
  double most_ = kFirst;
};

/// The last of up to three states in a row, its step from the one before, and the step before that; all numbers are
/// positive. Lengths are Euclidean, so square roots of probabilities suit well.
class VectorHistory {
 public:
  void note(std::vector<double> now);
  [[nodiscard]] std::size_t states() const noexcept { return states_; }
  [[nodiscard]] std::size_t size() const noexcept { return last_.size(); }
  /// Squared lengths of the earlier step and of the difference between both.
  [[nodiscard]] std::pair<double, double> lengths() const;
  [[nodiscard]] std::vector<double> beyond(double reach) const;
  /// A row begins anew, at another state or at the last one.
  void begin_at(std::vector<double> state);
  void begin_at_last() { states_ = 1; }

 private:
  std::size_t states_ = 0;
  std::vector<double> last_, step_, earlier_;
};

/// Squared extrapolation (SQUAREM, Varadhan and Roland 2008) of EM for confusion tables.
///
/// EM near its end gains a fixed share per iteration, so two steps in a row tell where it is heading. What is
/// extrapolated is the state that an M-step starts from: expected counts, class masses, and what the model keeps from
/// one iteration to the next (CrowdModel::save). Any non-negative counts make a possible crowd, so that the objective
/// of an extrapolated state is what the next sweep says, at no extra cost; and the answers of a worker with one label
/// are as many as before, whatever the truth.
///
/// Sums are made in blocks of workers and added in the order of blocks: the same bits for any number of threads.
class EmAcceleration {
 public:
  EmAcceleration(const ConfusionPass& pass, const RunContext& context);

  /// Takes note of the state before an M-step: first this, then the counts of every worker.
  void note_rest(const CrowdModel& model, const ConfusionPass::Sums& sums);
  void note_counts(std::size_t block, std::size_t worker, const double* counts);

  /// States noted in a row, each the EM map of the one before.
  [[nodiscard]] std::size_t states() const noexcept { return rest_.states(); }
  [[nodiscard]] bool model_has_state() const noexcept { return rest_.size() > classes_; }
  /// How far to go from the last of three states.
  [[nodiscard]] double reach();
  /// The state at `reach`: counts of one worker; model and sums.
  void extrapolate_counts(double reach, std::size_t worker, double* counts) const;
  void extrapolate_rest(double reach, CrowdModel& model, ConfusionPass::Sums& sums) const;

  /// The state at `reach` is better than what was known: it is the first of a new row.
  void accept(double reach);
  /// It is worse: the last state is the one to go on from.
  void reject();

 private:
  struct BlockNorms {
    double step = 0, bend = 0;
  };
  [[nodiscard]] std::size_t cells() const noexcept { return classes_ * stride_; }

  const RunContext& context_;
  std::size_t workers_, classes_, stride_;
  Reach reach_;
  std::vector<BlockNorms> norms_;
  // Counts of the last state; their step from the one before; and the step before that.
  HugeVector<double> counts_;
  HugeVector<float> count_steps_, earlier_count_steps_;
  VectorHistory rest_;  // square roots of class masses, then the model's state
};

}  // namespace wisecrowd
