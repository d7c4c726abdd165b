#pragma once

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/chunk.hpp"

namespace wisecrowd::ingest {

/// The text of a JSON value; copied into `store`, because the parser reuses its memory for the next line.
[[nodiscard]] Field json_text(const simdjson::dom::element& value, Arena& store);

using JsonValue = std::optional<simdjson::dom::element>;

/// Parses one line after the other; what it returns lives until the next.
class JsonLine {
 public:
  explicit JsonLine(const ColumnPlan& plan);
  /// `line` must be followed by kScanPadding readable bytes. False: see failure().
  [[nodiscard]] bool parse(std::string_view line);
  [[nodiscard]] const simdjson::dom::object& object() const noexcept { return object_; }
  [[nodiscard]] const std::vector<JsonValue>& values() const noexcept { return values_; }
  /// Why the line could not be parsed, with a remedy.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  const ColumnPlan& plan_;
  std::vector<std::size_t> wanted_;
  simdjson::dom::parser parser_;
  simdjson::dom::object object_;
  std::vector<JsonValue> values_;
  std::string failure_;
};

/// The keys of one object in its order, or, if `failure` is not empty then, none.
[[nodiscard]] std::vector<std::string> json_keys(std::string_view line, std::string& failure);

/// One line of JSON Lines. The wanted columns are found by key; other keys are ignored, in long rows.
class JsonRow {
 public:
  /// `values`: for each column of the plan, its value if it is wanted and there.
  JsonRow(std::string_view raw, simdjson::dom::object object, const std::vector<JsonValue>& values,
          Arena& store) noexcept
      : raw_(raw), object_(object), values_(values), store_(store) {}

  [[nodiscard]] std::size_t count() const noexcept { return values_.size(); }
  [[nodiscard]] bool unclosed() const noexcept { return false; }
  [[nodiscard]] std::string_view raw() const noexcept { return raw_; }
  [[nodiscard]] Field field(std::size_t column) const {
    return values_[column] ? json_text(*values_[column], store_) : Field{{}, Field::State::absent};
  }
  /// Wide rows: every key but the task's, and those beside it, is a worker.
  template <class Visit>
  void for_each_worker(const TableContext& table, const Visit& visit) const {
    for (const auto& member : object_) {
      if (member.key == table.plan.names[table.plan.task] || is_beside(table.plan, member.key)) continue;
      const std::string_view worker = store_.copy(member.key);
      visit(worker, table.workers.hash(worker), json_text(member.value, store_));
    }
  }

 private:
  static bool is_beside(const ColumnPlan& plan, std::string_view key) {
    return std::any_of(plan.beside.begin(), plan.beside.end(), [&](std::size_t c) { return plan.names[c] == key; });
  }
  std::string_view raw_;
  simdjson::dom::object object_;
  const std::vector<JsonValue>& values_;
  Arena& store_;
};

/// Parses the lines of `chunk` and calls handle(row, line) for each object, handle.refuse(…) for other lines.
template <class Handle>
void parse_json_lines(const TableContext& table, Chunk& chunk, Handle& handle) {
  JsonLine parser(table.plan);
  std::string_view rest = chunk.text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (line.find_first_not_of(" \t") != std::string_view::npos) {
      if (parser.parse(line)) {
        handle(JsonRow(line, parser.object(), parser.values(), chunk.text_store), chunk.lines);
      } else {
        handle.refuse(line, chunk.lines, parser.failure());
      }
    }
    if (end == rest.size()) return;
    rest.remove_prefix(end + (rest.substr(end, 2) == "\r\n" ? 2 : 1));
    ++chunk.lines;
  }
}

}  // namespace wisecrowd::ingest
