#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "service/outgoing.hpp"
#include "service/server.hpp"
#include "service/service.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd {
namespace {

/// A folder has one service at a time: two would each believe to know what stands in it.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw Error(ErrorCode::io, fmt::format("cannot make {}: {}", folder, error.message()));
    const std::string path = folder + "/lock";
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0)
      throw Error(ErrorCode::io, fmt::format("cannot write to {}: {}", folder, std::strerror(errno)));
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    ::close(descriptor_);
    throw Error(ErrorCode::io,
                fmt::format("{} is in use by another service: stop that one, or name another folder", folder));
  }
  ~FolderLock() { ::close(descriptor_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

bool is_address(const std::string& address) {
  in6_addr room{};
  return ::inet_pton(AF_INET, address.c_str(), &room) == 1 || ::inet_pton(AF_INET6, address.c_str(), &room) == 1;
}

bool is_loopback(const std::string& address) { return address == "::1" || address.starts_with("127."); }

}  // namespace

void serve(const ServiceOptions& options) {
  constexpr double kSecondsToEnd = 10;
  if (!is_address(options.address)) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("'{}' is no address: name one such as 127.0.0.1 or ::1", printable(options.address)));
  }
  if (!is_loopback(options.address) && options.token_file.empty()) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} can be reached from other machines, so clients must show a token: make one (wisecrowd "
                            "token) and name its file (option `token_file`)",
                            options.address));
  }
  const FolderLock lock(options.data);
  service::Service service(options);
  service::Server server(service, options);
  service.log().write(
      LogLevel::info, "ready",
      {{"address", options.address}, {"port", server.port()}, {"data", options.data}, {"version", WISECROWD_VERSION}});
  if (options.ready) options.ready(server.port());
  for (int turn = 0; options.stop == nullptr || !options.stop->load(); ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (turn % 20 == 0) service.look_around();
  }
  service.log().write(LogLevel::info, "stopping", nlohmann::ordered_json::object());
  server.stop(kSecondsToEnd);
  service.finish();
  service.log().write(LogLevel::info, "stopped", nlohmann::ordered_json::object());
}

std::string ask_service(const std::string& url, const std::string& token, const std::string& method,
                        const std::string& target, const std::string& json) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (!token.empty()) headers.emplace_back("Authorization", "Bearer " + token);
  const service::OutgoingAnswer answer =
      service::Outgoing(service::parse_url(url), headers).call(method, target, json, 300);
  if (answer.status < 400) return answer.body;
  const nlohmann::json said = nlohmann::json::parse(answer.body, nullptr, false);
  const std::string detail = said.is_object() ? said.value("detail", "") : "";
  throw Error(ErrorCode::bad_input,
              fmt::format("the service at {} answers {}: {}", printable(url), answer.status, printable(detail)));
}

}  // namespace wisecrowd
