#include "service/studio_link.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/digest.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

Entry entry_of(const StudioAnnotation& made, EntryKind kind) {
  Entry entry;
  entry.kind = kind;
  entry.task = made.task;
  if (kind != EntryKind::gold) entry.worker = made.worker;
  if (kind != EntryKind::withdrawal) entry.label = made.label;
  entry.time = made.time;
  entry.seconds = made.seconds;
  return entry;
}

/// An annotation becomes an answer, gold, or nothing; what the worker said before by it goes.
void add_annotation(const StudioAnnotation& made, bool known_label, Batch& batch) {
  const bool answers = known_label && !made.label.empty() && !made.gold;
  if (made.gold && known_label && !made.label.empty()) batch.entries.push_back(entry_of(made, EntryKind::gold));
  batch.entries.push_back(entry_of(made, answers ? EntryKind::answer : EntryKind::withdrawal));
  batch.annotations.push_back({made.id, made.task, made.worker, answers ? made.label : std::string()});
}

Entry task_entry(const std::string& task) {
  Entry entry;
  entry.kind = EntryKind::task;
  entry.task = task;
  return entry;
}

/// Those that the state does not know, each once.
std::set<std::string> new_tasks(const Project& project, const std::vector<std::string>& tasks) {
  return project.with_state([&](const CrowdState& state) {
    std::set<std::string> fresh;
    for (const std::string& task : tasks) {
      if (!state.task(task)) fresh.insert(task);
    }
    return fresh;
  });
}

/// 1 − what one answer of a usual worker tells of the task, as a share of what it could tell at most.
double score_of(std::span<const double> posterior, std::span<const double> table) {
  const std::vector<double> even(posterior.size(), 1 / static_cast<double>(posterior.size()));
  const double most = expected_information(even, table);
  const double gain = most > 0 ? expected_information(posterior, table) / most : 0;
  return std::clamp(1 - gain, 0.0, 1.0);
}

}  // namespace

Json to_json(const StudioSettings& s) {
  return {{"url", s.url},
          {"token", s.token},
          {"project", s.project},
          {"callback", s.callback},
          {"secret", s.secret},
          {"from_name", s.question.from_name},
          {"to_name", s.question.to_name},
          {"choices", s.question.choices},
          {"version", s.version},
          {"first", s.first},
          {"most", s.most}};
}

StudioSettings studio_settings(const nlohmann::json& stored) {
  StudioSettings s;
  s.url = stored.at("url");
  s.token = stored.at("token");
  s.project = stored.at("project");
  s.callback = stored.at("callback");
  s.secret = stored.at("secret");
  s.question.from_name = stored.at("from_name");
  s.question.to_name = stored.at("to_name");
  s.question.choices = stored.at("choices").get<std::vector<std::string>>();
  s.version = stored.at("version");
  s.first = stored.at("first");
  s.most = stored.at("most");
  return s;
}

std::string model_version(const StudioSettings& settings) { return fmt::format("wisecrowd-{}", settings.version); }

StudioLink::StudioLink(std::shared_ptr<Project> project, Committer& committer, StudioSettings settings)
    : project_(std::move(project)), committer_(committer), settings_(std::move(settings)) {}

StudioSettings StudioLink::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

bool StudioLink::knows(std::string_view secret) const {
  const Sha256 one = sha256(secret), other = sha256(settings().secret);
  return equal_in_constant_time(bytes_of(one), bytes_of(other));
}

void StudioLink::store(const StudioSettings& settings) {
  Batch batch;
  batch.settings.emplace_back(kStudioSetting, to_json(settings).dump());
  const Receipt receipt = committer_.submit_and_wait(project_, std::move(batch));
  if (receipt.kind == Receipt::Kind::failed) throw Error(ErrorCode::io, receipt.error);
  const std::lock_guard lock(mutex_);
  settings_ = settings;
}

nlohmann::json StudioLink::call(std::string_view method, const std::string& target, const Json& body) const {
  const StudioSettings now = settings();
  const Outgoing studio(parse_url(now.url), {{"Authorization", "Token " + now.token}});
  const OutgoingAnswer answer = studio.call(method, target, body.is_null() ? std::string() : body.dump(), 60);
  if (answer.status == 401 || answer.status == 403) {
    throw Error(ErrorCode::bad_input,
                fmt::format("Label Studio at {} refuses the token ({} {})", printable(now.url), method, target));
  }
  if (answer.status >= 400) {
    throw Error(ErrorCode::io, fmt::format("Label Studio answers {} to {} {}: {}", answer.status, method, target,
                                           printable(std::string_view(answer.body).substr(0, 300))));
  }
  if (answer.body.empty()) return nullptr;
  nlohmann::json value = nlohmann::json::parse(answer.body, nullptr, false);
  return value.is_discarded() ? nlohmann::json(nullptr) : value;
}

