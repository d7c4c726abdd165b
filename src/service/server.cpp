#include "service/server.hpp"

#include <fmt/core.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <deque>
#include <thread>
#include <unordered_set>

#include "service/log.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

constexpr std::size_t kMostQueuedEventBytes = std::size_t{1} << 20;  // a listener who is slower than this is let go
constexpr double kHeartbeat = 15;                                    // seconds; so that proxies do not hang up

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

}  // namespace

class Session;

/// What all connections share. Everything but `port` belongs to the one thread of the network.
struct Server::Inside {
  Inside(HttpHandler& the_handler, const ServiceOptions& options);
  void accept();
  void taken(tcp::socket socket);
  void count() { handler.note_connections(sessions.size(), streams); }

  HttpHandler& handler;
  ServiceLimits limits;
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard{context.get_executor()};
  tcp::acceptor acceptor{context};
  asio::steady_timer again{context};
  std::unordered_set<std::shared_ptr<Session>> sessions;
  std::size_t streams = 0;
  std::size_t body_bytes = 0;  // that are reserved for bodies
  bool stopping = false;
  std::uint16_t port = 0;
  std::thread thread;
};

/// One connection: a request, its answer, the next request.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Server::Inside& server, tcp::socket socket)
      : server_(server), stream_(std::move(socket)), timer_(server.context) {
    beast::error_code ignored;
    const auto endpoint = stream_.socket().remote_endpoint(ignored);
    client_ = endpoint.address().to_string(ignored);
    stream_.socket().set_option(tcp::no_delay(true), ignored);
  }

  void wait_for_request();
  /// Ends a connection that is between two requests, or a stream of events.
  void end_if_idle() {
    if (idle_ || subscription_) close();
  }
  void turn_away() {
    HttpResponse busy = problem(503, "there are too many connections: try again later");
    busy.close = true;
    idle_ = false;
    send(std::move(busy));
  }

 private:
  using Parser = http::request_parser<http::string_body>;
  void read_header();
  void got_header();
  void read_body();
  void ask();
  void send(HttpResponse response);
  void sent(bool close_after);
  void begin_stream(const Subscribe& subscribe);
  void queue(std::string text);
  void write_queued();
  void watch_for_end();
  void beat();
  void close();
  [[nodiscard]] std::string head_problem(int& status);
  void refuse(int status, std::string_view why, std::string_view reason) {
    server_.handler.note_refused(reason);
    HttpResponse response = problem(status, why);
    response.close = true;
    send(std::move(response));
  }
  void failed_to_read(beast::error_code error, bool in_header);
  void reserve(std::size_t bytes) {
    server_.body_bytes += bytes - reserved_;
    reserved_ = bytes;
  }

  Server::Inside& server_;
  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string client_;
  HttpRequest request_;
  std::string outgoing_;
  bool idle_ = true, closed_ = false, keep_alive_ = false, answered_ = false, body_read_ = true;
  std::size_t reserved_ = 0;
  std::unique_ptr<Subscription> subscription_;
  std::deque<std::string> queued_;
  std::size_t queued_bytes_ = 0;
  bool writing_ = false;
};

void Session::close() {
  if (closed_) return;
  closed_ = true;
  if (subscription_) --server_.streams;
  subscription_.reset();
  reserve(0);
  timer_.cancel();
  beast::error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  stream_.close();
  server_.sessions.erase(shared_from_this());
  server_.count();
}

/// Until the first byte a connection may be idle for long; from then on the header has to come soon.
void Session::wait_for_request() {
  idle_ = true;
  reserve(0);
  if (server_.stopping) return close();
  if (buffer_.size() > 0) return read_header();  // the next one came with the last
  buffer_.shrink_to_fit();
  stream_.expires_after(milliseconds(server_.limits.idle_seconds));
  stream_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this()](beast::error_code error, std::size_t bytes) {
                            if (error) return self->close();
                            self->buffer_.commit(bytes);
                            self->read_header();
                          });
}

