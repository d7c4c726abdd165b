#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "ingest/gold_mismatch.hpp"
#include "ingest/label_rows.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/repeats.hpp"
#include "ingest/worker_changes.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::ingest {
namespace {

std::string folded(std::string_view name) {
  const auto first = name.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  std::string out(name.substr(first, name.find_last_not_of(" \t\r\n") - first + 1));
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

/// "Cat" and "cat " are two classes, and most likely by mistake.
void warn_of_lookalikes(const ClassColumn& classes, const std::string& file, DataReport& report) {
  std::map<std::string, std::vector<std::string>> groups;
  for (std::uint32_t k = 0; k < classes.names().size(); ++k) {
    groups[folded(classes.names()[k])].push_back(fmt::format("'{}'", printable(classes.names()[k])));
  }
  std::string listed;
  std::size_t found = 0;
  for (const auto& [key, names] : groups) {
    if (names.size() < 2) continue;
    if (++found <= 5) listed += fmt::format("{}{}", found > 1 ? "; " : "", shortened_list(names, 4));
  }
  if (found == 0) return;
  if (found > 5) listed += fmt::format("; and {} more groups", found - 5);
  report.warnings.push_back({"similar_labels",
                             fmt::format("{}: labels that differ only by case or surrounding blanks "
                                         "count as different classes: {}.",
                                         file, listed),
                             "Make them alike if they mean the same"});
}

/// Gold by task of the answers, as codes of their classes.
struct Gold {
  GoldMismatch mismatch;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> task_and_code;
  std::vector<std::pair<std::string, std::uint32_t>> others;  ///< of tasks without answers, if they are wanted
};

/// Gold is laid out by its own options, else like the answers where it has such columns, else by the aliases.
ColumnPlan plan_gold(const std::string& file, TableFormat format, std::vector<std::string> names,
                     const ReadOptions& options, const ColumnPlan& answers) {
  ReadOptions gold = options;
  const auto there = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  gold.task_column = options.gold_task_column;
  gold.label_column = options.gold_label_column;
  if (gold.task_column.empty() && there(options.task_column)) gold.task_column = options.task_column;
  try {
    return plan_labels(file, format, names, gold);
  } catch (const Error&) {
    const bool own_columns = !options.gold_task_column.empty() || !options.gold_label_column.empty();
    if (own_columns || format == TableFormat::jsonl) throw;
    if (there(options.label_column)) {
      gold.label_column = options.label_column;
    } else if (!answers.has_header && names.size() >= 2) {
      // Answers without a header come with gold without one.
      gold.task_column = "1";
      gold.label_column = "2";
    } else {
      throw;
    }
    return plan_labels(file, format, std::move(names), gold);
  }
}

Gold read_gold(const Input& input, const ReadOptions& options, const Tuning& tuning, const RunContext& context,
               bool want_others, Table& answers, DataReport& report) {
  ReadOptions reading = options;
  reading.format = TableFormat::automatic;
  const auto plan = [&](const std::string& name, TableFormat format, std::vector<std::string> names) {
    return plan_gold(name, format, std::move(names), options, answers.plan);
  };
  DataReport notes;
  const auto hand_over = [&] {
    report.gold_rows = notes.rows;
    report.rows_dropped += notes.rows_dropped;
    report.problem_count += notes.problem_count;
    report.problems.insert(report.problems.end(), notes.problems.begin(), notes.problems.end());
    if (report.problems.size() > kMostProblemsShown) report.problems.resize(kMostProblemsShown);
    report.warnings.insert(report.warnings.end(), notes.warnings.begin(), notes.warnings.end());
  };
  std::optional<SettledLabels> read;
  try {
    read = read_settled_labels(input, false, plan, reading, tuning, context, notes);
  } catch (...) {
    hand_over();
    throw;
  }
  hand_over();
  SettledLabels& settled = *read;
  const std::string& file = settled.table.file;

  Gold gold;
  std::uint64_t unknown = 0;
  std::string example;
  const NameTable tasks = settled.table.tasks.release(context.pool());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::uint32_t task = answers.tasks.find(tasks[t]);
    if (task != KeyTable::kAbsent) ++gold.mismatch.matched;
    if (task == KeyTable::kAbsent && !want_others) {
      if (unknown++ == 0) example = printable(tasks[t]);
      continue;
    }
    const std::string_view label = settled.table.classes.names()[settled.codes[t]];
    std::uint32_t code = answers.classes.find(label);
    if (code == Interner::kAbsent) code = answers.classes.add(label, file);
    if (task == KeyTable::kAbsent) {
      gold.others.emplace_back(tasks[t], code);
    } else {
      gold.task_and_code.emplace_back(task, code);
    }
  }
  if (unknown > 0 && unknown < tasks.size()) {
    report.warnings.push_back({"gold_without_answers",
                               fmt::format("{}: {} of {} gold tasks, for example '{}', have no answers and are ignored",
                                           file, unknown, tasks.size(), example),
                               "", Severity::note});
  }
  if (gold.mismatch.matched == 0) gold.mismatch = mismatch_of(settled.table, tasks, answers.tasks);
  return gold;
}

void translate_labels(std::vector<CategoryPiece>& pieces, const std::vector<std::uint16_t>& ids, ThreadPool& pool) {
  pool.for_each_block(pieces.size(), [&](std::size_t p, unsigned) {
    for (auto& label : pieces[p].payload) label = ids[label];
  });
}

/// The time of each answer that is left, in the order of the rows: what its column says, else the number of the row.
std::vector<double> times_of(const Table& table) {
  if (table.plan.has_times && table.kept_rows.empty()) return {table.numbers.begin(), table.numbers.end()};
  std::size_t answers = 0;
  for (const CategoryPiece& piece : table.pieces) answers += piece.size();
  std::vector<double> times(answers);
  for (std::size_t a = 0; a < answers; ++a) {
    times[a] = table.plan.has_times ? table.numbers[table.kept_rows[a]] : static_cast<double>(a + 1);
  }
  return times;
}

/// Builds the answers, and their times if these are wanted. Backwards: the first of a worker's answers to a task is
/// taken for the last.
CategoryAnswers build(Table& table, CategoryAnswerNames names, DuplicatePolicy policy, bool backwards, ThreadPool& pool,
                      std::vector<double>* times, BuildReport& built, std::vector<RepeatedPair>* repeated = nullptr) {
  if (times == nullptr) {
    if (backwards) reverse_rows(table.pieces);
    return build_category_answers(std::move(table.pieces), std::move(names), policy, pool, &built, repeated);
  }
  TimedLabels said{{}, times_of(table)};
  auto pieces = listed_pieces(std::move(table.pieces), said);
  if (backwards) reverse_rows(pieces);
  CategoryAnswers answers =
      build_timed_answers(std::move(pieces), said, std::move(names), policy, pool, &built, repeated);
  *times = std::move(said.times);
  return answers;
}

/// Builds the answers and adds a problem for every repeated pair.
CategoryAnswers build_without_repeats(Table& table, CategoryAnswerNames names, ThreadPool& pool,
                                      std::vector<double>* times, DataReport& report) {
  BuildReport built;
  std::vector<RepeatedPair> repeated;
  const CategoryAnswers answers =
      build(table, std::move(names), DuplicatePolicy::reject, false, pool, times, built, &repeated);
  note_repeats(table, answers, repeated, built, report);
  return answers;
}

/// Builds the answers. Where repeats are to be rejected and it is too late for that, the first answer stays.
CategoryAnswers build_by_policy(Table& table, CategoryAnswerNames names, DuplicatePolicy duplicates, ThreadPool& pool,
                                std::vector<double>* times, DataReport& report) {
  const bool reject = duplicates == DuplicatePolicy::reject;
  BuildReport built;
  const auto policy = reject ? DuplicatePolicy::keep_last : duplicates;
  CategoryAnswers answers = build(table, std::move(names), policy, reject, pool, times, built);
  note_duplicates(table.file, built, reject, report);
  return answers;
}

/// No gold task has answers: says why, to whom it concerns.
void explain_mismatch(const GoldMismatch& mismatch, const CategoryAnswerNames& names, OtherGold* other_gold,
                      DataReport& report) {
  const std::string reason = mismatch_reason(mismatch, names);
  if (other_gold == nullptr) {
    report.warnings.push_back(
        {"gold_without_answers",
         fmt::format("{}: none of its {} gold tasks, for example '{}', has answers, so gold is of no use here",
                     mismatch.file, mismatch.total, printable(mismatch.tasks.front())),
         reason, Severity::serious});
    return;
  }
  if (mismatch.labels_are_tasks) {  // they would become classes
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", mismatch.file, reason));
  }
  other_gold->reason = reason;
}

/// Reads answers; with `times` and `dates`, also when they were given.
CategoryData read_answers(const Input& answers, const std::optional<Input>& gold, const ReadOptions& options,
                          const Tuning& tuning, const RunContext& context, DataReport* report, OtherGold* other_gold,
                          std::vector<double>* times, bool* dates);

}  // namespace

