#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "interrupts.hpp"
#include "terminal.hpp"
#include "wisecrowd/aggregate.hpp"

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

  CLI::Option* add_text(const std::string& names, std::string& value, const std::string& value_name,
                        const std::string& help, ValueHint hint = {});
  CLI::Option* add_flag(const std::string& names, bool& value, const std::string& help);
  CLI::Option* add_choice(const std::string& names, std::string& value, std::vector<std::string> choices,
                          const std::string& help);
  CLI::Option* add_count(const std::string& names, std::uint64_t& value, std::uint64_t minimum, std::uint64_t maximum,
                         const std::string& help);
  CLI::Option* add_number(const std::string& names, double& value, double minimum, double maximum,
                          const std::string& help);
};

/// All commands; each adds itself by its add_… function.
class CommandSet {
 public:
  CommandSet();
  Command& add(const std::string& name, const std::string& summary);
  [[nodiscard]] const std::deque<Command>& all() const noexcept { return commands_; }
  [[nodiscard]] Command* find(std::string_view name);
  [[nodiscard]] std::vector<std::string> names() const;
  /// Reads the options of a command; throws Failure with a suggestion when something is not understood.
  void parse(Command& command, std::vector<std::string> arguments);

 private:
  CLI::App root_;
  std::deque<Command> commands_;  // addresses stay valid
};

void add_aggregate(CommandSet& commands);
void add_learn(CommandSet& commands);
void add_predict(CommandSet& commands);
void add_describe(CommandSet& commands);
void add_report(CommandSet& commands);
void add_evaluate(CommandSet& commands);
void add_compare(CommandSet& commands);
void add_simulate(CommandSet& commands);
void add_state(CommandSet& commands);
void add_select(CommandSet& commands);
void add_methods(CommandSet& commands);
void add_demo(CommandSet& commands);
void add_completion(CommandSet& commands);

}  // namespace wisecrowd::app
