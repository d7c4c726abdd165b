#include "state/state_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/numeric.hpp"
#include "base/parameter_visitor.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/messages.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd {
namespace {

constexpr const char* kParameterPrefix = "parameter.";
constexpr const char* kReadingPrefix = "reading.";
constexpr const char* kWarningPrefix = "warning.";
constexpr const char* kRemedyPrefix = "warning_remedy.";
constexpr const char* kSeverityPrefix = "warning_severity.";
constexpr const char* kGoldUse = "gold_use";

std::string_view name_of(GoldUse use) { return use == GoldUse::inference ? "inference" : "evaluation"; }

/// All whose name begins so.
void remove_settings(const Database& database, std::string_view prefix) {
  Statement remove(database, "DELETE FROM setting WHERE substr(name, 1, ?) = ?");
  remove.bind(1, static_cast<std::int64_t>(prefix.size())).bind(2, prefix).run();
}

/// What can be set: the model, and how far it is carried.
struct StateOptions {
  IncrementalOptions model{.least_change = 1e-3};
  std::size_t sweeps = 3;
  std::size_t max_iterations = 300;
  double tolerance = 1e-8;
};

constexpr auto kUpdateNames = enum_names<IncrementalOptions::Update>(
    {{IncrementalOptions::Update::incremental, "incremental"}, {IncrementalOptions::Update::stochastic, "stochastic"}});
constexpr auto kStateClassPriorNames = enum_names<bool>({{true, "learned"}, {false, "uniform"}});

void state_options(ParameterVisitor& v, StateOptions& o) {
  v.choice("update", o.model.update, kUpdateNames,
           "how new answers enter: every count is kept exact, or workers are running means that can "
           "forget");
  v.real("prior_answers", o.model.prior.answers, 0, 1e9,
         "answers per truth that a new worker is credited with before the first");
  v.real("prior_accuracy", o.model.prior.accuracy, 0.5, 1,
         "how many of those are right; the wrong ones are spread evenly");
  v.choice("class_prior", o.model.learned_class_prior, kStateClassPriorNames,
           "how frequent classes are: estimated from the data, or all the same");
  v.real("class_pseudo_count", o.model.class_pseudo_count, 0, 1e9,
         "tasks added to every class before the class prior is estimated");
  v.integer("sweeps", o.sweeps, 1, 1000, "how often the tasks of new answers are re-estimated, at most");
  v.real("least_change", o.model.least_change, 0, 0.5,
         "a probability that would move by no more than this stays as it is");
  v.real("step_exponent", o.model.step_exponent, 0.5, 1,
         "stochastic: the n-th answer of a worker moves its table by n to the minus this");
  v.real("memory", o.model.memory, 0, 1e9, "stochastic: about how many answers of a worker are remembered; 0: all");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "refit: give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "refit: stop when the objective changes by less than this share of its size");
}

/// Files have '_' for '-'.
std::string name_of(DuplicatePolicy policy) {
  std::string name(to_string(policy));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

const std::vector<ParameterSpec>& state_parameters() {
  static const std::vector<ParameterSpec> specs = declare_parameters(state_options);
  return specs;
}

IncrementalOptions incremental_options(const Parameters& parameters) {
  return read_parameters(state_options, parameters).model;
}

Parameters batch_parameters(const Parameters& parameters, std::size_t classes) {
  const TablePrior prior = incremental_options(parameters).prior;
  const double right = prior.right(classes), wrong = prior.wrong(classes);
  Parameters batch(aggregation_method("dawid_skene").parameters);
  batch.set_value("pseudo_count", wrong);
  batch.set_value("diagonal_pseudo_count", right - wrong);
  for (const char* same : {"class_prior", "class_pseudo_count", "max_iterations", "tolerance"}) {
    batch.set_value(same, parameters.all().find(same)->second);
  }
  return batch;
}

StateFile::StateFile(std::unique_ptr<Database> database, const StateSettings& settings)
    : database_(std::move(database)), settings_(settings), options_(incremental_options(settings.parameters)) {}

StateFile::StateFile(std::unique_ptr<Database> database) : database_(std::move(database)) {
  Statement all(*database_, "SELECT name, value FROM setting");
  while (all.step()) {
    const std::string_view name = all.text(0);
    const std::string value(all.text(1));
    try {
      if (name.starts_with(kParameterPrefix)) {
        settings_.parameters.set(name.substr(std::strlen(kParameterPrefix)), value);
      } else if (name == "duplicates") {
        settings_.duplicates = find_in(kDuplicatePolicyNames, value).value_or(settings_.duplicates);
      } else if (name == "fixed_classes") {
        settings_.fixed_classes = value == "1";
      } else if (name == kGoldUse) {
        settings_.gold_use = value == name_of(GoldUse::evaluation) ? GoldUse::evaluation : GoldUse::inference;
      } else if (name.starts_with(kReadingPrefix)) {
        settings_.reading.emplace_back(name.substr(std::strlen(kReadingPrefix)), value);
      }
    } catch (const Error& error) {
      database_->fail_as_damaged(error.what());
    }
  }
  options_ = incremental_options(settings_.parameters);
}

void StateFile::store_settings() const {
  Statement insert(*database_, "INSERT INTO setting VALUES (?, ?)");
  for (const auto& [name, value] : settings_.parameters.all()) {
    const std::string key = kParameterPrefix + name;
    const std::string text = to_string(value);
    insert.bind(1, key).bind(2, text).run();
  }
  insert.bind(1, "duplicates").bind(2, name_of(settings_.duplicates)).run();
  insert.bind(1, "fixed_classes").bind(2, std::int64_t{settings_.fixed_classes ? 1 : 0}).run();
  insert.bind(1, kGoldUse).bind(2, name_of(settings_.gold_use)).run();
  for (const auto& [name, value] : settings_.reading) {
    const std::string key = kReadingPrefix + name;
    insert.bind(1, key).bind(2, value).run();
  }
}

void StateFile::store_gold_use(GoldUse use) {
  Statement put(*database_, "INSERT OR REPLACE INTO setting VALUES (?, ?)");
  put.bind(1, kGoldUse).bind(2, name_of(use)).run();
  settings_.gold_use = use;
}

void StateFile::store_reading(const std::vector<std::pair<std::string, std::string>>& reading) {
  remove_settings(*database_, kReadingPrefix);
  Statement put(*database_, "INSERT INTO setting VALUES (?, ?)");
  for (const auto& [name, value] : reading) {
    const std::string key = kReadingPrefix + name;
    put.bind(1, key).bind(2, value).run();
  }
  settings_.reading = reading;
}

std::string StateFile::mark() const {
  Statement find(*database_, "SELECT value FROM setting WHERE name = 'mark'");
  return find.step() ? std::string(find.text(0)) : std::string();
}

void StateFile::store_mark(std::string_view mark) const {
  Statement put(*database_, "INSERT OR REPLACE INTO setting VALUES ('mark', ?)");
  put.bind(1, mark).run();
}

std::vector<Warning> StateFile::warnings() const {
  std::vector<Warning> warnings;
  Statement all(*database_, "SELECT name, value FROM setting ORDER BY name");
  while (all.step()) {
    const std::string_view name = all.text(0);
    if (!name.starts_with(kWarningPrefix)) continue;
    warnings.push_back({std::string(name.substr(std::strlen(kWarningPrefix))), std::string(all.text(1))});
  }
  // What an older version stored has the remedy in the message.
  Statement more(*database_, "SELECT value FROM setting WHERE name = ?");
  const auto stored = [&](const char* prefix, const std::string& code) {
    const std::string key = prefix + code;
    more.bind(1, key);
    std::string value = more.step() ? std::string(more.text(0)) : "";
    more.reset();
    return value;
  };
  for (Warning& warning : warnings) {
    warning.remedy = stored(kRemedyPrefix, warning.code);
    const std::string severity = stored(kSeverityPrefix, warning.code);
    if (!severity.empty()) warning.severity = severity_named(severity);
  }
  return warnings;
}

void StateFile::store_warnings(const std::vector<Warning>& warnings) const {
  for (const char* prefix : {kWarningPrefix, kRemedyPrefix, kSeverityPrefix}) remove_settings(*database_, prefix);
  Statement put(*database_, "INSERT OR REPLACE INTO setting VALUES (?, ?)");
  for (const Warning& warning : warnings) {
    const auto store = [&](const char* prefix, std::string_view value) {
      const std::string key = prefix + warning.code;
      put.bind(1, key).bind(2, value).run();
    };
    store(kWarningPrefix, warning.message);
    store(kRemedyPrefix, warning.remedy);
    store(kSeverityPrefix, to_string(warning.severity));
  }
}

bool StateFile::has_gold() const {
  // A file of an older layout that may only be read has no such table.
  return database_->integer("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'gold')") != 0 &&
         database_->integer("SELECT EXISTS (SELECT 1 FROM gold)") != 0;
}

std::uint64_t StateFile::gold_count() const {
  return has_gold() ? static_cast<std::uint64_t>(database_->integer("SELECT count(*) FROM gold")) : 0;
}

std::string_view StateFile::checked_name(std::string_view name, std::string_view what) const {
  const std::string_view problem = name_problem(name);
  if (!problem.empty()) database_->fail_as_damaged(fmt::format("the {} '{}' {}", what, printable(name), problem));
  return name;
}

std::vector<ClassId> known_truths(const StateFile& file, const NameTable& tasks, std::size_t classes) {
  if (!file.has_gold()) return {};
  std::vector<ClassId> truths(tasks.size(), kNoClass);
  Statement find(file.database(), "SELECT label FROM gold WHERE task = ?");
  bool any = false;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (!find.bind(1, tasks[t]).step()) continue;
    truths[t] = ClassId(file.checked_id(find.integer(0), classes, "class"));
    any = true;
    find.reset();
  }
  if (!any) truths.clear();
  return truths;
}

StateCounters StateFile::counters() const {
  StateCounters counters;
  Staleness& stale = counters.staleness;
  Statement all(*database_, "SELECT name, value FROM setting");
  while (all.step()) {
    const std::string_view name = all.text(0);
    const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(all.integer(1), 0));
    if (name == "answers") counters.answers = whole;
    if (name == "answered_tasks") counters.answered_tasks = whole;
    if (name == "answers_at_refit") stale.answers_at_refit = whole;
    if (name == "answers_since_refit") stale.answers_since = whole;
    if (name == "classes_since_refit") stale.classes_since = whole;
    if (name == "truths_since_refit") stale.truths_since = whole;
    if (name == "probed_tasks") stale.probed_tasks = whole;
    if (name == "probed_labels_changed") stale.probed_labels_changed = whole;
    if (name == "probed_shift") counters.probed_shift = all.real(1);
  }
  if (stale.probed_tasks > 0) stale.mean_shift = counters.probed_shift / static_cast<double>(stale.probed_tasks);
  return counters;
}

