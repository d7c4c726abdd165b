// New answers: only the tasks that they belong to, and the workers who ever answered those, are read.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "state/absorption.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace absorption {

std::int64_t Absorption::class_named(std::string_view name) {
  const auto known =
      std::find_if(classes_.begin(), classes_.end(), [&](const StateClass& k) { return k.name == name; });
  if (known != classes_.end()) return known - classes_.begin();
  if (file_.settings().fixed_classes) {
    throw Error(ErrorCode::bad_input,
                fmt::format("'{}' is none of the classes that {} was made with: correct the label, or make a new "
                            "state with this class",
                            printable(name), file_.database().shown()));
  }
  const std::size_t most = most_classes(file_.database());
  if (classes_.size() >= most) {
    throw Error(ErrorCode::unsupported, fmt::format("a state has at most {} classes: the table of a worker would not "
                                                    "fit into a row of SQLite",
                                                    most));
  }
  require_name(name, fmt::format("{}: class", file_.database().shown()));
  Statement insert(file_.database(), "INSERT INTO class VALUES (?, ?, 0)");
  insert.bind(1, static_cast<std::int64_t>(classes_.size())).bind(2, name).run();
  absorbed_.new_classes.emplace_back(name);
  classes_.push_back({std::string(name), 0});
  return static_cast<std::int64_t>(classes_.size()) - 1;
}

void Absorption::find_classes() {
  classes_before_ = classes_.size();
  for (std::size_t c = 0; c < data_.class_count(); ++c) class_of_.push_back(class_named(data_.class_names()[c]));
}

void Absorption::write_gold() {
  Statement put(file_.database(), "INSERT OR REPLACE INTO gold VALUES (?, ?)");
  for (const KnownTruth& truth : gold_) {
    require_name(truth.task, fmt::format("{}: gold task", file_.database().shown()));
    put.bind(1, truth.task).bind(2, class_named(truth.label)).run();
  }
}

/// What is known of the task of that name; false if nothing is.
bool Absorption::read_task(std::string_view name, TouchedTask& task) {
  const Database& database = file_.database();
  if (!find_task_) {
    find_task_.emplace(database, "SELECT id, label, posterior FROM task WHERE name = ?");
    find_answers_.emplace(database, "SELECT worker, turn, label FROM answer WHERE task = ? ORDER BY worker, turn");
    if (pins_) find_truth_.emplace(database, "SELECT label FROM gold WHERE task = ?");
  }
  if (find_truth_ && find_truth_->bind(1, name).step()) {
    task.truth = ClassId(file_.checked_id(find_truth_->integer(0), classes_.size(), "class"));
    find_truth_->reset();
  }
  if (!find_task_->bind(1, name).step()) return false;
  task.id = find_task_->integer(0);
  task.label_before = find_task_->integer(1);
  task.before.resize(classes_.size());
  file_.read_posterior(find_task_->blob(2), task.before, task.id);
  find_task_->reset();
  find_answers_->bind(1, task.id);
  while (find_answers_->step()) {
    (void)file_.checked_id(find_answers_->integer(2), classes_before_, "class");
    task.known.push_back({find_answers_->integer(0), find_answers_->integer(1), find_answers_->integer(2)});
  }
  return true;
}

void Absorption::find_tasks() {
  std::int64_t next = file_.database().integer("SELECT max(id) + 1 FROM task");
  constexpr std::size_t kTasksBetweenLooks = 1024;
  for (std::size_t t = 0; t < data_.task_count(); ++t) {
    if (t % kTasksBetweenLooks == 0 && context_.cancelled()) throw Cancelled();
    TouchedTask task;
    if (!read_task(data_.task_names()[t], task)) {
      require_name(data_.task_names()[t], fmt::format("{}: task", file_.database().shown()));
      task.is_new = true;
      task.id = next++;
      ++absorbed_.new_tasks;
    }
    tasks_.push_back(std::move(task));
  }
  // Truths are absorbed before answers, so no task is in both. Those of tasks that are not there yet wait for them.
  for (std::size_t g = 0; pins_ && g < gold_.size(); ++g) {
    TouchedTask task;
    if (read_task(gold_[g].task, task)) tasks_.push_back(std::move(task));
  }
}