void Session::read_header() {
  idle_ = false;
  answered_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(server_.limits.header_bytes));
  parser_->body_limit(server_.limits.body_bytes);
  stream_.expires_after(milliseconds(server_.limits.header_seconds));
  http::async_read_header(stream_, buffer_, *parser_,
                          [self = shared_from_this()](beast::error_code error, std::size_t) {
                            if (error) return self->failed_to_read(error, true);
                            self->got_header();
                          });
}

void Session::failed_to_read(beast::error_code error, bool in_header) {
  keep_alive_ = false;
  if (error == beast::error::timeout) {
    // The socket is closed by now; nobody can be told.
    server_.handler.note_refused(in_header ? "header_timeout" : "body_timeout");
    return close();
  }
  if (error == http::error::end_of_stream ||
      error.category() != http::make_error_code(http::error::end_of_stream).category()) {
    return close();
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refuse(431, "the header is too large", "header_size");
  }
  if (error == http::error::body_limit) return refuse(413, "the body is too large: send less at a time", "body_size");
  if (error == http::error::bad_version) return refuse(505, "this service speaks HTTP/1.1", "malformed");
  refuse(400, fmt::format("this is no HTTP: {}", error.message()), "malformed");
}

/// What is wrong with a header, as far as its shape tells: what two programs could read in two ways is refused.
std::string Session::head_problem(int& status) {
  const auto& message = parser_->get();
  status = 400;
  if (message.version() != 11 && message.version() != 10) {
    status = 505;
    return "this service speaks HTTP/1.1";
  }
  if (message.count(http::field::host) != 1 && (message.version() == 11 || message.count(http::field::host) > 1)) {
    return "there must be one Host";
  }
  if (message.count(http::field::transfer_encoding) > 0) {
    if (message.count(http::field::content_length) > 0)
      return "Content-Length and Transfer-Encoding do not go together";
    if (message.version() == 10) return "Transfer-Encoding is not for HTTP/1.0";
    if (message.count(http::field::transfer_encoding) > 1 ||
        lower_case(std::string(message[http::field::transfer_encoding])) != "chunked") {
      status = 501;
      return "the only transfer encoding is chunked";
    }
  }
  if (message.count(http::field::content_length) > 1) return "there must be one Content-Length";
  if (message.count(http::field::authorization) > 1) return "there must be one Authorization";
  if (message.count(http::field::content_encoding) > 0) {
    status = 415;
    return "bodies are taken as they are: send no Content-Encoding";
  }
  if (message.count(http::field::upgrade) > 0 && message.count(http::field::connection) > 0 &&
      lower_case(std::string(message[http::field::connection])).find("upgrade") != std::string::npos) {
    return "there is nothing to upgrade to";
  }
  return {};
}

void Session::got_header() {
  const auto& message = parser_->get();
  keep_alive_ = message.keep_alive();
  request_ = HttpRequest{};
  request_.client = client_;
  body_read_ = parser_->is_done();
  request_.method = std::string(message.method_string());
  request_.target = std::string(message.target());
  int status = 0;
  if (const std::string wrong = head_problem(status); !wrong.empty()) return refuse(status, wrong, "malformed");
  if (const std::string wrong = split_target(request_.target, request_); !wrong.empty()) {
    return refuse(400, wrong, "malformed");
  }
  for (const auto& field : message) {
    const std::string name = lower_case(std::string(field.name_string()));
    const auto [place, is_new] = request_.headers.emplace(name, std::string(field.value()));
    if (!is_new) place->second += ", " + std::string(field.value());
  }
  if (std::optional<HttpResponse> refusal = server_.handler.refuse(request_)) {
    // With a small body the connection can go on; a large one is not worth receiving.
    if (!parser_->is_done()) refusal->close = true;
    return send(std::move(*refusal));
  }
  if (parser_->is_done()) return ask();
  const auto length = parser_->content_length();
  if (length && *length > server_.limits.body_bytes) {
    return refuse(413, fmt::format("the body is larger than {} bytes: send less at a time", server_.limits.body_bytes),
                  "body_size");
  }
  const std::size_t expected = length ? static_cast<std::size_t>(*length) : server_.limits.body_bytes;
  if (server_.body_bytes + expected > server_.limits.all_bodies) {
    return refuse(503, "too much is being sent at once: try again in a second", "all_bodies");
  }
  reserve(expected);
  if (lower_case(std::string(message[http::field::expect])) == "100-continue") {
    outgoing_ = "HTTP/1.1 100 Continue\r\n\r\n";
    stream_.expires_after(milliseconds(server_.limits.header_seconds));
    asio::async_write(stream_, asio::buffer(outgoing_),
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (error) return self->close();
                        self->read_body();
                      });
    return;
  }
  read_body();
}