void StudioLink::register_backend(const StudioSettings& now) {
  const Json backend = {
      {"url", now.callback},         {"project", now.project},         {"title", "wisecrowd"},
      {"auth_method", "BASIC_AUTH"}, {"basic_auth_user", "wisecrowd"}, {"basic_auth_pass", now.secret},
      {"is_interactive", false}};
  const nlohmann::json known = call("GET", fmt::format("/api/ml?project={}", now.project), nullptr);
  if (known.is_array()) {
    for (const auto& one : known) {
      if (one.is_object() && one.value("url", "") == now.callback && one.contains("id")) {
        (void)call("PATCH", fmt::format("/api/ml/{}", one["id"].dump()), backend);
        return;
      }
    }
  }
  (void)call("POST", "/api/ml/", backend);
}

/// Webhooks that come with a backend carry no credentials unless they are given a header.
void StudioLink::give_webhook_its_header(const StudioSettings& now) {
  const std::string url = now.callback + "/webhook";
  const Json webhook = {{"url", url},           {"project", now.project},
                        {"send_payload", true}, {"send_for_all_actions", true},
                        {"is_active", true},    {"headers", {{"Authorization", "Bearer " + now.secret}}}};
  const nlohmann::json known = call("GET", fmt::format("/api/webhooks/?project={}", now.project), nullptr);
  if (known.is_array()) {
    for (const auto& one : known) {
      if (one.is_object() && one.value("url", "") == url && one.contains("id")) {
        (void)call("PATCH", fmt::format("/api/webhooks/{}/", one["id"].dump()), webhook);
        return;
      }
    }
  }
  (void)call("POST", "/api/webhooks/", webhook);
}

void StudioLink::set_up() {
  const std::lock_guard working(working_);
  const StudioSettings now = settings();
  register_backend(now);
  give_webhook_its_header(now);
  // Answers that were led by predictions would tell of the predictions.
  (void)call("PATCH", fmt::format("/api/projects/{}/", now.project),
             {{"maximum_annotations", now.first},
              {"sampling", "Uncertainty sampling"},
              {"show_collab_predictions", false},
              {"evaluate_predictions_automatically", false}});
}

Batch StudioLink::batch_of(const StudioEvent& event) const {
  Batch batch;
  const std::vector<std::string> choices = settings().question.choices;
  for (const std::string& task : new_tasks(*project_, event.tasks)) batch.entries.push_back(task_entry(task));
  for (const StudioAnnotation& made : event.made) {
    add_annotation(made, std::find(choices.begin(), choices.end(), made.label) != choices.end(), batch);
  }
  batch.forgotten = event.deleted;
  return batch;
}

Reconciled StudioLink::reconcile() {
  const std::lock_guard working(working_);
  const StudioSettings now = settings();
  // What comes while the export is made may be missing in it, and is not gone.
  const auto known = project_->with_journal([](const Journal& journal) { return journal.annotations(); });
  const Outgoing studio(parse_url(now.url), {{"Authorization", "Token " + now.token}});
  const OutgoingAnswer answer = studio.call(
      "GET", fmt::format("/api/projects/{}/export?exportType=JSON&download_all_tasks=true", now.project), {}, 300);
  if (answer.status != 200)
    throw Error(ErrorCode::io, fmt::format("Label Studio answers {} to an export", answer.status));
  const StudioExport all = studio_export(answer.body, now.question.from_name);
  std::map<std::int64_t, const Annotation*> before;
  for (const Annotation& one : known) before[one.id] = &one;
  Reconciled done;
  done.tasks = all.tasks.size();
  done.annotations = all.annotations.size();
  Batch batch;
  for (const std::string& task : new_tasks(*project_, all.tasks)) batch.entries.push_back(task_entry(task));
  std::set<std::int64_t> seen;
  for (const StudioAnnotation& made : all.annotations) {
    seen.insert(made.id);
    const bool known_label =
        std::find(now.question.choices.begin(), now.question.choices.end(), made.label) != now.question.choices.end();
    const std::string label = known_label && !made.gold ? made.label : std::string();
    const auto found = before.find(made.id);
    if (found != before.end() && found->second->label == label && found->second->task == made.task) continue;
    ++(found == before.end() ? done.taken : done.changed);
    add_annotation(made, known_label, batch);
  }
  for (const Annotation& one : known) {
    if (seen.contains(one.id)) continue;
    batch.forgotten.push_back(one.id);
    ++done.gone;
  }
  const Receipt receipt = committer_.submit_and_wait(project_, std::move(batch));
  if (receipt.kind == Receipt::Kind::failed) throw Error(ErrorCode::io, receipt.error);
  done.position = receipt.position;
  return done;
}

