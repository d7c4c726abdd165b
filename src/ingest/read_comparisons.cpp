#include "ingest/read_comparisons.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "data/comparison_column.hpp"
#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "ingest/read.hpp"
#include "ingest/repeats.hpp"
#include "ingest/table.hpp"
#include "ingest/worker_changes.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::string_view kNobodyInParticular = "all";

bool is_word(std::string_view text, std::string_view word) noexcept {
  return text.size() == word.size() && std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
         });
}

template <std::size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& words) noexcept {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return is_word(text, word); });
}

}  // namespace

std::uint32_t outcome_code(std::string_view left, std::string_view right, std::string_view label) {
  using namespace std::string_view_literals;
  static constexpr std::array kLeft{"left"sv, "l"sv, "a"sv, "model_a"sv, "item_a"sv, "first"sv, "option_a"sv};
  static constexpr std::array kRight{"right"sv, "r"sv, "b"sv, "model_b"sv, "item_b"sv, "second"sv, "option_b"sv};
  static constexpr std::array kTie{"tie"sv,     "draw"sv,     "equal"sv,     "same"sv,          "both"sv,
                                   "tied"sv,    "neither"sv,  "="sv,         "tie (bothbad)"sv, "both_bad"sv,
                                   "bothbad"sv, "both bad"sv, "both_good"sv, "both good"sv};
  if (label == left) return static_cast<std::uint32_t>(Outcome::left);
  if (label == right) return static_cast<std::uint32_t>(Outcome::right);
  if (is_one_of(label, kTie)) return static_cast<std::uint32_t>(Outcome::tie);
  if (is_one_of(label, kLeft)) return static_cast<std::uint32_t>(Outcome::left);
  if (is_one_of(label, kRight)) return static_cast<std::uint32_t>(Outcome::right);
  return PairWords::kUnknown;
}

