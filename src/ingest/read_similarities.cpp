#include "ingest/read_similarities.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "data/name_order.hpp"
#include "data/similarity_column.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/repeats.hpp"
#include "ingest/table.hpp"
#include "ingest/worker_changes.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::string_view kSameWords[] = {"same",      "yes",   "y",         "1",     "true",    "t",
                                           "match",     "equal", "identical", "alike", "similar", "duplicate",
                                           "must_link", "link",  "positive",  "=",     "same_as", "1.0"};
constexpr std::string_view kDifferentWords[] = {
    "different", "no",          "n",           "0",        "false",   "f",        "no_match",   "non_match",
    "nomatch",   "not_a_match", "nonmatch",    "mismatch", "unequal", "distinct", "dissimilar", "differ",
    "not_same",  "not_equal",   "cannot_link", "negative", "!=",      "0.0"};

std::uint32_t similarity_code(std::string_view, std::string_view, std::string_view label) {
  const std::string word = normalised(label);
  if (std::find(std::begin(kSameWords), std::end(kSameWords), word) != std::end(kSameWords)) return 1;
  const auto last = std::end(kDifferentWords);
  return std::find(std::begin(kDifferentWords), last, word) != last ? 0 : PairWords::kUnknown;
}

constexpr PairWords kSimilarityWords{
    similarity_code,
    "same or different, yes or no, 1 or 0, match or no match (which one is better is for `answers=comparisons`)", 0};

/// Answers of the table by row of the file; positions of the rows that are left stand in table.kept_rows.
std::vector<SimilarityRow> similarity_rows(const Table& table) {
  std::vector<SimilarityRow> rows;
  std::uint64_t answer = 0;
  for (const CategoryPiece& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++answer) {
      const std::uint32_t right = table.rights[table.row_of_answer(answer)];
      rows.push_back({piece.tasks[i], right, piece.workers[i], static_cast<std::uint8_t>(piece.payload[i])});
    }
  }
  return rows;
}

/// Ids by the order of names.
void order_names(NameTable& items, NameTable& workers, std::vector<SimilarityRow>& rows, ThreadPool& pool) {
  const auto item_ranks = ranks_in_order(items, pool), worker_ranks = ranks_in_order(workers, pool);
  for (SimilarityRow& row : rows) {
    if (!item_ranks.empty()) row.left = item_ranks[row.left], row.right = item_ranks[row.right];
    if (!worker_ranks.empty()) row.worker = worker_ranks[row.worker];
  }
  items = reordered(std::move(items), item_ranks, pool);
  workers = reordered(std::move(workers), worker_ranks, pool);
}

SimilarityAnswers similarities_without_repeats(const Table& table, std::span<const SimilarityRow> rows, NameTable items,
                                               NameTable workers, ThreadPool& pool, DataReport& report) {
  BuildReport built;
  std::vector<RepeatedPair> repeated;
  SimilarityAnswers answers = build_similarity_answers(rows, std::move(items), std::move(workers),
                                                       DuplicatePolicy::reject, pool, &built, &repeated);
  for (const RepeatedPair& pair : repeated) {
    if (report.problems.size() == kMostProblemsShown) break;
    const SimilarPair of = answers.pairs()[pair.task];
    report.problems.push_back(
        {table.file, table.line_of_answer(pair.later), "", "",
         fmt::format(
             "worker '{}' already compared '{}' and '{}' in line {}: remove one, or choose the duplicate policy "
             "{} or {}",
             printable(answers.worker_names()[pair.worker]), printable(answers.item_names()[of.left]),
             printable(answers.item_names()[of.right]), table.line_of_answer(pair.earlier),
             to_string(DuplicatePolicy::keep_last), to_string(DuplicatePolicy::repeat))});
  }
  report.problem_count += built.repeats;
  sort_problems(report);
  return answers;
}

