#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "data/set_column.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/repeats.hpp"
#include "ingest/table.hpp"
#include "ingest/worker_changes.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::uint16_t kNoSet = 0xFFFF;
constexpr std::string_view kProbabilityPrefix = "p_";

/// The sets of a table row by row, as codes in the order of its members; rows without a set are empty.
SetRows rows_of(const Table& table) {
  SetRows rows;
  std::size_t at = 0;
  for (const CategoryPiece& piece : table.pieces) {
    for (const std::uint16_t size : piece.payload) {
      const std::size_t count = size == kNoSet ? 0 : size;
      for (std::size_t i = 0; i < count; ++i) rows.members.push_back(ClassId{table.members[at + i]});
      at += count;
      rows.end_row();
    }
  }
  return rows;
}

bool united_rows(const Table& table, const ReadOptions& options) {
  return options.sets.rows == SetRowRule::united || (options.sets.rows == SetRowRule::automatic && !table.lists);
}

/// Codes become ids of classes in their final order.
SetRows translated(const SetRows& rows, const std::vector<std::uint16_t>& ids) {
  SetRows out;
  out.offsets.reserve(rows.offsets.size());
  out.members.reserve(rows.members.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const ClassId code : rows[r]) out.members.push_back(ClassId{ids[index(code)]});
    out.end_row();
  }
  return out;
}

/// Where no cell is a list, names that look like lists with another separator are worth a word.
void warn_of_separators(const Table& table, DataReport& notes) {
  if (table.lists) return;
  for (const char separator : {';', ',', '#', '/'}) {
    std::size_t holding = 0;
    std::string example;
    for (std::uint32_t k = 0; k < table.classes.names().size(); ++k) {
      if (table.classes.names()[k].find(separator) == std::string_view::npos) continue;
      if (holding++ == 0) example = printable(table.classes.names()[k]);
    }
    if (holding == 0) continue;
    notes.warnings.push_back(
        {"set_separator",
         fmt::format("{}: no cell holds more than one class, but {} of {} classes, for example '{}', {} '{}'.",
                     table.file, holding, table.classes.names().size(), example, holding == 1 ? "contains" : "contain",
                     separator),
         fmt::format("If it stands between classes, read with `set_separator='{}'`", separator), Severity::caution});
    return;
  }
}

/// A table of sets by task after problems and repeats are settled.
struct SettledSets {
  Table table;
  std::vector<std::optional<std::vector<std::uint16_t>>> sets;  ///< by task: codes, ascending; or nothing
  std::vector<std::uint64_t> rows;                              ///< by task, the first
};

SettledSets read_settled_sets(const Input& input, const PlanColumns& plan, const ReadOptions& options,
                              const Tuning& tuning, const RunContext& context, DataReport& notes) {
  TableRequest request;
  request.kind = TableKind::sets;
  request.keep_lines = true;
  request.plan = plan;
  SettledSets settled{read_table(input, request, options, tuning, context, notes), {}, {}};
  const Table& table = settled.table;
  const bool united = united_rows(table, options);
  const SetRows rows = rows_of(table);
  ProblemList contradictions;
  std::uint64_t row = 0;
  for (const CategoryPiece& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      const std::uint32_t task = piece.tasks[i];
      std::optional<std::vector<std::uint16_t>> set;
      if (piece.payload[i] != kNoSet) {
        set.emplace();
        for (const ClassId code : rows[row]) set->push_back(static_cast<std::uint16_t>(code));
      }
      if (task == settled.sets.size()) {
        settled.sets.push_back(std::move(set));
        settled.rows.push_back(row);
      } else if (united && set && settled.sets[task]) {
        auto& known = *settled.sets[task];
        known.insert(known.end(), set->begin(), set->end());
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
      } else if (settled.sets[task] != set) {
        ++notes.rows_dropped;
        contradictions.add({table.lines.line_of(row), table.plan.names[table.plan.label], "",
                            fmt::format("contradicts line {}, which has the same task: keep one of them",
                                        table.lines.line_of(settled.rows[task]))});
      }
    }
  }
  notes.problem_count += contradictions.count;
  for (const auto& problem : contradictions.first) {
    notes.problems.push_back({table.file, problem.line, problem.column, problem.value, problem.message});
  }
  sort_problems(notes);
  settle_problems(table.file, options.lenient, notes);
  if (settled.sets.empty()) refuse_all_rows(table.file, notes);
  return settled;
}

