#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/intervals.hpp"
#include "base/math.hpp"
#include "state/schema.hpp"
#include "state/state_file.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace {

bool has_log(const std::string& path) {
  struct stat log {};
  return ::stat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0;
}

/// Tries what each mode can do: one that may write tidies up behind itself and behind those who were killed; a file in
/// a place that cannot be written to can still be read if nothing waits in its log.
std::unique_ptr<Database> open_for_reading(const std::string& path) {
  const auto readable = [&](Database::Mode mode) {
    auto database = std::make_unique<Database>(path, mode);
    (void)database->integer("SELECT count(*) FROM sqlite_schema");
    return database;
  };
  for (const auto mode : {Database::Mode::write, Database::Mode::read}) {
    try {
      return readable(mode);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::io || (mode == Database::Mode::read && has_log(path))) throw;
    }
  }
  return readable(Database::Mode::read_unchanging);
}

}  // namespace

CrowdState::CrowdState(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
CrowdState::~CrowdState() = default;
CrowdState::CrowdState(CrowdState&&) noexcept = default;
CrowdState& CrowdState::operator=(CrowdState&&) noexcept = default;

CrowdState CrowdState::open(const std::string& path, Access access) {
  auto database =
      access == Access::read ? open_for_reading(path) : std::make_unique<Database>(path, Database::Mode::write);
  if (access == Access::write) {
    // WAL stays set in the file; it is said again in case somebody changed it. With FULL, a commit is on the device
    // when it returns.
    database->run("PRAGMA synchronous = FULL");
    database->run("PRAGMA cache_size = -65536");
  }
  int version = check_kind(*database);
  if (access == Access::write) {
    database->run("PRAGMA journal_mode = WAL");
    // The log goes back into the file when the last user closes it. In between commits must not wait for that.
    database->run("PRAGMA wal_autocheckpoint = 16384");
    if (version < kSchemaVersion) {
      Transaction all(*database, Transaction::Kind::write);
      version = check_kind(*database);  // perhaps somebody else did it meanwhile
      if (version < kSchemaVersion) migrate(*database, version);
      all.commit();
    }
  }
  return CrowdState(std::make_unique<Inside>(Inside{StateFile(std::move(database))}));
}

const Parameters& CrowdState::parameters() const noexcept { return inside_->file.settings().parameters; }

namespace {

/// How the labels do on known truths.
void score_gold(const StateFile& file, StateSummary& summary) {
  summary.gold_accuracy = summary.gold_accuracy_low = summary.gold_accuracy_high =
      std::numeric_limits<double>::quiet_NaN();
  if (summary.gold_tasks == 0) return;
  Statement scored(file.database(),
                   "SELECT count(*), sum(task.label = gold.label) FROM gold JOIN task ON task.name = gold.task "
                   "WHERE EXISTS (SELECT 1 FROM answer WHERE answer.task = task.id)");
  if (!scored.step()) return;
  summary.gold_answered = static_cast<std::uint64_t>(scored.integer(0));
  if (summary.gold_answered == 0 || summary.gold_use == GoldUse::inference) return;
  const auto right = static_cast<double>(scored.integer(1));
  const auto count = static_cast<double>(summary.gold_answered);
  const Interval interval = wilson_interval(right, count);
  summary.gold_accuracy = right / count;
  summary.gold_accuracy_low = interval.low;
  summary.gold_accuracy_high = interval.high;
}

}  // namespace

StateSummary CrowdState::summary() const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  StateSummary summary;
  const StateCounters counters = file.counters();
  summary.answers = counters.answers;
  summary.answered_tasks = counters.answered_tasks;
  summary.staleness = counters.staleness;
  summary.tasks = static_cast<std::uint64_t>(file.database().integer("SELECT max(id) + 1 FROM task"));
  summary.workers = static_cast<std::uint64_t>(file.database().integer("SELECT max(id) + 1 FROM worker"));
  std::vector<double> mass;
  for (const StateClass& known : file.classes()) {
    summary.classes.push_back(known.name);
    mass.push_back(known.tasks);
  }
  IncrementalCrowd crowd(mass.size(), file.options());
  crowd.set_totals(mass, 0, 0);
  summary.class_prior = crowd.class_prior();
  summary.classes_are_fixed = file.settings().fixed_classes;
  summary.duplicates = file.settings().duplicates;
  summary.schema_version = static_cast<int>(file.database().integer("PRAGMA user_version"));
  summary.gold_tasks = file.gold_count();
  summary.gold_use = file.settings().gold_use;
  score_gold(file, summary);
  summary.warnings = file.warnings();
  summary.reading = file.settings().reading;
  return summary;
}

