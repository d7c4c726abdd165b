#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "ingest/chunk.hpp"

namespace wisecrowd::ingest {

// What becomes of a row, whatever format it came in. A Row offers count(), raw(), unclosed(), field(i) and
// for_each_worker(); a handler returns true to go on.

/// Checks that every kind of row goes through. Slow paths live in rows.cpp.
class RowChecks {
 public:
  RowChecks(const TableContext& table, Chunk& chunk, bool suspicious) noexcept
      : table_(table), chunk_(chunk), suspicious_(suspicious) {}

  /// A line that could not even be parsed.
  void refuse(std::string_view raw, std::uint64_t line, std::string_view message);

 protected:
  /// A row that says nothing at all is no row. Few rows begin like one, so most are done with one comparison.
  template <class Row>
  [[nodiscard]] bool blank(const Row& row) const noexcept {
    const char first = row.raw().front();
    return first <= ';' && !row.unclosed() && blank_text(row.raw());
  }
  [[nodiscard]] bool blank_text(std::string_view raw) const noexcept;

  /// False when the row as a whole is bad; the problem is then noted.
  template <class Row>
  [[nodiscard]] bool sound(const Row& row, std::uint64_t line) {
    if (suspicious_ && !sound_text(row.raw(), line)) return false;
    if (row.unclosed()) return refuse_unclosed(row.raw(), line);
    return row.count() == table_.plan.names.size() || refuse_count(row.count(), line);
  }
  /// False when a needed field is missing, empty or damaged; the problem is then noted.
  [[nodiscard]] bool usable(const Field& field, std::size_t column, std::uint64_t line) {
    return (field.state == Field::State::ok && field.text.size() - 1 < kLongestName) ||
           refuse_field(field, table_.plan.names[column], line);
  }
  /// Counts a bad row and takes back the numbers that came before its problem.
  void drop_row();
  void problem(std::uint64_t line, std::string_view column, std::string_view value, std::string_view message);
  bool sound_text(std::string_view raw, std::uint64_t line);
  bool refuse_unclosed(std::string_view raw, std::uint64_t line);
  bool refuse_count(std::size_t count, std::uint64_t line);
  bool refuse_field(const Field& field, std::string_view column, std::uint64_t line);
  /// Keys of wide JSON rows; column names of a table were checked once, in the header.
  [[nodiscard]] static bool good_worker_key(std::string_view worker) noexcept {
    return worker.size() - 1 < kLongestName && worker.find('\0') == std::string_view::npos;
  }
  bool refuse_worker_key(std::string_view worker, std::uint64_t line);
  [[nodiscard]] static bool is_blank_cell(const Field& cell) noexcept {
    return cell.state == Field::State::null || (cell.state == Field::State::ok && cell.text.empty());
  }
  /// Wide rows: whether a cell may stay as it is; check() looks at the text of one that is not blank.
  template <class Check>
  [[nodiscard]] bool sound_cell(std::string_view worker, const Field& cell, std::uint64_t line, const Check& check) {
    if (is_blank_cell(cell)) return true;
    if (!good_worker_key(worker)) return refuse_worker_key(worker, line);
    if (cell.state != Field::State::ok || cell.text.size() > kLongestName) return refuse_field(cell, worker, line);
    return check();
  }
  bool refuse_label(std::string_view label, std::string_view column, std::uint64_t line);
  /// Adds a number to chunk_.numbers; false, with the problem noted, when the text is none.
  bool take_number(std::string_view text, std::string_view column, std::uint64_t line);
  /// The same for numbers that are not plain decimals.
  bool take_other_number(std::string_view text, std::string_view column, std::uint64_t line);
  /// The same for a time: a number, or a date.
  bool take_time(std::string_view text, std::string_view column, std::uint64_t line);

