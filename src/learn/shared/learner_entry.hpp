#pragma once

#include "base/registry.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd {

/// What a room of learners offers: every one has a function
///   LearnerEntry learner();
/// which the registry finds by the line in learners.def.
using LearnerEntry = Entry<LearnerInfo, Learner>;

/// Methods of aggregation that a learner may ask for labels.
[[nodiscard]] std::vector<std::string> aggregator_names();

/// Throws unless the data are complete and the learner can learn from them: gold, number of classes.
void require_learnable(const LearnerInfo& info, const LearningData& data);

}  // namespace wisecrowd
