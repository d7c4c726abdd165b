#pragma once

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/interner.hpp"
#include "data/name_order.hpp"
#include "ingest/chunk.hpp"
#include "ingest/judge_rows.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/read_comparisons.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {

inline constexpr double kNoLength = std::numeric_limits<double>::quiet_NaN();

[[nodiscard]] inline Input judge_input(const JudgeTable& table) {
  return {table.name, table.text ? std::optional<std::string_view>(*table.text) : std::nullopt};
}

/// What stands in one or two tables of answers, with names as they come.
class JudgeBuilder {
 public:
  JudgeBuilder(const JudgeReadOptions& options, const RunContext& context, DataReport& report)
      : options_(options), context_(context), report_(report) {}

  void read_answers(const JudgeTable& given, bool all_machines) {
    Input input = judge_input(given);
    const std::string head = look_at(input, std::size_t{1} << 18, context_);
    const Platform* platform = nullptr;
    if (!options_.platform.name.empty()) {
      platform = &platform_entry(options_.platform.name);
    } else if (options_.format == TableFormat::automatic) {
      platform = recognised(head_of(display_name(input), head));
    }
    // Battles and preferences have more columns than their platforms look at.
    if (platform != nullptr && platform->info.name != "arena" && platform->info.name != "trl" &&
        platform->columns.empty()) {
      read_platform_answers(*platform, input);
    } else {
      const CellTable table = read_cell_table(input, options_, context_, report_);
      take_answers(table, options_, all_machines);
    }
  }

