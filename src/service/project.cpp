#include "service/project.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "service/log.hpp"
#include "wisecrowd/asking.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd::service {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// So many entries become one change of the state: enough to pay for its transaction, few enough to be seen soon.
constexpr std::size_t kMostAtOnce = 5000;
/// A project without given classes takes so many; more are names, not classes.
constexpr std::size_t kMostOpenClasses = 500;

/// What a run of entries comes to in the end: of several about the same thing the last one counts.
struct NetChange {
  CategoryAnswers answers;
  std::vector<double> times;
  std::vector<KnownTruth> gold;
  std::vector<AnswerKey> withdrawn;
};

NetChange net_change(const std::vector<Entry>& entries) {
  std::unordered_map<std::string, std::size_t> last;  // of an answer, by task and worker; names hold no NUL
  std::map<std::string, std::string> gold;
  CategoryAnswersBuilder builder;
  NetChange change;
  const auto key_of = [](std::string_view task, std::string_view worker) {
    return std::string(task) + '\0' + std::string(worker);
  };
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const Entry& entry = entries[e];
    if (entry.kind == EntryKind::gold) gold[entry.task] = entry.label;
    if (entry.kind == EntryKind::task) builder.add_task(entry.task);
    if (entry.kind == EntryKind::answer || entry.kind == EntryKind::withdrawal)
      last[key_of(entry.task, entry.worker)] = e;
  }
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const Entry& entry = entries[e];
    if (entry.kind != EntryKind::answer && entry.kind != EntryKind::withdrawal) continue;
    if (last[key_of(entry.task, entry.worker)] != e) continue;
    if (entry.kind == EntryKind::answer) {
      builder.add(entry.task, entry.worker, entry.label);
    } else {
      change.withdrawn.push_back({entry.task, entry.worker});
    }
  }
  change.answers = builder.build();
  for (std::size_t t = 0; t < change.answers.task_count(); ++t) {
    for (const WorkerId worker : change.answers.workers_of(TaskId(t))) {
      const auto at = last[key_of(change.answers.task_names()[t], change.answers.worker_names()[index(worker)])];
      change.times.push_back(static_cast<double>(entries[at].position));
    }
  }
  for (auto& [task, label] : gold) change.gold.push_back({task, label});
  return change;
}

constexpr std::string_view kWorkerPrefix = "worker.";
constexpr std::string_view kRevisionsFrom = "revisions_from";

/// A label is another one, or its probability moved by so much.
constexpr float kRevised = 0.01F;

struct LabelBefore {
  ClassId label = kNoClass;
  float probability = 0;
};

/// Calls `use` with every label, in pages.
template <class Use>
void each_label(const CrowdState& state, const Use& use) {
  LabelQuery query;
  query.limit = 10'000;
  for (;;) {
    const std::vector<TaskLabel> page = state.labels(query);
    for (const TaskLabel& one : page) use(one);
    if (page.size() < query.limit) return;
    query.after = page.back().number;
  }
}

}  // namespace

Project::Project(std::string name, fs::path folder, const std::optional<ProjectSettings>& settings)
    : name_(std::move(name)), folder_(std::move(folder)) {
  appending_.emplace(Journal::open(journal_path()));
  following_.emplace(Journal::open(journal_path()));
  if (settings) {
    Batch batch;
    batch.settings.emplace_back("project", to_json(*settings).dump());
    (void)appending_->append({&batch});
  }
  const auto stored = appending_->setting("project");
  if (!stored) throw Error(ErrorCode::bad_input, fmt::format("{} holds no project: move it away", folder_.string()));
  const nlohmann::json said = nlohmann::json::parse(*stored);
  settings_.created = said.value("created", 0.0);
  read_settings(said, true, settings_);
  for (const auto& [worker, value] : appending_->settings(kWorkerPrefix)) {
    const nlohmann::json decided = nlohmann::json::parse(value);
    workers_[worker] = {decided.value("paused", false), decided.value("machine", false), decided.value("cost", 1.0),
                        decided.value("note", std::string())};
  }
  committed_ = appending_->last_position();
  open_or_make_state();
}