/// Items by name.
class KnownItems {
 public:
  KnownItems(const NameTable& names, bool safe) : safe_(safe) {
    for (std::uint32_t i = 0; i < names.size(); ++i) ids_.emplace(names[i], i);
  }
  [[nodiscard]] std::uint32_t find(std::string_view name) {
    const auto at = safe_ ? ids_.find(spreadsheet_safe(std::string(name))) : ids_.find(name);
    return at == ids_.end() ? kNoCluster : at->second;
  }
  void miss(std::string_view name) {
    if (missed_++ == 0) example_ = printable(name);
  }
  void warn(const std::string& file, std::size_t all, const char* what, DataReport& report) const {
    if (missed_ == 0) return;
    const bool none = missed_ == all;
    report.warnings.push_back(
        {"gold_without_answers",
         none ? fmt::format("{}: none of its {} {}, for example '{}', has answers, so gold is of no use here", file,
                            all, what, example_)
              : fmt::format("{}: {} of {} {}, for example '{}', have no answers and are ignored", file, missed_, all,
                            what, example_),
         none ? "are its columns swapped, or its items spelled otherwise?" : "",
         none ? Severity::serious : Severity::note});
  }

 private:
  bool safe_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  std::size_t missed_ = 0;
  std::string example_;
};

void take_known_pairs(Table& table, bool safe, const RunContext& context, SimilarityData& data, DataReport& report) {
  const NameTable names = table.tasks.release(context.pool());
  KnownItems items(data.answers.item_names(), safe);
  struct Known {
    KnownPair pair;
    std::uint64_t line;
  };
  std::vector<Known> found;
  std::uint64_t row = 0;
  for (const CategoryPiece& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      const std::string_view left = names[piece.tasks[i]], right = names[table.rights[row]];
      const std::uint32_t a = items.find(left), b = items.find(right);
      if (a == kNoCluster || b == kNoCluster) {
        items.miss(a == kNoCluster ? left : right);
        continue;
      }
      found.push_back({{{std::min(a, b), std::max(a, b)}, piece.payload[i] != 0}, table.lines.line_of(row)});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Known& a, const Known& b) { return a.pair.items < b.pair.items; });
  ProblemList contradictions;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || found[i].pair.items != found[i - 1].pair.items) {
      data.gold_pairs.push_back(found[i].pair);
    } else if (found[i].pair.same != data.gold_pairs.back().same) {
      ++report.rows_dropped;
      contradictions.add(
          {found[i].line, table.plan.names[table.plan.label], "",
           fmt::format("contradicts line {}, which has the same pair: keep one of them", found[i - 1].line)});
    }
  }
  report.problem_count += contradictions.count;
  for (const auto& problem : contradictions.first) {
    report.problems.push_back({table.file, problem.line, problem.column, problem.value, problem.message});
  }
  sort_problems(report);
  items.warn(table.file, row, "gold pairs", report);
}

void take_known_clusters(const LabelTable& table, const std::string& file, bool safe, SimilarityData& data,
                         DataReport& report) {
  KnownItems items(data.answers.item_names(), safe);
  data.gold.assign(data.answers.item_count(), kNoCluster);
  data.gold_clusters = table.classes;
  for (std::size_t i = 0; i < table.tasks.size(); ++i) {
    const std::uint32_t item = items.find(table.tasks[i]);
    if (item == kNoCluster) {
      items.miss(table.tasks[i]);
    } else {
      data.gold[item] = static_cast<std::uint32_t>(table.labels[i]);
    }
  }
  items.warn(file, table.tasks.size(), "gold items", report);
}