std::optional<TaskState> CrowdState::task(std::string_view name) const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  Statement find(file.database(), "SELECT id, posterior FROM task WHERE name = ?");
  if (!find.bind(1, name).step()) return std::nullopt;
  TaskState view;
  view.name = name;
  const std::size_t classes = file.classes().size();
  view.posterior.resize(classes);
  const std::int64_t id = find.integer(0);
  file.read_posterior(find.blob(1), view.posterior, id);
  find.reset();
  const TaskColumns columns = columns_of(view.posterior);
  if (classes > 0) view.label = ClassId(columns.label);
  view.probability = columns.probability;
  view.uncertainty = columns.entropy;
  if (file.has_gold()) {
    Statement known(file.database(), "SELECT label FROM gold WHERE task = ?");
    if (known.bind(1, name).step()) view.truth = ClassId(file.checked_id(known.integer(0), classes, "class"));
  }
  Statement given(file.database(),
                  "SELECT worker.name, answer.label FROM answer JOIN worker ON worker.id = answer.worker "
                  "WHERE answer.task = ? ORDER BY answer.worker, answer.turn");
  given.bind(1, id);
  while (given.step()) {
    view.answers.push_back({std::string(file.checked_name(given.text(0), "worker")),
                            ClassId(file.checked_id(given.integer(1), classes, "class"))});
  }
  return view;
}

std::optional<WorkerView> CrowdState::worker(std::string_view name) const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  Statement find(file.database(), "SELECT id, answers, counts FROM worker WHERE name = ?");
  if (!find.bind(1, name).step()) return std::nullopt;
  WorkerView view;
  view.name = name;
  const std::size_t classes = file.classes().size();
  view.answers = static_cast<std::uint64_t>(std::max<std::int64_t>(find.integer(1), 0));
  view.counts.resize(classes * classes);
  file.read_counts(find.blob(2), view.counts, classes, find.integer(0));
  find.reset();
  IncrementalCrowd crowd(classes, file.options());
  view.confusion = crowd.confusion_of(crowd.add_worker(view.counts, view.answers));
  view.accuracy = share_of_right(view.counts, classes);
  return view;
}

void CrowdState::set_gold_use(GoldUse use) {
  Transaction all(inside_->file.database(), Transaction::Kind::write);
  if (inside_->file.settings().gold_use == use) return;
  if (inside_->file.has_gold()) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("the gold of {} is for {}, which cannot be changed: make a new state for another use",
                            inside_->file.database().shown(), use == GoldUse::inference ? "evaluation" : "inference"));
  }
  inside_->file.store_gold_use(use);
  all.commit();
}

void CrowdState::set_reading(const std::vector<std::pair<std::string, std::string>>& reading) {
  Transaction all(inside_->file.database(), Transaction::Kind::write);
  if (inside_->file.counters().answers > 0) return;
  inside_->file.store_reading(reading);
  all.commit();
}

CrowdState::Whole CrowdState::whole(const RunContext& context) const {
  const Transaction all(inside_->file.database(), Transaction::Kind::read);
  return read_whole(inside_->file, context);
}

bool Candidates::asked(std::size_t task, WorkerId worker) const noexcept {
  const auto begin = answer_workers.begin() + static_cast<std::ptrdiff_t>(answer_offsets[task]);
  const auto end = answer_workers.begin() + static_cast<std::ptrdiff_t>(answer_offsets[task + 1]);
  return std::binary_search(begin, end, worker);
}

