#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace wisecrowd {

/// A worker's table by its answers so far, without those under suspicion: that of all its answers, moved towards
/// perfection or chance as its accuracy so far says. One number is learned, because a whole table would take too long.
class PastTable {
 public:
  /// `overall`: the table of all its answers, of which there are `answers`; `crowd`: that of the crowd, which counts as
  /// a few in each row; `shares`: of the classes.
  PastTable(std::span<const double> overall, std::span<const double> crowd, double answers,
            std::span<const double> shares);
  /// What is believed of its accuracy before the first answer, and for how many answers that counts.
  void start_at(double accuracy, double answers);
  /// The accuracy of all its answers counts for some of its past; to these come `answers`, of which `right` were right.
  void start_after(double right, double answers);
  [[nodiscard]] double accuracy() const noexcept { return right_ / answers_; }
  /// P(said), given what is thought of the truth.
  [[nodiscard]] double probability(std::span<const double> q, std::size_t said) const;
  /// P(the answer was right).
  [[nodiscard]] double right(std::span<const double> q, std::size_t said) const;
  /// The answer is above suspicion.
  void count(std::span<const double> q, std::size_t said);

 private:
  void move();

  std::size_t classes_;
  std::vector<double> cells_;
  double overall_ = 0, right_ = 0, answers_ = 0;
  double stay_ = 1, perfect_ = 0, even_ = 0;  ///< shares of the overall table, of a perfect one and of an even one
};

/// ln of how much better a worker who is `degraded` of the way to chance explains an answer than its past does. No
/// single answer counts for more than 2.5: a table says little of answers that were hardly ever given.
[[nodiscard]] double drift_odds(const PastTable& past, std::span<const double> q, std::size_t said, double degraded);
/// The mean of that over the answers of such a degraded worker: how much one answer tells.
[[nodiscard]] double drift_information(const PastTable& past, std::span<const double> q, double degraded);
/// How large the running sum of the odds of a worker whose answers tell so much on average must be for an alarm, so
/// that there are `false_alarms` among 1,000 answers of steady workers (src/trust/drift/METHOD.md).
[[nodiscard]] double drift_alarm(double information, double false_alarms);

}  // namespace wisecrowd
