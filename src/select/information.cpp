#include <fmt/core.h>

#include <cmath>

#include "wisecrowd/error.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd {

double expected_information(std::span<const double> posterior, std::span<const double> table) {
  const std::size_t classes = posterior.size();
  if (table.size() != classes * classes) {
    throw Error(ErrorCode::bad_input,
                fmt::format("a table of {} cells does not fit {} classes", table.size(), classes));
  }
  const auto part = [](double p) { return p > 0 ? p * std::log(p) : 0; };
  double information = 0;
  for (std::size_t l = 0; l < classes; ++l) {
    double p = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      p += posterior[k] * table[k * classes + l];
      information += posterior[k] * part(table[k * classes + l]);
    }
    information -= part(p);
  }
  return information > 0 ? information : 0;
}

}  // namespace wisecrowd