  void read_workers(const JudgeTable& given) {
    const CellTable table = read_cell_table(judge_input(given), options_, context_, report_);
    const std::size_t worker =
        find_worker_column(table.names) == kNoColumn ? table.find("model") : find_worker_column(table.names);
    if (worker == kNoColumn) {
      throw Error(ErrorCode::bad_input, fmt::format("{}: no column names the worker. Found: {}. Call one 'worker'",
                                                    table.file, table.header()));
    }
    const JudgeColumns columns = info_columns(table);
    std::size_t unknown = 0;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const std::uint32_t id = workers_.find(table.at(r, worker));
      if (id == Interner::kAbsent) {
        ++unknown;
        continue;
      }
      take_info(table, columns, r, info_[id], true);
    }
    settle(table);
    if (unknown > 0) {
      report_.warnings.push_back({"workers_without_answers",
                                  fmt::format("{}: {} of its {} workers gave no answers and are left aside", table.file,
                                              unknown, table.rows.size()),
                                  unknown == table.rows.size() ? "Are the workers spelled alike?" : "",
                                  unknown == table.rows.size() ? Severity::serious : Severity::note});
    }
  }

  void read_items(const JudgeTable& given) {
    const CellTable table = read_cell_table(judge_input(given), options_, context_, report_);
    std::size_t item = find_task_column(table.names);
    if (item == kNoColumn) item = table.find("model");
    if (item == kNoColumn) {
      throw Error(ErrorCode::bad_input, fmt::format("{}: no column names the item. Found: {}. Call one '{}'",
                                                    table.file, table.header(), comparisons_ ? "item" : "task"));
    }
    const std::size_t family = table.find("family"), length = table.find("length");
    if (family == kNoColumn && length == kNoColumn) {
      throw Error(ErrorCode::bad_input, fmt::format("{}: has neither a column 'family' nor one 'length'. Found: {}",
                                                    table.file, table.header()));
    }
    Interner& names = comparisons_ ? items_ : tasks_;
    item_family_.assign(names.size(), "");
    item_length_.assign(names.size(), kNoLength);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const std::uint32_t id = names.find(table.at(r, item));
      if (id == Interner::kAbsent) continue;
      item_family_[id] = table.at(r, family);
      if (table.at(r, length).empty()) continue;
      const auto value = finite_number(table.at(r, length));
      if (!value) {
        table.problem(report_, r, length, "is no number");
        continue;
      }
      item_length_[id] = *value;
    }
    settle(table);
  }

  void read_gold(const JudgeTable& given) {
    const CellTable table = read_cell_table(judge_input(given), options_, context_, report_);
    const JudgeColumns columns = find_judge_columns(table, options_, true);
    if (columns.comparisons() != comparisons_) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: gold of {} is wanted, with the columns {}", table.file,
                              comparisons_ ? "comparisons" : "tasks",
                              comparisons_ ? "question, left, right and label" : "task and label"));
    }
    std::size_t unknown = 0;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      auto row = judge_row(table, columns, r, true, report_);
      if (!row) continue;
      ++report_.gold_rows;
      const std::uint32_t task = tasks_.find(key_of(*row));
      if (task == Interner::kAbsent) {
        ++unknown;
        continue;
      }
      const std::uint32_t said = comparisons_ ? seen_from_first(*row, *row->outcome) : classes_.intern(row->said);
      gold_.resize(tasks_.size(), kNone);
      if (gold_[task] != kNone && gold_[task] != said) {
        table.problem(report_, r, columns.label, "contradicts an earlier row of the same task: keep one of them");
      }
      gold_[task] = said;
    }
    settle(table);
    if (unknown > 0) {
      const bool none = unknown == table.rows.size();
      report_.warnings.push_back({"gold_without_answers",
                                  fmt::format("{}: {} of its {} tasks have no answers and are ignored", table.file,
                                              unknown, table.rows.size()),
                                  none ? "Are the tasks spelled alike?" : "",
                                  none ? Severity::serious : Severity::note});
    }
  }

  JudgeData build();

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Raw {
    std::uint32_t task, worker;
    std::uint32_t said;  ///< a class; of comparisons an outcome as seen from the task's first item; kNone: see logs
    bool swapped;
    std::vector<std::pair<std::uint32_t, double>> logs;
  };
  struct Info {
    std::optional<WorkerKind> kind;
    std::string family, version;
    double price = std::numeric_limits<double>::quiet_NaN();
  };

  void settle(const CellTable& table) { settle_problems(table.file, options_.lenient, report_); }

  static JudgeColumns info_columns(const CellTable& table) {
    JudgeColumns columns;
    columns.kind = table.find("kind");
    columns.family = table.find("family");
    columns.version = table.find("version");
    columns.price = table.find("price") == kNoColumn ? table.find("cost") : table.find("price");
    return columns;
  }

  /// What a row says of its worker; a table of workers counts more than what stands beside answers.
  void take_info(const CellTable& table, const JudgeColumns& columns, std::size_t row, Info& info, bool again) {
    const std::string_view kind = table.at(row, columns.kind);
    if (!kind.empty()) {
      const auto known = worker_kind_of(kind);
      if (!known) {
        return table.problem(report_, row, columns.kind, "is no kind of worker: human or machine is wanted");
      }
      if (!again && info.kind && *info.kind != *known) {
        return table.problem(report_, row, columns.kind, "contradicts an earlier row of the same worker");
      }
      info.kind = known;
    }
    const auto take = [&](std::size_t column, std::string& into) {
      if (!table.at(row, column).empty() && (again || into.empty())) into = table.at(row, column);
    };
    take(columns.family, info.family);
    take(columns.version, info.version);
    if (table.at(row, columns.price).empty()) return;
    const auto price = finite_number(table.at(row, columns.price));
    if (!price || *price < 0) return table.problem(report_, row, columns.price, "is no price: a number from 0 on");
    info.price = *price;
  }

  void read_platform_answers(const Platform& platform, const Input& input) {
    const Tuning tuning;
    Collected collected = collect(platform, {input, options_, tuning, context_});
    const PlatformTables tables = make_tables(collected, platform, "", options_);
    report_.warnings.insert(report_.warnings.end(), tables.notes.begin(), tables.notes.end());
    if (tables.answers_kind != "categories" && tables.answers_kind != "comparisons" &&
        tables.answers_kind != "numbers") {
      throw Error(ErrorCode::bad_input, fmt::format("{}: its answers are {}: judges are looked at by categories, "
                                                    "ordered scores or comparisons",
                                                    display_name(input), tables.answers_kind));
    }
    ReadOptions plain;
    const CellTable answers =
        read_cell_table({display_name(input) + " (its answers)", tables.answers}, plain, context_, report_);
    take_answers(answers, plain, false);
    const CellTable workers =
        read_cell_table({display_name(input) + " (its workers)", tables.workers}, plain, context_, report_);
    for (std::size_t r = 0; r < workers.rows.size(); ++r) {
      const std::uint32_t id = workers_.find(workers.at(r, workers.find("worker")));
      if (id != Interner::kAbsent) take_info(workers, info_columns(workers), r, info_[id], true);
    }
  }

  /// The items of a comparison in the order of names.
  static bool left_is_first(const JudgeRow& row) { return comes_before(row.left, row.right); }
  static std::uint32_t seen_from_first(const JudgeRow& row, Outcome outcome) {
    return static_cast<std::uint32_t>(left_is_first(row) ? outcome : mirrored(outcome));
  }
  std::string key_of(const JudgeRow& row) const {
    if (!comparisons_) return row.question;
    const bool first = left_is_first(row);
    return row.question + '\x1f' + (first ? row.left : row.right) + '\x1f' + (first ? row.right : row.left);
  }

  void take_answers(const CellTable& table, const ReadOptions& options, bool all_machines) {
    if (table.rows.empty()) {
      settle(table);
      throw Error(ErrorCode::bad_input, fmt::format("{}: has no rows below its header", table.file));
    }
    const JudgeColumns columns = find_judge_columns(table, options, false);
    if (tasks_.size() > 0 && columns.comparisons() != comparisons_) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: its answers are {}, those of the other table are not", table.file,
                              columns.comparisons() ? "comparisons" : "classes of tasks"));
    }
    comparisons_ = columns.comparisons();
    sides_known_ = sides_known_ && !columns.chosen;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      auto row = judge_row(table, columns, r, false, report_);
      if (!row) continue;
      const std::uint32_t worker = workers_.intern(row->worker);
      info_.resize(workers_.size());
      if (all_machines || (!table.listed_judge.empty() && table.listed_judge[r] != 0)) {
        info_[worker].kind = WorkerKind::machine;
      }
      take_info(table, columns, r, info_[worker], false);
      take_row(*row, worker);
    }
    settle(table);
  }

  void take_row(const JudgeRow& row, std::uint32_t worker) {
    const std::uint32_t task = tasks_.intern(key_of(row));
    if (task == lengths_.size()) {
      lengths_.push_back(kNoLength);
      asked_.push_back(row.question);
      pairs_.emplace_back();
    }
    Raw raw{task, worker, kNone, false, {}};
    if (!comparisons_) {
      if (!std::isnan(row.length)) lengths_[task] = row.length;
      if (!row.said.empty()) raw.said = classes_.intern(row.said);
      for (const auto& [of, log] : row.logs) raw.logs.emplace_back(classes_.intern(of), log);
      return raw_.push_back(std::move(raw));
    }
    const bool first = left_is_first(row);
    pairs_[task] = {items_.intern(first ? row.left : row.right), items_.intern(first ? row.right : row.left)};
    if (!std::isnan(row.left_length) && !std::isnan(row.right_length)) {
      has_pair_lengths_ = true;
      pair_lengths_.resize(tasks_.size(), {kNoLength, kNoLength});
      pair_lengths_[task] =
          first ? std::pair(row.left_length, row.right_length) : std::pair(row.right_length, row.left_length);
    }
    raw.swapped = !first;
    if (row.outcome) raw.said = seen_from_first(row, *row.outcome);
    add_outcomes(row, row.logs, raw);
    raw_.push_back(raw);
    if (row.swapped_logs.empty()) return;
    raw.swapped = first;
    raw.said = kNone;
    raw.logs.clear();
    add_outcomes(row, row.swapped_logs, raw);
    raw_.push_back(std::move(raw));
  }

  void add_outcomes(const JudgeRow& row, const std::vector<std::pair<std::string, double>>& logs, Raw& raw) const {
    for (const auto& [of, log] : logs) {
      const std::uint32_t code = outcome_code({}, {}, of);  // the words: a column is of all rows
      if (code == PairWords::kUnknown) {
        throw Error(ErrorCode::bad_input,
                    fmt::format("the column of probabilities of '{}' is of no outcome: p_a, p_b and p_tie are wanted",
                                printable(of)));
      }
      raw.logs.emplace_back(seen_from_first(row, static_cast<Outcome>(code)), log);
    }
  }

  void order_class_names(JudgeData& data, std::vector<std::uint32_t>& place);
  void add_answers(JudgeData& data, const std::vector<std::uint32_t>& tasks, const std::vector<std::uint32_t>& workers,
                   const std::vector<std::uint32_t>& classes);
  void add_lengths(JudgeData& data, const std::vector<std::uint32_t>& tasks);

  const JudgeReadOptions& options_;
  const RunContext& context_;
  DataReport& report_;
  bool comparisons_ = false, sides_known_ = true, has_pair_lengths_ = false;
  Interner tasks_, workers_, items_, classes_;
  std::vector<Info> info_;
  std::vector<Raw> raw_;
  std::vector<std::string> asked_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::vector<double> lengths_, item_length_;
  std::vector<std::pair<double, double>> pair_lengths_;
  std::vector<std::string> item_family_;
  std::vector<std::uint32_t> gold_;
};

}  // namespace wisecrowd::ingest