void StateFile::store(const StateCounters& counters) const {
  Statement put(*database_, "INSERT OR REPLACE INTO setting VALUES (?, ?)");
  const Staleness& stale = counters.staleness;
  const auto whole = [&](std::string_view name, std::uint64_t value) {
    put.bind(1, name).bind(2, static_cast<std::int64_t>(value)).run();
  };
  whole("answers", counters.answers);
  whole("answered_tasks", counters.answered_tasks);
  whole("answers_at_refit", stale.answers_at_refit);
  whole("answers_since_refit", stale.answers_since);
  whole("classes_since_refit", stale.classes_since);
  whole("truths_since_refit", stale.truths_since);
  whole("probed_tasks", stale.probed_tasks);
  whole("probed_labels_changed", stale.probed_labels_changed);
  put.bind(1, "probed_shift").bind(2, counters.probed_shift).run();
}

std::vector<StateClass> StateFile::classes() const {
  std::vector<StateClass> classes;
  Statement all(*database_, "SELECT id, name, tasks FROM class ORDER BY id");
  while (all.step()) {
    if (all.integer(0) != static_cast<std::int64_t>(classes.size()) || classes.size() >= kMaxClasses) {
      database_->fail_as_damaged(fmt::format("class {} is missing", classes.size()));
    }
    const double tasks = all.real(2);
    if (!std::isfinite(tasks))
      database_->fail_as_damaged(fmt::format("class {} has no number of tasks", classes.size()));
    classes.push_back({std::string(checked_name(all.text(1), "class")), tasks});
  }
  return classes;
}