void Absorption::find_workers() {
  const Database& database = file_.database();
  Statement find(database, "SELECT id FROM worker WHERE name = ?");
  first_new_worker_ = database.integer("SELECT max(id) + 1 FROM worker");
  std::int64_t next = first_new_worker_;
  for (std::size_t w = 0; w < data_.worker_count(); ++w) {
    find.bind(1, data_.worker_names()[w]);
    if (find.step()) {
      worker_of_.push_back(find.integer(0));
      find.reset();
    } else {
      require_name(data_.worker_names()[w], fmt::format("{}: worker", database.shown()));
      worker_of_.push_back(next++);
      ++absorbed_.new_workers;
    }
  }
  if (next > std::int64_t{0xFFFFFFFE}) throw Error(ErrorCode::unsupported, "a state has at most 4.29 billion workers");
  workers_ = worker_of_;
  for (const TouchedTask& task : tasks_) {
    for (const KnownAnswer& answer : task.known) workers_.push_back(answer.worker);
  }
  std::sort(workers_.begin(), workers_.end());
  workers_.erase(std::unique(workers_.begin(), workers_.end()), workers_.end());
}

void Absorption::load_model() {
  const std::size_t classes = classes_.size();
  model_.emplace(classes, file_.options());
  std::vector<double> mass;
  for (const StateClass& known : classes_) mass.push_back(known.tasks);
  model_->set_totals(mass, static_cast<double>(counters_.answered_tasks), counters_.answers);

  // Stepping over a few rows is cheaper than looking for each; looking is cheaper where many are not needed.
  constexpr std::int64_t kWorthStepping = 8;
  Statement from(file_.database(), "SELECT id, answers, counts, watch FROM worker WHERE id >= ? ORDER BY id");
  std::vector<double> counts(classes * classes);
  bool at_row = false;
  for (const std::int64_t id : workers_) {
    if (id >= first_new_worker_) {
      model_->add_worker();
      watches_.emplace_back();
      continue;
    }
    while (at_row && from.integer(0) < id && id - from.integer(0) <= kWorthStepping) at_row = from.step();
    if (!at_row || from.integer(0) != id) {
      from.reset();
      at_row = from.bind(1, id).step();
    }
    if (!at_row || from.integer(0) != id) file_.database().fail_as_damaged(fmt::format("there is no worker {}", id));
    file_.read_counts(from.blob(2), counts, classes, id);
    model_->add_worker(counts, static_cast<std::uint64_t>(std::max<std::int64_t>(from.integer(1), 0)));
    watches_.push_back(file_.read_watch(from.blob(3), id));
  }
  from.reset();
  for (const TouchedTask& task : tasks_) {
    const TaskId slot = !task.known.empty() ? model_->add_task(task.before) : model_->add_task();
    for (const KnownAnswer& answer : task.known) {
      model_->add_known_answer(slot, WorkerId(slot_of(answer.worker)), ClassId(answer.label));
    }
    if (task.truth != kNoClass) model_->pin(slot, task.truth);
  }
}

/// How old have the stored posteriors become? Tasks that are touched anyway tell it, before anything new enters.
void Absorption::probe() {
  std::vector<double> fresh(classes_.size());
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const TouchedTask& task = tasks_[t];
    if (task.known.empty() || task.truth != kNoClass) continue;
    model_->posterior_from_counts(TaskId(t), fresh);
    double distance = 0;
    for (std::size_t k = 0; k < fresh.size(); ++k) distance += 0.5 * std::abs(fresh[k] - task.before[k]);
    counters_.probed_shift += distance;
    ++counters_.staleness.probed_tasks;
    if (columns_of(fresh).label != task.label_before) ++counters_.staleness.probed_labels_changed;
  }
}

void Absorption::enter_answers() {
  const DuplicatePolicy policy = file_.settings().duplicates;
  for (std::size_t t = 0; t < data_.task_count(); ++t) {
    const TouchedTask& task = tasks_[t];
    const auto workers = data_.workers_of(TaskId(t));
    const auto labels = data_.labels_of(TaskId(t));
    std::vector<KnownAnswer> seen = task.known;
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const std::int64_t worker = worker_of_[index(workers[a])];
      const std::int64_t label = class_of_[index(labels[a])];
      const auto slot = WorkerId(slot_of(worker));
      const auto earlier = std::find_if(seen.rbegin(), seen.rend(), [&](const auto& s) { return s.worker == worker; });
      const bool repeated = earlier != seen.rend();
      if (repeated && policy == DuplicatePolicy::reject) {
        throw Error(
            ErrorCode::bad_input,
            fmt::format("worker '{}' has answered task '{}' before, and {} rejects repeated answers: leave this "
                        "one out, or make a state that keeps the last answer or counts all",
                        data_.worker_names()[index(workers[a])], data_.task_names()[t], file_.database().shown()));
      }
      if (repeated && policy == DuplicatePolicy::keep_last) {
        ++absorbed_.replaced;
        if (earlier->label == label) continue;
        ++absorbed_.contradicting;
        model_->replace_answer(TaskId(t), slot, ClassId(label));
        entered_.push_back({task.id, worker, earlier->turn, label, true});
        continue;
      }
      const std::int64_t turn = repeated ? earlier->turn + 1 : 0;
      model_->add_answer(TaskId(t), slot, ClassId(label));
      entered_.push_back({task.id, worker, turn, label, false});
      seen.push_back({worker, turn, label});
      const double time = times_.empty() ? 0 : times_[data_.task_offsets()[t] + a];
      watched_.push_back(
          {static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(t), static_cast<std::uint16_t>(label), time});
      ++absorbed_.answers;
    }
  }
  std::sort(entered_.begin(), entered_.end(), [](const NewAnswer& a, const NewAnswer& b) {
    return std::tie(a.task, a.worker, a.turn) < std::tie(b.task, b.worker, b.turn);
  });
}

