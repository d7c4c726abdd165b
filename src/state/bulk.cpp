// What touches a state as a whole: making it, fitting it anew, reading all of it.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/numeric.hpp"
#include "data/build.hpp"
#include "state/schema.hpp"
#include "state/state_file.hpp"
#include "state/temporary_file.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRowsBetweenReports = 1 << 16;

/// Progress of a long loop over rows, and the way out of it.
void report_rows(const RunContext& context, std::string_view stage, std::size_t done, std::size_t total) {
  if (done % kRowsBetweenReports != 0) return;
  context.report({.stage = stage, .done = static_cast<double>(done), .total = static_cast<double>(total)});
  if (context.cancelled()) throw Cancelled();
}

/// What a batch fit leaves behind, in the form that the tables have.
struct Estimates {
  std::vector<double> posterior;
  WorkerTables counts;
  std::vector<double> class_tasks;
  std::uint64_t answered_tasks = 0;
};

Estimates estimates_of(const CategoryAnswers& answers, std::vector<double> posterior) {
  const std::size_t classes = answers.class_count();
  Estimates estimates;
  estimates.class_tasks.assign(classes, 0.0);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (offsets[t] == offsets[t + 1]) continue;
    ++estimates.answered_tasks;
    for (std::size_t k = 0; k < classes; ++k) estimates.class_tasks[k] += posterior[t * classes + k];
  }
  estimates.counts = expected_counts(answers, posterior);
  estimates.posterior = std::move(posterior);
  return estimates;
}

CategoryFit fit(CategoryData data, const StateFile& file, const RunContext& context, const Inspection& inspect) {
  if (file.settings().gold_use == GoldUse::evaluation) data.gold.clear();
  CategoryFit result =
      aggregate(data, "dawid_skene", batch_parameters(file.settings().parameters, data.answers.class_count()), context);
  if (context.cancelled()) throw Cancelled();
  for (Warning& seen : inspect ? inspect(data.answers, context) : std::vector<Warning>()) {
    std::erase_if(result.warnings, [&](const Warning& known) { return known.code == seen.code; });
    result.warnings.push_back(std::move(seen));
  }
  return result;
}

std::span<const double> row(const std::vector<double>& values, std::size_t i, std::size_t width) {
  return std::span(values).subspan(i * width, width);
}

std::vector<std::uint32_t> answers_per_worker(const CategoryAnswers& answers) {
  std::vector<std::uint32_t> counts(answers.worker_count(), 0);
  for (const WorkerId w : answers.workers()) ++counts[index(w)];
  return counts;
}

void insert_names_and_estimates(const StateFile& file, const CategoryAnswers& answers, const Estimates& estimates,
                                const RunContext& context) {
  const std::size_t classes = answers.class_count();
  Statement insert_class(file.database(), "INSERT INTO class VALUES (?, ?, ?)");
  for (std::size_t k = 0; k < classes; ++k) {
    insert_class.bind(1, static_cast<std::int64_t>(k)).bind(2, answers.class_names()[k]);
    insert_class.bind(3, estimates.class_tasks[k]).run();
  }
  Statement insert_worker(file.database(), "INSERT INTO worker VALUES (?, ?, ?, ?, ?)");
  const auto given = answers_per_worker(answers);
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    const auto counts = estimates.counts.table(WorkerId(w));
    insert_worker.bind(1, static_cast<std::int64_t>(w)).bind(2, answers.worker_names()[w]);
    insert_worker.bind(3, std::int64_t{given[w]}).bind(4, right_answers(counts, classes, given[w]));
    insert_worker.bind_blob(5, counts).run();
  }
  Statement insert_task(file.database(), "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?)");
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    report_rows(context, "storing tasks", t, answers.task_count());
    const auto posterior = row(estimates.posterior, t, classes);
    const TaskColumns columns = columns_of(posterior);
    insert_task.bind(1, static_cast<std::int64_t>(t)).bind(2, answers.task_names()[t]);
    insert_task.bind(3, columns.label).bind(4, columns.probability).bind(5, columns.entropy);
    insert_task.bind_blob(6, posterior).run();
  }
}

