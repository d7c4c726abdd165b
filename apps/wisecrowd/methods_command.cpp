#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "failure.hpp"
#include "help_text.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"
#include "wisecrowd/method_needs.hpp"

namespace wisecrowd::app {
namespace {

using Json = nlohmann::ordered_json;

struct MethodsArguments {
  std::string name;
  bool json = false;
};

Json parameters_json(const std::vector<ParameterSpec>& specs) {
  Json parameters = Json::array();
  for (const ParameterSpec& spec : specs) {
    Json entry = {{"name", spec.name}};
    std::visit([&](const auto& value) { entry["default"] = value; }, spec.default_value);
    entry["range"] = describe_range(spec);
    if (!spec.choices.empty()) entry["choices"] = spec.choices;
    entry["help"] = spec.help;
    if (!spec.former_names.empty()) entry["former_names"] = spec.former_names;
    parameters.push_back(std::move(entry));
  }
  return parameters;
}

/// What all say of themselves, with what is `own` to the kind of entry before the parameters.
Json entry_json(const EntryInfo& info, std::string_view usual, const Json& own) {
  Json json = {{"name", info.name},
               {"title", info.title},
               {"is_default", info.name == usual},
               {"summary", info.summary},
               {"when_to_use", info.when_to_use}};
  if (!info.assumptions.empty()) json["assumptions"] = info.assumptions;
  if (!info.cost.empty()) json["cost"] = info.cost;
  json["reference"] = info.reference;
  json.update(own);
  json["parameters"] = parameters_json(info.parameters);
  return json;
}

Json limit(std::size_t most) { return most == 0 ? Json(nullptr) : Json(most); }

Json method_json(const MethodInfo& info) {
  return entry_json(info, default_aggregation_method(),
                    {{"uses_gold", info.uses_gold},
                     {"uses_task_priors", info.uses_task_priors},
                     {"allows_repeats", info.allows_repeats},
                     {"uses_start", info.uses_start},
                     {"uses_order", uses_order(info)},
                     {"uses_task_graph", uses_task_graph(info)},
                     {"uses_chance", info.uses_chance},
                     {"max_classes", limit(info.max_classes)},
                     {"max_workers", limit(info.max_workers)}});
}

Json kind_method_json(const MethodInfo& info, const AnswerKind& kind) {
  return entry_json(info, kind.default_method, {{"answers_kind", kind.name}, {"uses_gold", info.uses_gold}});
}

/// "number_methods"
std::string list_name(std::string_view kind, std::string_view what) {
  const bool ies = kind.ends_with("ies");
  return fmt::format("{}{}_{}", kind.substr(0, kind.size() - (ies ? 3 : 1)), ies ? "y" : "", what);
}

Json learner_json(const LearnerInfo& info) {
  return entry_json(
      info, default_learning_method(),
      {{"uses_gold", info.uses_gold}, {"linear_only", info.linear_only}, {"max_classes", limit(info.max_classes)}});
}

Json other_learner_json(const OtherLearner& learner) {
  const LearnerInfo& info = *learner.info;
  return entry_json(info, learner.is_default ? info.name : "",
                    {{"answers_kind", learner.kind}, {"uses_gold", info.uses_gold}});
}

Json selector_json(const SelectorInfo& info) {
  return entry_json(info, default_selector(),
                    {{"needs_passes", info.needs_passes}, {"needs_reliability", info.needs_reliability}});
}

std::string section(const std::string& title, const std::string& text, const Screen& screen) {
  return text.empty() ? "" : fmt::format("\n{}\n  {}\n", screen.bold(title), wrapped(text, screen.width, 2));
}

std::string parameter_section(const std::vector<ParameterSpec>& specs, const std::string& command,
                              const Screen& screen) {
  std::string text = fmt::format("\n{}\n", screen.bold("Parameters, with their defaults"));
  if (specs.empty()) return text + "  none\n";
  text += parameter_lines(specs, screen);
  return text + fmt::format("\n{}\n  {} --set {}={}\n", screen.bold("To set one"), command, specs.front().name,
                            to_string(specs.front().default_value));
}

/// `usual` is added to the title of a default; `abilities` are paragraphs; `command` is one that uses it.
std::string entry_text(const EntryInfo& info, std::string_view usual, const std::string& abilities,
                       const std::string& command, const Screen& screen) {
  std::string text = fmt::format("{}: {}{}\n", screen.bold(info.name), info.title, usual);
  text += fmt::format("  {}\n", wrapped(info.summary, screen.width, 2));
  text += section("When to use it", info.when_to_use, screen);
  text += section("What it assumes", info.assumptions, screen);
  text += abilities;
  if (!info.cost.empty()) {
    text += section("What it costs", info.cost + ", with S answers, N tasks, M workers and K classes.", screen);
  }
  text += section("Reference", info.reference, screen);
  return text + parameter_section(info.parameters, fmt::format("{} {}", command, info.name), screen);
}

std::string learner_text(const LearnerInfo& info, const Screen& screen) {
  std::string abilities = "Learns from answers and features.";
  abilities +=
      info.uses_gold ? " Learns from gold too, if --gold-for inference says so." : " Does not learn from gold.";
  if (info.linear_only) abilities += " Trains a linear classifier only.";
  if (info.max_classes != 0) abilities += fmt::format(" For at most {} classes.", info.max_classes);
  return entry_text(info, info.name == default_learning_method() ? " (the default of learn)" : "",
                    section("What it can do", abilities, screen), "wisecrowd learn ANSWERS --features FILE --method",
                    screen);
}

std::string other_learner_text(const OtherLearner& learner, const Screen& screen) {
  const std::string ability = fmt::format("Learns from {} and features. Does not learn from gold.", learner.kind);
  return entry_text(*learner.info,
                    learner.is_default ? fmt::format(" (the default of learn for {})", learner.kind) : "",
                    section("What it can do", ability, screen),
                    fmt::format("wisecrowd learn ANSWERS --answers {} --features FILE --method", learner.kind), screen);
}

std::string method_text(const MethodInfo& info, const Screen& screen) {
  std::string abilities = info.uses_gold ? "Uses gold inside inference." : "Does not use gold.";
  if (info.uses_task_priors) abilities += " Uses a prior for each task if there is one.";
  if (!info.allows_repeats) abilities += " Takes one answer per worker and task.";
  if (info.uses_start) abilities += " Can start from another method (--init).";
  if (uses_order(info)) abilities += " Needs ordered classes (--ordered).";
  if (uses_task_graph(info)) abilities += " Needs to know which tasks are alike (--graph, or --features).";
  if (info.uses_chance) abilities += " Its result depends on --seed.";
  if (info.max_classes != 0) abilities += fmt::format(" For at most {} classes.", info.max_classes);
  if (info.max_workers != 0) abilities += fmt::format(" For at most {} workers.", info.max_workers);
  return entry_text(info, info.name == default_aggregation_method() ? " (the default)" : "",
                    section("What it can do", abilities, screen), "wisecrowd aggregate ANSWERS --method", screen);
}

std::string kind_method_text(const MethodInfo& info, const AnswerKind& kind, const Screen& screen) {
  const std::string abilities = info.uses_gold ? "Uses gold inside inference." : "Does not use gold.";
  return entry_text(info, info.name == kind.default_method ? fmt::format(" (the default for {})", kind.name) : "",
                    section("What it can do", abilities, screen),
                    fmt::format("wisecrowd aggregate ANSWERS --answers {} --method", kind.name), screen);
}

std::string selector_text(const SelectorInfo& info, const Screen& screen) {
  std::string needs;
  if (info.needs_passes) needs += section("What it needs", "Passes of a network with dropout.", screen);
  if (info.needs_reliability) {
    needs += section("What it needs", "A model of features that knows how reliable a worker is on a task.", screen);
  }
  return entry_text(info, info.name == default_selector() ? " (the default of select)" : "", needs,
                    "wisecrowd select SOURCE --budget 100 --policy", screen);
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_selector(const std::string& name) { return is_among(selector_names(), name); }

/// The method, the learner or the policy of that name; a usage error suggests the nearest of all. A learner and a
/// policy may share a name (dalc): then both are told about, the policy in JSON as part of the list only.
void tell_about(const MethodsArguments& options, Session& session) {
  const Screen& screen = session.out_screen;
  if (is_among(learner_names(), options.name)) {
    const LearnerInfo& info = learner_named(options.name);
    session.out.add(options.json ? learner_json(info).dump(2) + "\n" : learner_text(info, screen));
    if (!options.json && is_selector(options.name)) {
      session.out.add("\n" + selector_text(selector_named(options.name), screen));
    }
    return;
  }
  for (const OtherLearner& learner : other_learners()) {
    if (learner.info->name != options.name) continue;
    session.out.add(options.json ? other_learner_json(learner).dump(2) + "\n" : other_learner_text(learner, screen));
    return;
  }
  if (const AnswerKind* kind = other_kind_with(options.name)) {
    const MethodInfo& info = *std::find_if(kind->methods.begin(), kind->methods.end(),
                                           [&](const MethodInfo& own) { return own.name == options.name; });
    session.out.add(options.json ? kind_method_json(info, *kind).dump(2) + "\n"
                                 : kind_method_text(info, *kind, screen));
    return;
  }
  if (is_selector(options.name)) {
    const SelectorInfo& info = selector_named(options.name);
    session.out.add(options.json ? selector_json(info).dump(2) + "\n" : selector_text(info, screen));
    return;
  }
  const auto methods = method_names();
  if (suggestion(options.name, methods).empty()) {
    std::string near = suggestion(options.name, learner_names());
    if (near.empty()) near = suggestion(options.name, other_learner_names());
    if (near.empty()) near = suggestion(options.name, selector_names());
    if (!near.empty()) throw usage_error(fmt::format("there is no method '{}'{}", printable(options.name), near));
  }
  const MethodInfo& info = method_named(options.name);
  session.out.add(options.json ? method_json(info).dump(2) + "\n" : method_text(info, screen));
}

void run_methods(const MethodsArguments& options, Session& session) {
  const Screen& screen = session.out_screen;
  if (!options.name.empty()) return tell_about(options, session);
  if (options.json) {
    Json json = {{"methods", Json::array()}};
    for (const MethodInfo& info : aggregation_methods()) json["methods"].push_back(method_json(info));
    for (const AnswerKind& kind : answer_kinds().subspan(1)) {
      Json& list = json[list_name(kind.name, "methods")] = Json::array();
      for (const MethodInfo& info : kind.methods) list.push_back(kind_method_json(info, kind));
    }
    for (const LearnerInfo& info : learning_methods()) json["learners"].push_back(learner_json(info));
    for (const OtherLearner& learner : other_learners()) {
      json[list_name(learner.kind, "learners")].push_back(other_learner_json(learner));
    }
    for (const SelectorInfo& info : selectors()) json["policies"].push_back(selector_json(info));
    session.out.add(json.dump(2) + "\n");
    return;
  }
  std::size_t column = 0;
  for (const auto& names : {method_names(), learner_names(), selector_names()}) {
    for (const std::string& name : names) column = std::max(column, name.size() + 4);
  }
  const auto entry = [&](const auto& info, bool is_default) {
    session.out.add(help_entry(info.name, is_default ? info.summary + " (the default)" : info.summary, screen, column));
  };
  session.out.add("From answers alone: wisecrowd aggregate\n");
  for (const MethodInfo& info : aggregation_methods()) entry(info, info.name == default_aggregation_method());
  for (const AnswerKind& kind : answer_kinds().subspan(1)) {
    session.out.add(fmt::format("\nFrom answers that are {0}: wisecrowd aggregate --answers {0}\n", kind.name));
    for (const MethodInfo& info : kind.methods) entry(info, info.name == kind.default_method);
  }
  session.out.add("\nFrom answers and features: wisecrowd learn\n");
  for (const LearnerInfo& info : learning_methods()) entry(info, info.name == default_learning_method());
  std::string_view kind;
  for (const OtherLearner& learner : other_learners()) {
    if (learner.kind != kind) {
      session.out.add(fmt::format("\nFrom {0} and features: wisecrowd learn --answers {0}\n", learner.kind));
    }
    kind = learner.kind;
    entry(*learner.info, learner.is_default);
  }
  session.out.add("\nWhat to ask next and whom: wisecrowd select\n");
  for (const SelectorInfo& info : selectors()) entry(info, info.name == default_selector());
  session.out.add("\nFor parameters and advice:\n  wisecrowd methods NAME\n");
}

}  // namespace

void add_methods(CommandSet& commands) {
  Command& command = commands.add("methods", "what there is, parameters with defaults, when to use which");
  auto options = std::make_shared<MethodsArguments>();
  command.add_text("NAME", options->name, "NAME", "tell about this method", {ValueHint::Kind::any_method});
  command.add_flag("--json", options->json, "print one JSON object");
  command.examples =
      "wisecrowd methods\n"
      "wisecrowd methods dawid_skene\n"
      "wisecrowd methods two_stage\n"
      "wisecrowd methods majority_vote --json";
  command.run = [options](Session& session) { run_methods(*options, session); };
}

}  // namespace wisecrowd::app