namespace {

struct Ranked {
  double uncertainty;
  std::int64_t id;
  /// The most uncertain first; of equal ones the older.
  bool operator<(const Ranked& other) const {
    return uncertainty != other.uncertainty ? uncertainty > other.uncertainty : id < other.id;
  }
};

/// Keeps the n first of many.
class Best {
 public:
  explicit Best(std::size_t n) : n_(n) {}
  void offer(const Ranked& ranked) {
    if (heap_.size() < n_) {
      heap_.push(ranked);
    } else if (ranked < heap_.top()) {
      heap_.pop();
      heap_.push(ranked);
    }
  }
  [[nodiscard]] bool full() const noexcept { return heap_.size() >= n_; }
  [[nodiscard]] double least() const { return heap_.top().uncertainty; }
  [[nodiscard]] std::vector<Ranked> take() {
    std::vector<Ranked> sorted;
    for (; !heap_.empty(); heap_.pop()) sorted.push_back(heap_.top());
    std::reverse(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  std::size_t n_;
  std::priority_queue<Ranked> heap_;  // the last of the best on top
};

/// The largest 1 − max q, and half the largest margin score, of a posterior whose entropy is below kSettledEntropy:
/// for a given largest probability entropy is least when one other class has all the rest.
double most_settled_doubt() {
  double low = 0, high = 0.5;
  while (high - low > 1e-9) {
    const double p = (low + high) / 2;
    (-p * math::log(p) - (1 - p) * math::log1p(-p) < kSettledEntropy ? low : high) = p;
  }
  return high;
}

std::vector<Ranked> most_uncertain(const StateFile& file, std::size_t n, Uncertainty kind, std::size_t classes) {
  if (n == 0) return {};
  const std::string unsettled = fmt::format("entropy >= {}", kSettledEntropy);
  Best best(n);
  if (kind == Uncertainty::entropy) {
    // The index has them in order; the rest is read only when it does not have enough.
    Statement in_order(file.database(), fmt::format("SELECT id, entropy FROM task WHERE {} ORDER BY entropy DESC, id "
                                                    "LIMIT ?",
                                                    unsettled));
    in_order.bind(1, static_cast<std::int64_t>(n));
    while (in_order.step()) best.offer({in_order.real(1), in_order.integer(0)});
    if (best.full()) return best.take();
    Statement settled(file.database(), fmt::format("SELECT id, entropy FROM task WHERE NOT {}", unsettled));
    while (settled.step()) best.offer({settled.real(1), settled.integer(0)});
    return best.take();
  }
  std::vector<double> posterior(classes);
  const auto offer_all = [&](const std::string& which) {
    Statement tasks(file.database(), fmt::format("SELECT id, posterior FROM task WHERE {}", which));
    while (tasks.step()) {
      file.read_posterior(tasks.blob(1), posterior, tasks.integer(0));
      best.offer({uncertainty_of(posterior, kind), tasks.integer(0)});
    }
  };
  offer_all(unsettled);
  // A settled task may be among the first only if the last of them is nearly settled, too.
  const double doubt = most_settled_doubt() * (kind == Uncertainty::margin ? 2 : 1);
  if (!best.full() || best.least() <= doubt) offer_all("NOT " + unsettled);
  return best.take();
}

}  // namespace

Candidates CrowdState::candidates(std::size_t tasks, Uncertainty kind) const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  Candidates candidates;
  const std::size_t classes = candidates.class_count = file.classes().size();
  const auto workers = static_cast<std::uint64_t>(file.database().integer("SELECT max(id) + 1 FROM worker"));
  candidates.answer_offsets.push_back(0);
  Statement find(file.database(), "SELECT name, posterior FROM task WHERE id = ?");
  Statement given(file.database(), "SELECT worker, label FROM answer WHERE task = ? ORDER BY worker");
  for (const Ranked& ranked : most_uncertain(file, tasks, kind, classes)) {
    if (!find.bind(1, ranked.id).step()) file.database().fail_as_damaged(fmt::format("there is no task {}", ranked.id));
    candidates.names.emplace_back(file.checked_name(find.text(0), "task"));
    candidates.posterior.resize(candidates.names.size() * classes);
    file.read_posterior(find.blob(1), std::span(candidates.posterior).last(classes), ranked.id);
    find.reset();
    given.bind(1, ranked.id);
    while (given.step()) {
      candidates.answer_workers.push_back(WorkerId{file.checked_id(given.integer(0), workers, "worker")});
      candidates.answer_labels.push_back(ClassId(file.checked_id(given.integer(1), classes, "class")));
    }
    const auto end = static_cast<AnswerIndex>(candidates.answer_workers.size());
    candidates.task_answers.push_back(end - candidates.answer_offsets.back());
    candidates.answer_offsets.push_back(end);
  }
  return candidates;
}

KnownWorkers CrowdState::workers() const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  const std::size_t classes = file.classes().size();
  KnownWorkers known;
  known.tables = WorkerTables(0, classes);
  std::vector<double> counts(classes * classes);
  Statement every(file.database(), "SELECT id, name, answers, counts FROM worker ORDER BY id");
  while (every.step()) {
    if (every.integer(0) != static_cast<std::int64_t>(known.names.size())) {
      file.database().fail_as_damaged(fmt::format("worker {} is missing", known.names.size()));
    }
    known.names.emplace_back(file.checked_name(every.text(1), "worker"));
    known.answers.push_back(static_cast<std::uint32_t>(std::max<std::int64_t>(every.integer(2), 0)));
    file.read_counts(every.blob(3), counts, classes, every.integer(0));
    known.accuracy.push_back(share_of_right(counts, classes));
    known.tables.append(counts);
  }
  known.tables.add(file.options().prior.table(classes));
  return known;
}

