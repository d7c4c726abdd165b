#include "service/service.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

/// Requests that wait for a thread; more are told to come again.
constexpr std::size_t kMostJobs = 5000;
constexpr double kPatience = 10;  // seconds, with ?after=

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return segments;
}

struct SplitRoute {
  const Route* route;
  std::vector<std::string_view> segments;
};

const std::vector<SplitRoute>& split_routes() {
  static const std::vector<SplitRoute> all = [] {
    std::vector<SplitRoute> split;
    for (const Route& route : Service::routes()) split.push_back({&route, segments_of(route.path)});
    return split;
  }();
  return all;
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == "::1";
}

/// The name of a Host or Origin header, without the port.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

}  // namespace

Service::Service(const ServiceOptions& options)
    : options_(options),
      log_(options.log, options.log_level),
      tokens_(options.token_file),
      requests_(options.limits.requests_per_second, options.limits.requests_per_second),
      refusals_(options.limits.refusals_per_minute / 60, options.limits.refusals_per_minute),
      projects_(options.data),
      background_(metrics_, log_, [this](const std::shared_ptr<Project>& project) { apply_rules(project); }),
      committer_(std::make_unique<Committer>(
          metrics_, log_, [this](const std::shared_ptr<Project>& project) { background_.follow(project); })),
      studios_(std::make_unique<Studios>(metrics_, log_, *committer_, projects_.all())),
      hooks_(std::make_unique<Hooks>(metrics_, log_, options.private_webhooks ? Reach::anywhere : Reach::public_hosts,
                                     projects_.all())) {
  for (const auto& project : projects_.all()) background_.follow(project);
  const unsigned threads = options.threads > 0 ? options.threads : std::max(2U, std::thread::hardware_concurrency());
  for (unsigned t = 0; t < threads; ++t) workers_.emplace_back([this] { work(); });
}

Service::~Service() { finish(); }

void Service::finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  studios_.reset();
  background_.stop();
  hooks_.reset();
  committer_.reset();
}

/// Throws Refusal 507 when it could not be written.
Receipt Service::write_and_wait(const std::shared_ptr<Project>& project, Batch batch) {
  Receipt receipt = committer_->submit_and_wait(project, std::move(batch));
  if (receipt.kind == Receipt::Kind::failed) throw Refusal(507, "it could not be written: " + receipt.error);
  return receipt;
}

void Service::work() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

Service::Found Service::find_route(const HttpRequest& request) {
  Found found;
  const std::string_view method = request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
  for (const auto& [route, segments] : split_routes()) {
    if (segments.size() != request.segments.size()) continue;
    Found here;
    bool fits = true;
    for (std::size_t s = 0; s < segments.size() && fits; ++s) {
      if (segments[s] == "{project}") {
        here.project = request.segments[s];
      } else if (segments[s].starts_with('{')) {
        here.names.push_back(request.segments[s]);
      } else {
        fits = segments[s] == request.segments[s];
      }
    }
    if (!fits) continue;
    if (method == route->method) {
      here.route = route;
      return here;
    }
    found.allowed += (found.allowed.empty() ? "" : ", ") + std::string(route->method);
  }
  return found;
}

/// A page of another host must not use the rights of whoever looks at it: without tokens, everybody on this machine has
/// them. Browsers say where a request comes from, and which name led them here.
void Service::require_own_page(const HttpRequest& request) const {
  const std::string_view host = host_of(request.header("host"));
  const bool known = is_loopback_name(host) || host == options_.address || host == "[" + options_.address + "]" ||
                     std::find(options_.hosts.begin(), options_.hosts.end(), host) != options_.hosts.end();
  if (!known) {
    throw Refusal(421, fmt::format("this service is not known as '{}': say so when it is started (option `host`)",
                                   printable(host)));
  }
  const std::string_view site = request.header("sec-fetch-site");
  const std::string_view origin = request.header("origin");
  const std::size_t scheme = origin.find("://");
  const bool same =
      origin.empty() || (scheme != std::string_view::npos && origin.substr(scheme + 3) == request.header("host"));
  if ((!site.empty() && site != "same-origin" && site != "none") || !same) {
    throw Refusal(403, "a page of another host may not use this service");
  }
}

Caller Service::authorised(const HttpRequest& request, const Found& found) {
  Caller caller;
  const Route& route = *found.route;
  if (!tokens_.needed()) {
    require_own_page(request);
    caller = {"anybody", Scope::admin, true, {}, false, {}};
    return caller;
  }
  if (route.scope == Scope::none) return caller;
  const auto deny = [&](std::string_view why) {
    (void)refusals_.take(request.client);
    note_refused("unauthorised");
    log_.write(LogLevel::warning, "unauthorised", {{"client", request.client}, {"target", request.target}});
    HttpResponse response = problem(401, why);
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"wisecrowd\"");
    throw Refusal(std::move(response));
  };
  if (!refusals_.has(request.client)) throw Refusal(429, "too many wrong tokens came from your address: wait a minute");
  if (const std::string_view header = request.header("authorization"); !header.empty()) {
    const auto secret = secret_of(header);
    const auto known = secret ? tokens_.find(*secret) : std::nullopt;
    if (!known) deny("this token is not known");
    caller = known.value_or(Caller{});
  } else {
    const Fields cookies = cookies_of(request.header("cookie"));
    const auto cookie = cookies.find(kSessionCookie);
    const auto known = cookie == cookies.end() ? std::nullopt : sessions_.find(cookie->second);
    if (!known) deny("send a token: Authorization: Bearer …");
    caller = known.value_or(Caller{});
    if (request.changes_something() && !equal_in_constant_time(request.header("x-csrf-token"), caller.proof)) {
      throw Refusal(403, "X-CSRF-Token is missing or not that of this session");
    }
  }
  if (!caller.may(route.scope, found.project)) {
    throw Refusal(403, "this token may not do that here: it lacks the scope, or the project");
  }
  return caller;
}

