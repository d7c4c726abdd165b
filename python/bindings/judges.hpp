#pragma once

#include "support.hpp"

namespace wisecrowd::python {

void define_judges(py::module_& module);

}  // namespace wisecrowd::python