/// Gold is laid out by its own options, else like the answers where it has such columns, else by the aliases.
ColumnPlan plan_gold_sets(const std::string& file, TableFormat format, std::vector<std::string> names,
                          const ReadOptions& options, const ColumnPlan& answers) {
  const auto there = [&](const std::string& name) {
    return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
  };
  ReadOptions gold = options;
  gold.task_column = options.gold_task_column;
  gold.label_column = options.gold_label_column;
  if (gold.task_column.empty() && there(options.task_column)) gold.task_column = options.task_column;
  try {
    return plan_task_sets(file, format, names, gold);
  } catch (const Error&) {
    const bool own_columns = !options.gold_task_column.empty() || !options.gold_label_column.empty();
    if (own_columns || format == TableFormat::jsonl) throw;
    if (there(options.label_column)) {
      gold.label_column = options.label_column;
    } else if (!answers.has_header && names.size() >= 2) {
      gold.task_column = "1";  // answers without a header come with gold without one
      gold.label_column = "2";
    } else {
      throw;
    }
    return plan_task_sets(file, format, std::move(names), gold);
  }
}

/// The truth of the tasks with answers, as codes of their classes, which learn those of gold.
std::vector<std::optional<std::vector<std::uint16_t>>> read_gold_sets(const Input& input, const ReadOptions& options,
                                                                      const Tuning& tuning, const RunContext& context,
                                                                      Table& answers, DataReport& report) {
  ReadOptions reading = options;
  reading.format = TableFormat::automatic;
  reading.layout = TableLayout::long_rows;
  DataReport notes;
  SettledSets settled = read_settled_sets(
      input,
      [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
        return plan_gold_sets(file, format, std::move(names), reading, answers.plan);
      },
      reading, tuning, context, notes);
  Table& table = settled.table;
  report.gold_rows = notes.rows;
  report.rows_dropped += notes.rows_dropped;
  report.problem_count += notes.problem_count;
  report.warnings.insert(report.warnings.end(), notes.warnings.begin(), notes.warnings.end());
  std::vector<std::uint16_t> code_of(table.classes.names().size());
  for (std::uint32_t k = 0; k < code_of.size(); ++k) {
    const std::string_view name = table.classes.names()[k];
    std::uint32_t code = answers.classes.find(name);
    if (code == Interner::kAbsent) code = answers.classes.add(name, table.file);
    code_of[k] = static_cast<std::uint16_t>(code);
  }
  std::vector<std::optional<std::vector<std::uint16_t>>> gold(answers.tasks.size());
  const NameTable names = table.tasks.release(context.pool());
  std::uint64_t unknown = 0;
  std::string example;
  for (std::size_t t = 0; t < names.size(); ++t) {
    const std::uint32_t task = answers.tasks.find(names[t]);
    if (task == KeyTable::kAbsent) {
      if (unknown++ == 0) example = printable(names[t]);
      continue;
    }
    gold[task].emplace();
    for (const std::uint16_t code : *settled.sets[t]) gold[task]->push_back(code_of[code]);
  }
  if (unknown > 0) {
    const bool all = unknown == names.size();
    report.warnings.push_back(
        {"gold_without_answers",
         all ? fmt::format("{}: none of its {} gold tasks, for example '{}', has answers, so gold is of no use here",
                           table.file, names.size(), example)
             : fmt::format("{}: {} of {} gold tasks, for example '{}', have no answers and are ignored", table.file,
                           unknown, names.size(), example),
         all ? "are its columns swapped, or its tasks spelled otherwise?" : "",
         all ? Severity::serious : Severity::note});
  }
  return gold;
}

/// Ids of classes instead of codes, in the order that tasks get.
GoldSets gold_in_order(const std::vector<std::optional<std::vector<std::uint16_t>>>& codes,
                       const std::vector<std::uint16_t>& ids, const std::vector<std::uint32_t>& new_task) {
  GoldSets gold(codes.size());
  for (std::size_t t = 0; t < codes.size(); ++t) {
    if (!codes[t]) continue;
    std::vector<ClassId> set;
    for (const std::uint16_t code : *codes[t]) set.push_back(ClassId{ids[code]});
    std::sort(set.begin(), set.end());
    gold[new_task.empty() ? t : new_task[t]] = std::move(set);
  }
  return gold;
}

SetAnswers build_sets(const Table& table, std::vector<SetPiece> pieces, const SetRows& rows, SetAnswerNames names,
                      bool united, const ReadOptions& options, ThreadPool& pool, DataReport& notes) {
  if (united) return build_united_answers(std::move(pieces), rows, std::move(names), pool);
  const bool reject = options.duplicates == DuplicatePolicy::reject;
  BuildReport built;
  if (reject && !options.lenient) {
    std::vector<RepeatedPair> repeated;
    SetAnswers answers =
        build_set_answers(std::move(pieces), rows, std::move(names), DuplicatePolicy::reject, pool, &built, &repeated);
    note_repeats(table, answers, repeated, built, notes);
    settle_problems(table.file, false, notes);
    return answers;
  }
  if (reject) reverse_rows(pieces);
  const auto policy = reject ? DuplicatePolicy::keep_last : options.duplicates;
  SetAnswers answers = build_set_answers(std::move(pieces), rows, std::move(names), policy, pool, &built);
  note_duplicates(table.file, built, reject, notes);
  return answers;
}

}  // namespace

