// Answers, gold and tasks: what goes into a journal.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "service/service.hpp"

namespace wisecrowd::service {
namespace {

using Json = nlohmann::ordered_json;

RowFormat format_of(const HttpRequest& request) {
  std::string_view type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (type == "application/json") return RowFormat::json;
  if (type == "application/x-ndjson" || type == "application/jsonl") return RowFormat::ndjson;
  throw Refusal(415, "send Content-Type: application/x-ndjson (one object per line) or application/json (a list)");
}

HttpResponse refusal_of(const Rows& rows) {
  Json errors = Json::array();
  for (const RowError& error : rows.errors) {
    Json one = {{"row", error.row}};
    if (!error.field.empty()) one["field"] = error.field;
    one["message"] = error.message;
    errors.push_back(std::move(one));
  }
  HttpResponse response = json_response(
      422, {{"title", reason_phrase(422)},
            {"status", 422},
            {"detail", fmt::format("{} of the rows cannot be used, and none was taken: correct them and send all again",
                                   rows.error_count)},
            {"errors", errors}});
  response.type = "application/problem+json";
  return response;
}

HttpResponse response_of(const Receipt& receipt) {
  switch (receipt.kind) {
    case Receipt::Kind::key_reused:
      return problem(422, "this Idempotency-Key came with another body before: use a new key for new rows");
    case Receipt::Kind::failed: return problem(507, "it could not be written, and nothing was taken: " + receipt.error);
    default: break;
  }
  const bool repeated = receipt.kind == Receipt::Kind::repeated;
  HttpResponse response =
      json_response(202, {{"accepted", receipt.accepted}, {"position", receipt.position}, {"repeated", repeated}});
  if (repeated) response.headers.emplace_back("Idempotency-Replayed", "true");
  return response;
}

}  // namespace

void Service::take_answers(Call& call) { take_rows(call, parse_answers(call.request.body, format_of(call.request))); }
void Service::take_gold(Call& call) { take_rows(call, parse_gold(call.request.body, format_of(call.request))); }
void Service::take_tasks(Call& call) { take_rows(call, parse_tasks(call.request.body, format_of(call.request))); }

void Service::take_rows(Call& call, Rows rows) {
  allow_query(call.request, {});
  if (rows.error_count == 0) call.project->check_labels(rows);
  if (rows.error_count > 0) return call.reply(refusal_of(rows));
  Batch batch;
  batch.entries = std::move(rows.entries);
  batch.key = call.request.header("idempotency-key");
  if (batch.key.size() > 200) throw Refusal(400, "Idempotency-Key is longer than 200 characters");
  if (!batch.key.empty()) {
    const Sha256 digest = sha256(call.request.method + " " + call.request.target + "\n" + call.request.body);
    batch.digest = hex(bytes_of(digest));
  }
  committer_->submit(call.project, std::move(batch),
                     [reply = call.reply](const Receipt& receipt) { reply(response_of(receipt)); });
}

}  // namespace wisecrowd::service
