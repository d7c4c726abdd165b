#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/intervals.hpp"
#include "base/linear_algebra.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "judges/shared/voices.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace {

using judges::Voices;

/// Scores are log odds; this is how far they are expected to spread before any answer.
constexpr double kScoreDeviation = 2;

/// What the answers to one question say of its outcome, by outcome, up to a factor.
struct Duel {
  std::size_t first, second;
  std::vector<double> likelihood;
};

std::vector<Duel> duels_of(const JudgeData& data, const MixedCrowdFit& fit, bool people_only) {
  const Voices voices(data);
  const std::size_t classes = fit.class_count;
  std::vector<Duel> duels;
  for (std::size_t t = 0; t < voices.tasks(); ++t) {
    Duel duel{index(data.pairs[t].first), index(data.pairs[t].second), std::vector<double>(classes, 1.0)};
    const ClassId gold = data.gold_of(TaskId(t));
    bool told = gold != kNoClass;
    if (gold != kNoClass) {
      std::fill(duel.likelihood.begin(), duel.likelihood.end(), 0.0);
      duel.likelihood[index(gold)] = 1;
    } else if (!people_only) {
      told = voices.begin_of(t) != voices.end_of(t);
      for (std::size_t z = 0; z < classes; ++z)
        duel.likelihood[z] = fit.posterior_of(TaskId(t))[z] / fit.class_prior[z];
    } else {
      for (std::size_t v = voices.begin_of(t); v < voices.end_of(t); ++v) {
        if (data.judges[voices[v].worker].kind != WorkerKind::human) continue;
        told = true;
        const auto table = fit.table(WorkerId(voices[v].worker));
        for (std::size_t z = 0; z < classes; ++z) {
          double p = 0;
          for (std::size_t k = 0; k < classes; ++k) p += voices.shares(v)[k] * table[z * classes + k];
          duel.likelihood[z] *= p;
        }
      }
    }
    normalise(duel.likelihood);
    if (told) duels.push_back(std::move(duel));
  }
  return duels;
}

/// Davidson's model with the outcome summed out: P(z) is proportional to e^{d/2}, e^{-d/2} and `ties`.
class DuelModel {
 public:
  DuelModel(std::vector<Duel> duels, std::size_t items)
      : duels_(std::move(duels)),
        score_(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(items))),
        has_ties_(!duels_.empty() && duels_.front().likelihood.size() == 3) {}

  void fit() {
    for (int step = 0; step < 200; ++step) {
      look();
      const Eigen::VectorXd move = cholesky_solve(expected_, gradient_);
      score_ += move;
      score_.array() -= score_.mean();
      if (has_ties_) log_ties_ = std::clamp(log_ties_ + tie_gradient_ / tie_information_, -10.0, 10.0);
      if (move.cwiseAbs().maxCoeff() < 1e-7 &&
          std::abs(tie_gradient_) < 1e-5 * static_cast<double>(duels_.size() + 1)) {
        break;
      }
    }
    look();
  }
  [[nodiscard]] const Eigen::VectorXd& score() const noexcept { return score_; }
  /// What the answers tell, less what is missing because outcomes are not seen (Louis).
  [[nodiscard]] Eigen::MatrixXd covariance() const {
    const auto exact = cholesky_inverse(RowMatrix(observed_));
    return exact ? Eigen::MatrixXd(exact->inverse) : inverse_of(expected_);
  }
  [[nodiscard]] double ties() const { return has_ties_ ? math::exp(log_ties_) / (2 + math::exp(log_ties_)) : 0; }

 private:
  void look() {
    const Eigen::Index n = score_.size();
    const double pull = 1 / (kScoreDeviation * kScoreDeviation);
    gradient_ = -pull * score_;
    expected_ = pull * Eigen::MatrixXd::Identity(n, n);
    observed_ = expected_;
    tie_gradient_ = -log_ties_ / 9;
    tie_information_ = 1.0 / 9;
    for (const Duel& duel : duels_) {
      const auto a = static_cast<Eigen::Index>(duel.first), b = static_cast<Eigen::Index>(duel.second);
      const double d = score_(a) - score_(b);
      std::vector<double> before{math::exp(d / 2), math::exp(-d / 2)};
      if (has_ties_) before.push_back(math::exp(log_ties_));
      normalise(before);
      std::vector<double> after = before;
      for (std::size_t z = 0; z < after.size(); ++z) after[z] *= duel.likelihood[z];
      normalise(after);
      const double mean = (before[0] - before[1]) / 2, seen = (after[0] - after[1]) / 2;
      const double spread = (before[0] + before[1]) / 4 - mean * mean;
      const double missing = (after[0] + after[1]) / 4 - seen * seen;
      gradient_(a) += seen - mean;
      gradient_(b) -= seen - mean;
      add(expected_, a, b, spread);
      add(observed_, a, b, spread - missing);
      if (!has_ties_) continue;
      tie_gradient_ += after[2] - before[2];
      tie_information_ += before[2] * (1 - before[2]);
    }
  }
  static void add(Eigen::MatrixXd& matrix, Eigen::Index a, Eigen::Index b, double value) {
    matrix(a, a) += value;
    matrix(b, b) += value;
    matrix(a, b) -= value;
    matrix(b, a) -= value;
  }

  std::vector<Duel> duels_;
  Eigen::VectorXd score_, gradient_;
  Eigen::MatrixXd expected_, observed_;
  bool has_ties_;
  double log_ties_ = 0, tie_gradient_ = 0, tie_information_ = 1;
};

}  // namespace

Leaderboard rank_items(const JudgeData& data, const MixedCrowdFit& fit, bool people_only) {
  if (data.kind != JudgedKind::comparisons) {
    throw Error(ErrorCode::bad_input, "only comparisons rank items: these answers are of another kind");
  }
  std::vector<Duel> duels = duels_of(data, fit, people_only);
  const std::size_t items = data.items.size();
  std::vector<std::uint64_t> tasks(items, 0);
  for (const Duel& duel : duels) {
    ++tasks[duel.first];
    ++tasks[duel.second];
  }
  DuelModel model(std::move(duels), items);
  model.fit();
  const Eigen::MatrixXd covariance = model.covariance();
  Leaderboard board;
  board.ties = model.ties();
  for (std::size_t i = 0; i < items; ++i) {
    const auto a = static_cast<Eigen::Index>(i);
    const double score = model.score()(a), half = kNormal95 * std::sqrt(std::max(covariance(a, a), 0.0));
    LeaderboardRow row{ItemId(i), {score, score - half, score + half}, 1, 1, static_cast<double>(items), tasks[i]};
    for (std::size_t j = 0; j < items; ++j) {
      const auto b = static_cast<Eigen::Index>(j);
      if (j == i) continue;
      const double ahead = model.score()(b) - score;
      const double sure =
          kNormal95 * std::sqrt(std::max(covariance(a, a) + covariance(b, b) - 2 * covariance(a, b), 0.0));
      row.rank += ahead > 0 ? 1 : 0;
      row.rank_low += ahead > sure ? 1 : 0;
      row.rank_high -= ahead < -sure ? 1 : 0;
    }
    board.rows.push_back(row);
  }
  std::stable_sort(board.rows.begin(), board.rows.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
  return board;
}

}  // namespace wisecrowd
