#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/csv_text.hpp"
#include "base/intervals.hpp"
#include "service/log.hpp"
#include "service/service.hpp"
#include "service/study.hpp"
#include "service/words.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

/// The note of a worker whom somebody let go on: rules leave it alone.
constexpr const char* kResumed = "resumed";

Json rate(double value, double low, double high) {
  return {{"value", number_or_null(value)}, {"low", number_or_null(low)}, {"high", number_or_null(high)}};
}

/// What is known of a worker: from the state as it is now, and from the last study.
Json worker_json(const std::string& name, std::uint64_t answers, double accuracy, const Study* study,
                 const std::map<std::string, WorkerSettings>& decided) {
  const auto setting = decided.find(name);
  const WorkerSettings settings = setting == decided.end() ? WorkerSettings{} : setting->second;
  const Interval interval = answers > 0 && std::isfinite(accuracy)
                                ? beta_interval(accuracy * static_cast<double>(answers), static_cast<double>(answers))
                                : Interval{std::nan(""), std::nan("")};
  Json json = {{"worker", name},
               {"answers", answers},
               {"accuracy", rate(accuracy, interval.low, interval.high)},
               {"kind", settings.machine ? "machine" : "person"},
               {"paused", settings.paused},
               {"cost", settings.cost},
               {"note", settings.note},
               {"study", nullptr}};
  if (study == nullptr) return json;
  const auto found = study->by_worker.find(name);
  if (found == study->by_worker.end()) return json;
  const WorkerStudy& known = found->second;
  const WorkerSummary& summary = known.summary;
  json["study"] = {
      {"position", study->position},
      {"accuracy", rate(summary.accuracy, summary.accuracy_low, summary.accuracy_high)},
      {"gold_answers", summary.gold_answers},
      {"gold_accuracy", rate(summary.gold_accuracy, summary.gold_accuracy_low, summary.gold_accuracy_high)},
      {"agreement", number_or_null(known.agreement)},
      {"informativeness_bits", number_or_null(summary.informativeness)},
      {"advice", known.advice},
      {"reason", known.reason},
      {"spammer_probability", number_or_null(known.spammer)},
      {"copies", known.copies},
      {"median_seconds", number_or_null(known.median_seconds)},
      {"last_answer", known.last_answer > 0 ? Json(utc_time(known.last_answer)) : Json(nullptr)},
      {"over_time", Json::array()}};
  for (const auto& stretch : known.over_time) {
    json["study"]["over_time"].push_back(
        {{"answers", stretch.answers}, {"accuracy", number_or_null(stretch.accuracy)}});
  }
  return json;
}

HttpResponse workers_csv(const Json& list) {
  HttpResponse response;
  response.type = "text/csv; charset=utf-8";
  response.body =
      "worker,kind,answers,accuracy,accuracy_low,accuracy_high,gold_answers,gold_accuracy,median_seconds,advice,paused,"
      "cost\n";
  const auto number = [](const Json& value) {
    return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : std::string();
  };
  const Json nothing = {
      {"gold_answers", nullptr}, {"gold_accuracy", {{"value", nullptr}}}, {"median_seconds", nullptr}, {"advice", ""}};
  for (const Json& one : list) {
    const Json& study = one["study"].is_null() ? nothing : one["study"];
    const Json& right = one["accuracy"];
    response.body += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(spreadsheet_safe(one["worker"].get<std::string>())),
        one["kind"].get<std::string>(), one["answers"].dump(), number(right["value"]), number(right["low"]),
        number(right["high"]), number(study["gold_answers"]), number(study["gold_accuracy"]["value"]),
        number(study["median_seconds"]), study["advice"].get<std::string>(), one["paused"].get<bool>() ? "yes" : "no",
        number(one["cost"]));
  }
  response.headers.emplace_back("Content-Disposition", "attachment; filename=\"workers.csv\"");
  return response;
}

}  // namespace

