#include "ingest/column_search.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ingest/key_table.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

/// Exactly, else without regard to case and surrounding blanks.
std::size_t find_name(const std::vector<std::string>& names, const std::string& wanted) {
  const auto exact = std::find(names.begin(), names.end(), wanted);
  if (exact != names.end()) return static_cast<std::size_t>(exact - names.begin());
  const std::string key = normalised(wanted);
  const std::string_view alias = key;
  return find_alias(names, std::span(&alias, 1));
}

std::optional<std::size_t> as_position(const std::string& text) {
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

std::string quoted_list(std::span<const std::string_view> names, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    out += fmt::format("{}{}", i > 0 ? ", " : "", names[i]);
  return names.size() > most ? out + ", …" : out;
}

}  // namespace

std::string normalised(std::string_view name) {
  const auto first = name.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  name = name.substr(first, name.find_last_not_of(" \t") - first + 1);
  std::string out;
  for (const char c : name) {
    out += c == ' ' || c == '-' || c == '.' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::size_t find_alias(const std::vector<std::string>& names, std::span<const std::string_view> aliases) {
  std::vector<std::string> keys;
  for (const auto& name : names) keys.push_back(normalised(name));
  for (const auto alias : aliases) {
    const auto at = std::find(keys.begin(), keys.end(), alias);
    if (at != keys.end()) return static_cast<std::size_t>(at - keys.begin());
  }
  return kNoColumn;
}

std::string shown_header(const ColumnPlan& plan) {
  std::vector<std::string> quoted;
  for (const auto& name : plan.names) quoted.push_back(fmt::format("'{}'", printable(name, 40)));
  return shortened_list(quoted, 8);
}

/// Guesses why a header makes no sense.
std::string hint(const ColumnPlan& plan) {
  if (plan.names.size() != 1) return "";
  const std::string& only = plan.names.front();
  if (plan.format == TableFormat::csv && only.find('\t') != std::string::npos) {
    return ". It contains tabs: name the format tsv";
  }
  if (plan.format == TableFormat::tsv && only.find_first_of(",;") != std::string::npos) {
    return ". It contains commas or semicolons: name the format csv";
  }
  if (only.starts_with("{")) return ". It looks like JSON: name the format jsonl";
  return "";
}

bool take_positions(ColumnPlan& plan, const std::string& file, std::span<const Wanted> wanted) {
  if (plan.format == TableFormat::jsonl) return false;
  for (const auto& column : wanted) {
    if (!as_position(column.given) || find_name(plan.names, column.given) != kNoColumn) return false;
  }
  for (const auto& column : wanted) {
    const std::size_t position = *as_position(column.given);
    if (position > plan.names.size()) {
      throw Error(ErrorCode::bad_parameter, fmt::format("{}: there is no column {} for the {}: the first row has {}",
                                                        file, position, column.role, plan.names.size()));
    }
    *column.place = position - 1;
  }
  plan.has_header = false;
  const std::size_t columns = plan.names.size();
  for (std::size_t c = 0; c < columns; ++c) plan.names[c] = fmt::format("{}", c + 1);
  for (const auto& column : wanted) plan.names[*column.place] = column.role;
  return true;
}

void fail_missing(const ColumnPlan& plan, const std::string& file, std::span<const Wanted> wanted,
                  std::string_view remedy) {
  std::string message = fmt::format("{}: the {} names no column for the ", file,
                                    plan.format == TableFormat::jsonl ? "first object" : "header");
  bool first = true;
  for (const auto& column : wanted) {
    if (*column.place != kNoColumn) continue;
    message += fmt::format("{}{}", first ? "" : " and the ", column.role);
    first = false;
  }
  message += fmt::format(". Found: {}{}. Known names:", shown_header(plan), hint(plan));
  for (const auto& column : wanted) {
    if (*column.place == kNoColumn) message += fmt::format(" {}: {};", column.role, quoted_list(column.aliases, 12));
  }
  message.back() = '.';
  throw Error(ErrorCode::bad_input, fmt::format("{} {}", message, remedy));
}

void find_columns(ColumnPlan& plan, const std::string& file, std::span<const Wanted> wanted) {
  for (const auto& column : wanted) {
    if (column.given.empty()) {
      *column.place = find_alias(plan.names, column.aliases);
      continue;
    }
    *column.place = find_name(plan.names, column.given);
    if (*column.place == kNoColumn) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: there is no column '{}' for the {}. Found: {}{}. Name one of these with `columns`",
                              file, printable(column.given), column.role, shown_header(plan), hint(plan)));
    }
  }
  for (const auto& a : wanted) {
    for (const auto& b : wanted) {
      if (&a < &b && *a.place != kNoColumn && *a.place == *b.place) {
        throw Error(ErrorCode::bad_input, fmt::format("{}: column '{}' cannot be both the {} and the {}", file,
                                                      printable(plan.names[*a.place]), a.role, b.role));
      }
    }
  }
}

void refuse_repeated_names(const ColumnPlan& plan, const std::string& file, bool all) {
  const auto check = [&](std::size_t column) {
    const auto& name = plan.names[column];
    for (std::size_t other = 0; other < plan.names.size(); ++other) {
      if (other == column || plan.names[other] != name) continue;
      if (plan.format == TableFormat::jsonl) {
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: the key '{}' appears twice in the first object: keep one", file, printable(name)));
      }
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: columns {} and {} are both named '{}': rename one", file,
                              std::min(column, other) + 1, std::max(column, other) + 1, printable(name)));
    }
  };
  for (const std::size_t column : {plan.task, plan.right, plan.worker, plan.label}) {
    if (column != kNoColumn) check(column);
  }
  if (!all) return;
  std::vector<std::size_t> order(plan.names.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return plan.names[a] < plan.names[b]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (plan.names[order[i]] == plan.names[order[i - 1]]) check(order[i]);
  }
}

void check_worker_columns(const ColumnPlan& plan, const std::string& file) {
  const bool keys = plan.format == TableFormat::jsonl;
  refuse_repeated_names(plan, file, !keys);
  for (std::size_t c = 0; c < plan.names.size() && !keys; ++c) {
    if (plan.names_worker(c) && plan.names[c].size() - 1 >= kLongestName) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: column {} has {} name: in a wide table the header names the workers", file, c + 1,
                              plan.names[c].empty() ? "no" : "too long a"));
    }
  }
}

std::size_t value_column(const ColumnPlan& plan, const std::string& file, const std::string& wanted,
                         std::string_view role) {
  const std::optional<std::size_t> position = plan.has_header ? std::nullopt : as_position(wanted);
  if (position && *position <= plan.names.size()) return *position - 1;
  const std::size_t at = find_name(plan.names, wanted);
  if (at == kNoColumn) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: there is no column '{}'{}. Found: {}{}. Name one of these{}", file, printable(wanted),
                            role.empty() ? "" : fmt::format(" for the {}", role), shown_header(plan), hint(plan),
                            role.empty() ? " with `columns`" : ""));
  }
  return at;
}

}  // namespace wisecrowd::ingest
