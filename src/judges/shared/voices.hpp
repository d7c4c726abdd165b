#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/judge_data.hpp"

namespace wisecrowd::judges {

/// What one worker says of one task, however often it was asked: repeats are one voice.
struct Voice {
  std::uint32_t task, worker;
  std::uint32_t first, count;  ///< its answers in JudgeData::answers
  ClassId said;                ///< most often; of equals a tie in comparisons, else the lowest
  bool soft;                   ///< some of its answers are probabilities
};

/// The voices of a crowd in the order of tasks, and what each says as shares of classes.
class Voices {
 public:
  explicit Voices(const JudgeData& data);

  [[nodiscard]] std::size_t classes() const noexcept { return classes_; }
  [[nodiscard]] std::size_t tasks() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] std::size_t size() const noexcept { return voices_.size(); }
  [[nodiscard]] const Voice& operator[](std::size_t v) const noexcept { return voices_[v]; }
  [[nodiscard]] std::size_t begin_of(std::size_t task) const noexcept { return offsets_[task]; }
  [[nodiscard]] std::size_t end_of(std::size_t task) const noexcept { return offsets_[task + 1]; }
  /// Shares of its hard answers by class; of probabilities their mean logarithm, made to sum to 1.
  [[nodiscard]] std::span<const double> shares(std::size_t v) const {
    return std::span(shares_).subspan(v * classes_, classes_);
  }
  [[nodiscard]] std::span<const double> log_shares(std::size_t v) const {
    return std::span(log_shares_).subspan(v * classes_, classes_);
  }
  /// The voices of each worker, in the order of tasks.
  [[nodiscard]] const std::vector<std::uint32_t>& of_worker(std::size_t worker) const { return of_worker_[worker]; }

 private:
  std::size_t classes_;
  std::vector<std::size_t> offsets_;
  std::vector<Voice> voices_;
  std::vector<double> shares_, log_shares_;
  std::vector<std::vector<std::uint32_t>> of_worker_;
};

/// The class of the mirrored verdict: in comparisons first and second change places.
[[nodiscard]] inline std::size_t mirrored_class(std::size_t k) noexcept { return k < 2 ? 1 - k : k; }

}  // namespace wisecrowd::judges