void StateFile::read_posterior(std::string_view blob, std::span<double> posterior, std::int64_t task) const {
  const std::size_t known = blob.size() / sizeof(double);
  bool right = blob.size() % sizeof(double) == 0 && known <= posterior.size();
  if (right) {
    if (known > 0) std::memcpy(posterior.data(), blob.data(), blob.size());
    std::fill(posterior.begin() + static_cast<std::ptrdiff_t>(known), posterior.end(), 0.0);
    double sum = 0;
    for (const double p : posterior) {
      right = right && p >= 0 && p <= 1 + 1e-9;
      sum += p;
    }
    right = right && (std::abs(sum - 1) < 1e-6 || known == 0);
    // A task that became known before any class did.
    if (known == 0) std::fill(posterior.begin(), posterior.end(), 1 / static_cast<double>(posterior.size()));
  }
  if (!right) database_->fail_as_damaged(fmt::format("the probabilities of task {} cannot be right", task));
}

void StateFile::read_counts(std::string_view blob, std::span<double> counts, std::size_t classes,
                            std::int64_t worker) const {
  const std::size_t cells = blob.size() / sizeof(double);
  const auto known = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(cells))));
  bool right = blob.size() % sizeof(double) == 0 && known * known == cells && known <= classes;
  if (right) {
    std::fill(counts.begin(), counts.end(), 0.0);
    for (std::size_t k = 0; k < known; ++k) {
      std::memcpy(counts.data() + k * classes, blob.data() + k * known * sizeof(double), known * sizeof(double));
    }
    for (const double n : counts) right = right && n >= 0 && n < 1e15;
  }
  if (!right) database_->fail_as_damaged(fmt::format("the table of worker {} cannot be right", worker));
}

