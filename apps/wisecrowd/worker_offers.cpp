#include "worker_offers.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "screen_text.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::array kColumns = {"worker", "cost", "capacity", "available", "response"};

class OfferReader {
 public:
  explicit OfferReader(std::string path) : path_(std::move(path)) {}

  NamedOffers read() {
    std::ifstream file(path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) throw Error(ErrorCode::io, fmt::format("cannot read '{}'", printable(path_)));
    std::string_view rest = text;
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
    while (!rest.empty()) {
      ++line_;
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view row = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (row.ends_with('\r')) row.remove_suffix(1);
      if (row.empty()) continue;
      const std::vector<std::string> cells = split_list(row);
      places_.empty() ? read_header(cells) : read_row(cells);
    }
    if (places_.empty()) refuse("is empty: the first line names the columns, worker,cost,capacity,available,response");
    return std::move(offers_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::bad_input, fmt::format("{}:{}: {}", printable(path_), line_, what));
  }

  void read_header(const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) {
      const auto at = std::find(kColumns.begin(), kColumns.end(), cell);
      if (at == kColumns.end()) {
        refuse(
            fmt::format("there is no column '{}': name worker, cost, capacity, available, response", printable(cell)));
      }
      const auto column = static_cast<std::size_t>(at - kColumns.begin());
      if (std::find(places_.begin(), places_.end(), column) != places_.end()) {
        refuse(fmt::format("the column '{}' stands here twice", cell));
      }
      places_.push_back(column);
    }
    if (std::find(places_.begin(), places_.end(), 0U) == places_.end()) refuse("has no column 'worker'");
  }

  void read_row(const std::vector<std::string>& cells) {
    if (cells.size() != places_.size()) {
      refuse(fmt::format("has {} cells, but {} are named above", cells.size(), places_.size()));
    }
    WorkerOffer offer;
    std::string name;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string& cell = cells[c];
      switch (places_[c]) {
        case 0: name = cell; break;
        case 1: offer.cost = cell.empty() ? 1 : cost(cell); break;
        case 2: offer.capacity = cell.empty() ? kUnlimited : capacity(cell); break;
        case 3: offer.available = cell.empty() || available(cell); break;
        default: offer.response = cell.empty() ? 1 : response(cell);
      }
    }
    if (name.empty()) refuse("the worker has no name");
    if (!known_.emplace(name, line_).second) {
      refuse(fmt::format("worker '{}' stands in line {} already", printable(name), known_[name]));
    }
    offers_.workers.push_back(std::move(name));
    offers_.offers.push_back(offer);
  }

  [[nodiscard]] double cost(const std::string& cell) const {
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0) || !std::isfinite(value)) {
      refuse(fmt::format("column 'cost': '{}' is not a number above 0", printable(cell)));
    }
    return value;
  }
  [[nodiscard]] double response(const std::string& cell) const {
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !(value > 0) || !(value <= 1)) {
      refuse(fmt::format("column 'response': '{}' is no probability above 0; who never answers is not available",
                         printable(cell)));
    }
    return value;
  }
  [[nodiscard]] std::uint32_t capacity(const std::string& cell) const {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size()) {
      refuse(
          fmt::format("column 'capacity': '{}' is not a whole number; leave it blank for no limit", printable(cell)));
    }
    return value;
  }
  [[nodiscard]] bool available(const std::string& cell) const {
    for (const auto* yes : {"1", "yes", "true"}) {
      if (cell == yes) return true;
    }
    for (const auto* no : {"0", "no", "false"}) {
      if (cell == no) return false;
    }
    refuse(fmt::format("column 'available': '{}' is neither yes nor no", printable(cell)));
  }

  std::string path_;
  std::size_t line_ = 0;
  std::vector<std::size_t> places_;  // which of kColumns each cell is
  std::unordered_map<std::string, std::size_t> known_;
  NamedOffers offers_;
};

}  // namespace

NamedOffers read_offers(const std::string& path) { return OfferReader(path).read(); }

}  // namespace wisecrowd::app
