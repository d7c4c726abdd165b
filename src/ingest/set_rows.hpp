#pragma once

#include <string>
#include <vector>

#include "ingest/rows.hpp"

namespace wisecrowd::ingest {

/// The largest set: sizes travel where classes of other answers do.
inline constexpr std::size_t kLargestSet = 0xFFFE;

/// Cuts the text of a cell into the names of classes: `a|b`, ["a", "b"], ['a', 'b'], {"choices": ["a", "b"]}. Names are
/// without surrounding blanks; those of JSON lie in `store`. Returns what is wrong, with the remedy, or nothing.
[[nodiscard]] std::string split_set(std::string_view text, const SetReading& reading, Arena& store,
                                    std::vector<std::string_view>& names);

/// What rows of sets have in common.
class SetRowChecks : public RowChecks {
 public:
  using RowChecks::RowChecks;

 protected:
  /// Nothing stands in the cell.
  [[nodiscard]] static bool empty_cell(const Field& cell) noexcept {
    return cell.state == Field::State::null || (cell.state == Field::State::ok && cell.text.empty());
  }
  /// Leaves the codes of a cell's classes in codes_, ascending; false when it is not a set, with the problem noted.
  bool take_set(const Field& cell, std::string_view column, std::uint64_t line);
  /// Adds what take_set left; returns the entry.
  std::uint32_t add_set(std::uint64_t line);

  std::vector<std::string_view> names_;
  std::vector<std::uint32_t> codes_;
};

/// Counts rows as CountedRows does.
template <class Rows>
class CountedSetRows : public SetRowChecks {
 public:
  using SetRowChecks::SetRowChecks;
  template <class Row>
  bool operator()(const Row& row, std::uint64_t line) {
    if (blank(row)) return true;
    ++chunk_.rows;
    if (!sound(row, line) || !static_cast<Rows&>(*this).take(row, line)) drop_row();
    return true;
  }
};

/// One set per row, or a part of it; without a worker column, the truth of a task.
class LongSetRows : public CountedSetRows<LongSetRows> {
 public:
  using CountedSetRows::CountedSetRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const ColumnPlan& plan = table_.plan;
    const bool has_worker = plan.worker != kNoColumn;
    const Field task = row.field(plan.task);
    const Field worker = has_worker ? row.field(plan.worker) : Field{};
    const Field cell = row.field(plan.label);
    const bool none = plan.blank_labels && empty_cell(cell);
    bool good = usable(task, plan.task, line);
    good = (!has_worker || usable(worker, plan.worker, line)) && good;
    good = (none || take_set(cell, plan.names[plan.label], line)) && good;
    for (const std::size_t column : plan.numbers) good = take_number_or_blank(row.field(column), column, line) && good;
    if (!good) return false;
    const std::uint32_t entry = none ? chunk_.add_answer(Chunk::kBareTask, line) : add_set(line);
    chunk_.task_keys.add(task.text, table_.tasks.hash(task.text), entry);
    if (has_worker) chunk_.add_worker(worker.text, table_.workers.hash(worker.text), entry);
    return true;
  }

 private:
  bool take_number_or_blank(const Field& field, std::size_t column, std::uint64_t line);
};

/// One task per row, one worker per column; a blank is no answer.
class WideSetRows : public CountedSetRows<WideSetRows> {
 public:
  using CountedSetRows::CountedSetRows;
  template <class Row>
  bool take(const Row& row, std::uint64_t line) {
    const Field task = row.field(table_.plan.task);
    bool good = usable(task, table_.plan.task, line);
    row.for_each_worker(table_, [&](std::string_view worker, std::uint64_t, const Field& cell) {
      if (empty_cell(cell)) return;
      good = (good_worker_key(worker) || refuse_worker_key(worker, line)) && take_set(cell, worker, line) && good;
    });
    if (!good) return false;
    const std::uint64_t task_hash = table_.tasks.hash(task.text);
    bool answered = false;
    row.for_each_worker(table_, [&](std::string_view worker, std::uint64_t hash, const Field& cell) {
      if (empty_cell(cell)) return;
      (void)take_set(cell, worker, line);  // it was sound the first time
      const std::uint32_t entry = add_set(line);
      chunk_.task_keys.add(task.text, task_hash, entry);
      chunk_.add_worker(worker, hash, entry);
      answered = true;
    });
    if (!answered) chunk_.task_keys.add(task.text, task_hash, chunk_.add_bare_task());
    return true;
  }
};

}  // namespace wisecrowd::ingest