  const TableContext& table_;
  Chunk& chunk_;
  bool suspicious_;  // some byte of the chunk is not UTF-8, or is NUL
};

/// Rows of one kind. Rows::take(row, line) keeps a sound row, or returns false with the problem noted.
template <class Rows>
class CountedRows : public RowChecks {
 public:
  using RowChecks::RowChecks;
  template <class Row>
  bool operator()(const Row& row, std::uint64_t line) {
    if (blank(row)) return true;
    ++chunk_.rows;
    if (!sound(row, line) || !static_cast<Rows&>(*this).take(row, line)) drop_row();
    return true;
  }
};

/// One answer per row, perhaps with its time.
template <bool timed>
class LongRows : public CountedRows<LongRows<timed>> {
 public:
  using Base = CountedRows<LongRows>;
  using Base::Base;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const Field task = row.field(plan.task);
    const Field worker = row.field(plan.worker);
    const Field label = row.field(plan.label);
    bool good = this->usable(task, plan.task, line);
    good = this->usable(worker, plan.worker, line) && good;
    good = this->usable(label, plan.label, line) && good;
    if constexpr (timed) {
      const std::size_t column = plan.numbers.front();
      const Field time = row.field(column);
      good = this->usable(time, column, line) && this->take_time(time.text, plan.names[column], line) && good;
    }
    if (!good) return false;
    if (!plan.no_answer.empty() && label.text == plan.no_answer) {
      if constexpr (timed) chunk_.numbers.pop_back();
      ++chunk_.no_answers;
      chunk_.task_keys.add(task.text, table_.tasks.hash(task.text), chunk_.add_bare_task());
      return true;
    }
    const std::uint32_t code = chunk_.classes.code(label.text, table_.classes);
    if (code == ChunkClasses::kUnknown) return this->refuse_label(label.text, plan.names[plan.label], line);
    const std::uint32_t entry = chunk_.add_answer(code, line);
    chunk_.task_keys.add(task.text, table_.tasks.hash(task.text), entry);
    chunk_.add_worker(worker.text, table_.workers.hash(worker.text), entry);
    return true;
  }

 private:
  using Base::chunk_;
  using Base::table_;
};

/// What stands in a cell of a wide table.
enum class Cell { label, number };

/// One task per row, one worker per column; a blank is no answer.
template <Cell cell_kind>
class WideRows : public CountedRows<WideRows<cell_kind>> {
 public:
  using Base = CountedRows<WideRows>;
  using Base::Base;

  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const Field task = row.field(table_.plan.task);
    bool good = this->usable(task, table_.plan.task, line);
    row.for_each_worker(table_, [&](std::string_view worker, std::uint64_t, const Field& cell) {
      good = this->sound_cell(worker, cell, line, [&] { return take_cell(cell.text, worker, line); }) && good;
    });
    if (!good) return false;
    const std::uint64_t task_hash = table_.tasks.hash(task.text);
    bool answered = false;
    row.for_each_worker(table_, [&](std::string_view worker, std::uint64_t hash, const Field& cell) {
      if (cell.state != Field::State::ok || cell.text.empty() || is_no_answer(cell.text)) return;
      const std::uint32_t entry = chunk_.add_answer(code_of(cell.text), line);
      chunk_.task_keys.add(task.text, task_hash, entry);
      chunk_.add_worker(worker, hash, entry);
      answered = true;
    });
    if (!answered) chunk_.task_keys.add(task.text, task_hash, chunk_.add_bare_task());
    return true;
  }

 private:
  using Base::chunk_;
  using Base::table_;

  /// Checks a cell that is not blank; a number is kept at once.
  bool take_cell(std::string_view text, std::string_view worker, std::uint64_t line) {
    if constexpr (cell_kind == Cell::number) return this->take_number(text, worker, line);
    if (is_no_answer(text)) {
      ++chunk_.no_answers;
      return true;
    }
    return code_of(text) != ChunkClasses::kUnknown || this->refuse_label(text, worker, line);
  }
  [[nodiscard]] bool is_no_answer(std::string_view text) const {
    return cell_kind == Cell::label && !table_.plan.no_answer.empty() && text == table_.plan.no_answer;
  }
  std::uint32_t code_of(std::string_view text) {
    return cell_kind == Cell::number ? 0 : chunk_.classes.code(text, table_.classes);
  }
};