std::uint32_t StateFile::checked_id(std::int64_t id, std::uint64_t count, std::string_view what) const {
  if (id < 0 || static_cast<std::uint64_t>(id) >= count) {
    database_->fail_as_damaged(fmt::format("there is no {} {}", what, id));
  }
  return static_cast<std::uint32_t>(id);
}

double uncertainty_of(std::span<const double> posterior, Uncertainty kind) noexcept {
  if (kind == Uncertainty::entropy) return entropy(posterior);
  double first = 0, second = 0;
  for (const double p : posterior) {
    if (p > first) {
      second = first;
      first = p;
    } else {
      second = std::max(second, p);
    }
  }
  return kind == Uncertainty::margin ? 1 - (first - second) : 1 - first;
}

TaskColumns columns_of(std::span<const double> posterior) noexcept {
  if (posterior.empty()) return {0, 0, 0};
  const auto best = std::max_element(posterior.begin(), posterior.end());  // the lowest of equal ones
  return {best - posterior.begin(), *best, entropy(posterior)};
}

double right_answers(std::span<const double> counts, std::size_t classes, double answers) noexcept {
  const double share = share_of_right(counts, classes);
  return std::isnan(share) ? 0 : share * answers;
}

std::string Staleness::advice() const {
  constexpr double kGrowth = 0.1;           // new answers, as a share of what the last fit has seen
  constexpr double kShift = 0.02;           // mean distance of posteriors
  constexpr double kLabels = 0.01;          // share of labels
  constexpr std::uint64_t kFewProbes = 30;  // too few to say
  const auto probed = static_cast<double>(probed_tasks);
  if (truths_since > 0) {
    return fmt::format("the truth of {} became known since the last refit, and other tasks know nothing of it",
                       truths_since == 1 ? "a task" : fmt::format("{} tasks", truths_since));
  }
  if (answers_since == 0) return {};
  if (classes_since > 0) {
    return fmt::format("{} appeared since the last refit, and older tasks know nothing of {}",
                       classes_since == 1 ? "a class" : fmt::format("{} classes", classes_since),
                       classes_since == 1 ? "it" : "them");
  }
  if (static_cast<double>(answers_since) > kGrowth * static_cast<double>(answers_at_refit)) {
    return fmt::format("{} answers were absorbed since the last refit, which has seen {}", answers_since,
                       answers_at_refit);
  }
  if (probed_tasks >= kFewProbes && mean_shift > kShift) {
    return fmt::format("probabilities of tasks that were touched again had drifted by {:.3f} on average", mean_shift);
  }
  if (probed_tasks >= kFewProbes && static_cast<double>(probed_labels_changed) > kLabels * probed) {
    return fmt::format("{:.1f} % of the tasks that were touched again would have had another label",
                       100 * static_cast<double>(probed_labels_changed) / probed);
  }
  return {};
}

}  // namespace wisecrowd