std::optional<HttpResponse> Service::refuse(const HttpRequest& head) {
  if (!requests_.take(head.client)) {
    note_refused("rate");
    HttpResponse response = problem(429, "too many requests come from your address: wait a second");
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }
  const Found found = find_route(head);
  if (found.route == nullptr) {
    HttpResponse response = found.allowed.empty() ? problem(404, "there is nothing here: see /openapi.json")
                                                  : problem(405, "this place takes " + found.allowed);
    if (!found.allowed.empty()) response.headers.emplace_back("Allow", found.allowed);
    return response;
  }
  try {
    (void)authorised(head, found);
  } catch (const Refusal& refusal) {
    return refusal.response();
  }
  return std::nullopt;
}

void Service::handle(HttpRequest request, Reply reply) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  const std::lock_guard lock(mutex_);
  if (ending_ || jobs_.size() >= kMostJobs) {
    HttpResponse busy = problem(503, "too much is being asked at once: try again in a second");
    busy.headers.emplace_back("Retry-After", "1");
    return reply(std::move(busy));
  }
  const auto start = std::chrono::steady_clock::now();
  jobs_.emplace_back([this, call, start, reply = std::move(reply)] {
    const Found found = find_route(call->request);
    const char* const name = found.route != nullptr ? found.route->name : "none";
    call->reply = [this, start, name, reply, method = call->request.method, target = call->request.target,
                   client = call->request.client](HttpResponse response) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      metrics_.add("wisecrowd_requests_total",
                   fmt::format("route=\"{}\",method=\"{}\",status=\"{}\"", name, method, response.status));
      metrics_.observe("wisecrowd_request_seconds", fmt::format("route=\"{}\"", name), seconds);
      if (log_.wants(LogLevel::debug)) {
        log_.write(LogLevel::debug, "request",
                   {{"method", method},
                    {"target", target},
                    {"status", response.status},
                    {"seconds", seconds},
                    {"bytes", response.body.size()},
                    {"client", client}});
      }
      reply(std::move(response));
    };
    if (found.route == nullptr) return call->reply(problem(404, "there is nothing here: see /openapi.json"));
    call->names = found.names;
    try {
      call->caller = authorised(call->request, found);
      if (!found.project.empty()) {
        call->project = projects_.find(found.project);
        if (!call->project) throw Refusal(404, fmt::format("there is no project '{}'", printable(found.project)));
      }
    } catch (const Refusal& refusal) {
      return call->reply(refusal.response());
    }
    run(*call, *found.route);
  });
  more_.notify_one();
}

/// The one place where what goes wrong becomes an answer.
void Service::run(Call& call, const Route& route) {
  HttpResponse response;
  try {
    (this->*route.handle)(call);
    return;
  } catch (const Refusal& refusal) {
    response = refusal.response();
  } catch (const Error& error) {
    const bool clients = error.code() == ErrorCode::bad_input || error.code() == ErrorCode::bad_parameter;
    response = problem(clients ? 422 : 500, clients ? error.what() : "this failed; the log of the service says why");
    if (!clients) log_.write(LogLevel::warning, "request_failed", {{"route", route.name}, {"error", error.what()}});
  } catch (const std::exception& error) {
    response = problem(500, "this failed; the log of the service says why");
    log_.write(LogLevel::warning, "request_failed", {{"route", route.name}, {"error", error.what()}});
  }
  call.reply(std::move(response));
}

void Service::note_refused(std::string_view why) {
  metrics_.add("wisecrowd_refused_total", fmt::format("reason=\"{}\"", why));
}

void Service::note_connections(std::size_t open, std::size_t streams) {
  metrics_.set("wisecrowd_connections", "", static_cast<double>(open));
  metrics_.set("wisecrowd_event_streams", "", static_cast<double>(streams));
}

void Service::look_around() {
  const std::string wrong = tokens_.refresh();
  if (!wrong.empty()) log_.write(LogLevel::warning, "token_file_not_read", {{"error", wrong}});
}

std::int64_t query_integer(const HttpRequest& request, std::string_view name, std::int64_t usual, std::int64_t low,
                           std::int64_t high) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return usual;
  std::int64_t value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto read = std::from_chars(found->second.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < low || value > high) {
    throw Refusal(400, fmt::format("{}: it is no whole number from {} to {}", name, low, high));
  }
  return value;
}

double query_number(const HttpRequest& request, std::string_view name, double usual, double low, double high) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return usual;
  double value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto read = std::from_chars(found->second.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !(value >= low && value <= high)) {
    throw Refusal(400, fmt::format("{}: it is no number from {:g} to {:g}", name, low, high));
  }
  return value;
}

void allow_query(const HttpRequest& request, std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : request.query) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Refusal(400, fmt::format("the query knows no '{}' here", printable(name)));
    }
  }
}

void require_json(const HttpRequest& request) {
  std::string_view type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (type != "application/json") throw Refusal(415, "send Content-Type: application/json");
}

void await_position(const Call& call) {
  const std::int64_t after = query_integer(call.request, "after", 0, 0, std::int64_t{1} << 53);
  if (after > call.project->committed()) throw Refusal(400, "after: the project was never told so much");
  if (after <= call.project->absorbed() || call.project->wait_for(after, kPatience)) return;
  HttpResponse late =
      problem(503, "what was told up to `after` is not known to the estimates yet: try again in a second");
  late.headers.emplace_back("Retry-After", "1");
  throw Refusal(std::move(late));
}

}  // namespace wisecrowd::service