Project::~Project() {
  idle_states_.items.clear();
  idle_journals_.items.clear();
  state_.reset();
  appending_.reset();
  following_.reset();
  std::error_code ignored;
  if (removed_) fs::remove_all(folder_, ignored);
}

void Project::open_or_make_state() {
  const bool fresh = !fs::exists(state_path());
  if (fresh) {
    StateSettings settings;
    settings.fixed_classes = !settings_.classes.empty();
    settings.gold_use = settings_.gold_use;
    CategoryAnswers none;
    if (settings.fixed_classes) none = CategoryAnswersBuilder(settings_.classes).build();
    (void)CrowdState::create(state_path(), {.answers = none}, settings, RunContext(RunOptions{.threads = 1}));
  }
  state_.emplace(CrowdState::open(state_path(), CrowdState::Access::write));
  const std::string mark = state_->mark();
  absorbed_ = mark.empty() ? 0 : std::stoll(mark);
  if (absorbed_ > committed_) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{} knows more than its journal: remove it, and it is made anew from the journal", state_path()));
  }
  refitted_at_ = absorbed_.load();  // when the last one was, nobody remembers
  recover_revisions(fresh);
  for (std::string& known : state_->class_names()) classes_.insert(std::move(known));
}

/// What a fit changed that was cut short, or one of a state that is made anew, nobody wrote down.
void Project::recover_revisions(bool state_is_new) {
  const auto known = following_->setting(kRevisionsFrom);
  revisions_from_ = known ? std::stoll(*known) : 0;
  const auto cut_short = following_->setting(kRefittingSetting);
  if (!(state_is_new && committed_ > 0) && (!cut_short || cut_short->empty())) return;
  revisions_from_ = committed_.load() + 1;
  following_->store(kRevisionsFrom, std::to_string(revisions_from_));
  following_->store(kRefittingSetting, "");
}

std::unique_ptr<CrowdState> Project::open_state() const {
  return std::make_unique<CrowdState>(CrowdState::open(state_path(), CrowdState::Access::read));
}

ProjectSettings Project::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

std::map<std::string, WorkerSettings> Project::worker_settings() const {
  const std::lock_guard lock(mutex_);
  return workers_;
}

void Project::took_over(const ProjectSettings& settings) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
}

void Project::took_over(const std::string& worker, const WorkerSettings& settings) {
  const std::lock_guard lock(mutex_);
  workers_[worker] = settings;
}

void Project::check_labels(Rows& rows) const {
  const std::lock_guard lock(mutex_);
  const bool fixed = !settings_.classes.empty();
  std::set<std::string_view> fresh;
  for (std::size_t e = 0; e < rows.entries.size(); ++e) {
    const Entry& entry = rows.entries[e];
    if (entry.label.empty()) continue;
    const bool known =
        fixed ? std::find(settings_.classes.begin(), settings_.classes.end(), entry.label) != settings_.classes.end()
              : classes_.find(entry.label) != classes_.end();
    if (known) continue;
    if (!fixed) fresh.insert(entry.label);
    if (!fixed && classes_.size() + fresh.size() <= kMostOpenClasses) continue;
    ++rows.error_count;
    if (rows.errors.size() >= kMostShownErrors) continue;
    rows.errors.push_back(
        {e + 1, "label",
         fixed ? "it is none of the project's classes"
               : fmt::format("a project has at most {} classes: are these names or texts?", kMostOpenClasses)});
  }
}

std::vector<Receipt> Project::append(const std::vector<const Batch*>& batches) {
  std::vector<Receipt> receipts = appending_->append(batches);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    if (receipts[b].kind != Receipt::Kind::accepted) continue;
    if (receipts[b].position > committed_) committed_ = receipts[b].position;
    if (leases_.size() == 0) continue;
    for (const Entry& entry : batches[b]->entries) leases_.give_back(entry.task, entry.worker);
  }
  return receipts;
}

