// Label Studio: how it is connected, and what it asks of us as a machine-learning backend.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "service/service.hpp"
#include "service/words.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

struct ConnectRequest {
  StudioSettings settings;
  std::string name;
};

std::string text_at(const nlohmann::json& body, const char* field, std::size_t longest) {
  if (!body.contains(field)) return {};
  const nlohmann::json& value = body[field];
  if (!value.is_string() || value.get_ref<const std::string&>().size() > longest) {
    throw Refusal(422, fmt::format("{}: it is no text of at most {} bytes", field, longest));
  }
  std::string text = value.get<std::string>();
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      throw Refusal(422, fmt::format("{}: it holds control characters", field));
  }
  return text;
}

std::uint64_t count_at(const nlohmann::json& body, const char* field, std::uint64_t usual, std::uint64_t high) {
  if (!body.contains(field)) return usual;
  const nlohmann::json& value = body[field];
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > high) {
    throw Refusal(422, fmt::format("{}: it is no whole number from 1 to {}", field, high));
  }
  return value.get<std::uint64_t>();
}

ConnectRequest connect_request(const HttpRequest& request) {
  require_json(request);
  const nlohmann::json body = parse_json(request.body);
  if (!body.is_object()) throw Refusal(422, "the body is no object");
  for (const auto& [field, value] : body.items()) {
    if (field != "url" && field != "token" && field != "project" && field != "name" && field != "callback" &&
        field != "first" && field != "most") {
      throw Refusal(422,
                    fmt::format("{}: there are url, token, project, name, callback, first and most", printable(field)));
    }
  }
  ConnectRequest wanted;
  StudioSettings& s = wanted.settings;
  s.url = text_at(body, "url", 500);
  s.token = text_at(body, "token", 500);
  s.callback = text_at(body, "callback", 500);
  s.project = static_cast<std::int64_t>(count_at(body, "project", 0, std::uint64_t{1} << 53));
  s.first = count_at(body, "first", s.first, 100);
  s.most = count_at(body, "most", s.most, 1000);
  wanted.name = text_at(body, "name", 64);
  if (s.token.empty() || s.project == 0) throw Refusal(422, "url, token and project are needed");
  (void)parse_url(s.url);
  if (!s.callback.empty()) (void)parse_url(s.callback);
  if (wanted.name.empty()) wanted.name = fmt::format("label-studio-{}", s.project);
  while (s.url.ends_with('/')) s.url.pop_back();
  while (s.callback.ends_with('/')) s.callback.pop_back();
  return wanted;
}

Json shown(const StudioLink& link) {
  const StudioSettings s = link.settings();
  return {{"name", link.project()->name()},
          {"url", s.url},
          {"project", s.project},
          {"callback", s.callback},
          {"question", s.question.from_name},
          {"choices", s.question.choices},
          {"model_version", model_version(s)},
          {"first", s.first},
          {"most", s.most}};
}

Json shown(const Reconciled& done) {
  return {{"tasks", done.tasks}, {"annotations", done.annotations}, {"taken", done.taken}, {"changed", done.changed},
          {"gone", done.gone},   {"position", done.position}};
}

}  // namespace

void Service::connect_studio(Call& call) {
  allow_query(call.request, {});
  ConnectRequest wanted = connect_request(call.request);
  StudioSettings& s = wanted.settings;
  const Outgoing studio(parse_url(s.url), {{"Authorization", "Token " + s.token}});
  OutgoingAnswer answer;
  try {
    answer = studio.call("GET", fmt::format("/api/projects/{}/", s.project));
  } catch (const Error& error) {
    throw Refusal(424, error.what());
  }
  if (answer.status != 200) {
    throw Refusal(
        424, fmt::format("Label Studio answers {} to the question for project {}: are the token and the number right?",
                         answer.status, s.project));
  }
  const nlohmann::json there = parse_json(answer.body);
  const auto question = question_of(there.is_object() ? there.value("label_config", "") : std::string());
  if (!question)
    throw Refusal(422, "the project has no question of one choice: <Choices name=… toName=…> with two choices or more");
  s.question = *question;
  s.secret = "wcls_" + hex(random_bytes(24));
  if (s.callback.empty()) s.callback = fmt::format("http://{}", call.request.header("host"));
  s.callback += "/label-studio/" + wanted.name;
  auto project = projects_.find(wanted.name);
  if (!project) {
    ProjectSettings settings;
    settings.title = there.value("title", wanted.name).substr(0, 200);
    settings.classes = s.question.choices;
    settings.link_template = fmt::format("{}/projects/{}/data?task={{task}}", s.url, s.project);
    settings.created = seconds_since_1970();
    project = projects_.make(wanted.name, settings);
  } else if (project->settings().classes != s.question.choices) {
    throw Refusal(409, "there is a project of that name with other classes: choose another name");
  }
  Batch batch;
  batch.settings.emplace_back(kStudioSetting, to_json(s).dump());
  (void)write_and_wait(project, std::move(batch));
  const auto link = studios_->add(project, s);
  try {
    link->set_up();
    const Reconciled done = link->reconcile();
    if (!project->wait_for(done.position, 60))
      throw Refusal(503, "the answers of Label Studio take long to absorb: look again later");
    link->push_predictions();
    log_.write(LogLevel::info, "connected", {{"project", wanted.name}, {"url", s.url}, {"by", call.caller.name}});
    Json json = shown(*link);
    json["reconciled"] = shown(done);
    call.reply(json_response(201, json));
  } catch (const Error& error) {
    throw Refusal(424, error.what());
  }
}

