// Outgoing webhooks: who is told what happens to a project.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "service/hooks.hpp"
#include "service/service.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostHooks = 20;
constexpr std::string_view kEvents[] = {"answers", "alarm", "refit", "study", "settings", "worker"};

Hook hook_in(const nlohmann::json& body) {
  const bool shaped = body.is_object() && body.size() == 2 && body.contains("url") && body["url"].is_string() &&
                      body.contains("events") && body["events"].is_array() && !body["events"].empty() &&
                      body["events"].size() <= std::size(kEvents);
  if (!shaped) throw Refusal(422, "the body has url and events, a list that is not empty");
  Hook hook;
  hook.url = body["url"].get<std::string>();
  if (hook.url.size() > 1000) throw Refusal(422, "url: it is longer than 1000 bytes");
  (void)parse_url(hook.url);
  for (const auto& item : body["events"]) {
    const std::string name = item.is_string() ? item.get<std::string>() : std::string();
    if (std::find(std::begin(kEvents), std::end(kEvents), name) == std::end(kEvents))
      throw Refusal(422, "events: there are answers, alarm, refit, study, settings and worker");
    if (std::find(hook.events.begin(), hook.events.end(), name) == hook.events.end()) hook.events.push_back(name);
  }
  hook.id = "wh_" + hex(random_bytes(8));
  hook.secret = "whsec_" + base64(random_bytes(24));
  hook.created = seconds_since_1970();
  return hook;
}

/// Without the secret, which is shown once.
Json shown(const HookState& state) {
  return {{"id", state.hook.id},         {"url", state.hook.url},
          {"events", state.hook.events}, {"created", utc_time(state.hook.created)},
          {"waiting", state.waiting},    {"delivered", state.delivered},
          {"dropped", state.dropped},    {"trouble", state.trouble}};
}

}  // namespace

void Service::list_webhooks(Call& call) {
  allow_query(call.request, {});
  Json list = Json::array();
  for (const HookState& state : hooks_->of(call.project->name())) list.push_back(shown(state));
  call.reply(json_response(200, {{"webhooks", std::move(list)}}));
}

void Service::add_webhook(Call& call) {
  allow_query(call.request, {});
  require_json(call.request);
  const Hook hook = hook_in(parse_json(call.request.body));
  if (hooks_->of(call.project->name()).size() >= kMostHooks)
    throw Refusal(409, fmt::format("a project has at most {} webhooks: remove one first", kMostHooks));
  Batch batch;
  batch.settings.emplace_back(kHookPrefix + hook.id, to_json(hook).dump());
  (void)write_and_wait(call.project, std::move(batch));
  hooks_->add(call.project, hook);
  log_.write(LogLevel::info, "webhook_added",
             {{"project", call.project->name()}, {"url", hook.url}, {"by", call.caller.name}});
  Json json = shown({.hook = hook});
  json["secret"] = hook.secret;
  call.reply(json_response(201, json));
}

void Service::remove_webhook(Call& call) {
  allow_query(call.request, {});
  const std::string& id = call.names[0];
  const auto known = hooks_->of(call.project->name());
  if (std::none_of(known.begin(), known.end(), [&](const HookState& state) { return state.hook.id == id; }))
    throw Refusal(404, fmt::format("there is no webhook '{}'", printable(id)));
  Batch batch;
  batch.settings.emplace_back(kHookPrefix + id, "null");
  (void)write_and_wait(call.project, std::move(batch));
  hooks_->remove(call.project->name(), id);
  HttpResponse response;
  response.status = 204;
  call.reply(std::move(response));
}

}  // namespace wisecrowd::service
