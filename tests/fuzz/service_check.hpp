#pragma once

#include <string_view>

namespace wisecrowd::fuzz {

/// The first byte chooses one of the service's parsers, the rest is what a client sends.
void check_service(std::string_view bytes);

}  // namespace wisecrowd::fuzz
