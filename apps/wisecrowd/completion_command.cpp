#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common_options.hpp"
#include "failure.hpp"
#include "wisecrowd/simulate.hpp"

namespace wisecrowd::app {
namespace {

struct Word {
  std::string name;  ///< of an option with its dashes, or of a positional
  std::string help;
  bool takes_value = false;
  bool takes_files = false;
  std::vector<std::string> values;
};

Word word_of(const CLI::Option& option, const std::string& name, const Command& command) {
  Word word{name, option.get_description(), false, false, {}};
  const auto found = command.hints.find(&option);
  if (found == command.hints.end()) return word;
  word.takes_value = true;
  switch (found->second.kind) {
    case ValueHint::Kind::text: break;
    case ValueHint::Kind::file:
    case ValueHint::Kind::folder: word.takes_files = true; break;
    case ValueHint::Kind::choice: word.values = found->second.choices; break;
    case ValueHint::Kind::method:
    case ValueHint::Kind::methods: word.values = method_names(); break;
    case ValueHint::Kind::learner:
      word.values = learner_names();
      for (std::string& learner : other_learner_names()) word.values.push_back(std::move(learner));
      break;
    case ValueHint::Kind::any_method:
      word.values = method_names();
      for (std::string& learner : learner_names()) word.values.push_back(std::move(learner));
      for (std::string& learner : other_learner_names()) word.values.push_back(std::move(learner));
      break;
    case ValueHint::Kind::simulation:
      for (const SimulationInfo& info : simulation_kinds()) word.values.push_back(info.name);
      break;
  }
  return word;
}

struct Words {
  std::vector<Word> options;
  std::vector<Word> positionals;
};

Words words_of(const Command& command) {
  Words words;
  for (const CLI::Option* option : command.parser->get_options()) {
    if (option->get_positional()) words.positionals.push_back(word_of(*option, option->get_name(true, false), command));
    for (const auto& name : option->get_lnames()) words.options.push_back(word_of(*option, "--" + name, command));
    for (const auto& name : option->get_snames()) words.options.push_back(word_of(*option, "-" + name, command));
  }
  words.options.push_back({"--help", "help on this command", false, false, {}});
  return words;
}

/// First sentence or line, without characters that mean something to a shell.
std::string tame(std::string text) {
  text = text.substr(0, text.find_first_of(";.\n"));
  std::string result;
  for (const char c : text) {
    if (std::string_view("'\"`$\\[]:()").find(c) == std::string_view::npos) result += c;
  }
  return result;
}

std::string bash_script(const CommandSet& commands) {
  std::string cases;
  std::string values;
  for (const Command& command : commands.all()) {
    const Words words = words_of(command);
    std::vector<std::string> options;
    for (const Word& word : words.options) {
      options.push_back(word.name);
      if (!word.takes_value) continue;
      const std::string reply =
          word.takes_files ? "COMPREPLY=($(compgen -f -- \"$current\")); compopt -o filenames 2>/dev/null"
                           : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))", fmt::join(word.values, " "));
      values += fmt::format("    {}:{}) {}; return ;;\n", command.name, word.name, reply);
    }
    std::string positional = "compopt -o default 2>/dev/null";
    if (!words.positionals.empty() && !words.positionals.front().values.empty()) {
      positional = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\"))",
                               fmt::join(words.positionals.front().values, " "));
      if (words.positionals.size() > 1) {
        positional =
            fmt::format("if ((COMP_CWORD == 2)); then {}; else compopt -o default 2>/dev/null; fi", positional);
      }
    } else if (!words.positionals.empty()) {
      positional = "COMPREPLY=($(compgen -f -- \"$current\")); compopt -o filenames 2>/dev/null";
    }
    cases += fmt::format(
        "    {})\n      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n"
        "      else {}; fi ;;\n",
        command.name, fmt::join(options, " "), positional);
  }
  return fmt::format(R"(# bash completion for wisecrowd. To use it now and in every later shell:
#   wisecrowd completion bash > ~/.local/share/bash-completion/completions/wisecrowd
_wisecrowd() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case $command:$previous in
{}  esac
  case $command in
{}  esac
}}
complete -F _wisecrowd wisecrowd
)",
                     fmt::join(commands.names(), " "), values, cases);
}

