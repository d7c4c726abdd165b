#pragma once

#include "learn/shared/coupled_tables.hpp"

namespace wisecrowd {

/// Worker tables that depend on the row, through the network's further outputs. What is written for every such model:
/// posterior and probability of an answer, the mean table of each worker, and how far each worker can be trusted on
/// each row.
class FeatureDependentTables : public CoupledTables {
 public:
  using CoupledTables::CoupledTables;
  /// The worker's table (truth × label) at a row; `further` is empty for a task without features.
  virtual void table_at(std::span<const double> further, WorkerId worker, std::span<double> table) const = 0;

  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
};

}  // namespace wisecrowd