void Service::show_studio(Call& call) {
  allow_query(call.request, {});
  const auto link = studios_->find(call.project->name());
  if (!link) throw Refusal(404, "this project is not connected with Label Studio");
  call.reply(json_response(200, shown(*link)));
}

void Service::leave_studio(Call& call) {
  allow_query(call.request, {});
  if (!studios_->find(call.project->name())) throw Refusal(404, "this project is not connected with Label Studio");
  Batch batch;
  batch.settings.emplace_back(kStudioSetting, "null");
  (void)write_and_wait(call.project, std::move(batch));
  studios_->remove(call.project->name());
  HttpResponse response;
  response.status = 204;
  call.reply(std::move(response));
}

void Service::reconcile_studio(Call& call) {
  allow_query(call.request, {});
  const auto link = studios_->find(call.project->name());
  if (!link) throw Refusal(404, "this project is not connected with Label Studio");
  try {
    call.reply(json_response(200, shown(link->reconcile())));
  } catch (const Error& error) {
    throw Refusal(424, error.what());
  }
}

/// Label Studio shows the secret that it was given, by Basic or in a header; nothing else lets it in.
std::shared_ptr<StudioLink> Service::studio_of(Call& call) {
  if (!refusals_.has(call.request.client))
    throw Refusal(429, "too many wrong tokens came from your address: wait a minute");
  const auto link = studios_->find(call.project->name());
  const auto secret = secret_of(call.request.header("authorization"));
  if (link && secret && link->knows(*secret)) return link;
  (void)refusals_.take(call.request.client);
  note_refused("unauthorised");
  throw Refusal(401, "this is for the Label Studio that is connected: wisecrowd connect gives it its secret");
}

void Service::studio_health(Call& call) {
  (void)studio_of(call);
  call.reply(json_response(200, {{"status", "UP"}, {"model_class", "wisecrowd"}}));
}

void Service::studio_version(Call& call) {
  const auto link = studio_of(call);
  const std::string version = model_version(link->settings());
  call.reply(json_response(200, {{"model_version", version}, {"versions", {version}}, {"status", "ok"}}));
}

void Service::studio_predict(Call& call) {
  const auto link = studio_of(call);
  const nlohmann::json body = parse_json(call.request.body);
  if (!body.is_object() || !body.contains("tasks") || !body["tasks"].is_array())
    throw Refusal(422, "tasks: it is no list");
  std::vector<std::string> names;
  for (const auto& task : body["tasks"]) {
    std::string name;
    if (task.is_object() && task.contains("id"))
      name = task["id"].is_string() ? task["id"].get<std::string>() : task["id"].dump();
    names.push_back(std::move(name));
  }
  // As many results as tasks, or Label Studio drops them all.
  call.reply(json_response(200, {{"results", link->predictions(names)}}));
}

void Service::studio_webhook(Call& call) {
  const auto link = studio_of(call);
  const StudioEvent event = studio_event(parse_json(call.request.body), link->settings().question.from_name);
  if (event.action == "START_TRAINING") {
    background_.refit(call.project);
    link->predictions_wanted = true;
  }
  if (!event.deleted_tasks.empty()) link->reconcile_wanted = true;
  Batch batch = link->batch_of(event);
  if (batch.entries.empty() && batch.forgotten.empty()) return call.reply(json_response(201, {{"accepted", 0}}));
  committer_->submit(call.project, std::move(batch), [reply = call.reply](const Receipt& receipt) {
    if (receipt.kind == Receipt::Kind::failed) return reply(problem(507, "it could not be written: " + receipt.error));
    reply(json_response(201, {{"accepted", receipt.accepted}}));
  });
}

}  // namespace wisecrowd::service
