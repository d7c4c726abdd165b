// One program per reader: WISECROWD_FUZZ_TARGET names the check.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "fuzz/checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& check = wisecrowd::fuzz::checks().at(WISECROWD_FUZZ_TARGET);
  try {
    check({reinterpret_cast<const char*>(data), size});
  } catch (const std::logic_error& contradiction) {
    std::fprintf(stderr, "%s\n", contradiction.what());
    std::abort();
  }
  return 0;
}
