#include "store/read_result.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/csv_rows.hpp"
#include "wisecrowd/cleaning.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;
using store::locate_input;
using store::recorded_input;
using store::refuse_file;
using store::StoredRecord;

/// Answers with more tasks that nobody answered: those that learn took from gold.
CategoryAnswers with_tasks(const CategoryAnswers& answers, const NameTable& tasks, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < count; ++t) names.emplace_back(tasks[t]);
  std::vector<CategoryAnswer> list;
  list.reserve(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) list.push_back({TaskId(t), workers[a], labels[a]});
  }
  return inherited(answers,
                   make_category_answers(list, {NameTable(names), answers.worker_names(), answers.class_names()},
                                         DuplicatePolicy::repeat));
}

/// workers × truth × label from confusion.csv, whose rows are in this order; empty when it holds none.
std::vector<double> read_tables(const std::string& path, std::size_t cells) {
  std::error_code unknown;
  if (cells > kMostShownCells || !fs::exists(path, unknown)) return {};
  const std::string text = read_text_file(path);
  CsvRows rows(text);
  if (!rows.next()) refuse_file(path, "is empty");
  const std::size_t column = rows.column("probability");
  std::vector<double> tables;
  tables.reserve(cells);
  while (rows.next()) {
    const double p = rows.number(column);
    if (!(p >= 0 && p <= 1 + 1e-6)) refuse_file(path, fmt::format("has no probability in record {}", rows.row()));
    tables.push_back(p);
  }
  if (!tables.empty() && tables.size() != cells) {
    refuse_file(path, fmt::format("has {} cells, not {}", tables.size(), cells));
  }
  return tables;
}

/// The answers of a state, which must still be those that were exported.
CategoryData read_state(const StoredRecord& stored, const std::string& folder, const std::string& path,
                        const RunContext& context) {
  CategoryData data = CrowdState::open(path, CrowdState::Access::read).whole(context).data;
  if (stored.record.gold_use == "none") data.gold.clear();  // it came later
  if (data.answers.content_hash() != stored.record.data_hash) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("the state '{}' has changed since it was exported to '{}' ({} answers now, {} then): export "
                    "it again, or make the report of the state itself: wisecrowd report STATE",
                    path, folder, data.answers.answer_count(), stored.answers));
  }
  return data;
}

[[noreturn]] void refuse_times() {
  throw Error(ErrorCode::bad_parameter, "a state does not keep when its answers were given: leave `time` out");
}

/// The answers, and when they were given if that was asked for.
void read_answers(const std::string& answers, const std::optional<std::string>& gold, const ReadOptions& options,
                  bool ordered, CategoryResult& result, const RunContext& context) {
  if (options.time_column.empty()) {
    result.data = read_dataset(answers, gold, options, context);
  } else {
    TimedCategoryData timed = read_timed_dataset(answers, gold, options, context);
    result.data = std::move(timed.data);
    result.times = std::move(timed.times);
  }
  if (ordered) order_classes(result.data, true);
}

}  // namespace

void add_gold(CategoryResult& result, const std::string& path, const ReadOptions& options, const RunContext& context) {
  if (result.record.gold_use != "none") {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("there is gold already, for {}: leave {} out", result.record.gold_use, path));
  }
  ReadOptions reading;
  reading.task_column = options.gold_task_column;
  reading.label_column = options.gold_label_column;
  const NameTable& classes = result.data.answers.class_names();
  for (std::size_t k = 0; k < classes.size(); ++k) reading.classes.emplace_back(classes[k]);
  const LabelTable gold = read_label_table(path, reading, context);
  std::unordered_map<std::string_view, ClassId> truth_of;
  for (std::size_t t = 0; t < gold.tasks.size(); ++t) truth_of.emplace(gold.tasks[t], gold.labels[t]);
  const NameTable& tasks = result.data.answers.task_names();
  result.data.gold.assign(tasks.size(), kNoClass);
  result.record.gold_tasks = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto known = truth_of.find(tasks[t]);
    if (known == truth_of.end()) continue;
    result.data.gold[t] = known->second;
    ++result.record.gold_tasks;
  }
  if (result.record.gold_tasks == 0) {
    throw Error(ErrorCode::bad_input, fmt::format("'{}' knows the truth of none of the tasks: check that both call "
                                                  "tasks by the same names",
                                                  path));
  }
  result.record.gold_use = "evaluation";  // known only now, so the method cannot have seen it
  result.workers = summarise_workers(result.data, result.aggregation, result.worker_confusion, context);
}

/// Found anew, by the same rule; that groups counted once stands among the warnings of the run.
static Dependence dependence_as_it_was(const CategoryResult& result, const CategoryFit& fit,
                                       const RunContext& context) {
  CategoryData seen = result.data;
  seen.gold.clear();
  // Who was left out was not seen, neither by the method nor by the search.
  if (result.record.cleaning) {
    seen = cleaned(seen, cleaning_request(result.record.cleaning->without), context).data;
  }
  const bool given = !seen.worker_groups.empty();
  Dependence found = given ? given_groups(seen) : find_dependence(seen, {}, context);
  const bool told = std::any_of(fit.warnings.begin(), fit.warnings.end(),
                                [](const Warning& warning) { return warning.code == "dependent_workers"; });
  const std::string& method = result.record.method;
  found.counted_once = told || (given && (method == "group_dawid_skene" || method == "automatic"));
  return found;
}

ReadOptions store::reading_of(const StoredRecord& stored) {
  ReadOptions options = read_options(stored.record.reading);
  options.classes = stored.classes;
  // The file of answers has the names as they were before.
  for (std::string& name : options.classes) {
    if (options.safe_names && name.starts_with('\'') && spreadsheet_safe(name.substr(1)) == name) name.erase(0, 1);
  }
  return options;
}

