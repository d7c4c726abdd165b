#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/ids.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd {

/// The tasks of a simulation: their truth, their features, and which of them are for training.
struct World {
  bool given = false;  ///< the truth came from outside
  std::size_t tasks = 0;
  std::size_t classes = 0;
  std::vector<std::uint32_t> train, held_out;  ///< tasks to be answered, ascending
  std::vector<double> class_prior;
  std::vector<ClassId> truth;
  std::vector<float> drawn_features;  ///< row t for task t

  std::span<const float> features;  ///< the drawn or the given ones
  std::size_t feature_columns = 0;  ///< 0: there are none
  std::span<const std::uint32_t> rows;

  [[nodiscard]] std::span<const float> features_of(std::size_t task) const {
    return features.subspan((rows.empty() ? task : rows[task]) * feature_columns, feature_columns);
  }
};

/// Checks the options against the size, and lays out the tasks without truth or features unless they are given.
[[nodiscard]] World start_world(const SimulationSize& size, const TaskOptions& options);

/// Fills in what the kind has left open: class prior, truth, Gaussian features. False when cancelled.
[[nodiscard]] bool finish_world(const Parameters& parameters, const TaskOptions& options, const RunContext& context,
                                World& world);

/// Makes drawn features the features of the world.
void take_features(World& world, std::vector<float> values, std::size_t columns);

/// The share of each class among the tasks whose truth is known.
[[nodiscard]] std::vector<double> class_shares(const World& world);

}  // namespace wisecrowd
