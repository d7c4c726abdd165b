#include "service/rows.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"
#include "service/http.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

using Value = nlohmann::json;

constexpr const char* kTooDeep = "it nests lists and objects deeper than 64: send flat rows";

/// Collects rows and what is wrong with them.
class RowReader {
 public:
  RowReader(Rows& rows, EntryKind kind) : rows_(rows), kind_(kind) {}

  void add(std::size_t row, const Value& value) {
    row_ = row;
    ok_ = true;
    if (!value.is_object()) {
      complain("", fmt::format("it is {}: send an object with the fields {}", value.type_name(), known_fields()));
      return;
    }
    entry_ = Entry{};
    entry_.kind = kind_;
    seen_task_ = seen_worker_ = seen_label_ = false;
    for (const auto& [name, field] : value.items()) read(name, field);
    if (!seen_task_) complain("task", "it is missing");
    if (kind_ == EntryKind::answer && !seen_worker_) complain("worker", "it is missing");
    if (kind_ != EntryKind::task && !seen_label_) complain("label", "it is missing");
    if (ok_) rows_.entries.push_back(std::move(entry_));
  }

  void complain(std::string_view field, std::string_view message) {
    ok_ = false;
    ++rows_.error_count;
    if (rows_.errors.size() < kMostShownErrors) {
      rows_.errors.push_back({row_, std::string(field), std::string(message)});
    }
  }
  void complain_about_none() {
    at(1);
    complain("", "there are no rows");
  }
  void at(std::size_t row) { row_ = row; }

 private:
  [[nodiscard]] std::string_view known_fields() const {
    switch (kind_) {
      case EntryKind::gold: return "task, label";
      case EntryKind::task: return "task, link";
      default: return "task, worker, label, seconds, time, assignment";
    }
  }

  void read(const std::string& name, const Value& field) {
    const bool answer = kind_ == EntryKind::answer;
    if (name == "task") {
      seen_task_ = true;
      read_name(name, field, entry_.task);
    } else if (name == "worker" && answer) {
      seen_worker_ = true;
      read_name(name, field, entry_.worker);
    } else if (name == "label" && kind_ != EntryKind::task) {
      seen_label_ = true;
      if (answer && field.is_null()) {
        entry_.kind = EntryKind::withdrawal;
      } else {
        read_name(name, field, entry_.label);
      }
    } else if (name == "seconds" && answer) {
      read_number(name, field, 0, 1e8, entry_.seconds);
    } else if (name == "time" && answer) {
      read_number(name, field, 0, 1e11, entry_.time);
    } else if (name == "assignment" && answer) {
      read_name(name, field, entry_.assignment);
    } else if (name == "link" && kind_ == EntryKind::task) {
      if (field.is_string() && is_plain_link(field.get_ref<const std::string&>())) {
        entry_.link = field.get<std::string>();
      } else {
        complain(name, "it is no link that begins with http:// or https://");
      }
    } else {
      complain(printable(name), fmt::format("there is no such field: there are {}", known_fields()));
    }
  }

  void read_name(const std::string& field, const Value& value, std::string& name) {
    if (value.is_string()) {
      name = value.get<std::string>();
    } else if (value.is_number_integer()) {
      name = value.dump();
    } else {
      complain(field, fmt::format("it is {}: send text or a whole number", value.type_name()));
      return;
    }
    const std::string wrong = service_name_problem(name);
    if (!wrong.empty()) complain(field, wrong);
  }

  void read_number(const std::string& field, const Value& value, double low, double high, double& number) {
    if (value.is_null()) return;
    if (value.is_number()) number = value.get<double>();
    if (!value.is_number() || !(number >= low) || !(number <= high)) {
      complain(field, fmt::format("it is no number from {} to {:g}", low, high));
    }
  }

  Rows& rows_;
  EntryKind kind_;
  std::size_t row_ = 0;
  bool ok_ = true, seen_task_ = false, seen_worker_ = false, seen_label_ = false;
  Entry entry_;
};

void read_lines(std::string_view body, RowReader& reader) {
  std::size_t row = 0;
  while (!body.empty() && row < kMostRows) {
    const std::size_t end = body.find('\n');
    std::string_view line = body.substr(0, end);
    body.remove_prefix(end == std::string_view::npos ? body.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    reader.at(++row);
    if (nests_too_deep(line)) {
      reader.complain("", kTooDeep);
      continue;
    }
    const Value value = Value::parse(line, nullptr, false);
    if (value.is_discarded()) {
      reader.complain("", "it is no JSON, or no UTF-8: send one object per line");
    } else {
      reader.add(row, value);
    }
  }
  if (row >= kMostRows && !body.empty()) {
    reader.at(row + 1);
    reader.complain("", fmt::format("a request takes at most {} rows: send the rest in another", kMostRows));
  }
  if (row == 0) reader.complain_about_none();
}

Rows parse(std::string_view body, RowFormat format, EntryKind kind) {
  Rows rows;
  RowReader reader(rows, kind);
  if (format == RowFormat::ndjson) {
    read_lines(body, reader);
    return rows;
  }
  const Value value = parse_json(body);
  if (value.is_object()) {
    reader.add(1, value);
  } else if (!value.is_array()) {
    throw Refusal(400, "the body is no list of rows: send [{…}, …]");
  } else if (value.size() > kMostRows) {
    throw Refusal(413, fmt::format("a request takes at most {} rows: send several", kMostRows));
  } else {
    for (std::size_t r = 0; r < value.size(); ++r) reader.add(r + 1, value[r]);
    if (value.empty()) reader.complain_about_none();
  }
  return rows;
}

}  // namespace

Rows parse_answers(std::string_view body, RowFormat format) { return parse(body, format, EntryKind::answer); }
Rows parse_gold(std::string_view body, RowFormat format) { return parse(body, format, EntryKind::gold); }
Rows parse_tasks(std::string_view body, RowFormat format) { return parse(body, format, EntryKind::task); }

nlohmann::json parse_json(std::string_view body) {
  if (nests_too_deep(body)) throw Refusal(400, std::string("the body is refused: ") + kTooDeep);
  Value value = Value::parse(body, nullptr, false);
  if (value.is_discarded()) throw Refusal(400, "the body is no JSON, or no UTF-8");
  return value;
}

std::string service_name_problem(std::string_view name) {
  const std::string_view wrong = name_problem(name);
  if (!wrong.empty()) return "the name " + std::string(wrong);
  if (name.size() > kLongestServiceName) return fmt::format("the name is longer than {} bytes", kLongestServiceName);
  return {};
}

bool is_plain_link(std::string_view link) noexcept {
  if (!link.starts_with("http://") && !link.starts_with("https://")) return false;
  if (link.size() > 2000) return false;
  for (const char c : link) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F || c == '"' || c == '<' ||
        c == '>') {
      return false;
    }
  }
  return true;
}

}  // namespace wisecrowd::service
