// What the service says of itself, and browsers that log in.
#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "service/service.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::service {
namespace {

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Cookies of a service behind TLS must not travel without; on loopback there is no TLS.
std::string cookie_text(std::string_view value, double seconds, bool secure) {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={:.0f}{}", kSessionCookie, value, seconds,
                     secure ? "; Secure" : "");
}

bool came_by_tls(const HttpRequest& request) { return request.header("x-forwarded-proto") == "https"; }

nlohmann::ordered_json session_json(const Caller& caller) {
  constexpr const char* kScopes[] = {"none", "read", "write", "admin"};
  return {
      {"name", caller.name},
      {"scope", kScopes[static_cast<int>(caller.scope)]},
      {"csrf_token", caller.proof.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(caller.proof)}};
}

}  // namespace

/// The page runs its own programs alone, and talks to nobody but this service.
void Service::show_page(Call& call) {
  allow_query(call.request, {});
  const PagePart part = page_part("live.html");
  HttpResponse response;
  response.type = part.type;
  response.body = part.text;
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  call.reply(std::move(response));
}

void Service::show_page_part(Call& call) {
  allow_query(call.request, {});
  const PagePart part = page_part(call.names[0]);
  if (part.text.empty() || call.names[0] == "live.html") throw Refusal(404, "there is nothing here: see /openapi.json");
  HttpResponse response;
  response.type = part.type;
  response.body = part.text;
  call.reply(std::move(response));
}

void Service::show_openapi(Call& call) {
  HttpResponse response;
  response.body = openapi_document();
  call.reply(std::move(response));
}

void Service::show_metrics(Call& call) {
  metrics_.set("wisecrowd_projects", "", static_cast<double>(projects_.all().size()));
  metrics_.set("wisecrowd_uptime_seconds", "",
               std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count());
  metrics_.set("process_resident_memory_bytes", "", resident_bytes());
  HttpResponse response;
  response.type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics_.text();
  call.reply(std::move(response));
}

void Service::show_health(Call& call) {
  call.reply(json_response(200, {{"status", "ok"}, {"version", WISECROWD_VERSION}}));
}

void Service::show_readiness(Call& call) {
  std::size_t stuck = 0;
  for (const auto& project : projects_.all()) stuck += project->trouble().empty() ? 0 : 1;
  if (stuck == 0) return call.reply(json_response(200, {{"status", "ready"}}));
  call.reply(problem(503, fmt::format("{} projects do not take up what they are told: the log says why", stuck)));
}

void Service::open_session(Call& call) {
  require_json(call.request);
  const nlohmann::json body = parse_json(call.request.body);
  if (!body.is_object() || body.size() != 1 || !body.contains("token") || !body["token"].is_string()) {
    throw Refusal(422, "the body is no object with a token alone");
  }
  if (!tokens_.needed()) return call.reply(json_response(200, session_json(call.caller)));
  if (!refusals_.has(call.request.client))
    throw Refusal(429, "too many wrong tokens came from your address: wait a minute");
  const auto known = tokens_.find(body["token"].get<std::string>());
  if (!known) {
    (void)refusals_.take(call.request.client);
    note_refused("unauthorised");
    throw Refusal(401, "this token is not known");
  }
  Caller caller = *known;
  const Sessions::Opened opened = sessions_.open(caller);
  caller.proof = opened.proof;
  HttpResponse response = json_response(200, session_json(caller));
  response.headers.emplace_back("Set-Cookie", cookie_text(opened.cookie, 12 * 3600, came_by_tls(call.request)));
  call.reply(std::move(response));
}

void Service::show_session(Call& call) { call.reply(json_response(200, session_json(call.caller))); }

void Service::close_session(Call& call) {
  const Fields cookies = cookies_of(call.request.header("cookie"));
  if (const auto cookie = cookies.find(kSessionCookie); cookie != cookies.end()) sessions_.close(cookie->second);
  HttpResponse response;
  response.status = 204;
  response.headers.emplace_back("Set-Cookie", cookie_text("", 0, came_by_tls(call.request)));
  call.reply(std::move(response));
}

}  // namespace wisecrowd::service
