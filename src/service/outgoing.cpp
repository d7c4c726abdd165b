#include "service/outgoing.hpp"

#include <fmt/core.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>

#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::service {
namespace {

constexpr std::size_t kLargestAnswer = std::size_t{512} << 20;

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

/// A connection that every operation on has to end in time.
class Connection {
 public:
  Connection(const Url& url, Clock::time_point end)
      : shown_(fmt::format("{}:{}", printable(url.host), url.port)), end_(end) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found); code != 0) {
      throw Error(ErrorCode::io, fmt::format("{}: {}", shown_, ::gai_strerror(code)));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
    for (const addrinfo* address = found; address != nullptr && socket_ < 0; address = address->ai_next)
      try_one(*address);
    if (socket_ < 0) throw Error(ErrorCode::io, fmt::format("{} cannot be reached: {}", shown_, std::strerror(error_)));
  }
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      wait(POLLOUT);
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (sent < 0) throw Error(ErrorCode::io, fmt::format("{} hangs up: {}", shown_, std::strerror(errno)));
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  std::string receive_all() {
    std::string all;
    std::string piece(std::size_t{1} << 16, '\0');
    for (;;) {
      wait(POLLIN);
      const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) throw Error(ErrorCode::io, fmt::format("{} hangs up: {}", shown_, std::strerror(errno)));
      if (got == 0) return all;
      all.append(piece, 0, static_cast<std::size_t>(got));
      if (all.size() > kLargestAnswer) throw Error(ErrorCode::io, fmt::format("{} sends more than 512 MB", shown_));
    }
  }

 private:
  void try_one(const addrinfo& address) {
    socket_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
    if (socket_ < 0) {
      error_ = errno;
      return;
    }
    int code = ::connect(socket_, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
    if (code == EINPROGRESS) {
      pollfd waiting{socket_, POLLOUT, 0};
      const int ready = ::poll(&waiting, 1, milliseconds_until(end_));
      socklen_t size = sizeof code;
      if (ready <= 0) {
        code = ETIMEDOUT;
      } else {
        ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
      }
    }
    if (code == 0) return;
    error_ = code;
    ::close(socket_);
    socket_ = -1;
  }
  void wait(short what) {
    pollfd waiting{socket_, what, 0};
    const int left = milliseconds_until(end_);
    if (left == 0 || ::poll(&waiting, 1, left) == 0)
      throw Error(ErrorCode::io, fmt::format("{} does not answer in time", shown_));
  }

  std::string shown_;
  Clock::time_point end_;
  int socket_ = -1;
  int error_ = 0;
};

/// The value of a header of that name in lower case, or nothing.
std::string header_of(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    const std::size_t colon = line.find(':');
    if (colon != name.size()) continue;
    bool same = true;
    for (std::size_t i = 0; i < colon; ++i) {
      const char c = line[i];
      same = same && (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) == name[i];
    }
    if (!same) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return std::string(value);
  }
  return {};
}

std::string without_chunks(std::string_view rest) {
  std::string body;
  for (;;) {
    const std::size_t end = rest.find("\r\n");
    std::size_t size = 0;
    if (end == std::string_view::npos) break;
    const auto read = std::from_chars(rest.data(), rest.data() + end, size, 16);
    if (read.ec != std::errc() || read.ptr == rest.data()) break;
    rest.remove_prefix(end + 2);
    if (size == 0) return body;
    if (rest.size() < size || rest.size() - size < 2) break;
    body += rest.substr(0, size);
    rest.remove_prefix(size + 2);
  }
  throw Error(ErrorCode::bad_input, "an answer in chunks is cut short");
}

}  // namespace

Url parse_url(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    throw Error(ErrorCode::bad_parameter, fmt::format("'{}': {}", printable(text), why));
  };
  constexpr std::string_view kScheme = "http://";
  if (text.starts_with("https://"))
    fail("TLS is for a proxy on this machine: name the http address that it listens on");
  if (!text.starts_with(kScheme)) fail("it is no URL that begins with http://");
  std::string_view rest = text.substr(kScheme.size());
  Url url;
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (slash != std::string_view::npos) url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7F)
      fail("it holds characters that no URL has");
  }
  if (authority.find('@') != std::string_view::npos) fail("it holds a password: give a token instead");
  if (url.path.find_first_of("?#") != std::string::npos) fail("it has a query: leave that out");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) fail("a bracket is missing");
    url.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
  }
  if (url.host.empty()) fail("it names no host");
  if (!port.empty()) {
    const auto read = std::from_chars(port.data() + 1, port.data() + port.size(), url.port);
    if (port[0] != ':' || read.ec != std::errc() || read.ptr != port.data() + port.size() || url.port == 0)
      fail("its port is none");
  }
  return url;
}

OutgoingAnswer parse_answer(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  OutgoingAnswer answer;
  if (end == std::string_view::npos || !bytes.starts_with("HTTP/1.") || bytes.size() < 12) {
    throw Error(ErrorCode::bad_input, "the answer is no HTTP");
  }
  const auto read = std::from_chars(bytes.data() + 9, bytes.data() + 12, answer.status);
  if (read.ec != std::errc() || answer.status < 100 || answer.status > 599) {
    throw Error(ErrorCode::bad_input, "the answer has no status");
  }
  const std::string_view head = bytes.substr(0, end);
  const std::string_view rest = bytes.substr(end + 4);
  const std::string encoding = header_of(head, "transfer-encoding");
  if (encoding.find("chunked") != std::string::npos) {
    answer.body = without_chunks(rest);
    return answer;
  }
  const std::string length = header_of(head, "content-length");
  std::size_t expected = rest.size();
  if (!length.empty()) {
    const auto number = std::from_chars(length.data(), length.data() + length.size(), expected);
    if (number.ec != std::errc() || expected > rest.size()) throw Error(ErrorCode::bad_input, "an answer is cut short");
  }
  answer.body = rest.substr(0, expected);
  return answer;
}

OutgoingAnswer Outgoing::call(std::string_view method, std::string_view target, std::string_view json,
                              double seconds) const {
  const auto end = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  const bool bracketed = url_.host.find(':') != std::string::npos;
  std::string request = fmt::format(
      "{} {}{} HTTP/1.1\r\nHost: {}{}{}:{}\r\nConnection: close\r\nAccept: application/json\r\n"
      "User-Agent: wisecrowd\r\n",
      method, url_.path, target, bracketed ? "[" : "", url_.host, bracketed ? "]" : "", url_.port);
  for (const auto& [name, value] : headers_) request += fmt::format("{}: {}\r\n", name, value);
  if (!json.empty()) request += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", json.size());
  request += "\r\n";
  request += json;
  Connection connection(url_, end);
  connection.send(request);
  return parse_answer(connection.receive_all());
}

}  // namespace wisecrowd::service
