#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wisecrowd::service {

/// http://host[:port][/path]; without a / at the end.
struct Url {
  std::string host;  ///< an IPv6 address without its brackets
  std::uint16_t port = 80;
  std::string path;
};
/// Throws bad_parameter that says what is wrong with it. https is for a proxy on this machine.
[[nodiscard]] Url parse_url(std::string_view text);

struct OutgoingAnswer {
  int status = 0;
  std::string body;
};

/// Calls a program that somebody with the right to do so has registered. Redirections are not followed.
class Outgoing {
 public:
  /// `headers` go with every call.
  Outgoing(Url url, std::vector<std::pair<std::string, std::string>> headers)
      : url_(std::move(url)), headers_(std::move(headers)) {}
  /// `target` begins with / and follows the path of the URL. Throws io when nobody answers in time, or what comes is no
  /// HTTP or too large.
  [[nodiscard]] OutgoingAnswer call(std::string_view method, std::string_view target, std::string_view json = {},
                                    double seconds = 30) const;

 private:
  Url url_;
  std::vector<std::pair<std::string, std::string>> headers_;
};

/// A whole answer of a server that closes after it. Throws bad_input.
[[nodiscard]] OutgoingAnswer parse_answer(std::string_view bytes);

}  // namespace wisecrowd::service
