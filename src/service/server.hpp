#pragma once

#include <cstdint>
#include <memory>

#include "service/http.hpp"
#include "wisecrowd/service.hpp"

namespace wisecrowd::service {

/// HTTP/1.1 over TCP: connections, limits and times. What is asked goes to a handler. This is the one file that sees
/// Boost.Beast, which takes a while to compile (server.cpp).
class Server {
 public:
  /// Listens from now on; throws io when it cannot.
  Server(HttpHandler& handler, const ServiceOptions& options);
  /// Ends at once; call stop() before.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Takes no more connections and requests, waits for the answers under way, but not longer than this.
  void stop(double seconds);

  struct Inside;

 private:
  std::unique_ptr<Inside> inside_;
};

}  // namespace wisecrowd::service