NameTable safe_names(const NameTable& names) {
  std::vector<std::string> safe;
  for (std::size_t i = 0; i < names.size(); ++i) safe.push_back(spreadsheet_safe(names[i]));
  return NameTable(safe);
}

CategoryData read_dataset(const Input& answers, const std::optional<Input>& gold, const ReadOptions& options,
                          const Tuning& tuning, const RunContext& context, DataReport* report, OtherGold* other_gold) {
  return read_answers(answers, gold, options, tuning, context, report, other_gold, nullptr, nullptr);
}

TimedCategoryData read_timed_dataset(const Input& answers, const std::optional<Input>& gold, const ReadOptions& options,
                                     const Tuning& tuning, const RunContext& context, DataReport* report) {
  TimedCategoryData timed;
  bool dates = false;
  timed.data = read_answers(answers, gold, options, tuning, context, report, nullptr, &timed.times.times, &dates);
  timed.times.order = options.time_column.empty() ? AnswerOrder::rows
                      : dates                     ? AnswerOrder::dates
                                                  : AnswerOrder::numbers;
  return timed;
}

namespace {

CategoryData read_answers(const Input& answers, const std::optional<Input>& gold, const ReadOptions& options,
                          const Tuning& tuning, const RunContext& context, DataReport* report, OtherGold* other_gold,
                          std::vector<double>* times, bool* dates) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  refuse_one_input_twice(answers, gold);
  TableRequest request;
  request.keep_lines = options.duplicates == DuplicatePolicy::reject;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    ColumnPlan plan = plan_answers(file, format, std::move(names), options, times != nullptr);
    plan.no_answer = options.no_answer;
    return plan;
  };
  Table table = read_table(answers, request, options, tuning, context, notes);
  if (dates != nullptr) *dates = table.dates;
  ThreadPool& pool = context.pool();
  const bool reject = options.duplicates == DuplicatePolicy::reject;
  if (reject && !options.lenient && notes.problem_count > 0) {
    CategoryAnswerNames names{table.tasks.release(pool), table.workers.release(pool), table.classes.final_names()};
    (void)build_without_repeats(table, std::move(names), pool, nullptr, notes);  // for the list of problems
  }
  settle_problems(table.file, options.lenient, notes);
  if (table.pieces.empty() && notes.no_answers == 0) refuse_all_rows(table.file, notes);
  if (notes.no_answers > 0) {
    notes.warnings.push_back({"no_answers",
                              fmt::format("{}: {} of {} rows say '{}' and count as no answer", table.file,
                                          notes.no_answers, notes.rows, printable(options.no_answer)),
                              "", Severity::note});
  }
  NameTable workers = table.workers.release(pool);
  change_workers(options, table, workers, notes);
  Gold known;
  if (gold) known = read_gold(*gold, options, tuning, context, other_gold != nullptr, table, notes);
  warn_of_lookalikes(table.classes, table.file, notes);

  const auto ids = table.classes.final_ids();
  translate_labels(table.pieces, ids, pool);
  CategoryData data;
  if (gold) {
    data.gold.assign(table.tasks.size(), kNoClass);
    for (const auto& [task, code] : known.task_and_code) data.gold[task] = ClassId{ids[code]};
    for (auto& [task, code] : known.others) {
      other_gold->tasks.push_back(std::move(task));
      other_gold->labels.push_back(ClassId{ids[code]});
    }
  }
  CategoryAnswerNames names{table.tasks.release(pool), std::move(workers), table.classes.final_names()};
  if (gold && known.mismatch.matched == 0) explain_mismatch(known.mismatch, names, other_gold, notes);
  if (options.safe_names) {
    for (NameTable* table_of : {&names.tasks, &names.workers, &names.classes}) *table_of = safe_names(*table_of);
    for (std::size_t i = 0; other_gold != nullptr && i < other_gold->tasks.size(); ++i) {
      other_gold->tasks[i] = spreadsheet_safe(other_gold->tasks[i]);
    }
  }
  if (context.cancelled()) throw Cancelled();
  context.report({.stage = "sorting"});
  const NewIds order = put_in_order(names.tasks, names.workers, table.pieces, pool);
  if (!order.tasks.empty() && data.has_gold()) {
    std::vector<ClassId> moved(data.gold.size());
    for (std::size_t t = 0; t < moved.size(); ++t) moved[order.tasks[t]] = data.gold[t];
    data.gold = std::move(moved);
  }

  if (reject && !options.lenient) {
    data.answers = build_without_repeats(table, std::move(names), pool, times, notes);
    settle_problems(table.file, false, notes);
    name_workers(options, table.file, data, notes);
    return data;
  }
  data.answers = build_by_policy(table, std::move(names), options.duplicates, pool, times, notes);
  name_workers(options, table.file, data, notes);
  return data;
}

}  // namespace

}  // namespace wisecrowd::ingest

namespace wisecrowd {

CategoryData read_dataset(const std::string& answers_path, const std::optional<std::string>& gold_path,
                          const ReadOptions& options, const RunContext& context, DataReport* report) {
  const auto inputs = ingest::prepare_inputs(answers_path, gold_path, Categories::name, false, options, context);
  CategoryData data =
      ingest::read_dataset(inputs.answers, inputs.gold, inputs.options, ingest::Tuning{}, context, report);
  inputs.tell(report);
  return data;
}

TimedCategoryData read_timed_dataset(const std::string& answers_path, const std::optional<std::string>& gold_path,
                                     const ReadOptions& options, const RunContext& context, DataReport* report) {
  const auto inputs = ingest::prepare_inputs(answers_path, gold_path, Categories::name, true, options, context);
  TimedCategoryData timed =
      ingest::read_timed_dataset(inputs.answers, inputs.gold, inputs.options, ingest::Tuning{}, context, report);
  inputs.tell(report);
  return timed;
}

}  // namespace wisecrowd