StoredRun store::read_categories(StoredRecord stored, const std::string& folder, const ReadResultOptions& options,
                                 const RunContext& context) {
  ReadOptions read = reading_of(stored);
  if (options.time_column) read.time_column = *options.time_column;
  const auto answers_then = recorded_input(stored.record, "answers");
  const auto gold_then = recorded_input(stored.record, "gold");
  const auto state_then = recorded_input(stored.record, "state");
  const std::string answers_path = options.answers ? *options.answers
                                   : state_then    ? locate_input(folder, "answers", *state_then)
                                                   : locate_input(folder, "answers", answers_then.value_or("-"));
  const bool of_state = is_state_file(answers_path);
  std::optional<std::string> gold_path = options.gold;
  if (!gold_path && gold_then) gold_path = locate_input(folder, "gold", *gold_then);

  StoredRun run;
  CategoryResult result;
  if (of_state && !read.time_column.empty()) refuse_times();
  if (of_state) result.data = read_state(stored, folder, answers_path, context);
  if (!of_state) read_answers(answers_path, gold_path, read, stored.ordered, result, context);

  const std::string labels_path = (fs::path(folder) / "labels.csv").string();
  ReadOptions reading;
  reading.task_column = "task";
  reading.label_column = "label";
  reading.format = TableFormat::csv;
  for (const std::string& name : read.classes) {
    reading.classes.push_back(read.safe_names ? spreadsheet_safe(name) : name);
  }
  reading.blank_labels = true;
  const LabelTable labels = read_label_table(labels_path, reading, context);
  const std::size_t classes = read.classes.size();
  if (labels.tasks.size() < stored.tasks || labels.probabilities.size() != labels.tasks.size() * classes) {
    refuse_file(labels_path, fmt::format("does not hold {} tasks with {} probabilities each", stored.tasks, classes));
  }
  const std::size_t answered = result.data.answers.task_count();
  if (stored.learned && stored.record.gold_use == "inference" && answered < stored.tasks) {
    result.data.answers = with_tasks(result.data.answers, labels.tasks, stored.tasks);
    for (std::size_t t = answered; t < stored.tasks && result.data.has_gold(); ++t) {
      result.data.gold.push_back(labels.labels[t]);  // learned from, so labelled with it
    }
  }
  check_same(stored, result.data.answers, result.data.answers.content_hash(), folder, answers_path);
  for (std::size_t t = 0; t < stored.tasks; ++t) {
    if (labels.tasks[t] != result.data.answers.task_names()[t]) {
      refuse_file(labels_path, fmt::format("has other tasks than '{}'", answers_path));
    }
  }

  CategoryFit& fit = result.aggregation;
  static_cast<FitSummary&>(fit) = std::move(stored.fit);
  fit.tie_rule = stored.tie_rule;
  fit.class_prior = std::move(stored.class_prior);
  fit.task_count = stored.tasks;
  fit.worker_count = result.data.answers.worker_count();
  fit.class_count = classes;
  fit.posterior.assign(labels.probabilities.begin(),
                       labels.probabilities.begin() + static_cast<std::ptrdiff_t>(stored.tasks * classes));
  fit.labels.assign(labels.labels.begin(), labels.labels.begin() + static_cast<std::ptrdiff_t>(stored.tasks));
  for (std::size_t t = 0; t < stored.tasks; ++t) {
    if (fit.labels[t] != kNoClass) continue;  // left blank: the most probable class was below the threshold
    const auto row = fit.posterior_of(TaskId(t));
    fit.labels[t] = ClassId(std::max_element(row.begin(), row.end()) - row.begin());
  }
  result.worker_confusion =
      read_tables((fs::path(folder) / "confusion.csv").string(), fit.worker_count * classes * classes);
  result.record = std::move(stored.record);
  if (options.gold && of_state) {
    add_gold(result, *options.gold, read, context);
  } else if (options.gold && result.record.gold_use == "none") {  // known only now, so the method cannot have seen it
    result.record.gold_use = "evaluation";
    result.record.gold_tasks = static_cast<std::uint64_t>(std::count_if(
        result.data.gold.begin(), result.data.gold.end(), [](ClassId truth) { return truth != kNoClass; }));
  }
  fit.dependence = result.dependence = dependence_as_it_was(result, fit, context);
  result.workers = summarise_workers(result.data, fit, result.worker_confusion, context);
  run.result = std::move(result);
  run.learned = std::move(stored.learned);
  return run;
}

StoredRun read_result(const std::string& folder, const ReadResultOptions& options, const RunContext& context) {
  StoredRecord stored = store::read_record(folder);
  if (stored.answers_kind == Categories::name) {
    return store::read_categories(std::move(stored), folder, options, context);
  }
  if (stored.answers_kind == Numbers::name) return store::read_numbers(std::move(stored), folder, options, context);
  if (stored.answers_kind == Comparisons::name) {
    return store::read_comparisons(std::move(stored), folder, options, context);
  }
  if (stored.answers_kind == Similarities::name) {
    return store::read_similarities(std::move(stored), folder, options, context);
  }
  if (stored.answers_kind == Sets::name) return store::read_sets(std::move(stored), folder, options, context);
  if (stored.answers_kind == Sequences::name) return store::read_sequences(std::move(stored), folder, options, context);
  throw Error(ErrorCode::unsupported,
              fmt::format("the result in '{}' is of {}, which this version of wisecrowd does not know", folder,
                          stored.answers_kind));
}

}  // namespace wisecrowd