void insert_answers(const StateFile& file, const CategoryAnswers& answers, const RunContext& context) {
  Statement insert(file.database(), "INSERT INTO answer VALUES (?, ?, ?, ?)");
  std::size_t done = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    std::int64_t turn = 0;
    for (std::size_t a = 0; a < workers.size(); ++a) {
      report_rows(context, "storing answers", done++, answers.answer_count());
      turn = a > 0 && workers[a] == workers[a - 1] ? turn + 1 : 0;  // they are sorted by worker
      insert.bind(1, static_cast<std::int64_t>(t)).bind(2, static_cast<std::int64_t>(workers[a]));
      insert.bind(3, turn).bind(4, static_cast<std::int64_t>(labels[a])).run();
    }
  }
}

void update_estimates(const StateFile& file, const CategoryAnswers& answers, const Estimates& estimates,
                      const RunContext& context) {
  const std::size_t classes = answers.class_count();
  Statement update_class(file.database(), "UPDATE class SET tasks = ? WHERE id = ?");
  for (std::size_t k = 0; k < classes; ++k) {
    update_class.bind(1, estimates.class_tasks[k]).bind(2, static_cast<std::int64_t>(k)).run();
  }
  Statement update_worker(file.database(), "UPDATE worker SET right = ?, counts = ? WHERE id = ?");
  const auto given = answers_per_worker(answers);
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    const auto counts = estimates.counts.table(WorkerId(w));
    update_worker.bind(1, right_answers(counts, classes, given[w])).bind_blob(2, counts);
    update_worker.bind(3, static_cast<std::int64_t>(w)).run();
  }
  Statement update_task(file.database(),
                        "UPDATE task SET label = ?, probability = ?, entropy = ?, posterior = ? WHERE id = ?");
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    report_rows(context, "storing tasks", t, answers.task_count());
    const auto posterior = row(estimates.posterior, t, classes);
    const TaskColumns columns = columns_of(posterior);
    update_task.bind(1, columns.label).bind(2, columns.probability).bind(3, columns.entropy);
    update_task.bind_blob(4, posterior).bind(5, static_cast<std::int64_t>(t)).run();
  }
}

/// Names of a table in the order of their ids, which must be dense.
NameTable read_names(const StateFile& file, const char* sql, std::string_view what) {
  std::string characters;
  std::vector<std::uint64_t> offsets{0};
  Statement all(file.database(), sql);
  while (all.step()) {
    if (all.integer(0) != static_cast<std::int64_t>(offsets.size() - 1)) {
      file.database().fail_as_damaged(fmt::format("{} {} is missing", what, offsets.size() - 1));
    }
    characters += file.checked_name(all.text(1), what);
    offsets.push_back(characters.size());
  }
  return {std::move(characters), std::move(offsets)};
}

/// The names that a state would keep.
void require_names(const std::string& path, const NameTable& names, std::string_view what) {
  for (std::size_t i = 0; i < names.size(); ++i) require_name(names[i], fmt::format("{}: {}", path, what));
}

/// Tables of classes × classes doubles stand in one row each.
void require_room(const StateFile& file, std::size_t classes) {
  const std::size_t most = most_classes(file.database());
  if (classes <= most) return;
  throw Error(
      ErrorCode::unsupported,
      fmt::format("{} classes are too many for a state, which holds at most {}: the table of a worker would not "
                  "fit into a row of SQLite. wisecrowd aggregate takes them without a state",
                  classes, most));
}

/// Answers to tasks with more classes than they were read with.
CategoryAnswers with_classes(const CategoryAnswers& answers, std::vector<std::string> classes) {
  std::vector<CategoryAnswer> list;
  list.reserve(answers.answer_count());
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) list.push_back({TaskId(t), workers[a], labels[a]});
  }
  return make_category_answers(list, {answers.task_names(), answers.worker_names(), NameTable(classes)},
                               DuplicatePolicy::repeat);
}