namespace {

constexpr PairWords kOutcomeWords{
    outcome_code, "the name of one of them, or left, right or tie (same or different is for `answers=similarities`)",
    static_cast<std::uint32_t>(Outcome::left)};

std::vector<ComparisonPiece> comparison_pieces(Table& table, bool has_workers) {
  std::vector<ComparisonPiece> pieces;
  std::uint64_t answer = 0;
  for (CategoryPiece& piece : table.pieces) {
    ComparisonPiece& out = pieces.emplace_back();
    out.tasks = std::move(piece.tasks);
    out.workers = std::move(piece.workers);
    if (!has_workers) out.workers.assign(out.tasks.size(), 0);
    out.payload.resize(out.tasks.size());
    out.rights.resize(out.tasks.size());
    for (std::size_t i = 0; i < out.tasks.size(); ++i, ++answer) {
      out.payload[i] = static_cast<std::uint8_t>(piece.payload[i]);
      out.rights[i] = table.rights[table.row_of_answer(answer)];
    }
    piece.payload = {};
  }
  table.pieces.clear();
  table.rights = {};
  return pieces;
}

/// Ids of items by name.
std::unordered_map<std::string_view, std::uint32_t> ids_of(const NameTable& names) {
  std::unordered_map<std::string_view, std::uint32_t> ids;
  for (std::uint32_t i = 0; i < names.size(); ++i) ids.emplace(names[i], i);
  return ids;
}

void warn_of_other_gold(const std::string& file, std::size_t unknown, std::size_t all, const std::string& example,
                        const char* what, DataReport& report) {
  if (unknown == 0) return;
  const bool none = unknown == all;
  report.warnings.push_back(
      {"gold_without_answers",
       none ? fmt::format("{}: none of its {} {}, for example {}, has answers, so gold is of no use here", file, all,
                          what, example)
            : fmt::format("{}: {} of {} {}, for example {}, have no answers and are ignored", file, unknown, all, what,
                          example),
       none ? "are its items spelled otherwise?" : "", none ? Severity::serious : Severity::note});
}

/// Known outcomes of pairs. The last row of a pair counts where rows agree; contradictions are problems.
void take_pair_gold(Table& table, ComparisonData& data, const RunContext& context, DataReport& report) {
  const NameTable names = table.tasks.release(context.pool());
  const auto ids = ids_of(data.answers.item_names());
  const auto pairs = data.answers.pairs();
  data.gold.assign(pairs.size(), std::nullopt);
  std::vector<std::uint64_t> line_of(pairs.size(), 0);
  std::size_t row = 0, unknown = 0;
  std::string example;
  ProblemList contradictions;
  for (const CategoryPiece& piece : table.pieces) {
    for (std::size_t i = 0; i < piece.size(); ++i, ++row) {
      const std::string_view left = names[piece.tasks[i]], right = names[table.rights[row]];
      const auto first = ids.find(left), second = ids.find(right);
      auto outcome = static_cast<Outcome>(piece.payload[i]);
      bool found = false;
      if (first != ids.end() && second != ids.end()) {
        const bool swapped = second->second < first->second;
        const ItemPair wanted{ItemId{std::min(first->second, second->second)},
                              ItemId{std::max(first->second, second->second)}};
        if (swapped) outcome = mirrored(outcome);
        const auto at = std::lower_bound(pairs.begin(), pairs.end(), wanted, [](const ItemPair& a, const ItemPair& b) {
          return std::pair(a.first, a.second) < std::pair(b.first, b.second);
        });
        if (at != pairs.end() && *at == wanted) {
          const auto task = static_cast<std::size_t>(at - pairs.begin());
          found = true;
          if (data.gold[task] && *data.gold[task] != outcome) {
            ++report.rows_dropped;
            contradictions.add(
                {table.lines.line_of(row), table.plan.names[table.plan.label], "",
                 fmt::format("contradicts line {}, which has the same pair: keep one of them", line_of[task])});
            continue;
          }
          data.gold[task] = outcome;
          line_of[task] = table.lines.line_of(row);
        }
      }
      if (!found && unknown++ == 0) example = fmt::format("'{}' and '{}'", printable(left), printable(right));
    }
  }
  report.problem_count += contradictions.count;
  for (const auto& problem : contradictions.first) {
    report.problems.push_back({table.file, problem.line, problem.column, problem.value, problem.message});
  }
  sort_problems(report);
  warn_of_other_gold(table.file, unknown, row, example, "gold pairs", report);
}

/// The columns of a table of items with a number each: what truth is called, else a score, else the only number.
std::vector<std::string> score_column(const std::vector<std::string>& header) {
  for (const char* wanted : {"truth", "score", "rank_score", "gold", "quality", "value", "rating", "elo"}) {
    for (const std::string& name : header) {
      if (normalised(name) == wanted) return {name};
    }
  }
  return {};
}

bool names_pairs(const std::string& file, TableFormat format, const std::vector<std::string>& names) {
  try {
    (void)plan_pairs(file, format, names, {}, false);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void take_item_gold(const NumberTable& table, const std::string& file, ComparisonData& data, DataReport& report) {
  const auto ids = ids_of(data.answers.item_names());
  data.gold_scores.assign(data.answers.item_count(), std::numeric_limits<double>::quiet_NaN());
  std::size_t unknown = 0;
  std::string example;
  for (std::size_t i = 0; i < table.tasks.size(); ++i) {
    const auto at = ids.find(table.tasks[i]);
    if (at == ids.end()) {
      if (unknown++ == 0) example = fmt::format("'{}'", printable(table.tasks[i]));
    } else {
      data.gold_scores[at->second] = table.values[i];
    }
  }
  warn_of_other_gold(file, unknown, table.tasks.size(), example, "gold items", report);
}

/// Gold of pairs or of items, whichever its columns name.
void read_comparison_gold(const Input& input, const ReadOptions& options, const Tuning& tuning,
                          const RunContext& context, ComparisonData& data, DataReport& report) {
  ReadOptions reading;
  reading.lenient = options.lenient;
  reading.safe_names = options.safe_names;
  DataReport notes;
  bool pairs = true;
  TableRequest request;
  request.kind = TableKind::pairs;
  request.keep_lines = true;
  request.pair_words = kOutcomeWords;
  struct ItemsInstead {};
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    pairs = names_pairs(file, format, names);
    if (!pairs && find_task_column(names) != kNoColumn) throw ItemsInstead();
    ColumnPlan plan = plan_pairs(file, format, std::move(names), reading, false);
    plan.worker = kNoColumn;
    return plan;
  };
  try {
    Table table = read_table(input, request, reading, tuning, context, notes);
    take_pair_gold(table, data, context, notes);
    settle_problems(table.file, reading.lenient, notes);
  } catch (const ItemsInstead&) {
    const NumberTable table = read_number_table(input, reading, score_column, tuning, context, &notes);
    take_item_gold(table, display_name(input), data, notes);
  }
  report.gold_rows = notes.rows;
  report.rows_dropped += notes.rows_dropped;
  report.problem_count += notes.problem_count;
  report.warnings.insert(report.warnings.end(), notes.warnings.begin(), notes.warnings.end());
}

/// Whether the columns of a table name pairs of items.
bool holds_pairs(const Input& input, const RunContext& context) {
  struct Seen {
    bool pairs;
  };
  TableRequest request;
  request.kind = TableKind::pairs;
  request.plan = [](const std::string& file, TableFormat format, std::vector<std::string> names) -> ColumnPlan {
    throw Seen{names_pairs(file, format, names)};
  };
  DataReport notes;
  try {
    (void)read_table(input, request, {}, Tuning{}, context, notes);
  } catch (const Seen& seen) {
    return seen.pairs;
  }
  return false;
}

/// Builds the answers and adds a problem for every repeated pair.
ComparisonAnswers build_without_repeats(const Table& table, std::vector<ComparisonPiece> pieces,
                                        ComparisonAnswerNames names, bool sides, ThreadPool& pool, DataReport& report) {
  BuildReport built;
  std::vector<RepeatedPair> repeated;
  ComparisonAnswers answers = build_comparison_answers(std::move(pieces), std::move(names), sides,
                                                       DuplicatePolicy::reject, pool, &built, &repeated);
  for (const RepeatedPair& pair : repeated) {
    if (report.problems.size() == kMostProblemsShown) break;
    const ItemPair items = answers.pair(TaskId{pair.task});
    report.problems.push_back(
        {table.file, table.line_of_answer(pair.later), "", "",
         fmt::format(
             "worker '{}' already compared '{}' and '{}' in line {}: remove one, or choose the duplicate policy "
             "{} or {}",
             printable(answers.worker_names()[pair.worker]), printable(answers.item_names()[index(items.first)]),
             printable(answers.item_names()[index(items.second)]), table.line_of_answer(pair.earlier),
             to_string(DuplicatePolicy::keep_last), to_string(DuplicatePolicy::repeat))});
  }
  report.problem_count += built.repeats;
  sort_problems(report);
  return answers;
}

}  // namespace

ComparisonData read_comparisons(const Input& input, const std::optional<Input>& gold, const ReadOptions& options,
                                const Tuning& tuning, const RunContext& context, DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  refuse_one_input_twice(input, gold);
  if (!options.classes.empty()) {
    throw Error(ErrorCode::bad_parameter, "comparisons have no classes: leave the class list out");
  }
  TableRequest request;
  request.kind = TableKind::pairs;
  request.keep_lines = options.duplicates == DuplicatePolicy::reject;
  request.pair_words = kOutcomeWords;
  request.plan = [&](const std::string& file, TableFormat format, std::vector<std::string> names) {
    return plan_pairs(file, format, std::move(names), options, true);
  };
  Table table = read_table(input, request, options, tuning, context, notes);
  ThreadPool& pool = context.pool();
  settle_problems(table.file, options.lenient, notes);
  if (table.pieces.empty()) refuse_all_rows(table.file, notes);
  const bool has_workers = table.plan.worker != kNoColumn;
  const bool sides_known = table.plan.label != kNoColumn;
  ComparisonAnswerNames names;
  if (has_workers) {
    names.workers = table.workers.release(pool);
    change_workers(options, table, names.workers, notes);
  } else {
    const std::vector<std::string> one{std::string(kNobodyInParticular)};
    names.workers = NameTable(one);
    notes.warnings.push_back(
        {"no_worker_column",
         fmt::format("{}: no column names the worker, so all answers count as those of one worker, "
                     "'{}'",
                     table.file, kNobodyInParticular),
         "if a column has the workers, name it with `columns`", Severity::note});
  }
  names.items = table.tasks.release(pool);
  if (options.safe_names) {
    for (NameTable* of : {&names.items, &names.workers}) *of = safe_names(*of);
  }
  if (context.cancelled()) throw Cancelled();
  context.report({.stage = "sorting"});
  std::vector<ComparisonPiece> pieces = comparison_pieces(table, has_workers);
  (void)put_in_order(names, pieces, pool);
  ComparisonData data;
  const bool reject = options.duplicates == DuplicatePolicy::reject;
  if (reject && !options.lenient) {
    data.answers = build_without_repeats(table, std::move(pieces), std::move(names), sides_known, pool, notes);
    settle_problems(table.file, false, notes);
  } else {
    BuildReport built;
    if (reject) {
      std::reverse(pieces.begin(), pieces.end());
      for (ComparisonPiece& piece : pieces) {
        for (auto* of : {&piece.tasks, &piece.workers, &piece.rights}) std::reverse(of->begin(), of->end());
        std::reverse(piece.payload.begin(), piece.payload.end());
      }
    }
    const auto policy = reject ? DuplicatePolicy::keep_last : options.duplicates;
    data.answers = build_comparison_answers(std::move(pieces), std::move(names), sides_known, policy, pool, &built);
    note_duplicates(table.file, built, reject, notes);
  }
  if (gold) read_comparison_gold(*gold, options, tuning, context, data, notes);
  return data;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

ComparisonData read_comparisons(const std::string& answers_path, const std::optional<std::string>& gold_path,
                                const ReadOptions& options, const RunContext& context, DataReport* report) {
  const auto inputs = ingest::prepare_inputs(answers_path, gold_path, Comparisons::name, false, options, context);
  ComparisonData data =
      ingest::read_comparisons(inputs.answers, inputs.gold, inputs.options, ingest::Tuning{}, context, report);
  inputs.tell(report);
  return data;
}

ItemScores read_item_scores(const std::string& path, const ReadOptions& options, const RunContext& context,
                            DataReport* report) {
  NumberTable table = read_number_table(path, options, ingest::score_column, context, report);
  return {std::move(table.tasks), std::move(table.values)};
}

ItemFeatures read_item_features(const std::string& path, const NameTable& items, const ReadOptions& options,
                                const RunContext& context) {
  ItemFeatures features;
  const NumberTable table = read_number_table(
      path, options,
      [&](const std::vector<std::string>& header) {
        if (!options.value_columns.empty()) return options.value_columns;
        const std::size_t item = ingest::find_task_column(header);
        std::vector<std::string> columns;
        for (std::size_t c = 0; c < header.size(); ++c) {
          if (c != item) columns.push_back(header[c]);
        }
        return columns;
      },
      context);
  features.names = table.columns;
  std::unordered_map<std::string_view, std::size_t> rows;
  for (std::size_t i = 0; i < table.tasks.size(); ++i) rows.emplace(table.tasks[i], i);
  const std::size_t count = table.columns.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto at = rows.find(items[i]);
    if (at == rows.end()) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: there is no row for the item '{}': features of every item are needed", path,
                              ingest::printable(items[i])));
    }
    const double* const values = table.values.data() + at->second * count;
    features.values.insert(features.values.end(), values, values + count);
  }
  return features;
}

