#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interrupts.hpp"
#include "terminal.hpp"
#include "wisecrowd/aggregate.hpp"

// The library that reads command lines takes seconds to compile, so few files see it: command_set.cpp, help_text.cpp
// and completion_command.cpp.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace wisecrowd::app {

/// What a command has to work with besides its options.
struct Session {
  Screen out_screen;
  Screen error_screen;
  Output out;
  Interrupts interrupts;
  std::string typed;  ///< the command line, quoted so that it can be typed again
  /// What was found that the user should know. It goes to standard error when the command is done, with --quiet and
  /// --json too.
  std::vector<Warning> warnings;
  bool needs_attention = false;  ///< end with kNeedsAttention: that is what the command was asked for
  bool fail_on_warning = false;  ///< --fail-on-warning: end with kNeedsAttention if there is any

  /// Adds those that are not there yet.
  void warn(std::span<const Warning> more);
};

/// What may be given for an option or argument, for help, completion and checks.
struct ValueHint {
  enum class Kind { text, file, folder, choice, method, methods, learner, any_method, simulation } kind = Kind::text;
  std::vector<std::string> choices;
  bool written = false;  ///< a place that the command writes to

  [[nodiscard]] static ValueHint written_file() { return {Kind::file, {}, true}; }
  [[nodiscard]] static ValueHint written_folder() { return {Kind::folder, {}, true}; }
  [[nodiscard]] bool is_path() const noexcept { return kind == Kind::file || kind == Kind::folder; }
};

/// An option or argument that was added to a command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* required();
  /// Calls `read` with every value that is given, besides storing it.
  Option* each(std::function<void(const std::string&)> read);

 private:
  CLI::Option* option_;
};

struct Command {
  CLI::App* parser = nullptr;
  std::string name;
  std::string summary;   ///< one line
  std::string details;   ///< paragraphs, divided by line breaks
  std::string examples;  ///< lines that run as they stand, in this order, in an empty folder
  /// Shown near the end of the help; given what stands on the command line besides --help.
  std::function<std::string(const std::vector<std::string>& arguments, const Screen& screen)> more;
  std::map<const CLI::Option*, ValueHint> hints;
  std::function<void(Session&)> run;
  std::deque<Option> options;  // addresses stay valid

  /// Whether an option or argument stands on the command line.
  [[nodiscard]] bool given(const std::string& option) const;

  Option* add_text(const std::string& names, std::string& value, const std::string& value_name, const std::string& help,
                   ValueHint hint = {});
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  Option* add_choice(const std::string& names, std::string& value, std::vector<std::string> choices,
                     const std::string& help);
  Option* add_count(const std::string& names, std::uint64_t& value, std::uint64_t minimum, std::uint64_t maximum,
                    const std::string& help);
  Option* add_number(const std::string& names, double& value, double minimum, double maximum, const std::string& help);
  /// Many values: of an argument, all that follow; an option takes one each time it is given.
  Option* add_list(const std::string& names, std::vector<std::string>& values, const std::string& value_name,
                   const std::string& help, ValueHint hint = {});
};

/// This one tells a shell of all the others.
inline constexpr std::string_view kNeedsAllCommands = "completion";

/// The commands; each adds itself by its add_… function.
class CommandSet {
 public:
  /// All commands, or only the one of that name: to describe them all takes as long as a small run.
  explicit CommandSet(std::string_view only = {});
  ~CommandSet();
  Command& add(const std::string& name, const std::string& summary);
  [[nodiscard]] const std::deque<Command>& all() const noexcept { return commands_; }
  [[nodiscard]] Command* find(std::string_view name);
  [[nodiscard]] std::vector<std::string> names() const;
  /// Reads the options of a command; throws Failure with a suggestion when something is not understood.
  void parse(Command& command, std::vector<std::string> arguments);

 private:
  std::unique_ptr<CLI::App> root_;
  std::deque<Command> commands_;  // addresses stay valid
};

void add_aggregate(CommandSet& commands);
void add_learn(CommandSet& commands);
void add_predict(CommandSet& commands);
void add_describe(CommandSet& commands);
void add_pairs(CommandSet& commands);
void add_convert(CommandSet& commands);
void add_report(CommandSet& commands);
void add_evaluate(CommandSet& commands);
void add_fairness(CommandSet& commands);
void add_compare(CommandSet& commands);
void add_simulate(CommandSet& commands);
void add_state(CommandSet& commands);
void add_trust(CommandSet& commands);
void add_judges(CommandSet& commands);
void add_select(CommandSet& commands);
void add_serve(CommandSet& commands);
void add_token(CommandSet& commands);
void add_connect(CommandSet& commands);
void add_methods(CommandSet& commands);
void add_demo(CommandSet& commands);
void add_completion(CommandSet& commands);

}  // namespace wisecrowd::app