std::string zsh_script(const CommandSet& commands) {
  std::string list;
  std::string cases;
  for (const Command& command : commands.all()) {
    list += fmt::format("    '{}:{}'\n", command.name, tame(command.summary));
    const Words words = words_of(command);
    cases += fmt::format("    {})\n      _arguments -S", command.name);
    const auto action = [](const Word& word) {
      if (word.takes_files) return std::string("_files");
      return word.values.empty() ? std::string(" ") : fmt::format("({})", fmt::join(word.values, " "));
    };
    for (const Word& word : words.options) {
      cases += fmt::format(" \\\n        '*{}[{}]{}'", word.name, tame(word.help),
                           word.takes_value ? fmt::format(":value:{}", action(word)) : "");
    }
    for (const Word& word : words.positionals)
      cases += fmt::format(" \\\n        ':{}:{}'", tame(word.name), action(word));
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef wisecrowd
# zsh completion for wisecrowd: save as _wisecrowd in a folder of $fpath, or
#   source <(wisecrowd completion zsh)
_wisecrowd() {{
  local -a commands
  commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
if [[ $funcstack[1] == _wisecrowd ]]; then _wisecrowd "$@"; else compdef _wisecrowd wisecrowd; fi
)",
                     list, cases);
}

std::string fish_script(const CommandSet& commands) {
  std::string text =
      "# fish completion for wisecrowd:\n"
      "#   wisecrowd completion fish > ~/.config/fish/completions/wisecrowd.fish\n"
      "complete -c wisecrowd -f\n"
      "complete -c wisecrowd -n __fish_use_subcommand -l help -d 'help'\n"
      "complete -c wisecrowd -n __fish_use_subcommand -l version -d 'the version'\n";
  for (const Command& command : commands.all()) {
    text += fmt::format("complete -c wisecrowd -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                        tame(command.summary));
    const std::string when = fmt::format("complete -c wisecrowd -n '__fish_seen_subcommand_from {}'", command.name);
    const auto value = [](const Word& word) {
      if (word.takes_files) return std::string(" -r -F");
      return word.values.empty() ? std::string(" -x") : fmt::format(" -x -a '{}'", fmt::join(word.values, " "));
    };
    const Words words = words_of(command);
    for (const Word& word : words.options) {
      const bool is_long = word.name.starts_with("--");
      text += fmt::format("{} -{} {}{} -d '{}'\n", when, is_long ? "l" : "s", word.name.substr(is_long ? 2 : 1),
                          word.takes_value ? value(word) : "", tame(word.help));
    }
    for (const Word& word : words.positionals) {
      if (word.takes_files) {
        text += when + " -F\n";
      } else if (!word.values.empty()) {
        text += fmt::format("{} -a '{}'\n", when, fmt::join(word.values, " "));
      }
    }
  }
  return text;
}

}  // namespace

void add_completion(CommandSet& commands) {
  Command& command = commands.add("completion", "a script that lets your shell complete wisecrowd commands");
  auto shell = std::make_shared<std::string>();
  command.add_choice("SHELL", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish")->required();
  command.examples =
      "wisecrowd completion bash > wisecrowd.bash\n"
      "wisecrowd completion zsh > _wisecrowd\n"
      "wisecrowd completion fish > wisecrowd.fish";
  command.run = [shell, &commands](Session& session) {
    session.out.add(*shell == "bash"  ? bash_script(commands)
                    : *shell == "zsh" ? zsh_script(commands)
                                      : fish_script(commands));
  };
}

}  // namespace wisecrowd::app