/// Given answers are taken back, repeated ones all of them.
void Absorption::withdraw_answers() {
  std::unordered_map<std::string_view, std::size_t> place_of, slot_of_name;
  for (std::size_t t = 0; t < data_.task_count(); ++t) place_of.emplace(data_.task_names()[t], t);
  for (std::size_t w = 0; w < data_.worker_count(); ++w) slot_of_name.emplace(data_.worker_names()[w], w);
  for (const AnswerKey& answer : withdrawn_) {
    const std::size_t t = place_of.at(answer.task);
    const std::int64_t worker = worker_of_[slot_of_name.at(answer.worker)];
    for (const KnownAnswer& known : tasks_[t].known) {
      if (known.worker != worker) continue;
      model_->withdraw_answer(TaskId(t), WorkerId(slot_of(worker)));
      ++absorbed_.withdrawn;
    }
    removed_.emplace_back(tasks_[t].id, worker);
  }
}

/// All touched tasks once, then those that still move.
void Absorption::estimate() {
  if (classes_.empty()) return;
  const auto most = static_cast<std::size_t>(file_.settings().parameters.integer("sweeps"));
  std::vector<std::uint32_t> moving(tasks_.size());
  std::iota(moving.begin(), moving.end(), 0U);
  while (absorbed_.sweeps < most && !moving.empty()) {
    std::erase_if(moving, [&](std::uint32_t t) { return model_->estimate(TaskId(t)) <= file_.options().least_change; });
    ++absorbed_.sweeps;
    context_.report(
        {.stage = "absorbing", .done = static_cast<double>(absorbed_.sweeps), .total = static_cast<double>(most)});
    if (context_.cancelled()) throw Cancelled();
  }
}

/// The new answers of each worker in the order of time: do they look as its earlier ones did?
void Absorption::watch() {
  if (classes_.size() < 2) return;
  std::stable_sort(watched_.begin(), watched_.end(), [](const WatchedAnswer& a, const WatchedAnswer& b) {
    return std::tie(a.worker, a.time) < std::tie(b.worker, b.time);
  });
  const std::vector<double> shares = model_->class_prior();
  std::vector<double> others(classes_.size());
  for (std::size_t first = 0, end = 0; first < watched_.size(); first = end) {
    const std::uint32_t slot = watched_[first].worker;
    while (end < watched_.size() && watched_[end].worker == slot) ++end;
    DriftWatch& watch = watches_[slot];
    const auto table = model_->confusion_of(WorkerId(slot));
    std::uint64_t given = model_->answers_of(WorkerId(slot)) - (end - first);
    PastTable past(table, table, static_cast<double>(given), shares);
    past.start_after(watch.right, watch.counted);
    for (std::size_t a = first; a < end; ++a) {
      model_->posterior_without(TaskId(watched_[a].task), WorkerId(slot), others);
      const DriftFinding finding = watch_answer(watch, past, others, watched_[a].label, ++given > kLeastWatched);
      if (finding.event != DriftEvent::none) note(slot, given, finding);
    }
  }
}

void Absorption::note(std::uint32_t slot, std::uint64_t answer, const DriftFinding& finding) {
  const std::int64_t worker = workers_[slot];
  const auto named = std::find(worker_of_.begin(), worker_of_.end(), worker) - worker_of_.begin();
  const WorkerAlarm alarm = alarm_of(data_.worker_names()[static_cast<std::size_t>(named)], answer, finding);
  if (finding.event == DriftEvent::worse) {
    file_.store_alarm(worker, alarm);
    absorbed_.alarms.push_back(alarm);
    return;
  }
  file_.store_recovery(worker, answer);
  for (WorkerAlarm& raised : absorbed_.alarms) {
    if (raised.worker == alarm.worker && raised.recovered == 0) raised.recovered = answer;
  }
}