std::vector<SettledTask> CrowdState::settled(double sure, std::size_t limit, std::string_view after) const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  const std::size_t classes = file.classes().size();
  std::int64_t last = -1;
  if (!after.empty()) {
    Statement find(file.database(), "SELECT id FROM task WHERE name = ?");
    if (!find.bind(1, after).step()) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{} knows no task '{}' to go on after", file.database().shown(), printable(after)));
    }
    last = find.integer(0);
  }
  Statement sure_ones(file.database(),
                      "SELECT name, label, probability, "
                      "(SELECT count(*) FROM answer WHERE answer.task = task.id) AS given "
                      "FROM task WHERE id > ? AND probability >= ? AND given > 0 ORDER BY id LIMIT ?");
  sure_ones.bind(1, last).bind(2, sure);
  sure_ones.bind(3, static_cast<std::int64_t>(std::min<std::size_t>(limit, std::numeric_limits<std::int64_t>::max())));
  std::vector<SettledTask> tasks;
  while (sure_ones.step()) {
    tasks.push_back({std::string(file.checked_name(sure_ones.text(0), "task")),
                     ClassId(file.checked_id(sure_ones.integer(1), classes, "class")), sure_ones.real(2),
                     static_cast<std::uint64_t>(sure_ones.integer(3))});
  }
  return tasks;
}

std::vector<TaskLabel> CrowdState::labels(const LabelQuery& query) const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  const std::vector<StateClass> classes = file.classes();
  std::int64_t wanted = -1;
  if (!query.label.empty()) {
    const auto known =
        std::find_if(classes.begin(), classes.end(), [&](const auto& k) { return k.name == query.label; });
    if (known == classes.end()) return {};
    wanted = known - classes.begin();
  }
  Statement rows(file.database(),
                 "SELECT id, name, label, probability, entropy, "
                 "(SELECT count(*) FROM answer WHERE answer.task = task.id) "
                 "FROM task WHERE id > ? AND probability < ? AND (? < 0 OR label = ?) ORDER BY id LIMIT ?");
  rows.bind(1, query.after).bind(2, query.below).bind(3, wanted).bind(4, wanted);
  rows.bind(5, static_cast<std::int64_t>(std::min<std::size_t>(query.limit, std::numeric_limits<std::int64_t>::max())));
  std::vector<TaskLabel> labels;
  while (rows.step()) {
    TaskLabel& task = labels.emplace_back();
    task.number = rows.integer(0);
    task.name = file.checked_name(rows.text(1), "task");
    if (!classes.empty()) task.label = ClassId(file.checked_id(rows.integer(2), classes.size(), "class"));
    task.probability = rows.real(3);
    task.entropy = rows.real(4);
    task.answers = static_cast<std::uint64_t>(rows.integer(5));
  }
  return labels;
}

std::vector<std::string> CrowdState::class_names() const {
  std::vector<std::string> names;
  for (StateClass& known : inside_->file.classes()) names.push_back(std::move(known.name));
  return names;
}

}  // namespace wisecrowd
