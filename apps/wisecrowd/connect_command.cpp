#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "command_set.hpp"
#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/service.hpp"

namespace wisecrowd::app {
namespace {

struct ConnectArguments {
  std::string platform, url, token, service = "http://127.0.0.1:8765", service_token, callback, name;
  std::uint64_t project = 0, first = 2, most = 8;
  bool json = false;
};

/// A secret as it stands, or from a file (@FILE), so that it is not seen among the running programs.
std::string secret_in(const std::string& text, const char* variable) {
  if (text.empty()) {
    const char* const value = std::getenv(variable);
    return value == nullptr ? std::string() : std::string(value);
  }
  if (!text.starts_with('@')) return text;
  std::ifstream file(text.substr(1));
  std::string secret;
  if (!std::getline(file, secret))
    throw Failure(EX_NOINPUT, fmt::format("cannot read a token from {}", printable(text.substr(1))));
  return secret;
}

void run_connect(const ConnectArguments& arguments, Session& session) {
  if (arguments.platform != "label-studio") {
    throw usage_error(
        fmt::format("'{}' cannot be connected: there is label-studio; files of others are read by wisecrowd convert",
                    printable(arguments.platform)));
  }
  const std::string token = secret_in(arguments.token, "LABEL_STUDIO_TOKEN");
  if (token.empty()) throw usage_error("--token is missing: Label Studio shows yours under Account & Settings");
  nlohmann::ordered_json body = {{"url", arguments.url},
                                 {"token", token},
                                 {"project", arguments.project},
                                 {"first", arguments.first},
                                 {"most", arguments.most}};
  if (!arguments.callback.empty()) body["callback"] = arguments.callback;
  if (!arguments.name.empty()) body["name"] = arguments.name;
  const std::string said = ask_service(arguments.service, secret_in(arguments.service_token, "WISECROWD_TOKEN"), "POST",
                                       "/v1/label-studio", body.dump());
  const auto answer = nlohmann::ordered_json::parse(said);
  if (arguments.json) return session.out.add_json(answer);
  const auto& done = answer.at("reconciled");
  session.out.add(fmt::format("Connected {} with project {} of {}\n", answer.at("name").get<std::string>(),
                              answer.at("project").dump(), printable(arguments.url)));
  session.out.add(fmt::format("Question  {}: {}\n", printable(answer.at("question").get<std::string>()),
                              printable(answer.at("choices").dump())));
  session.out.add(fmt::format("Taken     {} tasks, {} answers\n", done.at("tasks").dump(), done.at("taken").dump()));
  session.out.add(
      fmt::format("Labels    {}/v1/projects/{}/labels\n", arguments.service, answer.at("name").get<std::string>()));
}

}  // namespace

void add_connect(CommandSet& commands) {
  Command& command = commands.add("connect", "let a running service work with a project of Label Studio");
  command.details =
      "Tells a running wisecrowd serve to work with a project of Label Studio that asks for one choice per task. The "
      "service "
      "sets itself up there: as a machine-learning backend, with a webhook, so that every answer arrives when it is "
      "given; "
      "every task gets --first answers, and a doubtful one is opened for another until it is sure or has --most. It "
      "compares itself with Label Studio's export every minute, so webhooks that get lost do no harm. Ground truths "
      "become "
      "gold. Predictions are not shown to annotators, because answers that follow them would tell nothing.\n"
      "Label Studio must be able to reach the service, by --callback if that is another address than --service. Both "
      "speak "
      "http; TLS is for proxies.";
  auto options = std::make_shared<ConnectArguments>();
  command.add_choice("PLATFORM", options->platform, {"label-studio"}, "what to connect")->required();
  command.add_text("URL", options->url, "URL", "of Label Studio: http://HOST:PORT")->required();
  command
      .add_count("--project,-p", options->project, 1, std::uint64_t{1} << 53,
                 "number of its project, as its address shows it")
      ->required();
  command.add_text("--token", options->token, "TOKEN",
                   "your legacy token there, @FILE to read it from a file, or the variable LABEL_STUDIO_TOKEN");
  command.add_text("--service", options->service, "URL", "the running service (http://127.0.0.1:8765)");
  command.add_text("--service-token", options->service_token, "TOKEN",
                   "an admin token of it, @FILE, or the variable WISECROWD_TOKEN");
  command.add_text("--callback", options->callback, "URL", "the service as Label Studio reaches it (as --service)");
  command.add_text("--name", options->name, "NAME", "of the service's project (label-studio-NUMBER)");
  command.add_count("--first", options->first, 1, 100, "answers that every task gets");
  command.add_count("--most", options->most, 1, 1000, "answers that a doubtful task gets at most");
  command.add_flag("--json", options->json, "print one JSON object");
  command.examples = "wisecrowd connect label-studio http://localhost:8080 --project 1 --token @label_studio.token";
  command.run = [options](Session& session) { run_connect(*options, session); };
}

}  // namespace wisecrowd::app
