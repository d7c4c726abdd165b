#pragma once

#include <span>
#include <vector>

#include "wisecrowd/select.hpp"

namespace wisecrowd::selecting {

/// What an answer tells of other tasks. An answer to a task whose truth is k tells of row k of its worker's table, and
/// with it how much to make of what the worker said elsewhere. To second order, what it tells of the truth of a task i
/// that the worker has answered by y is
///
///   ½ q_ik (1 − q_ik) (B − b_y) / (b_y (B + 1)²),
///
/// where b is row k of the worker's Dirichlet parameters and B its sum: b_y / B is the chance of y for a task of class
/// k if i is of another class, (b_y + 1) / (B + 1) if it is of class k too. Returns workers × truth of the task that is
/// asked: the sums over the tasks that each worker has answered, in nats. Zeros where the answers are not known.
[[nodiscard]] std::vector<double> indirect_information(const CrowdView& crowd, std::span<const double> posterior);

}  // namespace wisecrowd::selecting
