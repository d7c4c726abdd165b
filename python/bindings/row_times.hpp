#pragma once

#include <vector>

#include "support.hpp"

namespace wisecrowd::python {

/// Times in the order of the answers; `rows`: codes of tasks, workers and labels by row, and times.
[[nodiscard]] std::vector<double> times_of_rows(const CategoryAnswers& answers, const py::object& rows);

}  // namespace wisecrowd::python
