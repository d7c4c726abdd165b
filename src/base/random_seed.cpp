#include "base/random_seed.hpp"

#include <cstring>

#include "base/digest.hpp"

#ifdef WISECROWD_TRAVELS
// A libstdc++ that is linked in brings its std::random_device along, which nobody uses here and which calls this
// function of glibc 2.36. Machines with an older one shall be able to load us.
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  return static_cast<std::uint32_t>(wisecrowd::random_seed());
}
#endif

namespace wisecrowd {

std::uint64_t random_seed() {
  const std::string bytes = random_bytes(sizeof(std::uint64_t));
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), sizeof seed);
  return seed;
}

}  // namespace wisecrowd
