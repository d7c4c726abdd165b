#include "aggregate/kind_registry.hpp"
#include "aggregate/sequences/shared/sequence_method.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room) \
  namespace room {             \
  SequenceMethod method();     \
  }
#include "aggregate/sequences/methods.def"
#undef WISECROWD_METHOD

template <>
const Registry<SequenceMethod>& registry_of<Sequences>() {
  static const Registry<SequenceMethod> all("method", {
#define WISECROWD_METHOD(room) {#room, &room::method},
#include "aggregate/sequences/methods.def"
#undef WISECROWD_METHOD
                                                      });
  return all;
}

template <>
std::string_view default_method_of<Sequences>() {
  return "bsc";
}

WISECROWD_METHODS_OF(Sequences);

}  // namespace wisecrowd
