// Argilla: its webhooks bring responses, and labels go back as suggestions.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "service/argilla.hpp"
#include "service/outgoing.hpp"
#include "service/service.hpp"
#include "service/webhook_signature.hpp"
#include "service/words.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

constexpr const char* kArgillaSetting = "argilla";

std::string required_text(const nlohmann::json& body, const char* field, bool needed) {
  if (!body.contains(field) && !needed) return {};
  if (!body.contains(field) || !body[field].is_string() || body[field].get_ref<const std::string&>().size() > 500) {
    throw Refusal(422, fmt::format("{}: it is missing, or no text of at most 500 bytes", field));
  }
  std::string text = body[field].get<std::string>();
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) throw Refusal(422, fmt::format("{}: it holds control characters", field));
  }
  return text;
}

nlohmann::json argilla_settings(const Project& project) {
  const auto stored = project.with_journal([](const Journal& journal) { return journal.setting(kArgillaSetting); });
  if (!stored) throw Refusal(404, "this project is not connected with Argilla: PUT argilla first");
  return nlohmann::json::parse(*stored);
}

/// The id of the question of that name in a dataset.
std::string question_id(const Outgoing& argilla, const std::string& dataset, const std::string& question) {
  const OutgoingAnswer answer =
      argilla.call("GET", fmt::format("/api/v1/datasets/{}/questions", percent_encoded(dataset)));
  const nlohmann::json list = nlohmann::json::parse(answer.body, nullptr, false);
  if (answer.status == 200 && list.is_object() && list.contains("items") && list["items"].is_array()) {
    for (const auto& one : list["items"]) {
      if (one.is_object() && one.value("name", "") == question) return one.value("id", "");
    }
  }
  throw Refusal(424, fmt::format("Argilla answers {} and names no question '{}' of the dataset", answer.status,
                                 printable(question)));
}

}  // namespace

void Service::connect_argilla(Call& call) {
  allow_query(call.request, {});
  require_json(call.request);
  const nlohmann::json body = parse_json(call.request.body);
  if (!body.is_object()) throw Refusal(422, "the body is no object");
  for (const auto& [field, value] : body.items()) {
    if (field != "secret" && field != "question" && field != "url" && field != "api_key" && field != "dataset") {
      throw Refusal(422, fmt::format("{}: there are secret, question, dataset, url and api_key", printable(field)));
    }
  }
  nlohmann::ordered_json settings = {{"secret", required_text(body, "secret", true)},
                                     {"question", required_text(body, "question", true)},
                                     {"dataset", required_text(body, "dataset", false)},
                                     {"url", required_text(body, "url", false)},
                                     {"api_key", required_text(body, "api_key", false)}};
  if (settings["secret"].get_ref<const std::string&>().size() < 16)
    throw Refusal(422, "secret: it is shorter than 16 characters");
  if (const std::string url = settings["url"]; !url.empty()) (void)parse_url(url);
  Batch batch;
  batch.settings.emplace_back(kArgillaSetting, settings.dump());
  (void)write_and_wait(call.project, std::move(batch));
  log_.write(LogLevel::info, "connected",
             {{"project", call.project->name()}, {"url", settings["url"]}, {"by", call.caller.name}});
  call.reply(json_response(200, {{"webhook", fmt::format("/argilla/{}/webhook", call.project->name())},
                                 {"question", settings["question"]}}));
}

void Service::argilla_webhook(Call& call) {
  if (!refusals_.has(call.request.client))
    throw Refusal(429, "too many wrong signatures came from your address: wait a minute");
  const nlohmann::json settings = argilla_settings(*call.project);
  const HttpRequest& request = call.request;
  if (!webhook_is_genuine(settings["secret"].get<std::string>(), request.header("webhook-id"),
                          request.header("webhook-timestamp"), request.body, request.header("webhook-signature"),
                          seconds_since_1970())) {
    (void)refusals_.take(request.client);
    note_refused("unauthorised");
    throw Refusal(401, "the signature of this webhook is wrong, or it is older than five minutes");
  }
  const ArgillaEvent event = argilla_event(parse_json(request.body), settings["question"].get<std::string>());
  if (!event.is_response()) return call.reply(json_response(200, {{"accepted", 0}}));
  Entry entry;
  entry.kind = event.label.empty() ? EntryKind::withdrawal : EntryKind::answer;
  entry.task = event.record;
  entry.worker = event.worker;
  entry.label = event.label;
  Rows rows;
  rows.entries.push_back(entry);
  call.project->check_labels(rows);
  if (rows.error_count > 0) throw Refusal(422, rows.errors.front().message);
  Batch batch;
  batch.entries = std::move(rows.entries);
  // A webhook is sent up to three times; it has the same id each time.
  batch.key = "argilla " + std::string(request.header("webhook-id")).substr(0, 150);
  batch.digest = "argilla";
  committer_->submit(call.project, std::move(batch), [reply = call.reply](const Receipt& receipt) {
    if (receipt.kind == Receipt::Kind::failed) return reply(problem(507, "it could not be written: " + receipt.error));
    reply(json_response(200, {{"accepted", receipt.kind == Receipt::Kind::accepted ? receipt.accepted : 0}}));
  });
}

void Service::push_argilla(Call& call) {
  allow_query(call.request, {"after"});
  await_position(call);
  const nlohmann::json settings = argilla_settings(*call.project);
  const std::string url = settings["url"], key = settings["api_key"], dataset = settings["dataset"];
  if (url.empty() || key.empty() || dataset.empty())
    throw Refusal(409, "suggestions need url, api_key and dataset: PUT argilla with them");
  const Outgoing argilla(parse_url(url), {{"X-Argilla-Api-Key", key}});
  std::vector<TaskLabel> labels;
  std::vector<std::string> classes;
  call.project->with_state([&](const CrowdState& state) {
    labels = state.labels({.limit = 10'000});
    classes = state.class_names();
  });
  std::uint64_t sent = 0;
  try {
    const std::string question = question_id(argilla, dataset, settings["question"]);
    for (const TaskLabel& task : labels) {
      if (task.answers == 0) continue;
      const nlohmann::ordered_json suggestion = {{"question_id", question},
                                                 {"value", classes[index(task.label)]},
                                                 {"score", task.probability},
                                                 {"agent", "wisecrowd"},
                                                 {"type", "model"}};
      const OutgoingAnswer answer = argilla.call(
          "PUT", fmt::format("/api/v1/records/{}/suggestions", percent_encoded(task.name)), suggestion.dump());
      if (answer.status >= 400)
        throw Refusal(424, fmt::format("Argilla answers {} to a suggestion after {} were taken", answer.status, sent));
      ++sent;
    }
  } catch (const Error& error) {
    throw Refusal(424, error.what());
  }
  call.reply(json_response(200, {{"sent", sent}}));
}

}  // namespace wisecrowd::service
