#pragma once

#include <memory>

#include "support.hpp"
#include "wisecrowd/foreign_network.hpp"

namespace wisecrowd::python {

/// Networks that Python makes: `make(outputs, seed)` gives an object with parameters(), forward(parameters, rows, mode,
/// outputs), backward(output_gradients, gradients), buffers(), set_buffers(values), drop_inputs(share) and
/// reseed(seed). Arrays that it is given are views, valid during the call.
[[nodiscard]] std::shared_ptr<ForeignNetworks> python_networks(py::object make);

}  // namespace wisecrowd::python
