#pragma once

#include "base/registry.hpp"
#include "wisecrowd/learn_numbers.hpp"

namespace wisecrowd {

/// What a room of learners of numbers offers: every one has a function
///   NumberLearnerEntry learner();
/// which the registry finds by the line in number_learners.def.
using NumberLearnerEntry = Entry<LearnerInfo, NumberLearner>;

}  // namespace wisecrowd