SetData read_sets(const Input& input, const std::optional<Input>& gold, const ReadOptions& options,
                  const Tuning& tuning, const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  refuse_one_input_twice(input, gold);
  TableRequest request;
  request.kind = TableKind::sets;
  request.keep_lines = true;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    return plan_sets(file, format, std::move(names), options);
  };
  Table table = read_table(input, request, options, tuning, context, notes);
  ThreadPool& pool = context.pool();
  settle_problems(table.file, options.lenient, notes);
  if (table.pieces.empty()) refuse_all_rows(table.file, notes);
  const bool united = united_rows(table, options) && table.plan.layout != TableLayout::wide;
  const SetRows codes = rows_of(table);
  NameTable workers = table.workers.release(pool);
  change_workers(options, table, workers, notes);
  std::vector<std::optional<std::vector<std::uint16_t>>> truth;
  if (gold) truth = read_gold_sets(*gold, options, tuning, context, table, notes);
  warn_of_separators(table, notes);
  const auto ids = table.classes.final_ids();
  SetAnswerNames names{table.tasks.release(pool), std::move(workers), table.classes.final_names()};
  if (options.safe_names) {
    for (NameTable* of : {&names.tasks, &names.workers, &names.classes}) *of = safe_names(*of);
  }
  if (context.cancelled()) throw Cancelled();
  context.report({.stage = "sorting"});
  std::vector<SetPiece> pieces = row_pieces(table);
  const NewIds order = put_in_order(names.tasks, names.workers, pieces, pool);
  SetData data;
  if (gold) data.gold = gold_in_order(truth, ids, order.tasks);
  const SetRows rows = translated(codes, ids);
  data.answers = build_sets(table, std::move(pieces), rows, std::move(names), united, options, pool, notes);
  return data;
}

SetTable read_set_table(const Input& input, const ReadOptions& options, const Tuning& tuning, const RunContext& context,
                        DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  SettledSets settled = read_settled_sets(
      input,
      [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
        ColumnPlan plan = plan_task_sets(file, format, std::move(names), options);
        plan.blank_labels = options.blank_labels;
        for (std::size_t c = 0; c < plan.names.size() && plan.has_header; ++c) {
          const bool named = plan.names[c].starts_with(kProbabilityPrefix) && plan.names[c].size() > 2;
          if (c != plan.task && c != plan.label && named) plan.numbers.push_back(c);
        }
        return plan;
      },
      options, tuning, context, notes);
  Table& table = settled.table;
  std::vector<std::uint32_t> code_of;
  for (const std::size_t column : table.plan.numbers) {
    const std::string_view name = std::string_view(table.plan.names[column]).substr(kProbabilityPrefix.size());
    std::uint32_t code = table.classes.find(name);
    if (code == Interner::kAbsent) code = table.classes.add(name, table.file);
    if (std::find(code_of.begin(), code_of.end(), code) != code_of.end()) {
      throw Error(ErrorCode::bad_input, fmt::format("{}: there are two columns '{}': rename one", table.file,
                                                    printable(table.plan.names[column])));
    }
    code_of.push_back(code);
  }
  SetTable out;
  const auto ids = table.classes.final_ids();
  out.classes = table.classes.final_names();
  out.sets = gold_in_order(settled.sets, ids, {});
  out.tasks = table.tasks.release(context.pool());
  if (!code_of.empty()) {
    out.probabilities.assign(out.sets.size() * ids.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t t = 0; t < out.sets.size(); ++t) {
      const double* const values = table.numbers.data() + settled.rows[t] * code_of.size();
      for (std::size_t n = 0; n < code_of.size(); ++n) {
        out.probabilities[t * ids.size() + ids[code_of[n]]] = values[n];
      }
    }
  }
  if (options.safe_names) {
    out.tasks = safe_names(out.tasks);
    out.classes = safe_names(out.classes);
  }
  return out;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

SetData read_sets(const std::string& answers_path, const std::optional<std::string>& gold_path,
                  const ReadOptions& options, const RunContext& context, DataReport* report) {
  const auto inputs = ingest::prepare_inputs(answers_path, gold_path, Sets::name, false, options, context);
  SetData data = ingest::read_sets(inputs.answers, inputs.gold, inputs.options, ingest::Tuning{}, context, report);
  inputs.tell(report);
  return data;
}

SetTable read_set_table(const std::string& path, const ReadOptions& options, const RunContext& context,
                        DataReport* report) {
  return ingest::read_set_table({path, std::nullopt}, options, ingest::Tuning{}, context, report);
}

}  // namespace wisecrowd
