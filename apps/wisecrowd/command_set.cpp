#include "command_set.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "dalc_loop_command.hpp"
#include "failure.hpp"
#include "output_place.hpp"
#include "screen_text.hpp"

namespace wisecrowd::app {
namespace {

std::vector<std::string> option_names(const CLI::App& parser) {
  std::vector<std::string> names = {"--help"};
  for (const CLI::Option* option : parser.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// "aggregate ANSWERS [options]"
std::string usage(const Command& command) {
  std::string text = command.name;
  for (const CLI::Option* option : command.parser->get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true, false);
    text += option->get_required() ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  return text;
}

/// No path is empty, and no place that is written to holds what is read.
void check_paths(const Command& command) {
  std::vector<NamedPath> inputs, outputs;
  for (const auto& [option, hint] : command.hints) {
    if (!hint.is_path() || option->count() == 0) continue;
    const std::string name =
        option->get_positional() ? option->get_name(true, false) : "--" + option->get_lnames().front();
    for (const std::string& path : option->results()) {
      if (path.empty()) {
        throw usage_error(fmt::format("{} cannot be empty: name a {}; see wisecrowd {} --help", name,
                                      hint.kind == ValueHint::Kind::file ? "file" : "folder", command.name));
      }
      (hint.written ? outputs : inputs).push_back({name, path});
    }
  }
  for (const NamedPath& output : outputs) {
    for (const NamedPath& input : inputs) refuse_input(output, input);
  }
}

[[noreturn]] void refuse_leftover(const Command& command, const std::string& word) {
  const std::string help = fmt::format("see wisecrowd {} --help", command.name);
  if (word.starts_with("-") && word != "-") {
    const std::string name = word.substr(0, word.find('='));
    const std::string near = suggestion(name, option_names(*command.parser));
    throw usage_error(
        fmt::format("{} has no option '{}'{}", command.name, printable(name), near.empty() ? "; " + help : near));
  }
  throw usage_error(fmt::format("{} did not expect '{}'; {}", command.name, printable(word), help));
}

}  // namespace

void Session::warn(std::span<const Warning> more) {
  for (const Warning& warning : more) {
    const bool known = std::any_of(warnings.begin(), warnings.end(), [&](const Warning& w) {
      return w.code == warning.code && w.message == warning.message;
    });
    if (!known) warnings.push_back(warning);
  }
}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::each(std::function<void(const std::string&)> read) {
  option_->each(std::move(read));
  return this;
}

bool Command::given(const std::string& option) const { return parser->get_option(option)->count() > 0; }

Option* Command::add_text(const std::string& names, std::string& value, const std::string& value_name,
                          const std::string& help, ValueHint hint) {
  CLI::Option* option = parser->add_option(names, value, help)->type_name(value_name);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  hints[option] = std::move(hint);
  return &options.emplace_back(option);
}

Option* Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  CLI::Option* option = parser->add_flag(names, value, help);
  return &options.emplace_back(option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast));
}

Option* Command::add_list(const std::string& names, std::vector<std::string>& values, const std::string& value_name,
                          const std::string& help, ValueHint hint) {
  CLI::Option* option = parser->add_option(names, values, help)->type_name(value_name);
  if (!option->get_positional()) option->allow_extra_args(false);
  hints[option] = std::move(hint);
  return &options.emplace_back(option);
}

Option* Command::add_choice(const std::string& names, std::string& value, std::vector<std::string> choices,
                            const std::string& help) {
  CLI::Option* option = parser->add_option(names, value, help)->type_name(fmt::format("{}", fmt::join(choices, "|")));
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  hints[option] = {ValueHint::Kind::choice, choices};
  option->check([names, choices = std::move(choices)](const std::string& text) {
    if (std::any_of(choices.begin(), choices.end(), [&](const std::string& c) { return same_name(c, text); })) {
      return std::string();
    }
    throw usage_error(fmt::format("{} cannot be '{}'{}", names, printable(text), [&] {
      const std::string near = suggestion(text, choices);
      return near.empty() ? fmt::format(": choose {}", fmt::join(choices, ", ")) : near;
    }()));
  });
  return &options.emplace_back(option);
}

Option* Command::add_count(const std::string& names, std::uint64_t& value, std::uint64_t minimum, std::uint64_t maximum,
                           const std::string& help) {
  // Our own reading: the library's accepts signs and octal numbers.
  CLI::Option* option = parser->add_option_function<std::string>(
      names,
      [&value, names, minimum, maximum](const std::string& text) {
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (code != std::errc() || end != text.data() + text.size() || value < minimum || value > maximum) {
          throw usage_error(maximum == UINT64_MAX
                                ? fmt::format("{} cannot be '{}': it takes a whole number of at least {}", names,
                                              printable(text), minimum)
                                : fmt::format("{} cannot be '{}': it takes a whole number from {} to {}", names,
                                              printable(text), minimum, maximum));
        }
      },
      help);
  option->type_name("N")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  hints[option] = {};
  return &options.emplace_back(option);
}

Option* Command::add_number(const std::string& names, double& value, double minimum, double maximum,
                            const std::string& help) {
  CLI::Option* option = parser->add_option_function<std::string>(
      names,
      [&value, names, minimum, maximum](const std::string& text) {
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (code != std::errc() || end != text.data() + text.size() || !(value >= minimum && value <= maximum)) {
          throw usage_error(fmt::format("{} cannot be '{}': it takes a number from {} to {}", names, printable(text),
                                        minimum, maximum));
        }
      },
      help);
  option->type_name("X")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  hints[option] = {};
  return &options.emplace_back(option);
}

CommandSet::~CommandSet() = default;

namespace {

/// In the order of the help.
struct CommandName {
  std::string_view name;
  void (*add)(CommandSet&);
};
constexpr CommandName kCommands[] = {
    {"aggregate", add_aggregate},  {"learn", add_learn},       {"predict", add_predict},
    {"dalc-loop", add_dalc_loop},  {"describe", add_describe}, {"pairs", add_pairs},
    {"convert", add_convert},      {"evaluate", add_evaluate}, {"fairness", add_fairness},
    {"report", add_report},        {"trust", add_trust},       {"judges", add_judges},
    {"compare", add_compare},      {"state", add_state},       {"simulate", add_simulate},
    {"select", add_select},        {"serve", add_serve},       {"token", add_token},
    {"connect", add_connect},      {"methods", add_methods},   {"demo", add_demo},
    {"completion", add_completion}};

}  // namespace

CommandSet::CommandSet(std::string_view only) : root_(std::make_unique<CLI::App>()) {
  root_->set_help_flag("");
  const auto named = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const CommandName& command) { return command.name == only; });
  const bool all = named == std::end(kCommands) || only == kNeedsAllCommands;
  for (const CommandName& command : kCommands) {
    if (all || command.name == only) command.add(*this);
  }
}