std::optional<std::size_t> Project::absorb(const RunContext& context) {
  const std::unique_lock writing(writing_, std::try_to_lock);
  if (!writing) return std::nullopt;
  const std::vector<Entry> entries = following_->read(absorbed_, kMostAtOnce);
  if (entries.empty()) return 0;
  const NetChange change = net_change(entries);
  const std::string mark = std::to_string(entries.back().position);
  const Absorbed done = state_->apply({.sources = std::span(&change.answers, 1),
                                       .times = std::span(&change.times, 1),
                                       .gold = change.gold,
                                       .withdrawn = change.withdrawn,
                                       .mark = mark},
                                      context);
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& fresh : done.new_classes) classes_.insert(fresh);
    absorbed_ = entries.back().position;
    trouble_.clear();
  }
  moved_.notify_all();
  tell(done);
  return entries.size();
}

void Project::tell(const Absorbed& absorbed) {
  events_->publish("answers", {{"position", absorbed_.load()},
                               {"answers", absorbed.answers},
                               {"replaced", absorbed.replaced},
                               {"withdrawn", absorbed.withdrawn},
                               {"new_tasks", absorbed.new_tasks},
                               {"new_workers", absorbed.new_workers},
                               {"labels_changed", absorbed.labels_changed}});
  for (const WorkerAlarm& alarm : absorbed.alarms) {
    events_->publish("alarm", {{"worker", alarm.worker}, {"message", alarm.text()}});
  }
}

bool Project::refit_is_due() const {
  if (refit_wanted_) return true;
  return with_state([](const CrowdState& state) {
    const Staleness stale = state.summary().staleness;
    return stale.answers_since + stale.truths_since > 0 && !stale.advice().empty();
  });
}

void Project::refit(const RunContext& context, bool insist) {
  if (!insist && !refit_is_due()) return;
  const std::lock_guard writing(writing_);
  refit_wanted_ = false;
  std::vector<LabelBefore> before;
  each_label(*state_, [&](const TaskLabel& one) {
    before.resize(static_cast<std::size_t>(one.number) + 1);
    before.back() = {one.label, static_cast<float>(one.probability)};
  });
  following_->store(kRefittingSetting, "1");
  const CategoryFit fit = state_->refit(context, inspect_answers);
  refitted_at_ = absorbed_.load();
  std::vector<std::string> revised;
  each_label(*state_, [&](const TaskLabel& one) {
    const LabelBefore& was = before.at(static_cast<std::size_t>(one.number));
    const bool moved = std::abs(static_cast<float>(one.probability) - was.probability) >= kRevised;
    if (one.label != was.label || moved) revised.push_back(one.name);
  });
  following_->note_revised(absorbed_, revised);
  events_->publish("refit", {{"position", absorbed_.load()}, {"iterations", fit.iterations}});
}

bool Project::is_removed() const {
  return with_journal([](const Journal& journal) { return journal.setting(kRemovedSetting).has_value(); });
}

void Project::tidy() {
  const std::lock_guard writing(writing_);
  following_->tidy();
}

void Project::keep_study(std::shared_ptr<const Study> study) {
  const std::lock_guard lock(mutex_);
  study_ = std::move(study);
}

std::shared_ptr<const Study> Project::study() const {
  const std::lock_guard lock(mutex_);
  return study_;
}

bool Project::wait_for(std::int64_t position, double seconds) const {
  std::unique_lock lock(mutex_);
  return moved_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return absorbed_ >= position; });
}

std::string Project::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Project::set_trouble(const std::string& message) {
  const std::lock_guard lock(mutex_);
  trouble_ = message;
}

bool Project::warn_once(const std::string& worker) {
  const std::lock_guard lock(mutex_);
  return warned_.insert(worker).second;
}

}  // namespace wisecrowd::service
