#include <fmt/core.h>

#include <algorithm>

#include "ingest/first_row.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/row_scan.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

/// Keeps the rows of a stretch as texts.
class TextRows final : public RowHandler {
 public:
  using RowHandler::RowHandler;
  struct Row {
    std::uint64_t line;
    std::vector<std::string> fields;
  };
  void clear() override { rows_.clear(); }
  bool take(const DelimitedRow& row, std::uint64_t line) override {
    Row kept{line, {}};
    for (std::size_t c = 0; c < row.count(); ++c) {
      const Field field = row.field(c);
      if (field.state != Field::State::ok) return refuse_field(field, table_.plan.names[c], line);
      kept.fields.emplace_back(field.text);
    }
    rows_.push_back(std::move(kept));
    return true;
  }
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }

 private:
  std::vector<Row> rows_;
};

}  // namespace

void require_columns(const std::string& file, std::string_view platform,
                     const std::vector<std::pair<std::string, std::size_t>>& found) {
  for (const auto& [name, column] : found) {
    if (column != kNoColumn) continue;
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the header has no column {}: is it a file of {}?", file, name, platform));
  }
}

void read_table_rows(const PlatformFile& file, const TableHeader& header, const TableRow& row, Collected& into) {
  into.rows_are_lines = true;
  DataReport notes;
  RowScan scan(file.input, file.tuning, file.context, notes);
  header(scan.names());
  scan.scan([](const TableContext& table, Chunk& chunk) { return std::make_unique<TextRows>(table, chunk); },
            [&](RowHandler& handler, std::uint64_t first_line) {
              for (const auto& [line, fields] : static_cast<TextRows&>(handler).rows()) row(fields, first_line + line);
            });
  into.problems.problem_count += notes.problem_count;
  into.problems.problems.insert(into.problems.problems.end(), notes.problems.begin(), notes.problems.end());
  if (into.problems.problems.size() > kMostProblemsShown) into.problems.problems.resize(kMostProblemsShown);
}

void read_lines(ByteSource& source, const PlatformFile& file,
                const std::function<void(std::string_view, std::uint64_t)>& line) {
  WindowReader window(source);
  std::uint64_t number = 1;
  const auto give = [&](std::string_view text) {
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (number == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (text.find_first_not_of(" \t") != std::string_view::npos) line(text, number);
    ++number;
  };
  for (std::size_t wanted = file.tuning.window_bytes;;) {
    if (file.context.cancelled()) throw Cancelled();
    window.fill(wanted);
    const std::string_view bytes = window.bytes();
    if (bytes.empty()) return;
    std::size_t done = 0;
    for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n', done)) {
      give(bytes.substr(done, end - done));
      done = end + 1;
    }
    if (window.at_end() && done < bytes.size()) {
      give(bytes.substr(done));
      done = bytes.size();
    }
    if (done == 0 && bytes.size() > file.tuning.max_row_bytes) {
      refuse_long_row(display_name(file.input), number, file.tuning, false);
    }
    wanted = done == 0 ? bytes.size() * 2 : file.tuning.window_bytes;
    window.consume(done);
  }
}

}  // namespace wisecrowd::ingest
