#include "aggregate/kind_registry.hpp"
#include "aggregate/similarities/shared/similarity_method.hpp"

namespace wisecrowd {

// What each room offers.
#define WISECROWD_METHOD(room) \
  namespace room {             \
  SimilarityMethod method();   \
  }
#include "aggregate/similarities/methods.def"
#undef WISECROWD_METHOD

template <>
const Registry<SimilarityMethod>& registry_of<Similarities>() {
  static const Registry<SimilarityMethod> all("method", {
#define WISECROWD_METHOD(room) {#room, &room::method},
#include "aggregate/similarities/methods.def"
#undef WISECROWD_METHOD
                                                        });
  return all;
}

template <>
std::string_view default_method_of<Similarities>() {
  return "crowd_clusters";
}

WISECROWD_METHODS_OF(Similarities);

}  // namespace wisecrowd
