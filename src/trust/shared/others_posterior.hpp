#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/trust.hpp"

namespace wisecrowd::trust {

/// Least probability of an answer: no single one rules a class out.
inline constexpr double kLeastCell = 1e-6;

/// What the answers of others say of each task: one E-step with the tables at hand. A group that is acted on has one
/// voice, the mean of its members' log-likelihoods; fellows of a group are not others.
class OthersPosterior {
 public:
  /// `shares`: of the classes.
  OthersPosterior(const JudgedCrowd& crowd, std::span<const double> shares, const RunContext& context);

  /// P(truth of the task) without the worker who gave this answer to it, and without its fellows.
  void without(TaskId task, AnswerIndex answer, std::span<double> q) const;
  /// The most probable class with all answers.
  [[nodiscard]] std::size_t label(TaskId task) const;
  [[nodiscard]] std::size_t classes() const noexcept { return classes_; }

 private:
  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
  /// What the answer adds to the log posterior of class k.
  [[nodiscard]] double said(AnswerIndex answer, std::size_t k) const;
  /// Belongs to a group that counts as one voice.
  [[nodiscard]] bool one_voice(WorkerId worker) const;

  const JudgedCrowd& crowd_;
  std::size_t classes_;
  std::vector<std::uint32_t> group_;  ///< of each worker; empty if there are none
  std::vector<double> joint_;         ///< tasks × classes: log posterior but for a constant
};

}  // namespace wisecrowd::trust
