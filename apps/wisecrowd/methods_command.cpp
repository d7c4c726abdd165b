#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "help_text.hpp"
#include "screen_text.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  bool json = false;
};

Json method_json(const MethodInfo& info) {
  Json parameters = Json::array();
  for (const ParameterSpec& spec : info.parameters) {
    Json entry = {{"name", spec.name}};
    std::visit([&](const auto& value) { entry["default"] = value; }, spec.default_value);
    entry["range"] = describe_range(spec);
    if (!spec.choices.empty()) entry["choices"] = spec.choices;
    entry["help"] = spec.help;
    parameters.push_back(std::move(entry));
  }
  return {{"name", info.name},
          {"title", info.title},
          {"is_default", info.name == default_aggregation_method()},
          {"summary", info.summary},
          {"when_to_use", info.when_to_use},
          {"assumptions", info.assumptions},
          {"cost", info.cost},
          {"reference", info.reference},
          {"uses_gold", info.uses_gold},
          {"uses_task_priors", info.uses_task_priors},
          {"allows_repeats", info.allows_repeats},
          {"uses_start", info.uses_start},
          {"uses_chance", info.uses_chance},
          {"max_classes", info.max_classes == 0 ? Json(nullptr) : Json(info.max_classes)},
          {"max_workers", info.max_workers == 0 ? Json(nullptr) : Json(info.max_workers)},
          {"parameters", parameters}};
}

std::string method_text(const MethodInfo& info, const Screen& screen) {
  const auto paragraph = [&](const std::string& title, const std::string& text) {
    return text.empty() ? "" : fmt::format("\n{}\n  {}\n", screen.bold(title), wrapped(text, screen.width, 2));
  };
  std::string text = fmt::format("{}: {}{}\n", screen.bold(info.name), info.title,
                                 info.name == default_aggregation_method() ? " (the default)" : "");
  text += fmt::format("  {}\n", wrapped(info.summary, screen.width, 2));
  text += paragraph("When to use it", info.when_to_use);
  std::string abilities = info.uses_gold ? "Uses gold inside inference." : "Does not use gold.";
  if (info.uses_task_priors) abilities += " Uses a prior for each task if there is one.";
  if (!info.allows_repeats) abilities += " Takes one answer per worker and task.";
  if (info.uses_start) abilities += " Can start from another method (--init).";
  if (info.uses_chance) abilities += " Its result depends on --seed.";
  if (info.max_classes != 0) abilities += fmt::format(" For at most {} classes.", info.max_classes);
  if (info.max_workers != 0) abilities += fmt::format(" For at most {} workers.", info.max_workers);
  text += paragraph("What it assumes", info.assumptions);
  text += paragraph("What it can do", abilities);
  text += paragraph("What it costs", info.cost + ", with S answers, N tasks, M workers and K classes.");
  text += paragraph("Reference", info.reference);
  text += fmt::format("\n{}\n", screen.bold("Parameters, with their defaults"));
  text += info.parameters.empty() ? "  none\n" : parameter_lines(info.parameters, screen);
  if (!info.parameters.empty()) {
    const ParameterSpec& first = info.parameters.front();
    text += fmt::format("\n{}\n  wisecrowd aggregate LABELS --method {} --set {}={}\n", screen.bold("To set one"),
                        info.name, first.name, to_string(first.default_value));
  }
  return text;
}

void run(const Options& options, Session& session) {
  const Screen& screen = session.out_screen;
  if (!options.name.empty()) {
    const MethodInfo& info = method_named(options.name);
    session.out.add(options.json ? method_json(info).dump(2) + "\n" : method_text(info, screen));
    return;
  }
  if (options.json) {
    Json all = Json::array();
    for (const MethodInfo& info : aggregation_methods()) all.push_back(method_json(info));
    session.out.add(Json{{"methods", all}}.dump(2) + "\n");
    return;
  }
  std::size_t column = 0;
  for (const MethodInfo& info : aggregation_methods()) column = std::max(column, info.name.size() + 4);
  for (const MethodInfo& info : aggregation_methods()) {
    const bool is_default = info.name == default_aggregation_method();
    session.out.add(help_entry(info.name, is_default ? info.summary + " (the default)" : info.summary, screen, column));
  }
  session.out.add("\nFor parameters and advice:\n  wisecrowd methods NAME\n");
}

}  // namespace

void add_methods(CommandSet& commands) {
  Command& command = commands.add("methods", "what there is, parameters with defaults, when to use which");
  auto options = std::make_shared<Options>();
  command.add_text("NAME", options->name, "NAME", "tell about this method", {ValueHint::Kind::method});
  command.add_flag("--json", options->json, "print one JSON object");
  command.examples =
      "wisecrowd methods\n"
      "wisecrowd methods dawid_skene\n"
      "wisecrowd methods majority_vote --json";
  command.run = [options](Session& session) { run(*options, session); };
}

}  // namespace wisecrowd::app
