#include "ingest/row_scan.hpp"

#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "ingest/first_row.hpp"
#include "ingest/npy.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {

RowScan::RowScan(const Input& input, const Tuning& tuning, const RunContext& context, DataReport& report)
    : file_(display_name(input)),
      tuning_(tuning),
      context_(context),
      report_(report),
      source_(open_input(input, context)),
      window_(*source_) {
  window_.fill(16);
  if (looks_like_npy(window_.bytes())) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: this is an .npy array where a table is wanted, or its name does not end in .npy", file_));
  }
  FirstRow first = read_first_row(window_, file_, TableFormat::automatic, tuning_, line_);
  if (first.format == TableFormat::jsonl) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: JSON is not read here: give a CSV or TSV table", file_));
  }
  plan_.format = first.format;
  plan_.separator = first.separator;
  plan_.names = first.names;
  std::vector<std::string> sorted = plan_.names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: two columns are named '{}': rename one", file_, printable(*twice)));
  }
  skip_first_row(window_, first, tuning_, line_);
}

std::size_t RowScan::find(std::string_view name) const {
  for (std::size_t c = 0; c < plan_.names.size(); ++c) {
    if (normalised(plan_.names[c]) == name) return c;
  }
  return kNoColumn;
}

std::size_t RowScan::find_task() const { return find_task_column(plan_.names); }

std::string RowScan::shown_header() const {
  std::vector<std::string> quoted;
  for (const auto& name : plan_.names) quoted.push_back(fmt::format("'{}'", printable(name, 40)));
  return shortened_list(quoted, 8);
}

void RowScan::refuse_missing_task(const std::string& remedy) const {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: the header names no column for the task. Found: {}. {}", file_, shown_header(), remedy));
}

void RowScan::parse(Chunk& chunk, RowHandler& handler) const {
  handler.expect(std::memchr(chunk.text.data(), 0, chunk.text.size()) != nullptr ||
                 !simdjson::validate_utf8(chunk.text.data(), chunk.text.size()));
  const std::size_t fields = plan_.names.size();
  if (chunk.quotes) {
    parse_delimited<true>(chunk.text, plan_.delimiter(), fields, chunk.field_ends, chunk.text_store, chunk.lines,
                          handler);
  } else {
    parse_delimited<false>(chunk.text, plan_.delimiter(), fields, chunk.field_ends, chunk.text_store, chunk.lines,
                           handler);
  }
}

void RowScan::scan(const Make& make, const Gather& gather) {
  const TableContext table{plan_, classes_, no_names_, no_names_, {}};
  std::vector<std::unique_ptr<Chunk>> chunks;
  std::vector<std::unique_ptr<RowHandler>> handlers;
  const std::size_t window_bytes = tuning_.window_bytes * (tuning_.window_per_thread ? context_.pool().size() : 1);
  for (std::size_t wanted = window_bytes;;) {
    if (context_.cancelled()) throw Cancelled();
    window_.fill(wanted);
    const std::string_view bytes = window_.bytes();
    if (bytes.empty()) break;
    const bool quotes = std::memchr(bytes.data(), '"', bytes.size()) != nullptr;
    const auto ends = cut_rows(bytes, window_.at_end(), tuning_.chunk_bytes, plan_.delimiter(), quotes);
    if (ends.empty()) {
      if (bytes.size() > tuning_.max_row_bytes) refuse_long_row(file_, line_, tuning_, quotes);
      wanted = bytes.size() * 2;
      continue;
    }
    wanted = window_bytes;
    while (chunks.size() < ends.size()) {
      chunks.push_back(std::make_unique<Chunk>(0));
      handlers.push_back(make(table, *chunks.back()));
    }
    context_.pool().for_each_block(ends.size(), [&](std::size_t c, unsigned) {
      Chunk& chunk = *chunks[c];
      const std::size_t begin = c == 0 ? 0 : ends[c - 1];
      chunk.clear();
      handlers[c]->clear();
      chunk.text = bytes.substr(begin, ends[c] - begin);
      chunk.quotes = quotes;
      parse(chunk, *handlers[c]);
    });
    for (std::size_t c = 0; c < ends.size(); ++c) {
      add_problems(chunks[c]->problems, file_, line_, report_);
      report_.rows += chunks[c]->rows;
      report_.rows_dropped += chunks[c]->dropped;
      gather(*handlers[c], line_);
      line_ += chunks[c]->lines;
    }
    window_.consume(ends.back());
    context_.report({.stage = "reading features",
                     .done = static_cast<double>(source_->position()),
                     .total = static_cast<double>(source_->size())});
  }
  if (report_.rows == 0) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: there is no row after the header: name a file with rows, or export it again", file_));
  }
}

}  // namespace wisecrowd::ingest
