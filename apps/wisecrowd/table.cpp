#include "table.hpp"

#include <algorithm>

#include "screen_text.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestColumn = 8;

}  // namespace

std::string Table::text(std::size_t width, const std::string& dim_on, const std::string& dim_off) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = display_width(columns_[c].title);
    for (const auto& row : rows_) {
      if (c < row.size()) widest = std::max(widest, display_width(row[c]));
    }
    widths.push_back(widest);
  }
  std::size_t total = indent_;
  for (const std::size_t w : widths) total += w + kGap;
  total -= kGap;
  std::vector<bool> shown(columns_.size(), true);
  for (std::size_t c = 0; c < columns_.size() && total > width; ++c) {
    if (!columns_[c].spare) continue;
    shown[c] = false;
    total -= widths[c] + kGap;
  }
  if (total > width) {
    const std::size_t excess = total - width;
    widths[0] = widths[0] > excess + kNarrowestColumn ? widths[0] - excess : std::min(widths[0], kNarrowestColumn);
  }
  const auto line = [&](const auto& cell_of) {
    std::string text(indent_, ' ');
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      std::string cell = cell_of(c);
      if (c == 0) cell = shortened_name(cell, widths[0]);
      const std::size_t cell_width = display_width(cell);
      const std::string blanks(widths[c] > cell_width ? widths[c] - cell_width : 0, ' ');
      text += columns_[c].side == Column::Side::left ? cell + blanks : blanks + cell;
      text.append(kGap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string all = dim_on + line([&](std::size_t c) { return columns_[c].title; }) + dim_off + "\n";
  for (const auto& row : rows_) {
    all += line([&](std::size_t c) { return c < row.size() ? row[c] : std::string(); }) + "\n";
  }
  return all;
}

}  // namespace wisecrowd::app
