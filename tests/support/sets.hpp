#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wisecrowd/set_fit.hpp"
#include "wisecrowd/simulate_sets.hpp"

namespace wisecrowd::testing {

/// A simulated crowd; `settings` change the parameters of the simulation.
[[nodiscard]] SetSimulation set_crowd(std::uint64_t seed, SetSimulationSize size,
                                      const std::vector<std::pair<std::string, std::string>>& settings = {});

/// Without the truth.
[[nodiscard]] SetData answers_alone(const SetData& data);

/// The same answers to the question whether one class is in the set.
[[nodiscard]] SetData only_class(const SetData& data, ClassId label);

/// How often each class is true by the posteriors of a fit.
[[nodiscard]] std::vector<double> mean_probabilities(const SetFit& fit);

/// Log likelihood of the answers by a sum over all truths of all tasks, with classes that occur independently;
/// `posterior` (tasks × classes) receives the probabilities.
double enumerated_sets(const SetData& data, const std::vector<double>& sensitivity,
                       const std::vector<double>& specificity, const std::vector<double>& prior,
                       std::vector<double>& posterior);

}  // namespace wisecrowd::testing
