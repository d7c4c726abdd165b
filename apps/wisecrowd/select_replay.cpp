#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "curve_plot.hpp"
#include "failure.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"
#include "table.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/simulate.hpp"
#include "worker_offers.hpp"

namespace wisecrowd::app {
namespace {

/// --tasks of a simulated crowd.
std::uint64_t number_of_tasks(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > 1'000'000'000) {
    throw usage_error(
        fmt::format("--tasks {}: with --simulate it is how many tasks, from 1 to 1000000000", shell_word(text)));
  }
  return number;
}

using Json = nlohmann::ordered_json;

/// What is replayed: the world, its name, and how the record tells of it.
struct Played {
  ReplayWorld world;
  std::string name;
  Json about;
};

/// "entropy/random": a selector and the worker rule that goes with it.
struct NamedPolicy {
  std::string name, selector, worker;
};

std::vector<NamedPolicy> policy_names(const std::string& list) {
  std::vector<NamedPolicy> names;
  for (const std::string& word : split_list(list)) {
    const std::size_t slash = word.find('/');
    NamedPolicy policy{word, word.substr(0, slash), slash == std::string::npos ? "" : word.substr(slash + 1)};
    policy.selector = selector_named(policy.selector).name;
    for (const NamedPolicy& other : names) {
      if (other.name == word) throw usage_error(fmt::format("the policy '{}' is named twice", printable(word)));
    }
    names.push_back(std::move(policy));
  }
  if (names.empty()) throw usage_error("--policies is empty: name one at least");
  return names;
}

std::vector<Policy> policies_from(const SelectOptions& options, const std::vector<std::string>& settings) {
  const std::string list = !options.policies.empty() ? options.policies
                           : !options.policy.empty() ? "random," + options.policy
                                                     : fmt::format("random,entropy/random,{}", default_selector());
  const std::vector<NamedPolicy> named = policy_names(list);
  std::vector<std::string> rooms;
  for (const NamedPolicy& policy : named) rooms.push_back(policy.selector);
  const auto parameters = parameters_for_each(
      rooms,
      [](const std::string& name) -> const std::vector<ParameterSpec>& { return selector_named(name).parameters; },
      settings);
  std::vector<Policy> policies;
  for (std::size_t n = 0; n < named.size(); ++n) {
    Policy policy{named[n].name, named[n].selector, parameters[n]};
    if (!named[n].worker.empty()) policy.parameters.set("worker", named[n].worker);
    policies.push_back(std::move(policy));
  }
  return policies;
}

Played recorded(const SelectOptions& options, const RunContext& context) {
  if (options.gold.empty()) {
    throw usage_error("--replay needs --gold: policies do not see the truth, but accuracy is measured with it");
  }
  Played played;
  DataReport report;
  CategoryData data = at_stage(Stage::reading, [&] {
    return read_dataset(options.replay, options.gold, options.read.options(), context, &report);
  });
  if (std::all_of(data.gold.begin(), data.gold.end(), [](ClassId k) { return k == kNoClass; })) {
    throw Failure(EX_DATAERR, gold_warning(report));
  }
  played.world.answers = data.answers;
  played.world.truth = std::move(data.gold);
  played.name = options.replay;
  played.about = {{"answers", options.replay}, {"gold", options.gold}};
  return played;
}

Played drawn(const SelectOptions& options, const std::vector<std::string>& settings, const RunContext& context) {
  const SimulationInfo& kind = simulation_kind(options.simulate);
  const Parameters parameters = parameters_from(kind.parameters, settings, kind.name);
  SimulationSize size = default_simulation_size(kind.name, parameters);
  if (!options.features.tasks.empty()) size.tasks = number_of_tasks(options.features.tasks);
  if (options.crowd != 0) size.workers = options.crowd;
  if (options.classes != 0) size.classes = options.classes;
  size.answers_per_task = std::min(size.answers_per_task, size.workers);
  const Simulation simulation = simulate(kind.name, size, parameters, context);
  Played played;
  played.world.answers = simulation.data.answers;
  played.world.truth = simulation.data.gold;
  played.world.tables = simulation.confusion;
  played.name = kind.name;
  played.about = {
      {"simulated", kind.name}, {"tasks", size.tasks}, {"workers", size.workers}, {"classes", size.classes}};
  return played;
}

/// "KIND.NAME=VALUE" settings belong to the crowd, the others to the policies.
std::pair<std::vector<std::string>, std::vector<std::string>> shared_out(const SelectOptions& options) {
  std::pair<std::vector<std::string>, std::vector<std::string>> both;
  const std::string prefix = options.simulate + ".";
  for (const std::string& setting : options.settings) {
    if (!options.simulate.empty() && setting.starts_with(prefix)) {
      both.second.push_back(setting.substr(prefix.size()));
    } else {
      both.first.push_back(setting);
    }
  }
  return both;
}

std::vector<std::string> names_of(const NameTable& table) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < table.size(); ++n) names.emplace_back(table[n]);
  return names;
}

