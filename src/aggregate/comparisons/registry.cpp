#include "aggregate/kind_registry.hpp"
#include "wisecrowd/comparison_aggregator.hpp"

namespace wisecrowd {

using ComparisonMethod = Method<Comparisons>;

// What each room offers.
#define WISECROWD_METHOD(room)  \
  namespace room {              \
  Method<Comparisons> method(); \
  }
#include "aggregate/comparisons/methods.def"
#undef WISECROWD_METHOD

template <>
const Registry<ComparisonMethod>& registry_of<Comparisons>() {
  static const Registry<ComparisonMethod> all("method", {
#define WISECROWD_METHOD(room) {#room, &room::method},
#include "aggregate/comparisons/methods.def"
#undef WISECROWD_METHOD
                                                        });
  return all;
}

template <>
std::string_view default_method_of<Comparisons>() {
  return "comparisons_default";
}

WISECROWD_METHODS_OF(Comparisons);

}  // namespace wisecrowd