void Session::read_body() {
  stream_.expires_after(milliseconds(server_.limits.body_seconds));
  http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return self->failed_to_read(error, false);
    self->body_read_ = true;
    self->request_.body = std::move(self->parser_->get().body());
    self->ask();
  });
}

void Session::ask() {
  stream_.expires_never();  // the handler has limits of its own
  server_.handler.handle(std::move(request_), [self = shared_from_this()](HttpResponse response) {
    asio::post(self->server_.context,
               [self, response = std::move(response)]() mutable { self->send(std::move(response)); });
  });
}

void Session::send(HttpResponse response) {
  if (closed_ || answered_) return;
  answered_ = true;
  const bool head = parser_ && parser_->get().method() == http::verb::head;
  const bool close_after = response.close || !keep_alive_ || server_.stopping;
  if (response.events && (head || server_.streams >= server_.limits.streams)) {
    response.events = nullptr;
    if (!head) response = problem(503, "there are too many streams of events: try again later");
  }
  outgoing_ = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: wisecrowd\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n",
      response.status, reason_phrase(response.status));
  bool has_policy = false, has_cache = false;
  for (const auto& [name, value] : response.headers) {
    outgoing_ += fmt::format("{}: {}\r\n", name, value);
    has_policy = has_policy || name == "Content-Security-Policy";
    has_cache = has_cache || name == "Cache-Control";
  }
  if (!has_policy) outgoing_ += "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";
  if (!has_cache) outgoing_ += "Cache-Control: no-store\r\n";
  if (response.status != 204 || response.events) outgoing_ += fmt::format("Content-Type: {}\r\n", response.type);
  if (response.events) {
    outgoing_ += "Connection: close\r\n\r\n";
    begin_stream(response.events);
    return;
  }
  if (response.status != 204) outgoing_ += fmt::format("Content-Length: {}\r\n", response.body.size());
  outgoing_ += close_after ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n";
  if (!head && response.status != 204) outgoing_ += response.body;
  stream_.expires_after(milliseconds(server_.limits.body_seconds));
  asio::async_write(stream_, asio::buffer(outgoing_),
                    [self = shared_from_this(), close_after](beast::error_code error, std::size_t) {
                      if (error) return self->close();
                      self->sent(close_after);
                    });
}

/// A client that is still sending would lose our answer if we closed at once: what comes is thrown away for a moment.
void Session::sent(bool close_after) {
  outgoing_.clear();
  outgoing_.shrink_to_fit();
  if (!close_after) {
    parser_.reset();
    return wait_for_request();
  }
  beast::error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  if (body_read_ || server_.stopping) return close();
  body_read_ = true;
  stream_.expires_after(milliseconds(1));
  buffer_.clear();
  timer_.expires_after(std::chrono::milliseconds(300));
  timer_.async_wait([self = shared_from_this()](beast::error_code) { self->close(); });
  watch_for_end();
}

void Session::begin_stream(const Subscribe& subscribe) {
  ++server_.streams;
  reserve(0);
  queue(std::move(outgoing_));
  queue(": welcome\n\n");
  std::weak_ptr<Session> weak = weak_from_this();
  asio::io_context& context = server_.context;
  subscription_ = subscribe([weak, &context](std::shared_ptr<const Event> event) {
    asio::post(context, [weak, event = std::move(event)] {
      if (const auto self = weak.lock()) self->queue(event->text);
    });
  });
  server_.count();
  buffer_.clear();
  watch_for_end();
  beat();
}