Absorbed Absorption::run() {
  find_classes();
  write_gold();
  find_tasks();
  find_workers();
  load_model();
  probe();
  withdraw_answers();
  enter_answers();
  estimate();
  watch();
  write_tasks();
  write_answers();
  write_workers();
  counters_.answers += absorbed_.answers - absorbed_.withdrawn;
  counters_.answered_tasks = static_cast<std::uint64_t>(std::llround(model_->answered_tasks()));
  counters_.staleness.answers_since += absorbed_.answers + absorbed_.contradicting + absorbed_.withdrawn;
  counters_.staleness.classes_since += absorbed_.new_classes.size();
  for (std::size_t t = data_.task_count(); t < tasks_.size(); ++t) {
    if (!tasks_[t].known.empty()) ++counters_.staleness.truths_since;
  }
  file_.store(counters_);
  if (context_.cancelled()) throw Cancelled();
  return std::move(absorbed_);
}

}  // namespace absorption

namespace {

/// Those of the answers that the state holds, each once.
std::vector<AnswerKey> known_among(const StateFile& file, std::span<const AnswerKey> answers) {
  Statement find(file.database(),
                 "SELECT 1 FROM answer WHERE task = (SELECT id FROM task WHERE name = ?) "
                 "AND worker = (SELECT id FROM worker WHERE name = ?)");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::vector<AnswerKey> known;
  for (const AnswerKey& answer : answers) {
    if (!seen.emplace(answer.task, answer.worker).second) continue;
    if (find.bind(1, answer.task).bind(2, answer.worker).step()) known.push_back(answer);
    find.reset();
  }
  return known;
}

/// The tasks and workers of answers, without the answers.
CategoryAnswers names_of(std::span<const AnswerKey> answers) {
  CategoryAnswersBuilder builder;
  for (const AnswerKey& answer : answers) builder.add_task(answer.task).add_worker(answer.worker);
  return builder.build();
}

void add_to(Absorbed& total, Absorbed part) {
  total.answers += part.answers;
  total.replaced += part.replaced;
  total.contradicting += part.contradicting;
  total.withdrawn += part.withdrawn;
  total.new_tasks += part.new_tasks;
  total.new_workers += part.new_workers;
  std::move(part.new_classes.begin(), part.new_classes.end(), std::back_inserter(total.new_classes));
  total.tasks_touched += part.tasks_touched;
  total.labels_changed += part.labels_changed;
  total.sweeps = std::max(total.sweeps, part.sweeps);
  for (WorkerAlarm& alarm : part.alarms) total.alarms.push_back(std::move(alarm));
}

}  // namespace

Absorbed CrowdState::add(const CategoryAnswers& data, const RunContext& context) {
  return add(std::span(&data, 1), context);
}

Absorbed CrowdState::add(std::span<const CategoryAnswers> sources, const RunContext& context,
                         std::span<const KnownTruth> gold, std::span<const std::vector<double>> times) {
  return apply({.sources = sources, .times = times, .gold = gold, .withdrawn = {}, .mark = {}}, context);
}

Absorbed CrowdState::apply(const StateChange& change, const RunContext& context) {
  require_times(change.sources, change.times);
  const StateFile& file = inside_->file;
  Transaction all(file.database(), Transaction::Kind::write);
  Absorbed total;
  const auto absorb = [&](const CategoryAnswers& data, std::span<const double> when, std::span<const KnownTruth> truths,
                          std::span<const AnswerKey> withdrawn) {
    add_to(total, absorption::Absorption(file, data, when, truths, withdrawn, context).run());
  };
  if (!change.gold.empty()) absorb(CategoryAnswers(), {}, change.gold, {});
  const std::vector<AnswerKey> withdrawn = known_among(file, change.withdrawn);
  if (!withdrawn.empty()) absorb(names_of(withdrawn), {}, {}, withdrawn);
  for (std::size_t s = 0; s < change.sources.size(); ++s) {
    const bool timed = s < change.times.size();
    absorb(change.sources[s], timed ? std::span<const double>(change.times[s]) : std::span<const double>(), {}, {});
  }
  if (!change.mark.empty()) file.store_mark(change.mark);
  all.commit();
  return total;
}

std::string CrowdState::mark() const { return inside_->file.mark(); }

}  // namespace wisecrowd
