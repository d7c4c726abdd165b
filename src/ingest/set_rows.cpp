#include "ingest/set_rows.hpp"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "ingest/json_lines.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::string_view kListRemedy = "write a list of classes, as a|b or as JSON has it, [\"a\", \"b\"]";

std::string_view trimmed_cell(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// A list in quotes of either kind, as Python prints one: ['a', "b"]. False when it is none.
bool split_quoted_list(std::string_view text, Arena& store, std::vector<std::string_view>& names) {
  std::size_t at = 1;
  const auto blanks = [&] { at = std::min(text.find_first_not_of(" \t", at), text.size()); };
  for (blanks(); at < text.size() && text[at] != ']';) {
    const char quote = text[at++];
    if (quote != '\'' && quote != '"') return false;
    std::string name;
    for (; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\' && ++at == text.size()) return false;
      name += text[at];
    }
    if (at++ >= text.size()) return false;
    names.push_back(store.copy(name));
    blanks();
    if (at < text.size() && text[at] == ',') {
      ++at;
      blanks();
    } else if (at >= text.size() || text[at] != ']') {
      return false;
    }
  }
  return at + 1 == text.size();
}

/// The list itself, or the only member of an object, as Label Studio exports choices.
std::string split_json(std::string_view text, Arena& store, std::vector<std::string_view>& names) {
  static thread_local simdjson::dom::parser parser;  // keeps its memory from cell to cell
  simdjson::dom::element root;
  simdjson::dom::array list;
  if (parser.parse(text.data(), text.size(), true).get(root) != simdjson::SUCCESS) {
    if (text.front() == '[' && split_quoted_list(text, store, names)) return {};
    return fmt::format("is no list of classes: {}", kListRemedy);
  }
  simdjson::dom::object object;
  if (root.get(object) == simdjson::SUCCESS) {
    if (object.size() != 1) return fmt::format("is an object with {} members: {}", object.size(), kListRemedy);
    root = (*object.begin()).value;
  }
  if (root.get(list) != simdjson::SUCCESS) {
    const Field only = json_text(root, store);
    if (only.state != Field::State::ok) return fmt::format("holds no list of classes: {}", kListRemedy);
    names.push_back(only.text);
    return {};
  }
  for (const simdjson::dom::element item : list) {
    const Field field = json_text(item, store);
    if (field.state == Field::State::nul) return "holds a NUL: remove it";
    if (field.state != Field::State::ok) return fmt::format("holds something else than names: {}", kListRemedy);
    names.push_back(field.text);
  }
  return {};
}

}  // namespace

std::string split_set(std::string_view text, const SetReading& reading, Arena& store,
                      std::vector<std::string_view>& names) {
  names.clear();
  text = trimmed_cell(text);
  if (text.empty()) {
    return reading.blank_is_empty ? ""
                                  : "is empty: write [] for none of the classes, read blanks so with `blank_is_empty`, "
                                    "or remove the row";
  }
  if (text == "[]" || (!reading.empty.empty() && text == reading.empty)) return {};
  const bool json = text.front() == '[' || text.front() == '{';
  if (json) {
    std::string problem = split_json(text, store, names);
    if (!problem.empty()) return problem;
  } else {
    const std::string_view separator = reading.separator.empty() ? std::string_view("|") : reading.separator;
    for (std::string_view rest = text;;) {
      const std::size_t end = rest.find(separator);
      names.push_back(trimmed_cell(rest.substr(0, end)));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + separator.size());
    }
  }
  for (std::string_view& name : names) {
    if (json) name = trimmed_cell(name);
    if (name.empty()) return "has a class without a name: remove what is too much, or write [] for none of the classes";
    if (name.size() > kLongestName) {
      return fmt::format("has a class of more than {} bytes: names of classes are wanted, not a text", kLongestName);
    }
    if (names.size() > 1 && (name == "[]" || (!reading.empty.empty() && name == reading.empty))) {
      return fmt::format("says '{}', none of the classes, beside others: keep one of the two", printable(name, 20));
    }
  }
  return {};
}

bool SetRowChecks::take_set(const Field& cell, std::string_view column, std::uint64_t line) {
  codes_.clear();
  const bool list = cell.state == Field::State::nested;  // a JSON list in a line of JSON
  if (cell.state != Field::State::ok && cell.state != Field::State::null && !list) {
    return refuse_field(cell, column, line);
  }
  const std::string wrong = split_set(cell.text, table_.plan.sets, chunk_.text_store, names_);
  if (!wrong.empty()) {
    problem(line, column, cell.text, wrong);
    return false;
  }
  for (const std::string_view name : names_) {
    const std::uint32_t code = chunk_.classes.code(name, table_.classes);
    if (code == ChunkClasses::kUnknown) return refuse_label(name, column, line);
    codes_.push_back(code);
  }
  std::sort(codes_.begin(), codes_.end());
  codes_.erase(std::unique(codes_.begin(), codes_.end()), codes_.end());
  if (codes_.size() <= kLargestSet) return true;
  problem(line, column, "", fmt::format("holds more than {} classes: is this the right column?", kLargestSet));
  return false;
}

std::uint32_t SetRowChecks::add_set(std::uint64_t line) {
  chunk_.members.insert(chunk_.members.end(), codes_.begin(), codes_.end());
  chunk_.lists = chunk_.lists || codes_.size() > 1;
  return chunk_.add_answer(static_cast<std::uint32_t>(codes_.size()), line);
}

bool LongSetRows::take_number_or_blank(const Field& field, std::size_t column, std::uint64_t line) {
  if (empty_cell(field)) {
    chunk_.numbers.push_back(std::numeric_limits<double>::quiet_NaN());
    return true;
  }
  if (!usable(field, column, line)) return false;
  double value = 0;
  const auto [end, code] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), value);
  if (code != std::errc() || end != field.text.data() + field.text.size() || !(value >= 0 && value <= 1)) {
    problem(line, table_.plan.names[column], field.text, "is not a probability: a number from 0 to 1 is wanted");
    return false;
  }
  chunk_.numbers.push_back(value);
  return true;
}

}  // namespace wisecrowd::ingest