ComparisonData gold_for_ranking(const std::string& path, const NameTable& items, const RunContext& context,
                                DataReport* report) {
  DataReport own;
  DataReport& notes = report != nullptr ? *report : own;
  notes = {};
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < items.size(); ++i) known.emplace(items[i], i);
  ComparisonAnswersBuilder builder;
  for (std::size_t i = 0; i < items.size(); ++i) builder.add_item(items[i]);
  ComparisonData data{.answers = builder.build()};
  if (!ingest::holds_pairs({path, std::nullopt}, context)) {
    ingest::read_comparison_gold({path, std::nullopt}, {}, ingest::Tuning{}, context, data, notes);
    return data;
  }
  const ComparisonData pairs = read_comparisons(path, std::nullopt, ReadOptions(), context, &notes);
  std::erase_if(notes.warnings, [](const Warning& warning) { return warning.code == "no_worker_column"; });
  std::size_t unknown = 0;
  std::string example;
  const ComparisonAnswers& read = pairs.answers;
  for (std::size_t t = 0; t < read.task_count(); ++t) {
    const auto left = read.item_names()[index(read.pairs()[t].first)];
    const auto right = read.item_names()[index(read.pairs()[t].second)];
    if (!known.contains(left) || !known.contains(right)) {
      if (unknown++ == 0) example = fmt::format("'{}' and '{}'", ingest::printable(left), ingest::printable(right));
      continue;
    }
    builder.add("gold", left, right, ComparisonAnswers::outcome_of(read.codes()[read.task_offsets()[t]]));
  }
  ingest::warn_of_other_gold(path, unknown, read.task_count(), example, "gold pairs", notes);
  data.answers = builder.build();
  for (std::size_t t = 0; t < data.answers.task_count(); ++t) {
    data.gold.emplace_back(ComparisonAnswers::outcome_of(data.answers.codes()[data.answers.task_offsets()[t]]));
  }
  return data;
}

}  // namespace wisecrowd
