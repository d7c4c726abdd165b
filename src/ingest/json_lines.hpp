#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/chunk.hpp"

namespace wisecrowd::ingest {

/// The text of a JSON value; copied into `store`, because the parser reuses its memory for the next line.
[[nodiscard]] Field json_text(const simdjson::dom::element& value, Arena& store);

/// The keys of one object in its order, or the reason why the line is no object.
[[nodiscard]] std::vector<std::string> json_keys(std::string_view line, std::string& failure);

/// Why a line could not be parsed, with a remedy.
[[nodiscard]] std::string json_failure(simdjson::error_code code, std::string_view line);

/// One line of JSON Lines. The wanted columns are found by key; other keys are ignored, in long rows.
class JsonRow {
 public:
  JsonRow(std::string_view raw, simdjson::dom::object object, std::size_t columns, Arena& store) noexcept
      : raw_(raw), object_(object), columns_(columns), store_(store) {}

  [[nodiscard]] std::size_t count() const noexcept { return columns_; }
  [[nodiscard]] bool unclosed() const noexcept { return false; }
  [[nodiscard]] std::string_view raw() const noexcept { return raw_; }

  void bind(const ColumnPlan& plan) noexcept { plan_ = &plan; }
  [[nodiscard]] Field field(std::size_t column) const {
    simdjson::dom::element value;
    if (object_.at_key(plan_->names[column]).get(value) != simdjson::SUCCESS) return {{}, Field::State::absent};
    return json_text(value, store_);
  }
  template <class Visit>
  void for_each_worker(const TableContext& table, const Visit& visit) const {
    for (const auto& member : object_) {
      if (member.key == table.plan.names[table.plan.task]) continue;
      const std::string_view worker = store_.copy(member.key);
      visit(worker, table.workers.hash(worker), json_text(member.value, store_));
    }
  }

 private:
  std::string_view raw_;
  simdjson::dom::object object_;
  std::size_t columns_;
  Arena& store_;
  const ColumnPlan* plan_ = nullptr;
};

/// Parses the lines of `chunk` and calls handle(row, line) for each object.
template <class Handle>
void parse_json_lines(const TableContext& table, Chunk& chunk, Handle&& handle) {
  if (!chunk.json) chunk.json = std::make_shared<simdjson::dom::parser>();
  std::string_view rest = chunk.text;
  for (; !rest.empty(); ++chunk.lines) {
    const std::size_t end = rest.find_first_of("\r\n");
    const std::string_view line = rest.substr(0, end);
    std::size_t taken = line.size();
    if (end != std::string_view::npos) taken += rest.substr(end, 2) == "\r\n" ? 2 : 1;
    const std::uint64_t number = chunk.lines;
    rest.remove_prefix(taken);
    if (line.find_first_not_of(" \t") == std::string_view::npos) {
      if (end == std::string_view::npos) break;
      continue;
    }
    simdjson::dom::element root;
    simdjson::dom::object object;
    auto code = chunk.json->parse(line.data(), line.size(), false).get(root);
    const bool parsed = code == simdjson::SUCCESS;
    if (parsed) code = root.get(object);
    if (code != simdjson::SUCCESS) {
      handle.refuse(line, number, json_failure(code, line));
      continue;
    }
    JsonRow row(line, object, table.plan.names.size(), chunk.text_store);
    row.bind(table.plan);
    handle(row, number);
    if (end == std::string_view::npos) break;
  }
}

}  // namespace wisecrowd::ingest
