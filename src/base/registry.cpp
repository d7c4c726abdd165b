#include "base/registry.hpp"

#include <fmt/format.h>

namespace wisecrowd {

void refuse_entry(std::string_view what, std::string_view name, const std::vector<std::string>& names) {
  throw Error(ErrorCode::bad_parameter,
              fmt::format("there is no {} '{}': choose {}", what, name, fmt::join(names, ", ")));
}

}  // namespace wisecrowd