std::string interval(double low, double high) { return fmt::format("{} to {}", percent(low), percent(high)); }

std::string answers_text(const Saving& saving) {
  return (saving.reached ? "" : "> ") + grouped(static_cast<std::uint64_t>(saving.answers + 0.5));
}

std::string savings_text(const Replay& replay, const Screen& screen) {
  std::string text;
  for (std::size_t begin = 0; begin < replay.savings.size(); begin += replay.curves.size()) {
    const double slack = replay.savings[begin].slack;
    text += fmt::format(
        "\n{}\n", screen.bold(slack == 0 ? fmt::format("To the accuracy of all answers ({})", percent(replay.target))
                                         : fmt::format("To {} points below it ({})", fixed(100 * slack, 1),
                                                       percent(replay.target - slack))));
    Table table({{"policy", Column::Side::left}, {"answers"}, {"of all"}, {"saved"}, {"95 %"}});
    for (std::size_t c = 0; c < replay.curves.size(); ++c) {
      const Saving& saving = replay.savings[begin + c];
      table.add({printable(saving.policy), answers_text(saving),
                 percent(saving.answers / static_cast<double>(replay.all_answers)),
                 c == 0 ? "–" : percent(saving.saved), c == 0 ? "" : interval(saving.saved_low, saving.saved_high)});
    }
    text += table.text(screen.width, screen.dim_on(), screen.off());
  }
  return text;
}

/// The sentence that people want to read.
std::string verdict(const Replay& replay, const Screen& screen) {
  const Saving* best = nullptr;
  for (std::size_t c = 1; c < replay.curves.size(); ++c) {
    if (replay.savings[c].reached && (best == nullptr || replay.savings[c].saved > best->saved))
      best = &replay.savings[c];
  }
  if (best == nullptr) return "";
  return fmt::format(
      "\n{}\n",
      wrapped(fmt::format("With {} you would have reached the same accuracy with {} fewer answers than with {} [{}].",
                          printable(best->policy), percent(best->saved), printable(replay.curves.front().policy),
                          interval(best->saved_low, best->saved_high)),
              screen.width, 0));
}

Json json_of(const Parameters& parameters) {
  Json json = Json::object();
  for (const auto& [name, value] : parameters.all()) {
    std::visit([&, &key = name](const auto& held) { json[key] = held; }, value);
  }
  return json;
}

