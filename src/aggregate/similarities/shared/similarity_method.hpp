#pragma once

#include "aggregate/method.hpp"
#include "wisecrowd/similarity_aggregator.hpp"

namespace wisecrowd {

using SimilarityMethod = Method<Similarities>;

}  // namespace wisecrowd
