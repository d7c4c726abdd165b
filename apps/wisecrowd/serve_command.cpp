#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "command_set.hpp"
#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/service.hpp"

namespace wisecrowd::app {
namespace {

struct ServeArguments {
  std::string data, listen = "127.0.0.1:8765", tokens, log = "info";
  std::vector<std::string> hosts;
  std::uint64_t connections = ServiceLimits{}.connections;
  std::uint64_t body_megabytes = ServiceLimits{}.body_bytes >> 20;
  bool private_webhooks = false;
  double rate = ServiceLimits{}.requests_per_second;
};

/// "127.0.0.1:8765", "[::1]:8765", "127.0.0.1", ":8765", "8765".
void read_listen(const std::string& text, ServiceOptions& options) {
  std::string address = text, port;
  const std::size_t bracket = text.find(']');
  const std::size_t colon = text.rfind(':');
  if (text.starts_with('[') && bracket != std::string::npos) {
    address = text.substr(1, bracket - 1);
    if (text.size() > bracket + 1 && text[bracket + 1] == ':') port = text.substr(bracket + 2);
  } else if (colon != std::string::npos && text.find(':') == colon) {
    address = text.substr(0, colon);
    port = text.substr(colon + 1);
  } else if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    address.clear();
    port = text;
  }
  if (!address.empty()) options.address = address == "localhost" ? "127.0.0.1" : address;
  if (port.empty()) return;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size()) {
    throw usage_error(fmt::format("--listen {}: '{}' is no port from 0 to 65535", printable(text), printable(port)));
  }
}

void run_serve(const ServeArguments& arguments, Session& session) {
  ServiceOptions options;
  options.data = arguments.data;
  read_listen(arguments.listen, options);
  options.token_file = arguments.tokens;
  options.hosts = arguments.hosts;
  options.private_webhooks = arguments.private_webhooks;
  options.limits.connections = arguments.connections;
  options.limits.body_bytes = arguments.body_megabytes << 20;
  options.limits.all_bodies = std::max(options.limits.all_bodies, 4 * options.limits.body_bytes);
  options.limits.requests_per_second = arguments.rate;
  options.log_level = arguments.log == "debug"     ? LogLevel::debug
                      : arguments.log == "warning" ? LogLevel::warning
                                                   : LogLevel::info;
  options.log = [](std::string_view line) { say(std::string(line) + "\n"); };
  options.stop = session.interrupts.cancel_flag();
  session.interrupts.be_patient(15'000);
  serve(options);
}

struct TokenArguments {
  std::string file, name;
  std::vector<std::string> scopes, projects;
};

void run_token(const TokenArguments& arguments, Session& session) {
  const NewToken token =
      make_token(arguments.name, arguments.scopes.empty() ? std::vector<std::string>{"read"} : arguments.scopes,
                 arguments.projects);
  const int file = ::open(arguments.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line = token.line + "\n";
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()) || ::fsync(file) != 0) {
    const std::string why = std::strerror(errno);
    if (file >= 0) ::close(file);
    throw Failure(EX_CANTCREAT, fmt::format("cannot write to {}: {}", printable(arguments.file), why));
  }
  ::close(file);
  session.out.add(token.secret + "\n");
  say(fmt::format("wisecrowd: the token above is shown once; {} holds its SHA-256 alone\n", printable(arguments.file)));
}

}  // namespace

void add_serve(CommandSet& commands) {
  Command& command = commands.add("serve", "a service that absorbs answers as they come, and says what to ask next");
  command.details =
      "Takes answers over HTTP, answers at once with labels, probabilities, what is known of each worker and what to "
      "ask next, and keeps all of it in a folder. What was acknowledged is on the disk: the service may be killed at "
      "any moment.\n"
      "Each project is a crowd of its own. /openapi.json describes the API, /metrics is for Prometheus, /healthz and "
      "/readyz for whoever watches it. The log goes to standard error, a line of JSON per event.\n"
      "It listens on this machine alone unless --listen names another address; then clients must show a token "
      "(wisecrowd token), and TLS is for a proxy in front of it. SIGTERM and Ctrl-C let it finish what it is at.\n"
      "docs/SERVICE.md has the way from nothing to a running consensus.";
  auto options = std::make_shared<ServeArguments>();
  command
      .add_text("--data,-d", options->data, "DIR", "where projects are kept; made if it is not there",
                ValueHint::written_folder())
      ->required();
  command.add_text("--listen,-l", options->listen, "ADDRESS",
                   "address, port or both (127.0.0.1:8765); port 0: any that is free");
  command.add_text("--token-file", options->tokens, "FILE",
                   "who may use it, as wisecrowd token writes it; read again when it changes", {ValueHint::Kind::file});
  command.add_list("--host", options->hosts, "NAME",
                   "a name that browsers use for it, besides localhost and its address; may be repeated");
  command.add_flag("--private-webhooks", options->private_webhooks,
                   "webhooks may call addresses of this machine and its network");
  command.add_count("--connections", options->connections, 1, 100'000, "at most so many at a time");
  command.add_count("--body-megabytes", options->body_megabytes, 1, 1024, "the largest request");
  command.add_number("--requests-per-second", options->rate, 1, 1e9, "of one client address");
  command.add_choice("--log", options->log, {"debug", "info", "warning"}, "what to log: debug has a line per request");
  command.examples =
      "wisecrowd serve --data crowds --listen 8765 &\n"
      "curl -s -X POST localhost:8765/v1/projects -H 'Content-Type: application/json' -d '{\"name\": \"birds\"}'\n"
      "echo '{\"task\": \"t1\", \"worker\": \"anna\", \"label\": \"owl\"}' | curl -s -X POST "
      "localhost:8765/v1/projects/birds/answers -H "
      "'Content-Type: application/x-ndjson' --data-binary @-\n"
      "curl -s localhost:8765/v1/projects/birds/labels";
  command.run = [options](Session& session) { run_serve(*options, session); };
}

void add_token(CommandSet& commands) {
  Command& command = commands.add("token", "a secret that lets a client use the service");
  command.details =
      "Makes a token, prints it, and adds a line with its SHA-256 to a file for wisecrowd serve --token-file. The file "
      "holds no secrets; a line that is removed from it locks its owner out within a second.\n"
      "Scopes: read sees everything, write also tells answers, admin also makes and removes projects.";
  auto options = std::make_shared<TokenArguments>();
  command.add_text("FILE", options->file, "FILE", "the token file; made if it is not there", ValueHint::written_file())
      ->required();
  command.add_text("NAME", options->name, "NAME", "whose token it is, for the log")->required();
  command.add_list("--scope", options->scopes, "SCOPE", "read, write or admin (read)",
                   {ValueHint::Kind::choice, {"read", "write", "admin"}});
  command.add_list("--project", options->projects, "PROJECT", "only for this project (all); may be repeated");
  command.examples =
      "wisecrowd token tokens.txt anna --scope write --project birds\n"
      "wisecrowd token tokens.txt boss --scope admin";
  command.run = [options](Session& session) { run_token(*options, session); };
}

}  // namespace wisecrowd::app
