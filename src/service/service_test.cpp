// The whole service in this process, over real sockets.
#include "service/service.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "wisecrowd/error.hpp"
#include "wisecrowd/service.hpp"

namespace wisecrowd::service {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Served : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wisecrowd_served_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    start();
  }
  void TearDown() override {
    stop();
    fs::remove_all(folder_);
  }
  void start() {
    stop_ = false;
    ServiceOptions options = options_;
    options.data = folder_.string();
    options.port = 0;
    options.stop = &stop_;
    std::promise<std::uint16_t> ready;
    options.ready = [&](std::uint16_t port) { ready.set_value(port); };
    thread_ = std::thread([options] { serve(options); });
    port_ = ready.get_future().get();
  }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  /// Sends bytes as they are and returns all that comes back until the other side closes.
  std::string raw(const std::string& bytes) const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    timeval patience{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)!::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::string answer(1 << 16, '\0');
    std::string all;
    for (ssize_t got = 0; (got = ::recv(socket, answer.data(), answer.size(), 0)) > 0;)
      all.append(answer, 0, static_cast<std::size_t>(got));
    ::close(socket);
    return all;
  }
  struct Answer {
    int status = 0;
    std::string head, body;
    [[nodiscard]] Json json() const { return Json::parse(body, nullptr, false); }
  };
  Answer ask(const std::string& method, const std::string& target, const std::string& body = "",
             const std::string& headers = "", const std::string& type = "application/json") const {
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers;
    if (!body.empty())
      request += "Content-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    const std::string all = raw(request + "\r\n" + body);
    Answer answer;
    const std::size_t end = all.find("\r\n\r\n");
    if (end == std::string::npos || all.size() < 12) return answer;
    answer.status = std::stoi(all.substr(9, 3));
    answer.head = all.substr(0, end);
    answer.body = all.substr(end + 4);
    return answer;
  }

  ServiceOptions options_;
  fs::path folder_;
  std::atomic<bool> stop_{false};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST_F(Served, FromAnswersToLabelsAndWhatToAskNext) {
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("POST", "/v1/projects", R"({"name":"p","classes":["a","b"]})").status, 201);
  EXPECT_EQ(ask("POST", "/v1/projects", R"({"name":"p"})").status, 409);
  EXPECT_EQ(ask("POST", "/v1/projects/p/tasks", R"([{"task":"new","link":"http://x/new"}])").status, 202);
  std::string rows;
  for (int t = 0; t < 30; ++t) {
    for (const char* w : {"u", "v", "w"}) {
      rows += Json{{"task", "t" + std::to_string(t)},
                   {"worker", w},
                   {"label", (t % 2 == 0) != (w[0] == 'w' && t % 5 == 0) ? "a" : "b"}}
                  .dump() +
              "\n";
    }
  }
  const Answer told = ask("POST", "/v1/projects/p/answers", rows, "Idempotency-Key: 1\r\n", "application/x-ndjson");
  ASSERT_EQ(told.status, 202) << told.body;
  const std::string after = "?after=" + std::to_string(told.json()["position"].get<int>());
  EXPECT_EQ(ask("GET", "/v1/projects/p" + after).json()["answers"], 90);
  const Answer again = ask("POST", "/v1/projects/p/answers", rows, "Idempotency-Key: 1\r\n", "application/x-ndjson");
  EXPECT_TRUE(again.json()["repeated"].get<bool>());
  const Json page = ask("GET", "/v1/projects/p/labels" + after + "&limit=10").json();
  EXPECT_EQ(page["labels"].size(), 10U);
  std::set<std::string> seen;
  for (std::string cursor = "t0"; !cursor.empty();) {
    const Json next = ask("GET", "/v1/projects/p/labels?limit=7&cursor=" + cursor).json();
    for (const auto& label : next["labels"]) EXPECT_TRUE(seen.insert(label["task"].get<std::string>()).second);
    cursor = next["next"].is_null() ? "" : next["next"].get<std::string>();
  }
  EXPECT_EQ(seen.size(), 30U);  // all but the first, after which the cursor began
  const Json task = ask("GET", "/v1/projects/p/tasks/t4").json();
  EXPECT_EQ(task["label"], "a");
  EXPECT_EQ(task["answers"].size(), 3U);
  EXPECT_EQ(ask("GET", "/v1/projects/p/tasks/new").json()["link"], "http://x/new");
  EXPECT_EQ(ask("GET", "/v1/projects/p/tasks/none").status, 404);
  const Json next = ask("POST", "/v1/projects/p/next", R"({"worker":"stranger","count":1})").json();
  ASSERT_EQ(next["choices"].size(), 1U);
  EXPECT_EQ(next["choices"][0]["task"], "new");
  EXPECT_EQ(ask("PATCH", "/v1/projects/p/workers/stranger", R"({"paused":true})").status, 200);
  EXPECT_TRUE(ask("POST", "/v1/projects/p/next", R"({"worker":"stranger"})").json()["choices"].empty());
  EXPECT_EQ(ask("POST", "/v1/projects/p/answers", R"([{"task":"t","worker":"w","label":"c"}])").status, 422);
}

TEST_F(Served, WhatWasAcknowledgedOutlivesTheService) {
  ASSERT_EQ(ask("POST", "/v1/projects", R"({"name":"p"})").status, 201);
  ASSERT_EQ(ask("POST", "/v1/projects/p/answers",
                R"([{"task":"t","worker":"w","label":"x"},{"task":"t","worker":"v","label":"y"}])")
                .status,
            202);
  ASSERT_EQ(ask("PUT", "/v1/projects/p/gold", R"([{"task":"t","label":"x"}])").status, 202);
  ASSERT_EQ(ask("PATCH", "/v1/projects/p", R"({"title":"Pears","sure":0.9})").status, 200);
  stop();
  start();
  const Json project = ask("GET", "/v1/projects/p?after=3").json();
  EXPECT_EQ(project["answers"], 2);
  EXPECT_EQ(project["title"], "Pears");
  EXPECT_EQ(project["sure"], 0.9);
  EXPECT_EQ(ask("GET", "/v1/projects/p/tasks/t").json()["truth"], "x");
  EXPECT_EQ(ask("DELETE", "/v1/projects/p").status, 204);
  EXPECT_EQ(ask("GET", "/v1/projects/p").status, 404);
  stop();
  start();
  EXPECT_EQ(ask("GET", "/v1/projects/p").status, 404);
  EXPECT_FALSE(fs::exists(folder_ / "projects" / "p"));
}

TEST_F(Served, ShapesThatCouldSmuggleARequestAreRefused) {
  const std::string host = "Host: localhost\r\n";
  const auto status = [&](const std::string& request) {
    const std::string all = raw(request);
    return all.size() > 12 ? all.substr(9, 3) : "closed";
  };
  const std::string get = "GET /healthz HTTP/1.1\r\n";
  const std::string post = "POST /v1/projects HTTP/1.1\r\n" + host;
  EXPECT_EQ(status(get + "\r\n"), "400");
  EXPECT_EQ(status(get + host + host + "\r\n"), "400");
  EXPECT_EQ(status(post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "400");
  EXPECT_EQ(status(post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"), "400");
  EXPECT_EQ(status(post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), "400");
  EXPECT_EQ(status(post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), "400");
  EXPECT_EQ(status(post + "Transfer-Encoding: xchunked\r\n\r\n"), "501");
  EXPECT_EQ(status(post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), "501");
  EXPECT_EQ(status(post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"), "400");
  EXPECT_EQ(status(post + "Content-Length: -1\r\n\r\n"), "400");
  EXPECT_EQ(status(post + "Content-Length: 5, 6\r\n\r\nhello"), "400");
  EXPECT_EQ(status("POST /v1/projects HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "400");
  EXPECT_EQ(status("GET http://evil/ HTTP/1.1\r\n" + host + "\r\n"), "400");
  EXPECT_EQ(status("GET /../../etc/passwd HTTP/1.1\r\n" + host + "\r\n"), "404");
  EXPECT_EQ(status("GET /v1/projects/..%2f..%2fetc HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n"), "404");
  EXPECT_EQ(status("GET / HTTP/2.0\r\n" + host + "\r\n"), "505");
  EXPECT_EQ(status("\x16\x03\x01 nonsense\r\n\r\n"), "400");
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(Served, OtherPagesMayNotUseIt) {
  EXPECT_EQ(ask("POST", "/v1/projects", R"({"name":"p"})", "Origin: http://evil.example\r\n").status, 403);
  EXPECT_EQ(ask("POST", "/v1/projects", R"({"name":"p"})", "Sec-Fetch-Site: cross-site\r\n").status, 403);
  EXPECT_EQ(ask("POST", "/v1/projects", R"({"name":"p"})", "Origin: http://localhost\r\n").status, 201);
  const std::string rebound = raw("GET /v1/projects HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  EXPECT_NE(rebound.find("421"), std::string::npos);
}

TEST(ServiceApi, TheDocumentHasEveryRouteAndNoOther) {
  const Json document = Json::parse(openapi_document());
  std::set<std::string> described, routed;
  for (const auto& [path, operations] : document["paths"].items()) {
    for (const auto& [method, operation] : operations.items()) {
      if (method == "parameters") continue;
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(c - 32);
      described.insert(upper + " " + path);
      const std::string scope = operation["description"];
      const auto route = std::find_if(Service::routes().begin(), Service::routes().end(),
                                      [&, &at = path](const Route& r) { return at == r.path && upper == r.method; });
      ASSERT_NE(route, Service::routes().end()) << upper << " " << path;
      constexpr const char* kScopes[] = {"none", "read", "write", "admin"};
      EXPECT_EQ(scope, std::string("Scope: ") + kScopes[static_cast<int>(route->scope)] + ".") << upper << " " << path;
    }
  }
  for (const Route& route : Service::routes()) routed.insert(std::string(route.method) + " " + route.path);
  EXPECT_EQ(described, routed);
}

TEST(ServiceApi, AnAddressThatOthersReachNeedsTokens) {
  ServiceOptions options;
  options.data = (fs::temp_directory_path() / "wisecrowd_never").string();
  options.address = "0.0.0.0";
  EXPECT_THROW(serve(options), Error);
}

}  // namespace
}  // namespace wisecrowd::service