void Service::list_workers(Call& call) {
  allow_query(call.request, {"limit", "cursor", "format", "after"});
  await_position(call);
  const auto format = call.request.query.find("format");
  const std::string shape = format == call.request.query.end() ? "json" : format->second;
  if (shape != "json" && shape != "csv") throw Refusal(400, "format: it is neither json nor csv");
  const auto limit = static_cast<std::size_t>(query_integer(call.request, "limit", 1000, 1, 10'000));
  const auto first = static_cast<std::size_t>(query_integer(call.request, "cursor", 0, 0, std::int64_t{1} << 32));
  const KnownWorkers workers = call.project->with_state([](const CrowdState& state) { return state.workers(); });
  const auto study = call.project->study();
  const auto decided = call.project->worker_settings();
  Json list = Json::array();
  std::size_t w = first;
  for (; w < workers.names.size() && list.size() < limit; ++w) {
    list.push_back(worker_json(workers.names[w], workers.answers[w], workers.accuracy[w], study.get(), decided));
  }
  const bool more = w < workers.names.size();
  if (shape == "csv") {
    HttpResponse response = workers_csv(list);
    if (more) response.headers.emplace_back("Wisecrowd-Next", std::to_string(w));
    return call.reply(std::move(response));
  }
  call.reply(json_response(200, {{"workers", std::move(list)},
                                 {"next", more ? Json(std::to_string(w)) : Json(nullptr)},
                                 {"position", call.project->absorbed()}}));
}

void Service::show_worker(Call& call) {
  allow_query(call.request, {"after"});
  await_position(call);
  Json json;
  call.project->with_state([&](const CrowdState& state) {
    const auto worker = state.worker(call.names[0]);
    if (!worker) throw Refusal(404, fmt::format("there is no worker '{}'", printable(call.names[0])));
    json = worker_json(worker->name, worker->answers, worker->accuracy, call.project->study().get(),
                       call.project->worker_settings());
    json["classes"] = state.class_names();
    json["confusion"] = numbers_or_null(worker->confusion);
    json["alarms"] = Json::array();
    for (const WorkerAlarm& alarm : state.alarms()) {
      if (alarm.worker != worker->name) continue;
      json["alarms"].push_back({{"raised", alarm.raised}, {"recovered", alarm.recovered}, {"message", alarm.text()}});
    }
  });
  call.reply(json_response(200, json));
}

void Service::change_worker(Call& call) {
  allow_query(call.request, {});
  require_json(call.request);
  const nlohmann::json body = parse_json(call.request.body);
  if (!body.is_object()) throw Refusal(422, "the body is no object");
  const std::string& name = call.names[0];
  const std::string wrong = service_name_problem(name);
  if (!wrong.empty()) throw Refusal(422, wrong);
  const auto decided = call.project->worker_settings();
  const auto known = decided.find(name);
  WorkerSettings settings = known == decided.end() ? WorkerSettings{} : known->second;
  for (const auto& [field, value] : body.items()) {
    if (field == "paused" && value.is_boolean()) {
      if (settings.paused && !value.get<bool>() && !body.contains("note")) settings.note = kResumed;
      settings.paused = value.get<bool>();
    } else if (field == "kind" && (value == "person" || value == "machine")) {
      settings.machine = value == "machine";
    } else if (field == "cost" && value.is_number() && value.get<double>() > 0 && value.get<double>() <= 1e9) {
      settings.cost = value.get<double>();
    } else if (field == "note" && value.is_string() && value.get_ref<const std::string&>().size() <= 1000) {
      settings.note = value.get<std::string>();
    } else {
      throw Refusal(422,
                    fmt::format("{}: there are paused (true or false), kind (person or machine), cost (above 0) and "
                                "note (text)",
                                printable(field)));
    }
  }
  store_worker(call.project, name, settings);
  call.reply(json_response(200, {{"worker", name},
                                 {"paused", settings.paused},
                                 {"kind", settings.machine ? "machine" : "person"},
                                 {"cost", settings.cost},
                                 {"note", settings.note}}));
}

void Service::store_worker(const std::shared_ptr<Project>& project, const std::string& name,
                           const WorkerSettings& settings) {
  Batch batch;
  batch.settings.emplace_back(
      "worker." + name,
      Json{{"paused", settings.paused}, {"machine", settings.machine}, {"cost", settings.cost}, {"note", settings.note}}
          .dump(-1, ' ', true));
  (void)write_and_wait(project, std::move(batch));
  project->took_over(name, settings);
  project->events().publish("worker", {{"worker", name}, {"paused", settings.paused}});
}

/// After a study: whom a rule speaks against, it pauses, or an alarm is raised; a worker whom somebody resumed is left
/// alone.
void Service::apply_rules(const std::shared_ptr<Project>& project) {
  const auto study = project->study();
  const auto decided = project->worker_settings();
  for (const Rule& rule : project->settings().rules) {
    for (const auto& [name, worker] : study->by_worker) {
      const bool gold = rule.what == Rule::What::gold_accuracy;
      double value = worker.agreement;
      if (gold) value = worker.summary.gold_accuracy;
      if (rule.what == Rule::What::accuracy) value = worker.summary.accuracy;
      if (rule.what == Rule::What::median_seconds) value = worker.median_seconds;
      const std::uint64_t answers = gold ? worker.summary.gold_answers : worker.summary.answers;
      if (!(value < rule.below) || answers < rule.answers) continue;
      const auto known = decided.find(name);
      WorkerSettings settings = known == decided.end() ? WorkerSettings{} : known->second;
      const std::string why = fmt::format("by rule: {:.3g} is below {:g} over {} answers", value, rule.below, answers);
      if (rule.pause && !settings.paused && settings.note != kResumed) {
        settings.paused = true;
        settings.note = why;
        store_worker(project, name, settings);
        log_.write(LogLevel::info, "paused_by_rule", {{"project", project->name()}, {"worker", name}, {"why", why}});
      } else if (!rule.pause && project->warn_once(name)) {
        project->events().publish("alarm", {{"worker", name}, {"message", why}});
      }
    }
  }
}

/// Tasks that both answered, and differently. Reads the journal, which has who said what in order.
void Service::list_disagreements(Call& call) {
  allow_query(call.request, {"first", "second"});
  const auto first = call.request.query.find("first"), second = call.request.query.find("second");
  if (first == call.request.query.end() || second == call.request.query.end())
    throw Refusal(400, "first and second name two workers");
  std::map<std::string, std::pair<std::string, std::string>> said;
  call.project->with_journal([&](const Journal& journal) {
    journal.read_all([&](const Entry& entry) {
      const bool one = entry.worker == first->second, other = entry.worker == second->second;
      if ((!one && !other) || (entry.kind != EntryKind::answer && entry.kind != EntryKind::withdrawal)) return;
      auto& pair = said[entry.task];
      (one ? pair.first : pair.second) = entry.kind == EntryKind::answer ? entry.label : std::string();
    });
  });
  Json tasks = Json::array();
  const std::string link_template = call.project->settings().link_template;
  for (const auto& [task, pair] : said) {
    if (pair.first.empty() || pair.second.empty() || pair.first == pair.second || tasks.size() >= 200) continue;
    tasks.push_back(
        {{"task", task}, {"first", pair.first}, {"second", pair.second}, {"link", link_to(link_template, task)}});
  }
  call.reply(json_response(200, {{"tasks", std::move(tasks)}}));
}

void Service::show_agreement(Call& call) {
  allow_query(call.request, {});
  const auto study = call.project->study();
  Json json = {{"position", study ? Json(study->position) : Json(nullptr)},
               {"workers", Json::array()},
               {"pairs", Json::array()}};
  if (study) {
    json["workers"] = study->matrix_workers;
    for (const PairAgreement& pair : study->pairs) {
      json["pairs"].push_back(
          {{"first", pair.first}, {"second", pair.second}, {"same", pair.same}, {"both", pair.both}});
    }
  }
  call.reply(json_response(200, json));
}

void Service::list_alerts(Call& call) {
  allow_query(call.request, {});
  const auto study = call.project->study();
  Json list = Json::array();
  if (study) {
    for (const Alert& alert : study->alerts) {
      list.push_back({{"code", alert.code},
                      {"severity", alert.urgent ? "warning" : "notice"},
                      {"message", alert.message},
                      {"workers", alert.workers},
                      {"tasks", alert.tasks},
                      {"count", alert.count}});
    }
  }
  call.reply(
      json_response(200, {{"position", study ? Json(study->position) : Json(nullptr)}, {"alerts", std::move(list)}}));
}

}  // namespace wisecrowd::service
