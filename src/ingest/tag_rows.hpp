#pragma once

#include <charconv>

#include "ingest/rows.hpp"
#include "wisecrowd/sequence_answers.hpp"

namespace wisecrowd::ingest {

/// Documents are shorter than this: a larger position is a mistake.
inline constexpr std::uint32_t kLongestDocument = 1U << 24;

/// What every table of tags has: positions, and tags of the scheme.
template <class Rows>
class CheckedTagRows : public CountedRows<Rows> {
 public:
  using CountedRows<Rows>::CountedRows;

 protected:
  bool check_tag(std::string_view text, std::string_view column, std::uint64_t line) {
    ParsedTag tag;
    if (parse_tag(text, tag)) return true;
    this->problem(line, column, text, std::string("is no tag of the BIO scheme: ") + kBioScheme);
    return false;
  }
  bool read_position(std::string_view text, std::uint64_t line, std::uint32_t& value) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc() && end == text.data() + text.size() && value < kLongestDocument) return true;
    this->problem(line, this->table_.plan.names[this->table_.plan.numbers.front()], text,
                  "is not the position of a token: tokens of a document are numbered 0, 1, 2 … (or 1, 2, 3 …), below "
                  "16,777,216");
    return false;
  }
};

/// One tag of one token per row. Without a worker column it is the truth; without a tag column, what stands in the
/// worker column is the token itself.
class TagRows : public CheckedTagRows<TagRows> {
 public:
  using CheckedTagRows::CheckedTagRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const bool has_worker = plan.worker != kNoColumn, has_tag = plan.label != kNoColumn;
    const std::size_t position_column = plan.numbers.front();
    const Field document = row.field(plan.task);
    const Field worker = has_worker ? row.field(plan.worker) : Field{};
    const Field tag = has_tag ? row.field(plan.label) : Field{};
    const Field position = row.field(position_column);
    bool good = usable(document, plan.task, line);
    good = (!has_worker || usable(worker, plan.worker, line)) && good;
    good = (!has_tag || (usable(tag, plan.label, line) && check_tag(tag.text, plan.names[plan.label], line))) && good;
    std::uint32_t place = 0;
    good = usable(position, position_column, line) && read_position(position.text, line, place) && good;
    if (!good) return false;
    chunk_.numbers.push_back(place);
    const std::uint32_t code = has_tag ? chunk_.classes.code(tag.text, table_.classes) : 0;
    const std::uint32_t entry = chunk_.add_answer(code, line);
    chunk_.task_keys.add(document.text, table_.tasks.hash(document.text), entry);
    if (has_worker) chunk_.add_worker(worker.text, table_.workers.hash(worker.text), entry);
    return true;
  }
};

/// One token per row, one worker per column; a blank is no tag.
class WideTagRows : public CheckedTagRows<WideTagRows> {
 public:
  using CheckedTagRows::CheckedTagRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const std::size_t position_column = plan.numbers.front();
    const Field document = row.field(plan.task), position = row.field(position_column);
    bool good = usable(document, plan.task, line);
    std::uint32_t place = 0;
    good = usable(position, position_column, line) && read_position(position.text, line, place) && good;
    row.for_each_worker(table_, [&](std::string_view worker, std::uint64_t, const Field& cell) {
      good = sound_cell(worker, cell, line, [&] { return check_tag(cell.text, worker, line); }) && good;
    });
    if (!good) return false;
    const std::uint64_t hash = table_.tasks.hash(document.text);
    bool answered = false;
    row.for_each_worker(table_, [&](std::string_view worker, std::uint64_t worker_hash, const Field& cell) {
      if (is_blank_cell(cell)) return;
      const std::uint32_t entry = chunk_.add_answer(chunk_.classes.code(cell.text, table_.classes), line);
      chunk_.task_keys.add(document.text, hash, entry);
      chunk_.add_worker(worker, worker_hash, entry);
      chunk_.numbers.push_back(place);
      answered = true;
    });
    if (!answered) chunk_.task_keys.add(document.text, hash, chunk_.add_bare_task());
    return true;
  }
};

}  // namespace wisecrowd::ingest