/// Known truths become part of the data, as far as they are of its tasks; returns all, with the ids of their classes.
std::map<std::string, ClassId> join_gold(CategoryData& data, const StateSettings& settings,
                                         std::span<const KnownTruth> gold) {
  std::vector<std::string> classes;
  std::unordered_map<std::string, ClassId> id_of;
  for (std::size_t k = 0; k < data.answers.class_count(); ++k) {
    classes.emplace_back(data.answers.class_names()[k]);
    id_of.emplace(classes.back(), ClassId(k));
  }
  std::map<std::string, ClassId> known;
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (data.gold[t] != kNoClass) known.emplace(data.answers.task_names()[t], data.gold[t]);
  }
  for (const KnownTruth& truth : gold) {
    const auto [place, is_new] = id_of.emplace(truth.label, ClassId(classes.size()));
    if (is_new && settings.fixed_classes) {
      throw Error(ErrorCode::bad_input, fmt::format("gold: '{}' is none of the classes: correct it, or add it to them",
                                                    printable(truth.label)));
    }
    if (is_new) classes.push_back(truth.label);
    known[truth.task] = place->second;
  }
  if (classes.size() > data.answers.class_count()) data.answers = with_classes(data.answers, classes);
  data.gold.assign(data.answers.task_count(), kNoClass);
  bool any = false;
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    const auto found = known.find(std::string(data.answers.task_names()[t]));
    if (found == known.end()) continue;
    data.gold[t] = found->second;
    any = true;
  }
  if (!any) data.gold.clear();
  return known;
}

void insert_gold(const StateFile& file, const std::map<std::string, ClassId>& known) {
  Statement insert(file.database(), "INSERT INTO gold VALUES (?, ?)");
  for (const auto& [task, truth] : known) {
    insert.bind(1, task).bind(2, static_cast<std::int64_t>(index(truth))).run();
  }
}

}  // namespace

std::size_t most_classes(const Database& database) {
  constexpr std::size_t kOtherColumns = 1 << 20;  // with a name of up to 64 KB
  const auto cells = static_cast<double>((database.largest_blob() - kOtherColumns) / sizeof(double));
  return std::min<std::size_t>(kMaxClasses, static_cast<std::size_t>(std::sqrt(cells)));
}

CrowdState CrowdState::create(const std::string& path, const CategoryData& given, const StateSettings& settings,
                              const RunContext& context, std::span<const KnownTruth> gold, const Inspection& inspect) {
  CategoryData data = given;
  const auto known = join_gold(data, settings, gold);
  require_names(path, data.answers.task_names(), "task");
  require_names(path, data.answers.worker_names(), "worker");
  require_names(path, data.answers.class_names(), "class");
  for (const auto& [task, truth] : known) require_name(task, fmt::format("{}: gold task", path));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored))) {
    throw Error(ErrorCode::io, fmt::format("{} is there already: add answers to it (wisecrowd state add), or name "
                                           "another file",
                                           path));
  }
  if (data.answers.has_repeats() && settings.duplicates != DuplicatePolicy::repeat) {
    throw Error(ErrorCode::bad_input,
                "a worker answered a task more than once: say that repeated answers count, or "
                "keep the last one");
  }
  TemporaryFile place(path);
  {
    auto database = std::make_unique<Database>(place.aside(), Database::Mode::create);
    database->show_as(path);
    database->run(fmt::format("PRAGMA page_size = {}", kPageBytes));
    // Nobody sees the file before it is whole, so it needs no journal.
    database->run("PRAGMA journal_mode = OFF");
    database->run("PRAGMA synchronous = OFF");
    database->run("PRAGMA cache_size = -262144");
    database->run(fmt::format("PRAGMA threads = {}", std::max(context.threads(), 1U) - 1));
    StateFile file(std::move(database), settings);
    const CategoryAnswers& answers = data.answers;
    require_room(file, answers.class_count());
    Transaction all(file.database(), Transaction::Kind::write);
    create_tables(file.database());
    file.store_settings();
    CategoryFit fitted = fit(data, file, context, inspect);
    file.store_warnings(fitted.warnings);
    const Estimates estimates = estimates_of(answers, std::move(fitted.posterior));
    insert_names_and_estimates(file, answers, estimates, context);
    insert_answers(file, answers, context);
    StateCounters counters;
    counters.answers = answers.answer_count();
    counters.answered_tasks = estimates.answered_tasks;
    counters.staleness.answers_at_refit = answers.answer_count();
    file.store(counters);
    context.report({.stage = "building indices"});
    migrate(file.database(), 0);
    insert_gold(file, known);
    all.commit();
    if (context.cancelled()) throw Cancelled();
    file.database().run("PRAGMA journal_mode = WAL");
  }
  place.put_in_place();
  return open(path, Access::write);
}

