#include "ingest/cell_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/platforms/json_reading.hpp"
#include "ingest/problems.hpp"

namespace wisecrowd::ingest {
namespace {

/// Names of members that hold probabilities by class, and how their columns begin then.
constexpr std::pair<std::string_view, std::string_view> kProbabilityMembers[] = {{"probabilities", "p_"},
                                                                                 {"probs", "p_"},
                                                                                 {"logprobs", "logprob_"},
                                                                                 {"log_probabilities", "logprob_"},
                                                                                 {"logits", "logit_"}};

/// The columns of objects whose members may differ.
class ObjectRows {
 public:
  explicit ObjectRows(CellTable& table) : table_(table) {}

  void take(const JsonObject& object, std::uint64_t row) {
    table_.rows.emplace_back(table_.names.size());
    table_.lines.push_back(row);
    table_.listed_judge.push_back(0);
    for (const auto member : object) {
      if (const auto text = scalar_text(member.value)) {
        put(member.key, *text);
      } else if (const auto array = as_array(member.value)) {
        take_list(member.key, *array);
      } else if (const auto inner = as_object(member.value)) {
        take_object(member.key, *inner);
      }
    }
  }
  /// Rows that came before a column was seen are blank there.
  void finish() {
    for (auto& row : table_.rows) row.resize(table_.names.size());
  }

 private:
  void put(std::string_view key, std::string_view value) {
    const auto at = std::find(table_.names.begin(), table_.names.end(), key);
    const auto column = static_cast<std::size_t>(at - table_.names.begin());
    if (at == table_.names.end()) table_.names.emplace_back(key);
    auto& row = table_.rows.back();
    if (row.size() <= column) row.resize(column + 1);
    row[column] = value;
  }
  /// A judge with its prompt is "model/prompt"; a conversation is its last message.
  void take_list(std::string_view key, const JsonArray& array) {
    if (const auto parts = scalar_list(array)) {
      put(key, fmt::format("{}", fmt::join(*parts, "/")));
      if (normalised(key) == "judge") table_.listed_judge.back() = 1;
      return;
    }
    std::string last;
    for (const JsonElement element : array) {
      const auto message = as_object(element);
      if (message) last = text_at(*message, "content").value_or("");
    }
    if (!last.empty()) put(key, last);
  }
  void take_object(std::string_view key, const JsonObject& object) {
    for (const auto& [name, begin] : kProbabilityMembers) {
      if (normalised(key) != name) continue;
      for (const auto member : object) {
        if (const auto text = scalar_text(member.value)) put(std::string(begin) + std::string(member.key), *text);
      }
    }
  }

  CellTable& table_;
};

}  // namespace

std::size_t CellTable::find(std::string_view name) const {
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (normalised(names[c]) == name) return c;
  }
  return kNoColumn;
}

std::string CellTable::header() const {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(fmt::format("'{}'", printable(name, 40)));
  return shortened_list(shown, 12);
}

void CellTable::problem(DataReport& report, std::size_t row, std::size_t column, const std::string& message) const {
  ++report.problem_count;
  ++report.rows_dropped;
  if (report.problems.size() >= kMostProblemsShown) return;
  report.problems.push_back({file, list ? lines[row] + 1 : lines[row], column == kNoColumn ? "" : names[column],
                             column == kNoColumn ? "" : printable(rows[row][column]), message});
}

CellTable read_cell_table(const Input& given, const ReadOptions& options, const RunContext& context,
                          DataReport& report) {
  Input input = given;
  CellTable table;
  table.file = display_name(input);
  const Tuning tuning;
  Collected notes;
  notes.file = table.file;
  const bool json = head_of(table.file, look_at(input, 4096, context)).is_json;
  const PlatformFile file{input, options, tuning, context};
  if (json) {
    ObjectRows rows(table);
    read_objects(
        file, [&](const JsonObject& object, std::uint64_t row) { rows.take(object, row); }, notes);
    rows.finish();
    table.list = !notes.rows_are_lines;
  } else {
    read_table_rows(
        file, [&](const std::vector<std::string>& header) { table.names = header; },
        [&](const std::vector<std::string>& fields, std::uint64_t line) {
          table.rows.push_back(fields);
          table.lines.push_back(line);
        },
        notes);
  }
  report.rows += table.rows.size();
  report.problem_count += notes.problems.problem_count;
  report.rows_dropped += notes.problems.problem_count;
  report.problems.insert(report.problems.end(), notes.problems.problems.begin(), notes.problems.problems.end());
  return table;
}

}  // namespace wisecrowd::ingest
