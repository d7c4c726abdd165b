#pragma once

#include "support.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::python {

/// rows × …, or the three arrays of a sparse matrix with its number of columns.
[[nodiscard]] Features features_from(const py::object& given);
[[nodiscard]] NetworkSpec network_from(const py::dict& given);
/// curve_objective, curve_held_out, epochs and chosen_epoch.
template <class Found>
void add_curve(const Found& learned, py::dict& dict) {
  std::vector<double> objective, held_out;
  for (const CurvePoint& point : learned.curve) {
    objective.push_back(point.objective);
    held_out.push_back(point.held_out);
  }
  dict["curve_objective"] = to_array(std::move(objective));
  dict["curve_held_out"] = to_array(std::move(held_out));
  dict["epochs"] = learned.epochs;
  dict["chosen_epoch"] = learned.chosen_epoch;
}

}  // namespace wisecrowd::python
