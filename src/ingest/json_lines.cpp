#include "ingest/json_lines.hpp"

#include <fmt/core.h>

#include "ingest/problems.hpp"

namespace wisecrowd::ingest {

Field json_text(const simdjson::dom::element& value, Arena& store) {
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::STRING: {
      const std::string_view text = store.copy(value.get_string().value_unsafe());
      // An escape can spell a NUL that no byte of the line shows.
      return {text, text.find('\0') == std::string_view::npos ? Field::State::ok : Field::State::nul};
    }
    case element_type::INT64: return {store.copy(fmt::format("{}", value.get_int64().value_unsafe()))};
    case element_type::UINT64: return {store.copy(fmt::format("{}", value.get_uint64().value_unsafe()))};
    case element_type::DOUBLE: return {store.copy(fmt::format("{}", value.get_double().value_unsafe()))};
    case element_type::BOOL: return {value.get_bool().value_unsafe() ? "true" : "false"};
    case element_type::NULL_VALUE: return {{}, Field::State::null};
    case element_type::ARRAY:
    case element_type::OBJECT: break;
  }
  return {store.copy(simdjson::minify(value)), Field::State::nested};
}

namespace {

std::string explain(simdjson::error_code code, std::string_view line) {
  if (code == simdjson::INCORRECT_TYPE) return "the line is not a JSON object: one {…} per line is wanted";
  if (code == simdjson::CAPACITY || code == simdjson::MEMALLOC) return "the line is too long for the JSON parser";
  const auto first = line.find_first_not_of(" \t");
  const auto last = line.find_last_not_of(" \t");
  const bool whole = first != std::string_view::npos && line[first] == '{' && line[last] == '}';
  return fmt::format("the line is not valid JSON ({}): {}", simdjson::error_message(code),
                     whole ? "correct it" : "JSON Lines is wanted, one whole object per line");
}

}  // namespace

JsonLine::JsonLine(const ColumnPlan& plan) : plan_(plan), values_(plan.names.size()) {
  for (const std::size_t column : {plan.task, plan.right, plan.worker, plan.label}) {
    if (column != kNoColumn) wanted_.push_back(column);
  }
  wanted_.insert(wanted_.end(), plan.numbers.begin(), plan.numbers.end());
}

bool JsonLine::parse(std::string_view line) {
  simdjson::dom::element root;
  auto code = parser_.parse(line.data(), line.size(), false).get(root);
  if (code == simdjson::SUCCESS) code = root.get(object_);
  if (code != simdjson::SUCCESS) {
    failure_ = explain(code, line);
    return false;
  }
  for (const std::size_t column : wanted_) values_[column].reset();
  for (const auto& member : object_) {
    for (const std::size_t column : wanted_) {
      if (member.key != plan_.names[column]) continue;
      if (values_[column]) {
        failure_ = fmt::format("the key '{}' appears twice: keep one", printable(member.key));
        return false;
      }
      values_[column] = member.value;
    }
  }
  return true;
}

std::vector<std::string> json_keys(std::string_view line, std::string& failure) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::object object;
  auto code = parser.parse(line.data(), line.size(), true).get(root);
  if (code == simdjson::SUCCESS) code = root.get(object);
  if (code != simdjson::SUCCESS) {
    failure = explain(code, line);
    return {};
  }
  std::vector<std::string> keys;
  for (const auto& member : object) keys.emplace_back(member.key);
  return keys;
}

}  // namespace wisecrowd::ingest
