#pragma once

#include <span>
#include <vector>

#include "wisecrowd/category_data.hpp"

namespace wisecrowd {

/// Shares of votes with one vote more that is spread as the task's prior is: what is mixed into probabilities. Members
/// of a group share its one vote.
class VoteRows {
 public:
  /// `voices`: who counts as one; empty if everybody is on its own. With `weighted`, half of each row are votes weighed
  /// by how often a worker agrees with the plain vote, and constant workers are left out where others answered.
  VoteRows(const CategoryData& data, std::span<const std::uint32_t> voices, bool weighted);
  void row(std::size_t task, std::span<double> out) const;

 private:
  void add_votes(std::size_t task, std::span<double> out) const;
  void add_weighted_votes(std::size_t task, std::span<double> out) const;

  const CategoryData& data_;
  std::span<const std::uint32_t> voices_;
  bool weighted_;
  std::vector<double> weight_;  // of each worker
  std::vector<bool> left_out_;  // constant workers
};

}  // namespace wisecrowd
