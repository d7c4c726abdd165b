#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wisecrowd {

/// What a client may take from the service.
struct ServiceLimits {
  std::size_t connections = 2000;
  std::size_t streams = 200;                        ///< of events, among the connections
  std::size_t body_bytes = std::size_t{8} << 20;    ///< of one request
  std::size_t all_bodies = std::size_t{256} << 20;  ///< of all requests that are being received or answered
  std::size_t header_bytes = std::size_t{16} << 10;
  double header_seconds = 10;           ///< from the first byte of a request to the end of its header
  double body_seconds = 60;             ///< and to the end of its body, or of the answer
  double idle_seconds = 300;            ///< between two requests of a connection
  double requests_per_second = 20'000;  ///< of one address, with bursts of as many
  double refusals_per_minute = 120;     ///< wrong tokens of one address before it has to wait
};

enum class LogLevel { debug, info, warning };

struct ServiceOptions {
  std::string data;                   ///< the folder of all projects; made if it is not there
  std::string address = "127.0.0.1";  ///< to listen on; another than loopback needs tokens
  std::uint16_t port = 8765;          ///< 0: any that is free
  std::string token_file;             ///< empty: no tokens, for loopback only
  std::vector<std::string> hosts;     ///< names that browsers may use for it, besides its address and localhost
  bool private_webhooks = false;      ///< webhooks may call addresses of this machine and its network
  ServiceLimits limits;
  LogLevel log_level = LogLevel::info;
  unsigned threads = 0;                            ///< that answer requests; 0: two, or as many as the machine has
  std::function<void(std::string_view line)> log;  ///< takes lines of JSON without their end; from any thread
  std::function<void(std::uint16_t port)> ready;   ///< called when requests are taken
  const std::atomic<bool>* stop = nullptr;         ///< when it becomes true, requests under way are ended in order
};

/// Serves until told to stop: answers in, labels, workers and what to ask next out (docs/SERVICE.md). All that was
/// acknowledged is on the disk when it returns, and whenever it is killed.
void serve(const ServiceOptions& options);

/// A secret for a client, and the line of the token file that lets it in; the file holds no secret.
struct NewToken {
  std::string secret;
  std::string line;
};
/// `scopes`: read, write, admin; `projects`: names, or * for all. Throws bad_parameter.
[[nodiscard]] NewToken make_token(const std::string& name, const std::vector<std::string>& scopes,
                                  const std::vector<std::string>& projects);

/// Asks a running service at http://HOST:PORT, and returns its answer, a JSON text. Throws io when it cannot be
/// reached, and bad_input with what it says when it refuses.
[[nodiscard]] std::string ask_service(const std::string& url, const std::string& token, const std::string& method,
                                      const std::string& target, const std::string& json);

}  // namespace wisecrowd