Command& CommandSet::add(const std::string& name, const std::string& summary) {
  Command& command = commands_.emplace_back();
  command.parser = root_->add_subcommand(name, summary);
  command.parser->set_help_flag("");
  command.parser->allow_extras();
  command.name = name;
  command.summary = summary;
  return command;
}

Command* CommandSet::find(std::string_view name) {
  const auto found =
      std::find_if(commands_.begin(), commands_.end(), [&](const Command& command) { return command.name == name; });
  return found == commands_.end() ? nullptr : &*found;
}

std::vector<std::string> CommandSet::names() const {
  std::vector<std::string> names;
  for (const Command& command : commands_) names.push_back(command.name);
  return names;
}

void CommandSet::parse(Command& command, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // the library takes them from the back
  try {
    command.parser->parse(arguments);
  } catch (const CLI::RequiredError&) {
    const auto left = command.parser->remaining();
    if (!left.empty()) refuse_leftover(command, left.front());
    for (const CLI::Option* option : command.parser->get_options()) {
      if (!option->get_required() || option->count() > 0) continue;
      throw usage_error(option->get_positional()
                            ? fmt::format("{} needs {}: wisecrowd {} (see wisecrowd {} --help)", command.name,
                                          option->get_name(true, false), usage(command), command.name)
                            : fmt::format("{} needs --{}: see wisecrowd {} --help", command.name,
                                          option->get_lnames().front(), command.name));
    }
    throw usage_error(fmt::format("something is missing: see wisecrowd {} --help", command.name));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view text = error.what();  // "--seed: 1 required N missing"
    throw usage_error(
        fmt::format("{} needs a value; see wisecrowd {} --help", text.substr(0, text.find(':')), command.name));
  } catch (const CLI::ParseError& error) {
    throw usage_error(fmt::format("{}; see wisecrowd {} --help", error.what(), command.name));
  }
  const auto left = command.parser->remaining();
  if (!left.empty()) refuse_leftover(command, left.front());
  check_paths(command);
}

}  // namespace wisecrowd::app