std::size_t StudioLink::steer() {
  const std::lock_guard working(working_);
  const StudioSettings now = settings();
  const double sure = project_->settings().sure;
  struct Doubtful {
    std::string task;
    std::size_t answers;
  };
  std::vector<Doubtful> doubtful;
  std::size_t workers = 0, lacking = 0, answered = 0;
  project_->with_state([&](const CrowdState& state) {
    answered = state.summary().answered_tasks;
    for (const std::uint32_t given : state.workers().answers) workers += given > 0 ? 1 : 0;
    const Candidates tasks = state.candidates(2000);
    std::map<std::string, std::size_t> open;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const std::span posterior(tasks.posterior.data() + t * tasks.class_count, tasks.class_count);
      const std::size_t given = tasks.task_answers[t];
      const auto waits = asked_.find(tasks.names[t]);
      if (waits != asked_.end() && given <= waits->second) open.insert(*waits);
      lacking += given < now.first ? 1 : 0;
      const bool is_sure = tasks.class_count > 0 && *std::max_element(posterior.begin(), posterior.end()) >= sure;
      if (given >= now.first && given < now.most && given < workers && !is_sure)
        doubtful.push_back({tasks.names[t], given});
    }
    asked_ = std::move(open);
  });
  // Label Studio hands out tasks that somebody began before those that nobody saw: every task gets its first answers
  // before a doubtful one gets more. A few may have been skipped by everybody.
  if (lacking > answered / 100) return 0;
  // Enough for everybody to find one that is new to them, few enough that what an answer tells is used for the next.
  const std::size_t room = std::max<std::size_t>(4, workers);
  std::size_t opened = 0;
  for (const Doubtful& one : doubtful) {
    if (asked_.size() >= room) break;
    if (asked_.contains(one.task)) continue;
    (void)call("PATCH", fmt::format("/api/tasks/{}/", one.task), {{"overlap", one.answers + 1}, {"is_labeled", false}});
    asked_[one.task] = one.answers;
    ++opened;
  }
  return opened;
}

Json StudioLink::predictions(const std::vector<std::string>& names) const {
  const StudioSettings now = settings();
  Json list = Json::array();
  project_->with_state([&](const CrowdState& state) {
    const std::vector<std::string> classes = state.class_names();
    const StateSummary summary = state.summary();
    // A usual worker: the sum of all, with the weight that a new one begins with where there are none.
    std::vector<double> table = state.workers().tables.sum();
    const bool any = std::any_of(table.begin(), table.end(), [](double cell) { return cell > 0; });
    if (!any || table.size() != classes.size() * classes.size()) table = TablePrior{}.table(classes.size());
    normalise_rows(table, classes.size());
    for (const std::string& name : names) {
      const auto task = state.task(name);
      const std::vector<double> posterior = task ? task->posterior : summary.class_prior;
      const auto best = std::max_element(posterior.begin(), posterior.end()) - posterior.begin();
      const double score = classes.size() > 1 ? score_of(posterior, table) : 0;
      Json one = {{"model_version", model_version(now)}, {"score", score}, {"result", Json::array()}};
      if (!classes.empty()) {
        one["result"].push_back({{"from_name", now.question.from_name},
                                 {"to_name", now.question.to_name},
                                 {"type", "choices"},
                                 {"value", {{"choices", {classes[static_cast<std::size_t>(best)]}}}},
                                 {"score", posterior[static_cast<std::size_t>(best)]}});
      }
      list.push_back(std::move(one));
    }
  });
  return list;
}

void StudioLink::push_predictions() {
  const std::lock_guard working(working_);
  StudioSettings next = settings();
  ++next.version;
  store(next);
  std::vector<std::string> names;
  project_->with_state([&](const CrowdState& state) {
    LabelQuery query;
    query.limit = 100'000;
    for (TaskLabel& task : state.labels(query)) names.push_back(std::move(task.name));
  });
  Json list = predictions(names);
  for (std::size_t t = 0; t < names.size(); ++t) {
    if (names[t].find_first_not_of("0123456789") == std::string::npos) list[t]["task"] = std::stoll(names[t]);
  }
  std::erase_if(list.get_ref<Json::array_t&>(), [](const Json& one) { return !one.contains("task"); });
  if (list.empty()) return;
  (void)call("POST", fmt::format("/api/projects/{}/import/predictions", next.project), list);
  // The version of the project must be ours, and there must be predictions of it; or the surest task comes first.
  (void)call("PATCH", fmt::format("/api/projects/{}/", next.project), {{"model_version", model_version(next)}});
  // Those of a push that was cut short, too.
  const std::string versions = fmt::format("/api/projects/{}/model-versions/", next.project);
  const nlohmann::json known = call("GET", versions, nullptr);
  if (!known.is_object()) return;
  for (const auto& [version, count] : known.items()) {
    if (version.starts_with("wisecrowd-") && version != model_version(next))
      (void)call("DELETE", versions, {{"model_version", version}});
  }
}

}  // namespace wisecrowd::service
