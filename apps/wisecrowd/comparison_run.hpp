#pragma once

#include "item_learning.hpp"

namespace wisecrowd::app {

/// `learn` for comparisons: a network that gives scores to items by their features.
void learn_scores(const ItemLearningRequest& request, Session& session);

}  // namespace wisecrowd::app