void Session::queue(std::string text) {
  if (closed_) return;
  queued_bytes_ += text.size();
  if (queued_bytes_ > kMostQueuedEventBytes) {
    server_.handler.note_refused("slow_listener");
    return close();
  }
  queued_.push_back(std::move(text));
  if (!writing_) write_queued();
}

void Session::write_queued() {
  if (queued_.empty() || closed_) return;
  writing_ = true;
  stream_.expires_after(milliseconds(server_.limits.body_seconds));
  asio::async_write(stream_, asio::buffer(queued_.front()),
                    [self = shared_from_this()](beast::error_code error, std::size_t) {
                      self->writing_ = false;
                      if (error || self->closed_) return self->close();
                      self->queued_bytes_ -= self->queued_.front().size();
                      self->queued_.pop_front();
                      self->write_queued();
                    });
}

/// Nothing is expected any more; what comes is thrown away until the other side leaves.
void Session::watch_for_end() {
  stream_.socket().async_read_some(buffer_.prepare(4096),
                                   [self = shared_from_this()](beast::error_code error, std::size_t) {
                                     if (error || self->closed_) return self->close();
                                     self->watch_for_end();
                                   });
}

void Session::beat() {
  timer_.expires_after(milliseconds(kHeartbeat));
  timer_.async_wait([self = shared_from_this()](beast::error_code error) {
    if (error || self->closed_) return;
    self->queue(":\n\n");
    self->beat();
  });
}

Server::Inside::Inside(HttpHandler& the_handler, const ServiceOptions& options)
    : handler(the_handler), limits(options.limits) {
  beast::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error)
    throw Error(ErrorCode::bad_parameter,
                fmt::format("'{}' is no address: name one such as 127.0.0.1 or ::1", options.address));
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    throw Error(ErrorCode::io,
                fmt::format("cannot listen on {} port {}: {}", options.address, options.port, error.message()));
  }
  port = acceptor.local_endpoint().port();
}

void Server::Inside::accept() {
  acceptor.async_accept([this](beast::error_code error, tcp::socket socket) {
    if (stopping) return;
    if (!error) {
      taken(std::move(socket));
      return accept();
    }
    // Out of descriptors, most likely: waiting is better than spinning.
    again.expires_after(std::chrono::milliseconds(100));
    again.async_wait([this](beast::error_code) {
      if (!stopping) accept();
    });
  });
}

void Server::Inside::taken(tcp::socket socket) {
  const bool full = sessions.size() >= limits.connections;
  const auto session = std::make_shared<Session>(*this, std::move(socket));
  sessions.insert(session);
  count();
  if (!full) return session->wait_for_request();
  handler.note_refused("too_many_connections");
  session->turn_away();
}

Server::Server(HttpHandler& handler, const ServiceOptions& options)
    : inside_(std::make_unique<Inside>(handler, options)) {
  asio::post(inside_->context, [this] { inside_->accept(); });
  inside_->thread = std::thread([this] { inside_->context.run(); });
}

std::uint16_t Server::port() const noexcept { return inside_->port; }

void Server::stop(double seconds) {
  Inside& inside = *inside_;
  asio::post(inside.context, [&inside] {
    inside.stopping = true;
    beast::error_code ignored;
    inside.acceptor.close(ignored);
    const auto all = inside.sessions;  // ending changes the set
    for (const auto& session : all) session->end_if_idle();
  });
  const auto end = std::chrono::steady_clock::now() + milliseconds(seconds);
  for (;;) {
    std::atomic<int> left{-1};
    asio::post(inside.context, [&] { left = static_cast<int>(inside.sessions.size()); });
    while (left < 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (left == 0 || std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Server::~Server() {
  inside_->guard.reset();
  inside_->context.stop();
  if (inside_->thread.joinable()) inside_->thread.join();
  inside_->sessions.clear();
}

}  // namespace wisecrowd::service
