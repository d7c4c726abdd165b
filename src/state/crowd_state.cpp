#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "state/schema.hpp"
#include "state/state_file.hpp"
#include "wisecrowd/error.hpp"

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
  return summary;
}

std::optional<TaskView> CrowdState::task(std::string_view name) const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  Statement find(file.database(), "SELECT id, posterior FROM task WHERE name = ?");
  if (!find.bind(1, name).step()) return std::nullopt;
  TaskView view;
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
  Statement given(file.database(),
                  "SELECT worker.name, answer.label FROM answer JOIN worker ON worker.id = answer.worker "
                  "WHERE answer.task = ? ORDER BY answer.worker, answer.turn");
  given.bind(1, id);
  while (given.step()) {
    view.answers.push_back({std::string(given.text(0)), ClassId(file.checked_id(given.integer(1), classes, "class"))});
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
  view.accuracy = view.answers == 0 ? std::numeric_limits<double>::quiet_NaN()
                                    : right_answers(view.counts, classes) / static_cast<double>(view.answers);
  return view;
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
    (-p * std::log(p) - (1 - p) * std::log1p(-p) < kSettledEntropy ? low : high) = p;
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
    candidates.names.emplace_back(find.text(0));
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

WorkerTables CrowdState::workers() const {
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  WorkerTables tables;
  const std::size_t classes = tables.class_count = file.classes().size();
  const std::vector<double> prior = prior_counts(file.options(), classes);
  Statement every(file.database(), "SELECT id, name, answers, counts FROM worker ORDER BY id");
  while (every.step()) {
    if (every.integer(0) != static_cast<std::int64_t>(tables.names.size())) {
      file.database().fail_as_damaged(fmt::format("worker {} is missing", tables.names.size()));
    }
    tables.names.emplace_back(every.text(1));
    tables.answers.push_back(static_cast<std::uint32_t>(std::max<std::int64_t>(every.integer(2), 0)));
    tables.counts.resize(tables.names.size() * classes * classes);
    const auto counts = std::span(tables.counts).last(classes * classes);
    file.read_counts(every.blob(3), counts, classes, every.integer(0));
    for (std::size_t c = 0; c < prior.size(); ++c) counts[c] += prior[c];
  }
  return tables;
}

std::vector<std::string> CrowdState::check(const RunContext& context) const {
  constexpr std::size_t kMostShown = 20;
  const StateFile& file = inside_->file;
  const Transaction all(file.database(), Transaction::Kind::read);
  std::vector<std::string> problems;
  const auto add = [&](std::string problem) {
    if (problems.size() < kMostShown) problems.push_back(std::move(problem));
  };
  Statement structure(file.database(), fmt::format("PRAGMA integrity_check({})", kMostShown));
  while (structure.step()) {
    if (structure.text(0) != "ok") add(std::string(structure.text(0)));
  }
  if (!problems.empty()) return problems;

  const CrowdState::Whole whole = read_whole(file, context);
  const Annotations& answers = whole.data.answers;
  const std::size_t classes = answers.class_count();
  const auto expected = expected_counts(answers, whole.aggregation.posterior);
  const bool exact = file.options().update == IncrementalOptions::Update::incremental;
  std::vector<double> counts(classes * classes);
  std::vector<std::uint64_t> given(answers.worker_count(), 0);
  for (const WorkerId w : answers.workers()) ++given[index(w)];
  Statement workers(file.database(), "SELECT id, answers, counts FROM worker ORDER BY id");
  for (std::size_t w = 0; workers.step(); ++w) {
    file.read_counts(workers.blob(2), counts, classes, workers.integer(0));
    if (workers.integer(1) != static_cast<std::int64_t>(given[w])) {
      add(fmt::format("worker '{}' gave {} answers, not {}", answers.worker_names()[w], given[w], workers.integer(1)));
    }
    for (std::size_t c = 0; exact && c < counts.size(); ++c) {
      if (std::abs(counts[c] - expected[w * counts.size() + c]) <= 1e-6 * (1 + counts[c])) continue;
      add(fmt::format("the table of worker '{}' is not the sum of its answers", answers.worker_names()[w]));
      break;
    }
  }
  Statement tasks(file.database(), "SELECT id, label, probability, entropy, length(posterior) FROM task ORDER BY id");
  for (std::size_t t = 0; tasks.step(); ++t) {
    const TaskColumns columns = columns_of(whole.aggregation.posterior_of(TaskId(t)));
    const bool agrees = tasks.integer(1) == columns.label && std::abs(tasks.real(2) - columns.probability) < 1e-9 &&
                        std::abs(tasks.real(3) - columns.entropy) < 1e-9;
    if (!agrees && tasks.integer(4) > 0)
      add(fmt::format("the columns of task '{}' do not agree with its probabilities", answers.task_names()[t]));
  }
  return problems;
}

}  // namespace wisecrowd
