#pragma once

#include <string>
#include <vector>

#include "wisecrowd/select.hpp"

namespace wisecrowd::app {

/// On what terms workers can be had, as a file says it.
struct OfferFile {
  std::vector<std::string> workers;
  std::vector<WorkerOffer> offers;
};

/// Reads a CSV file with the columns worker, cost, capacity and available; all but the first may be left out, in any
/// order, and a blank cell is the usual value (1, unlimited, yes). Throws bad_input that names the line.
[[nodiscard]] OfferFile read_offers(const std::string& path);

/// One offer for each of `names`: that of the file, or, for those whom it does not name, not available. Names in the
/// file that are unknown here are put into `strangers`.
[[nodiscard]] std::vector<WorkerOffer> offers_for(const OfferFile& file, const std::vector<std::string>& names,
                                                  std::vector<std::size_t>& strangers);

}  // namespace wisecrowd::app
