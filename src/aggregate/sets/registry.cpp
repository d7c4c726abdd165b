#include "aggregate/kind_registry.hpp"
#include "wisecrowd/set_methods.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room) \
  namespace room {             \
  Method<Sets> method();       \
  }
#include "aggregate/sets/methods.def"
#undef WISECROWD_METHOD

template <>
const Registry<Method<Sets>>& registry_of<Sets>() {
  static const Registry<Method<Sets>> all("method", {
#define WISECROWD_METHOD(room) {#room, &room::method},
#include "aggregate/sets/methods.def"
#undef WISECROWD_METHOD
                                                    });
  return all;
}

template <>
std::string_view default_method_of<Sets>() {
  return "best_relevance";
}

WISECROWD_METHODS_OF(Sets);

}  // namespace wisecrowd