/// One answer of numbers per row; without a worker column, the truth of a task.
class NumberRows : public CountedRows<NumberRows> {
 public:
  using CountedRows::CountedRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const bool has_worker = plan.worker != kNoColumn;
    const Field task = row.field(plan.task);
    const Field worker = has_worker ? row.field(plan.worker) : Field{};
    bool good = usable(task, plan.task, line);
    good = (!has_worker || usable(worker, plan.worker, line)) && good;
    for (const std::size_t column : plan.numbers) {
      const Field number = row.field(column);
      const bool empty =
          number.state == Field::State::null || (number.state == Field::State::ok && number.text.empty());
      if (plan.blank_labels && empty) {
        chunk_.numbers.push_back(std::numeric_limits<double>::quiet_NaN());
      } else {
        good = usable(number, column, line) && take_number(number.text, plan.names[column], line) && good;
      }
    }
    if (!good) return false;
    const std::uint32_t entry = chunk_.add_answer(0, line);
    chunk_.task_keys.add(task.text, table_.tasks.hash(task.text), entry);
    if (has_worker) chunk_.add_worker(worker.text, table_.workers.hash(worker.text), entry);
    return true;
  }
};

/// What was said of two items. Both are names of tasks: they have the rows 2 i and 2 i + 1 there.
class PairRows : public CountedRows<PairRows> {
 public:
  using CountedRows::CountedRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const bool has_worker = plan.worker != kNoColumn;
    const Field left = row.field(plan.task);
    const Field right = row.field(plan.right);
    const Field worker = has_worker ? row.field(plan.worker) : Field{};
    bool good = usable(left, plan.task, line);
    good = usable(right, plan.right, line) && good;
    good = (!has_worker || usable(worker, plan.worker, line)) && good;
    std::uint32_t code = table_.pair_words.without_label;
    if (plan.label != kNoColumn) {
      const Field label = row.field(plan.label);
      good = usable(label, plan.label, line) && good;
      if (good) code = table_.pair_words.code(left.text, right.text, label.text);
      if (good && code == PairWords::kUnknown) good = refuse_pair_label(label.text, left.text, right.text, line);
    }
    if (good && left.text == right.text) good = refuse_same_items(left.text, line);
    if (!good) return false;
    const std::uint32_t entry = chunk_.add_answer(code, line);
    chunk_.task_keys.add(left.text, table_.tasks.hash(left.text), 2 * entry);
    chunk_.task_keys.add(right.text, table_.tasks.hash(right.text), 2 * entry + 1);
    if (has_worker) chunk_.add_worker(worker.text, table_.workers.hash(worker.text), entry);
    return true;
  }

 private:
  bool refuse_pair_label(std::string_view label, std::string_view left, std::string_view right, std::uint64_t line);
  bool refuse_same_items(std::string_view item, std::uint64_t line);
};

/// One label per task, and perhaps probabilities.
class LabelRows : public CountedRows<LabelRows> {
 public:
  using CountedRows::CountedRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const Field task = row.field(plan.task);
    const Field label = row.field(plan.label);
    bool good = usable(task, plan.task, line);
    const bool blank = plan.blank_labels &&
                       (label.state == Field::State::null || (label.state == Field::State::ok && label.text.empty()));
    good = (blank || usable(label, plan.label, line)) && good;
    for (const std::size_t column : plan.numbers) good = take_probability(row.field(column), column, line) && good;
    std::uint32_t code = blank ? Chunk::kBareTask : ChunkClasses::kUnknown;
    if (good && !blank) {
      code = chunk_.classes.code(label.text, table_.classes);
      if (code == ChunkClasses::kUnknown) good = refuse_label(label.text, plan.names[plan.label], line);
    }
    if (!good) return false;
    chunk_.task_keys.add(task.text, table_.tasks.hash(task.text), chunk_.add_answer(code, line));
    return true;
  }

 private:
  bool take_probability(const Field& field, std::size_t column, std::uint64_t line);
};

}  // namespace wisecrowd::ingest