bool names_two_items(const std::string& file, TableFormat format, const std::vector<std::string>& names) {
  try {
    (void)plan_pairs(file, format, names, {}, false);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void read_similarity_gold(const Input& gold, const ReadOptions& options, const Tuning& tuning,
                          const RunContext& context, SimilarityData& data, DataReport& report) {
  ReadOptions reading;
  reading.lenient = options.lenient;
  reading.task_column = options.gold_task_column;
  reading.label_column = options.gold_label_column;
  DataReport notes;
  TableRequest request;
  request.kind = TableKind::pairs;
  request.keep_lines = true;
  request.pair_words = kSimilarityWords;
  struct ClustersInstead {};
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    const bool named = !reading.task_column.empty() || !reading.label_column.empty();
    if (named || !names_two_items(file, format, names)) throw ClustersInstead();
    ColumnPlan plan = plan_pairs(file, format, std::move(names), reading, false);
    plan.worker = kNoColumn;
    return plan;
  };
  try {
    Table table = read_table(gold, request, reading, tuning, context, notes);
    take_known_pairs(table, options.safe_names, context, data, notes);
    settle_problems(table.file, reading.lenient, notes);
  } catch (const ClustersInstead&) {
    const LabelTable table = read_label_table(gold, reading, tuning, context, &notes);
    take_known_clusters(table, display_name(gold), options.safe_names, data, notes);
  }
  report.gold_rows = notes.rows;
  report.rows_dropped += notes.rows_dropped;
  report.problem_count += notes.problem_count;
  report.warnings.insert(report.warnings.end(), notes.warnings.begin(), notes.warnings.end());
}

SimilarityData read_similarities(const Input& input, const std::optional<Input>& gold, const ReadOptions& options,
                                 const Tuning& tuning, const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  refuse_one_input_twice(input, gold);
  if (!options.classes.empty()) {
    throw Error(ErrorCode::bad_parameter,
                "answers that say same or different have no classes: leave the class list out");
  }
  TableRequest request;
  request.kind = TableKind::pairs;
  request.keep_lines = options.duplicates == DuplicatePolicy::reject;
  request.pair_words = kSimilarityWords;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    ColumnPlan plan = plan_pairs(file, format, std::move(names), options, false);
    if (plan.worker != kNoColumn) return plan;
    throw Error(ErrorCode::bad_input, fmt::format("{}: the header names no column for the worker: name it with "
                                                  "`columns=WORKER,LEFT,RIGHT,LABEL`",
                                                  file));
  };
  Table table = read_table(input, request, options, tuning, context, notes);
  ThreadPool& pool = context.pool();
  settle_problems(table.file, options.lenient, notes);
  if (table.pieces.empty()) refuse_all_rows(table.file, notes);
  NameTable workers = table.workers.release(pool);
  change_workers(options, table, workers, notes);
  NameTable items = table.tasks.release(pool);
  if (options.safe_names) {
    for (NameTable* of : {&items, &workers}) *of = safe_names(*of);
  }
  if (context.cancelled()) throw Cancelled();
  context.report({.stage = "sorting"});
  std::vector<SimilarityRow> rows = similarity_rows(table);
  table.pieces.clear();
  table.rights = {};
  order_names(items, workers, rows, pool);
  SimilarityData data;
  const bool reject = options.duplicates == DuplicatePolicy::reject;
  if (reject && !options.lenient) {
    data.answers = similarities_without_repeats(table, rows, std::move(items), std::move(workers), pool, notes);
    settle_problems(table.file, false, notes);
  } else {
    BuildReport built;
    if (reject) std::reverse(rows.begin(), rows.end());
    const auto policy = reject ? DuplicatePolicy::keep_last : options.duplicates;
    data.answers = build_similarity_answers(rows, std::move(items), std::move(workers), policy, pool, &built);
    note_duplicates(table.file, built, reject, notes);
  }
  if (gold) read_similarity_gold(*gold, options, tuning, context, data, notes);
  return data;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

SimilarityData read_similarities(const std::string& answers_path, const std::optional<std::string>& gold_path,
                                 const ReadOptions& options, const RunContext& context, DataReport* report) {
  if (!options.platform.name.empty()) {
    throw Error(ErrorCode::unsupported, "no platform asks whether two items are the same: give a table");
  }
  std::optional<ingest::Input> gold;
  if (gold_path) gold = ingest::Input{*gold_path, std::nullopt};
  return ingest::read_similarities({answers_path, std::nullopt}, gold, options, ingest::Tuning{}, context, report);
}

void read_similarity_gold(const std::string& path, const ReadOptions& options, const RunContext& context,
                          SimilarityData& data, DataReport* report) {
  DataReport own;
  ingest::read_similarity_gold({path, std::nullopt}, options, ingest::Tuning{}, context, data,
                               report != nullptr ? *report : own);
}

}  // namespace wisecrowd