/// The summary, and what of it is in files.
std::string json_text_of(const std::string& summary, const std::string& out, const WrittenReplay& written) {
  if (written.files.empty()) return summary;
  Json json = Json::parse(summary);
  json["written"] = {{"directory", out}, {"files", written.files}};
  if (!written.no_png.empty()) json["written"]["no_png"] = written.no_png;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void select_by_replay(const SelectOptions& options, Session& session) {
  if (!options.out.empty()) {
    at_stage(Stage::creating, [&] { check_output_directory(options.out, "summary.json"); });
  }
  const auto [policy_settings, kind_settings] = shared_out(options);
  const std::vector<Policy> policies = policies_from(options, policy_settings);
  for (const Policy& policy : policies) warn_of_former_names(session, policy.parameters);
  if (!options.method.empty()) (void)method_named(options.method);  // a wrong name is told before files are read
  Work work(session, options.run);
  Played played =
      options.simulate.empty() ? recorded(options, work.context()) : drawn(options, kind_settings, work.context());
  work.check_stopped();
  const RefitChoice between =
      options.method.empty() ? usual_replay_refit(played.world.answers.class_count()) : RefitChoice{options.method, {}};
  const MethodInfo& info = method_named(between.method);
  Parameters method_parameters(info.parameters);
  for (const auto& [name, value] : between.settings) method_parameters.set_value(name, value);
  ReplayOptions replay_options;
  replay_options.seeds = options.seeds;
  replay_options.answers_per_round = options.answers_per_round;
  replay_options.most_answers = options.most_answers;
  replay_options.random_answers_per_task = options.first_answers;
  if (!options.workers.empty()) {
    const NamedOffers offers = at_stage(Stage::reading, [&] { return read_offers(options.workers); });
    std::vector<std::size_t> unknown_workers;
    replay_options.offers = offers_for(offers, names_of(played.world.answers.worker_names()), unknown_workers);
  }
  const Refit refit = [&](const CategoryData& data, const CategoryStart& start, const RunContext& context) {
    return aggregate(data, info.name, method_parameters, context, start);
  };
  const Replay result = replay(played.world, policies, replay_options, refit, work.context());
  work.check_stopped();
  played.about["method"] = info.name;
  played.about["method_parameters"] = json_of(method_parameters);
  played.about["seed"] = options.run.seed;
  for (const Policy& policy : policies) {
    played.about["policies"].push_back(
        {{"policy", policy.name}, {"selector", policy.selector}, {"parameters", json_of(policy.parameters)}});
  }
  const std::string title = fmt::format("{}, {}", played.name, counted(result.seeds, "repetition"));
  // A path need not be UTF-8; JSON must be.
  const std::string about = played.about.dump(-1, ' ', false, Json::error_handler_t::replace);
  WrittenReplay written;
  if (!options.out.empty()) {
    written = at_stage(Stage::writing, [&] { return write_replay(result, title, about, options.out); });
  }
  if (options.json) {
    session.out.add(json_text_of(replay_json(result, about), options.out, written));
    return;
  }
  const Screen& screen = session.out_screen;
  session.out.add(fmt::format(
      "{}  {} by {} to {}, {}; accuracy on {}\n{}  {}, {} per round, {} between rounds\n\n", screen.bold("Replayed"),
      counted(result.all_answers, "answer"), counted(played.world.answers.worker_count(), "worker"),
      counted(played.world.answers.task_count(), "task"), counted(played.world.answers.class_count(), "class"),
      counted(result.scored_tasks, "gold task"), screen.bold("Played  "), counted(result.seeds, "time"),
      counted(result.answers_per_round, "answer"), info.name));
  session.out.add(curve_plot(result, screen));
  session.out.add(savings_text(result, screen));
  session.out.add(verdict(result, screen));
  for (const ReplayCurve& curve : result.curves) {
    if (curve.stopped == 0) continue;
    session.out.add(fmt::format(
        "{}\n", wrapped(fmt::format("{} stopped by its own rule in {} of {}: after {} answers, "
                                    "at {}.",
                                    printable(curve.policy), curve.stopped, counted(result.seeds, "repetition"),
                                    grouped(static_cast<std::uint64_t>(curve.answers.back() + 0.5)),
                                    percent(curve.accuracy.back())),
                        screen.width, 0)));
  }
  if (!options.out.empty()) {
    const std::string files = fmt::format("{}: {}", printable(options.out), fmt::join(written.files, ", "));
    session.out.add(fmt::format("\n{}  {}\n", screen.bold("Written"), wrapped(files, screen.width, 9)));
    if (!written.no_png.empty()) {
      session.out.add(
          fmt::format("{}\n", wrapped(fmt::format("No curves.png: {}.", printable(written.no_png)), screen.width, 0)));
    }
  }
}

}  // namespace wisecrowd::app
