#include "aggregate/kind_registry.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room) \
  namespace room {             \
  NumberMethod method();       \
  }
#include "aggregate/numbers/methods.def"
#undef WISECROWD_METHOD

template <>
const Registry<NumberMethod>& registry_of<Numbers>() {
  static const Registry<NumberMethod> all("method", {
#define WISECROWD_METHOD(room) {#room, &room::method},
#include "aggregate/numbers/methods.def"
#undef WISECROWD_METHOD
                                                    });
  return all;
}

template <>
std::string_view default_method_of<Numbers>() {
  return "numbers_automatic";
}

WISECROWD_METHODS_OF(Numbers);

}  // namespace wisecrowd
