#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "service/log.hpp"
#include "service/service.hpp"
#include "service/study.hpp"
#include "service/words.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

Json summary_of(const Project& project) {
  Json json = to_json(project.settings());
  const StateSummary summary = project.with_state([](const CrowdState& state) { return state.summary(); });
  json["name"] = project.name();
  json["created"] = utc_time(project.settings().created);
  json["position"] = project.absorbed();
  json["accepted_position"] = project.committed();
  json["tasks"] = summary.tasks;
  json["answered_tasks"] = summary.answered_tasks;
  json["workers"] = summary.workers;
  json["answers"] = summary.answers;
  json["gold_tasks"] = summary.gold_tasks;
  json["known_classes"] = summary.classes;
  json["class_prior"] = numbers_or_null(summary.class_prior);
  json["gold_accuracy"] = {{"value", number_or_null(summary.gold_accuracy)},
                           {"low", number_or_null(summary.gold_accuracy_low)},
                           {"high", number_or_null(summary.gold_accuracy_high)}};
  json["refit_advice"] = summary.staleness.advice();
  json["trouble"] = project.trouble();
  const auto study = project.study();
  json["progress"] = nullptr;
  if (study) {
    json["progress"] = {{"position", study->position},
                        {"sure_tasks", study->sure},
                        {"expected_accuracy", number_or_null(study->expected_accuracy)},
                        {"answers_needed", number_or_null(study->answers_needed)},
                        {"answers_per_hour", number_or_null(study->answers_per_hour)}};
  }
  return json;
}

}  // namespace

void Service::list_projects(Call& call) {
  allow_query(call.request, {});
  Json list = Json::array();
  for (const auto& project : projects_.all()) {
    if (!call.caller.sees(project->name())) continue;
    list.push_back(
        {{"name", project->name()}, {"title", project->settings().title}, {"accepted_position", project->committed()}});
  }
  call.reply(json_response(200, {{"projects", list}}));
}

void Service::make_project(Call& call) {
  allow_query(call.request, {});
  require_json(call.request);
  const nlohmann::json body = parse_json(call.request.body);
  if (!body.is_object() || !body.contains("name") || !body["name"].is_string()) {
    throw Refusal(422, "name: it is missing, or no text");
  }
  const std::string name = body["name"].get<std::string>();
  if (body.contains("created")) throw Refusal(422, "created: the service knows that by itself");
  ProjectSettings settings;
  read_settings(body, true, settings);
  settings.created = seconds_since_1970();
  const auto project = projects_.make(name, settings);
  log_.write(LogLevel::info, "project_made", {{"project", name}, {"by", call.caller.name}});
  HttpResponse response = json_response(201, summary_of(*project));
  response.headers.emplace_back("Location", "/v1/projects/" + name);
  call.reply(std::move(response));
}

void Service::show_project(Call& call) {
  allow_query(call.request, {"after"});
  await_position(call);
  call.reply(json_response(200, summary_of(*call.project)));
}

void Service::change_project(Call& call) {
  allow_query(call.request, {});
  require_json(call.request);
  ProjectSettings settings = call.project->settings();
  const nlohmann::json body = parse_json(call.request.body);
  if (body.is_object() && (body.contains("name") || body.contains("created"))) {
    throw Refusal(422, "name and created cannot be changed");
  }
  read_settings(body, false, settings);
  Batch batch;
  batch.settings.emplace_back("project", to_json(settings).dump());
  (void)write_and_wait(call.project, std::move(batch));
  call.project->took_over(settings);
  call.project->events().publish("settings", to_json(settings));
  call.reply(json_response(200, summary_of(*call.project)));
}

void Service::remove_project(Call& call) {
  allow_query(call.request, {});
  Batch batch;
  batch.settings.emplace_back(kRemovedSetting, "1");
  (void)write_and_wait(call.project, std::move(batch));
  studios_->remove(call.project->name());
  hooks_->remove_all(call.project->name());
  projects_.remove(call.project);
  metrics_.forget("wisecrowd_backlog_entries", fmt::format("project=\"{}\"", call.project->name()));
  log_.write(LogLevel::info, "project_removed", {{"project", call.project->name()}, {"by", call.caller.name}});
  call.project.reset();
  HttpResponse response;
  response.status = 204;
  call.reply(std::move(response));
}

void Service::refit_project(Call& call) {
  allow_query(call.request, {});
  background_.refit(call.project);
  call.reply(json_response(202, {{"position", call.project->absorbed()}}));
}

void Service::watch_events(Call& call) {
  allow_query(call.request, {});
  std::uint64_t after = ~std::uint64_t{0};
  if (const std::string_view last = call.request.header("last-event-id"); !last.empty()) {
    const auto read = std::from_chars(last.data(), last.data() + last.size(), after);
    if (read.ec != std::errc() || read.ptr != last.data() + last.size())
      throw Refusal(400, "Last-Event-ID is no number");
  }
  HttpResponse response;
  response.type = "text/event-stream";
  response.events = [project = call.project, after](std::function<void(std::shared_ptr<const Event>)> receive) {
    return project->events().subscribe(after, std::move(receive));
  };
  call.reply(std::move(response));
}

}  // namespace wisecrowd::service
