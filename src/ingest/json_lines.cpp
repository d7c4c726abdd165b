#include "ingest/json_lines.hpp"

#include <fmt/format.h>

#include "ingest/problems.hpp"

namespace wisecrowd::ingest {

Field json_text(const simdjson::dom::element& value, Arena& store) {
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::STRING: return {store.copy(value.get_string().value_unsafe())};
    case element_type::INT64: return {store.copy(fmt::format("{}", value.get_int64().value_unsafe()))};
    case element_type::UINT64: return {store.copy(fmt::format("{}", value.get_uint64().value_unsafe()))};
    case element_type::DOUBLE: return {store.copy(fmt::format("{}", value.get_double().value_unsafe()))};
    case element_type::BOOL: return {value.get_bool().value_unsafe() ? "true" : "false"};
    case element_type::NULL_VALUE: return {{}, Field::State::null};
    case element_type::ARRAY:
    case element_type::OBJECT: break;
  }
  return {{}, Field::State::nested};
}

std::string json_failure(simdjson::error_code code, std::string_view line) {
  if (code == simdjson::INCORRECT_TYPE) return "the line is not a JSON object: one {…} per line is wanted";
  if (code == simdjson::CAPACITY || code == simdjson::MEMALLOC) return "the line is too long for the JSON parser";
  const std::string reason = simdjson::error_message(code);
  const auto last = line.find_last_not_of(" \t");
  const bool whole = line.front() == '{' && last != std::string_view::npos && line[last] == '}';
  return fmt::format("the line is not valid JSON ({}): {}", reason,
                     whole ? "correct it" : "JSON Lines is wanted, one whole object per line");
}

std::vector<std::string> json_keys(std::string_view line, std::string& failure) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::object object;
  auto code = parser.parse(line.data(), line.size(), true).get(root);
  if (code == simdjson::SUCCESS) code = root.get(object);
  if (code != simdjson::SUCCESS) {
    failure = json_failure(code, line);
    return {};
  }
  std::vector<std::string> keys;
  for (const auto& member : object) keys.emplace_back(member.key);
  return keys;
}

}  // namespace wisecrowd::ingest
