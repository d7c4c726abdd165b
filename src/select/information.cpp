#include <fmt/core.h>

#include <cmath>

#include "wisecrowd/error.hpp"
#include "wisecrowd/select.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {

double expected_information(std::span<const double> posterior, std::span<const double> table) {
  const std::size_t classes = posterior.size();
  if (table.size() != classes * classes) {
    throw Error(ErrorCode::bad_input,
                fmt::format("a table of {} cells does not fit {} classes", table.size(), classes));
  }
  return M_LN2 * mutual_information_bits(posterior, table);
}

}  // namespace wisecrowd
