#include "data/drift_evidence.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {
namespace {

/// What all answers of a worker say of its accuracy counts as so many answers of its past; the crowd's table as so many
/// in each row of its own.
constexpr double kOverallWeight = 100, kCrowdWeight = 2;
constexpr double kLeastAnswer = 1e-6;
constexpr double kMostOdds = 2.5;
/// The alarm at one nat per answer and at .15 false alarms, its slope by the log of the information, and its bounds.
constexpr double kAlarmAtOne = 7.2, kAlarmSlope = 0.55, kAlarmRate = 0.15, kLeastAlarm = 5;
constexpr double kMostAlarm = 6.907755278982137;  // ln 1000

}  // namespace

PastTable::PastTable(std::span<const double> overall, std::span<const double> crowd, double answers,
                     std::span<const double> shares)
    : classes_(shares.size()), cells_(overall.begin(), overall.end()) {
  const double prior = kCrowdWeight * static_cast<double>(classes_);
  const double of_crowd = prior / (prior + answers);
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    cells_[c] = (1 - of_crowd) * overall[c] + of_crowd * std::max(crowd[c], kLeastAnswer);
  }
  overall_ = accuracy_at(shares, cells_);
  start_at(overall_, kOverallWeight);
}

void PastTable::start_at(double accuracy, double answers) {
  right_ = answers * accuracy;
  answers_ = answers;
  move();
}

void PastTable::start_after(double right, double answers) {
  right_ = kOverallWeight * overall_ + right;
  answers_ = kOverallWeight + answers;
  move();
}

double PastTable::probability(std::span<const double> q, std::size_t said) const {
  double sum = 0;
  for (std::size_t k = 0; k < classes_; ++k) sum += q[k] * cells_[k * classes_ + said];
  return std::max(stay_ * sum + perfect_ * q[said] + even_ / static_cast<double>(classes_), kLeastAnswer);
}

double PastTable::right(std::span<const double> q, std::size_t said) const {
  const double own = stay_ * cells_[said * (classes_ + 1)] + perfect_ + even_ / static_cast<double>(classes_);
  return std::min(q[said] * own / probability(q, said), 1.0);
}

void PastTable::count(std::span<const double> q, std::size_t said) {
  right_ += right(q, said);
  answers_ += 1;
  move();
}

void PastTable::move() {
  const double accuracy = right_ / answers_, chance = 1 / static_cast<double>(classes_);
  perfect_ = accuracy > overall_ && overall_ < 1 ? (accuracy - overall_) / (1 - overall_) : 0;
  even_ = accuracy < overall_ && overall_ > chance ? std::min((overall_ - accuracy) / (overall_ - chance), 1.0) : 0;
  stay_ = 1 - perfect_ - even_;
}

double drift_odds(const PastTable& past, std::span<const double> q, std::size_t said, double degraded) {
  const double even = 1 / static_cast<double>(q.size());
  return std::min(math::log((1 - degraded) + degraded * even / past.probability(q, said)), kMostOdds);
}

double drift_information(const PastTable& past, std::span<const double> q, double degraded) {
  const double even = 1 / static_cast<double>(q.size());
  double information = 0;
  for (std::size_t l = 0; l < q.size(); ++l) {
    const double own = past.probability(q, l);
    information += ((1 - degraded) * own + degraded * even) *
                   std::min(math::log((1 - degraded) + degraded * even / own), kMostOdds);
  }
  return information;
}

double drift_alarm(double information, double false_alarms) {
  const double alarm = kAlarmAtOne + kAlarmSlope * math::log(std::max(information, 1e-9));
  return std::clamp(alarm, kLeastAlarm, kMostAlarm) - math::log(false_alarms / kAlarmRate);
}

}  // namespace wisecrowd
