#pragma once

#include "base/registry.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// What a room of methods offers, by the kind of answers that it takes. Every room has a function
///   Method<Kind> method();
/// which its registry finds by the line in methods.def.
template <class Kind>
using Method = Entry<MethodInfo, Aggregator<Kind>>;
using CategoryMethod = Method<Categories>;
using NumberMethod = Method<Numbers>;

}  // namespace wisecrowd
