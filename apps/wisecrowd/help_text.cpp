#include "help_text.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "screen_text.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

constexpr std::size_t kHelpColumn = 26;

std::string option_term(const CLI::Option& option, const Command& command) {
  std::string term;
  for (const auto& name : option.get_snames()) term += "-" + name + ", ";
  for (const auto& name : option.get_lnames()) term += "--" + name + ", ";
  term.resize(term.size() - 2);
  if (command.hints.contains(&option)) {
    std::string value = option.get_type_name();
    if (term.size() + value.size() > 2 * kHelpColumn) value = "CHOICE";
    term += " " + value;
  }
  return term;
}

std::string indented(const std::string& block, const std::string& prefix) {
  std::istringstream lines(block);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += line.empty() ? "\n" : prefix + line + "\n";
  return text;
}

}  // namespace

std::string help_entry(const std::string& term, const std::string& explanation, const Screen& screen,
                       std::size_t column) {
  const std::size_t width = display_width(term);
  std::string text = "  " + screen.bold(term);
  if (width + 4 > column) {
    text += "\n" + std::string(column, ' ');
  } else {
    text.append(column - width - 2, ' ');
  }
  return text + wrapped(explanation, screen.width, column) + "\n";
}

std::string general_help(const CommandSet& commands, const Screen& screen) {
  std::string text = fmt::format("{} {}: from the answers of many workers to labels that you can trust\n\n",
                                 screen.bold("wisecrowd"), WISECROWD_VERSION);
  text += "Usage: wisecrowd COMMAND [ARGUMENTS] [OPTIONS]\n\nCommands\n";
  for (const Command& command : commands.all()) text += help_entry(command.name, command.summary, screen, 14);
  text += "\nOptions\n";
  text += help_entry("--help", "this text, or that of a command: wisecrowd aggregate --help", screen, 14);
  text += help_entry("--version", "the version", screen, 14);
  text += "\nExit codes\n";
  text += help_entry("0", "done", screen, 14);
  text +=
      help_entry("1", "done, and something needs attention: warnings with --fail-on-warning, state alerts", screen, 14);
  text += help_entry("64 and more",
                     "failed, as in sysexits.h: 64 for what was typed, 65 for data, 66 for a missing file, "
                     "73 and 74 for writing, 70 for a defect of wisecrowd",
                     screen, 14);
  text += "\nTo see it work, type\n  wisecrowd demo\n";
  return text;
}

std::string command_help(const Command& command, const std::vector<std::string>& arguments, const Screen& screen) {
  std::string positionals;
  std::string options;
  std::string usage = "wisecrowd " + command.name;
  for (const CLI::Option* option : command.parser->get_options()) {
    if (option->get_positional()) {
      const std::string name = option->get_name(true, false);
      usage += option->get_required() ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
      positionals += help_entry(name, option->get_description(), screen, kHelpColumn);
    } else {
      if (option->get_required()) usage += " " + option_term(*option, command);
      options += help_entry(option_term(*option, command), option->get_description(), screen, kHelpColumn);
    }
  }
  options += help_entry("-h, --help", "this text", screen, kHelpColumn);

  std::string text = wrapped(fmt::format("wisecrowd {}: {}", command.name, command.summary), screen.width, 0);
  text += fmt::format("\n\nUsage: {} [OPTIONS]\n", usage);
  if (!command.details.empty()) {
    std::istringstream paragraphs(command.details);
    for (std::string line; std::getline(paragraphs, line);) text += "\n" + wrapped(line, screen.width, 0) + "\n";
  }
  if (!positionals.empty()) text += "\nArguments\n" + positionals;
  text += "\nOptions\n" + options;
  if (command.more) text += "\n" + command.more(arguments, screen);
  if (!command.examples.empty()) text += "\nExamples\n" + indented(command.examples, "  ");
  return text;
}

}  // namespace wisecrowd::app
