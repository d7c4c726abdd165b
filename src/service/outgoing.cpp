#include "service/outgoing.hpp"

#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/plugin.hpp"
#include "service/tls_entry.hpp"
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

// OpenSSL stays outside the program: only an https address needs it.
constexpr PluginKind kTls{.what = "plugin for https",
                          .file = "libwisecrowd_tls.so",
                          .variable = "WISECROWD_TLS_PLUGIN",
                          .entry = kTlsEntryName,
                          .remedy = "install libssl-dev, or name the http address of a proxy on this machine"};

/// A connection that every operation on has to end in time.
class Connection {
 public:
  Connection(const Url& url, Reach reach, Clock::time_point end)
      : shown_(fmt::format("{}:{}", printable(url.host), url.port)), end_(end) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = ::getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found); code != 0) {
      throw Error(ErrorCode::io, fmt::format("{}: {}", shown_, ::gai_strerror(code)));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
    // What is looked at is what is called: a name that leads elsewhere a moment later does not matter.
    std::size_t refused = 0;
    for (const addrinfo* address = found; address != nullptr && socket_ < 0; address = address->ai_next) {
      if (reach == Reach::public_hosts && !is_public(*address->ai_addr)) {
        ++refused;
      } else {
        try_one(*address);
      }
    }
    if (socket_ < 0 && refused > 0) {
      throw Error(ErrorCode::io, fmt::format("{} is an address of this machine or its network, which the service may "
                                             "not call unless it is started so (option `private_webhooks`)",
                                             shown_));
    }
    if (socket_ < 0) throw Error(ErrorCode::io, fmt::format("{} cannot be reached: {}", shown_, std::strerror(error_)));
    if (url.secure) start_tls(url.host);
  }
  ~Connection() {
    tls_.reset();
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty() && tls_) {
      const TlsStep step = finish([&] { return tls_->write(bytes); });
      if (step.kind != TlsStep::Kind::done) throw Error(ErrorCode::io, fmt::format("{} hangs up", shown_));
      bytes.remove_prefix(step.bytes);
    }
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
    while (tls_) {
      const TlsStep step = finish([&] { return tls_->read(piece); });
      cut_off_ = step.kind == TlsStep::Kind::cut_off;
      if (step.kind != TlsStep::Kind::done) return all;
      take(piece, step.bytes, all);
    }
    for (;;) {
      wait(POLLIN);
      const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) throw Error(ErrorCode::io, fmt::format("{} hangs up: {}", shown_, std::strerror(errno)));
      if (got == 0) return all;
      take(piece, static_cast<std::size_t>(got), all);
    }
  }
  /// Whether the end came without the goodbye that TLS has.
  [[nodiscard]] bool was_cut_off() const noexcept { return cut_off_; }

 private:
  void take(const std::string& piece, std::size_t bytes, std::string& all) const {
    all.append(piece, 0, bytes);
    if (all.size() > kLargestAnswer) throw Error(ErrorCode::io, fmt::format("{} sends more than 512 MB", shown_));
  }
  void start_tls(const std::string& host) {
    try {
      static const TlsPlugin& plugin = load_plugin<TlsPlugin>(kTls, kTlsInterface);
      tls_ = plugin.open(socket_, host);
      if (finish([&] { return tls_->handshake(); }).kind == TlsStep::Kind::closed)
        throw Error(ErrorCode::io, "TLS: the connection was closed");
    } catch (const Error& error) {
      tls_.reset();
      ::close(socket_);  // there will be no object to do it
      throw Error(error.code(), fmt::format("{}: {}", shown_, printable(error.what())));
    }
  }
  /// Repeats a step until it need not wait for the other side.
  template <class Step>
  TlsStep finish(const Step& step) {
    for (;;) {
      const TlsStep done = step();
      if (done.kind == TlsStep::Kind::wants_read) {
        wait(POLLIN);
      } else if (done.kind == TlsStep::Kind::wants_write) {
        wait(POLLOUT);
      } else {
        return done;
      }
    }
  }
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
  bool cut_off_ = false;
  std::unique_ptr<TlsStream> tls_;
};

bool is_public_v4(std::uint32_t a) noexcept {
  struct Block {
    std::uint32_t first;
    int bits;
  };
  // What IANA keeps for other purposes than hosts of the internet.
  constexpr Block kOthers[] = {{0x00000000, 8},  {0x0A000000, 8},  {0x64400000, 10}, {0x7F000000, 8},  {0xA9FE0000, 16},
                               {0xAC100000, 12}, {0xC0000000, 24}, {0xC0000200, 24}, {0xC0586300, 24}, {0xC0A80000, 16},
                               {0xC6120000, 15}, {0xC6336400, 24}, {0xCB007100, 24}, {0xE0000000, 4},  {0xF0000000, 4}};
  return std::none_of(std::begin(kOthers), std::end(kOthers),
                      [&](const Block& block) { return a >> (32 - block.bits) == block.first >> (32 - block.bits); });
}

/// Among the addresses 2000::/3 those that stand for others, or for nobody, are left out.
bool is_public_v6(const std::uint8_t* a) noexcept {
  const auto embedded = [&](std::size_t at) {
    return static_cast<std::uint32_t>(a[at]) << 24 | static_cast<std::uint32_t>(a[at + 1]) << 16 |
           static_cast<std::uint32_t>(a[at + 2]) << 8 | a[at + 3];
  };
  constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  constexpr std::uint8_t kTranslated[12] = {0, 0x64, 0xFF, 0x9B};
  if (std::memcmp(a, kMapped, 12) == 0 || std::memcmp(a, kTranslated, 12) == 0) return is_public_v4(embedded(12));
  if ((a[0] & 0xE0) != 0x20) return false;
  if (a[0] == 0x20 && a[1] == 0x02) return is_public_v4(embedded(2));      // 6to4
  if (a[0] == 0x20 && a[1] == 0x01 && (a[2] & 0xFE) == 0) return false;    // 2001::/23: Teredo and others
  return !(a[0] == 0x20 && a[1] == 0x01 && a[2] == 0x0D && a[3] == 0xB8);  // for examples
}

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
  Url url;
  url.secure = text.starts_with("https://");
  if (!url.secure && !text.starts_with("http://")) fail("it is no URL that begins with http:// or https://");
  if (url.secure) url.port = 443;
  std::string_view rest = text.substr(url.secure ? 8 : 7);
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

bool is_public(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    return is_public_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family != AF_INET6) return false;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  return is_public_v6(v6.sin6_addr.s6_addr);
}

OutgoingAnswer parse_answer(std::string_view bytes, bool cut_off) {
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
  if (length.empty() && cut_off) throw Error(ErrorCode::bad_input, "an answer may be cut short");
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
  Connection connection(url_, reach_, end);
  connection.send(request);
  const std::string bytes = connection.receive_all();
  return parse_answer(bytes, connection.was_cut_off());
}

}  // namespace wisecrowd::service
