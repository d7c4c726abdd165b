// What touches a state as a whole: making it, fitting it anew, reading all of it.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "base/numeric.hpp"
#include "data/build.hpp"
#include "state/schema.hpp"
#include "state/state_file.hpp"
#include "wisecrowd/error.hpp"

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

[[noreturn]] void fail_io(const std::string& what, const std::string& path) {
  throw Error(ErrorCode::io, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

void flush_to_device(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail_io("open", path);
  const int code = ::fsync(descriptor);
  ::close(descriptor);
  if (code != 0) fail_io("write", path);
}

/// A file beside its place that is renamed when it is whole, and removed otherwise.
class FileAside {
 public:
  explicit FileAside(const std::string& path) : path_(path) {
    const fs::path place(path);
    folder_ = place.has_parent_path() ? place.parent_path().string() : ".";
    std::error_code ignored;
    if (!fs::is_directory(folder_, ignored)) {
      throw Error(ErrorCode::io, fmt::format("cannot make {}: there is no folder {}", path, folder_));
    }
    prefix_ = "." + place.filename().string() + ".tmp-";
    remove_dead();
    aside_ = (fs::path(folder_) / fmt::format("{}{}", prefix_, ::getpid())).string();
  }
  ~FileAside() { remove(aside_); }
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;

  [[nodiscard]] const std::string& aside() const noexcept { return aside_; }

  void put_in_place() {
    flush_to_device(aside_, O_RDONLY);
    // Never over a file that somebody else made meanwhile.
    if (::renameat2(AT_FDCWD, aside_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
      const bool unknown_here = errno == EINVAL || errno == ENOSYS;
      if (!unknown_here || fs::exists(path_) || ::rename(aside_.c_str(), path_.c_str()) != 0) fail_io("make", path_);
    }
    flush_to_device(folder_, O_RDONLY | O_DIRECTORY);
  }

 private:
  static void remove(const std::string& file) noexcept {
    std::error_code ignored;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) fs::remove(file + suffix, ignored);
  }
  /// What killed processes left.
  void remove_dead() const noexcept {
    std::error_code ignored;
    for (fs::directory_iterator entry(folder_, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with(prefix_)) continue;
      int process = 0;
      const auto [stop, code] = std::from_chars(name.data() + prefix_.size(), name.data() + name.size(), process);
      if (code == std::errc() && stop == name.data() + name.size() && ::kill(process, 0) != 0 && errno == ESRCH) {
        remove(entry->path().string());
      }
    }
  }

  std::string path_;
  std::string folder_;
  std::string prefix_;
  std::string aside_;
};

/// What a batch fit leaves behind, in the form that the tables have.
struct Estimates {
  std::vector<double> posterior;
  std::vector<double> counts;
  std::vector<double> class_tasks;
  std::uint64_t answered_tasks = 0;
};

Estimates estimates_of(const Annotations& answers, std::vector<double> posterior) {
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

Aggregation fit(const Dataset& data, const StateFile& file, const RunContext& context) {
  Aggregation result =
      aggregate(data, "dawid_skene", batch_parameters(file.settings().parameters, data.answers.class_count()), context);
  if (context.cancelled()) throw Cancelled();
  return result;
}

std::span<const double> row(const std::vector<double>& values, std::size_t i, std::size_t width) {
  return std::span(values).subspan(i * width, width);
}

std::vector<std::uint32_t> answers_per_worker(const Annotations& answers) {
  std::vector<std::uint32_t> counts(answers.worker_count(), 0);
  for (const WorkerId w : answers.workers()) ++counts[index(w)];
  return counts;
}

void insert_names_and_estimates(const StateFile& file, const Annotations& answers, const Estimates& estimates,
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
    const auto counts = row(estimates.counts, w, classes * classes);
    insert_worker.bind(1, static_cast<std::int64_t>(w)).bind(2, answers.worker_names()[w]);
    insert_worker.bind(3, std::int64_t{given[w]}).bind(4, right_answers(counts, classes)).bind_blob(5, counts).run();
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

void insert_answers(const StateFile& file, const Annotations& answers, const RunContext& context) {
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

void update_estimates(const StateFile& file, const Annotations& answers, const Estimates& estimates,
                      const RunContext& context) {
  const std::size_t classes = answers.class_count();
  Statement update_class(file.database(), "UPDATE class SET tasks = ? WHERE id = ?");
  for (std::size_t k = 0; k < classes; ++k) {
    update_class.bind(1, estimates.class_tasks[k]).bind(2, static_cast<std::int64_t>(k)).run();
  }
  Statement update_worker(file.database(), "UPDATE worker SET right = ?, counts = ? WHERE id = ?");
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    const auto counts = row(estimates.counts, w, classes * classes);
    update_worker.bind(1, right_answers(counts, classes)).bind_blob(2, counts);
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
    characters += all.text(1);
    offsets.push_back(characters.size());
  }
  return {std::move(characters), std::move(offsets)};
}

}  // namespace

std::vector<double> expected_counts(const Annotations& answers, std::span<const double> posterior) {
  const std::size_t classes = answers.class_count();
  std::vector<double> counts(answers.worker_count() * classes * classes, 0.0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const double* const q = posterior.data() + t * classes;
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) {
      double* const table = counts.data() + index(workers[a]) * classes * classes + index(labels[a]);
      for (std::size_t k = 0; k < classes; ++k) table[k * classes] += q[k];
    }
  }
  return counts;
}

CrowdState CrowdState::create(const std::string& path, const Dataset& data, const StateSettings& settings,
                              const RunContext& context) {
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
  FileAside place(path);
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
    const Annotations& answers = data.answers;
    Transaction all(file.database(), Transaction::Kind::write);
    create_tables(file.database());
    file.store_settings();
    const Estimates estimates = estimates_of(answers, fit(data, file, context).posterior);
    insert_names_and_estimates(file, answers, estimates, context);
    insert_answers(file, answers, context);
    StateCounters counters;
    counters.answers = answers.answer_count();
    counters.answered_tasks = estimates.answered_tasks;
    counters.staleness.answers_at_refit = answers.answer_count();
    file.store(counters);
    context.report({.stage = "building indices"});
    migrate(file.database(), 0);
    all.commit();
    if (context.cancelled()) throw Cancelled();
    file.database().run("PRAGMA journal_mode = WAL");
  }
  place.put_in_place();
  return open(path, Access::write);
}

Aggregation CrowdState::refit(const RunContext& context) {
  const StateFile& file = inside_->file;
  file.database().run("PRAGMA cache_size = -262144");
  // From the first row read to the last one written nobody else may write; others wait.
  Transaction all(file.database(), Transaction::Kind::write);
  const Whole whole = read_whole(file, context);
  Aggregation result = fit(whole.data, file, context);
  Estimates estimates = estimates_of(whole.data.answers, std::move(result.posterior));
  result.posterior.clear();
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
  AnnotationNames names{read_names(file, "SELECT id, name FROM task ORDER BY id", "task"),
                        read_names(file, "SELECT id, name FROM worker ORDER BY id", "worker"), NameTable(class_names)};
  const std::size_t tasks = names.tasks.size();
  const std::size_t workers = names.workers.size();
  const auto expected = file.counters().answers;

  AnswerPiece piece;
  piece.tasks.reserve(expected);
  piece.workers.reserve(expected);
  piece.labels.reserve(expected);
  Statement all(file.database(), "SELECT task, worker, label FROM answer ORDER BY task, worker, turn");
  while (all.step()) {
    report_rows(context, "reading answers", piece.size(), expected);
    piece.tasks.push_back(file.checked_id(all.integer(0), tasks, "task"));
    piece.workers.push_back(file.checked_id(all.integer(1), workers, "worker"));
    piece.labels.push_back(static_cast<std::uint16_t>(file.checked_id(all.integer(2), classes, "class")));
  }
  if (piece.size() != expected) {
    file.database().fail_as_damaged(fmt::format("it has {} answers and should have {}", piece.size(), expected));
  }
  std::vector<AnswerPiece> pieces;
  pieces.push_back(std::move(piece));
  CrowdState::Whole whole;
  whole.data.answers =
      build_annotations(std::move(pieces), std::move(names), DuplicatePolicy::repeat, context.pool(), nullptr);

  Aggregation& now = whole.aggregation;
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
  const std::string advice = file.counters().staleness.advice();
  if (!advice.empty()) {
    now.warnings.push_back({"refit_due", fmt::format("{}: fit the state anew with wisecrowd state refit.", advice)});
  }
  return whole;
}

}  // namespace wisecrowd
