#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sockaddr;

namespace wisecrowd::service {

/// http://host[:port][/path], or https; without a / at the end.
struct Url {
  bool secure = false;
  std::string host;  ///< an IPv6 address without its brackets
  std::uint16_t port = 80;
  std::string path;
};
/// Throws bad_parameter that says what is wrong with it.
[[nodiscard]] Url parse_url(std::string_view text);

struct OutgoingAnswer {
  int status = 0;
  std::string body;
};

/// Which addresses may be called.
enum class Reach {
  anywhere,
  public_hosts,  ///< not this machine, nor others of its own network
};

/// Calls a program that somebody with the right to do so has registered. Redirections are not followed. With https the
/// certificate must be one for the host, by an authority that this machine trusts.
class Outgoing {
 public:
  /// `headers` go with every call.
  Outgoing(Url url, std::vector<std::pair<std::string, std::string>> headers, Reach reach = Reach::anywhere)
      : url_(std::move(url)), headers_(std::move(headers)), reach_(reach) {}
  /// `target` begins with / and follows the path of the URL. Throws io when nobody answers in time, or what comes is no
  /// HTTP or too large.
  [[nodiscard]] OutgoingAnswer call(std::string_view method, std::string_view target, std::string_view json = {},
                                    double seconds = 30) const;

 private:
  Url url_;
  std::vector<std::pair<std::string, std::string>> headers_;
  Reach reach_;
};

/// A whole answer of a server that closes after it. Throws bad_input. `cut_off`: nobody says that this was all, so the
/// answer has to.
[[nodiscard]] OutgoingAnswer parse_answer(std::string_view bytes, bool cut_off = false);

/// Whether an address, as getaddrinfo gives it, is one of the public internet.
[[nodiscard]] bool is_public(const sockaddr& address) noexcept;

}  // namespace wisecrowd::service
