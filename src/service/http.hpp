#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wisecrowd::service {

using Fields = std::map<std::string, std::string, std::less<>>;

/// A request as the handlers see it; they know nothing of sockets.
struct HttpRequest {
  std::string method;                 ///< "GET"
  std::string target;                 ///< as it was sent
  std::vector<std::string> segments;  ///< of the path, decoded
  Fields query;                       ///< decoded
  Fields headers;                     ///< names in lower case
  std::string body;
  std::string client;  ///< its address

  /// Empty when it is not there.
  [[nodiscard]] std::string_view header(std::string_view lower_case_name) const;
  [[nodiscard]] bool changes_something() const noexcept { return method != "GET" && method != "HEAD"; }
};

/// Splits and decodes a target ("/v1/projects?limit=5") into segments and query. Returns what is wrong with it, or
/// nothing.
[[nodiscard]] std::string split_target(std::string_view target, HttpRequest& request);
/// %41 and, in queries, + for a blank. Nothing when an escape is cut short, or the text is no UTF-8 or holds a NUL.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank);
/// The values of a Cookie header.
[[nodiscard]] Fields cookies_of(std::string_view header);

/// One event of a stream, as it goes over the wire.
struct Event {
  std::uint64_t number = 0;
  std::string text;
};
/// Where a stream of events comes from. `receive` may be called from any thread until the subscription is dropped.
struct Subscription {
  virtual ~Subscription() = default;
};
using Subscribe =
    std::function<std::unique_ptr<Subscription>(std::function<void(std::shared_ptr<const Event>)> receive)>;

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  Subscribe events;  ///< not empty: a stream of events follows
  bool close = false;
};

[[nodiscard]] HttpResponse json_response(int status, const nlohmann::ordered_json& body);
/// RFC 9457: {"title", "status", "detail"}.
[[nodiscard]] HttpResponse problem(int status, std::string_view detail);
[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

/// Leaves a handler with an answer that says what is wrong with the request.
class Refusal : public std::exception {
 public:
  explicit Refusal(HttpResponse response) : response_(std::move(response)) {}
  Refusal(int status, std::string_view detail) : response_(problem(status, detail)) {}
  [[nodiscard]] const HttpResponse& response() const noexcept { return response_; }
  [[nodiscard]] const char* what() const noexcept override { return response_.body.c_str(); }

 private:
  HttpResponse response_;
};

/// Takes the answer, from any thread, once.
using Reply = std::function<void(HttpResponse)>;

/// What stands behind a server of HTTP.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Looks at a request without its body, and refuses it before the body is received, or lets it through.
  [[nodiscard]] virtual std::optional<HttpResponse> refuse(const HttpRequest& head) = 0;
  virtual void handle(HttpRequest request, Reply reply) = 0;
  /// Something that was not let in, for metrics: "timeout", "too_many_connections", …
  virtual void note_refused(std::string_view why) = 0;
  virtual void note_connections(std::size_t open, std::size_t streams) = 0;
};

}  // namespace wisecrowd::service