CategoryFit CrowdState::refit(const RunContext& context, const Inspection& inspect) {
  const StateFile& file = inside_->file;
  file.database().run("PRAGMA cache_size = -262144");
  // From the first row read to the last one written nobody else may write; others wait.
  Transaction all(file.database(), Transaction::Kind::write);
  const Whole whole = read_whole(file, context);
  CategoryFit result = fit(whole.data, file, context, inspect);
  Estimates estimates = estimates_of(whole.data.answers, std::move(result.posterior));
  result.posterior.clear();
  file.store_warnings(result.warnings);
  update_estimates(file, whole.data.answers, estimates, context);
  StateCounters counters;
  counters.answers = whole.data.answers.answer_count();
  counters.answered_tasks = estimates.answered_tasks;
  counters.staleness.answers_at_refit = counters.answers;
  file.store(counters);
  all.commit();
  return result;
}

CrowdState::Whole read_whole(const StateFile& file, const RunContext& context) {
  const auto state_classes = file.classes();
  const std::size_t classes = state_classes.size();
  std::vector<std::string> class_names;
  for (const StateClass& known : state_classes) class_names.push_back(known.name);
  CategoryAnswerNames names{read_names(file, "SELECT id, name FROM task ORDER BY id", "task"),
                            read_names(file, "SELECT id, name FROM worker ORDER BY id", "worker"),
                            NameTable(class_names)};
  const std::size_t tasks = names.tasks.size();
  const std::size_t workers = names.workers.size();
  const auto expected = file.counters().answers;

  CategoryPiece piece;
  piece.reserve(expected);
  Statement all(file.database(), "SELECT task, worker, label FROM answer ORDER BY task, worker, turn");
  while (all.step()) {
    report_rows(context, "reading answers", piece.size(), expected);
    piece.tasks.push_back(file.checked_id(all.integer(0), tasks, "task"));
    piece.workers.push_back(file.checked_id(all.integer(1), workers, "worker"));
    piece.payload.push_back(static_cast<std::uint16_t>(file.checked_id(all.integer(2), classes, "class")));
  }
  if (piece.size() != expected) {
    file.database().fail_as_damaged(fmt::format("it has {} answers and should have {}", piece.size(), expected));
  }
  std::vector<CategoryPiece> pieces;
  pieces.push_back(std::move(piece));
  CrowdState::Whole whole;
  whole.data.answers =
      build_category_answers(std::move(pieces), std::move(names), DuplicatePolicy::repeat, context.pool(), nullptr);

  whole.data.gold = known_truths(file, whole.data.answers.task_names(), classes);
  CategoryFit& now = whole.aggregation;
  now.task_count = tasks;
  now.worker_count = workers;
  now.class_count = classes;
  now.posterior.resize(tasks * classes);
  now.labels.resize(tasks);
  Statement posteriors(file.database(), "SELECT id, posterior FROM task ORDER BY id");
  for (std::size_t t = 0; posteriors.step(); ++t) {
    const std::span posterior(now.posterior.data() + t * classes, classes);
    file.read_posterior(posteriors.blob(1), posterior, posteriors.integer(0));
    now.labels[t] = ClassId(columns_of(posterior).label);
  }
  // The model of all workers and no task: it knows how counts become tables.
  IncrementalCrowd crowd(classes, file.options());
  std::vector<double> mass;
  for (const StateClass& known : state_classes) mass.push_back(known.tasks);
  crowd.set_totals(mass, 0, expected);
  now.class_prior = crowd.class_prior();
  now.confusion.reserve(workers * classes * classes);
  std::vector<double> counts(classes * classes);
  Statement all_workers(file.database(), "SELECT id, answers, counts FROM worker ORDER BY id");
  while (all_workers.step()) {
    file.read_counts(all_workers.blob(2), counts, classes, all_workers.integer(0));
    const WorkerId slot = crowd.add_worker(counts, static_cast<std::uint64_t>(all_workers.integer(1)));
    const auto table = crowd.confusion_of(slot);
    now.confusion.insert(now.confusion.end(), table.begin(), table.end());
  }
  now.warnings = file.warnings();
  const std::string advice = file.counters().staleness.advice();
  if (!advice.empty()) {
    now.warnings.push_back({"refit_due", advice, "fit the state anew with wisecrowd state refit."});
  }
  return whole;
}

}  // namespace wisecrowd
