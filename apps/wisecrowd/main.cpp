#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "command_set.hpp"
#include "failure.hpp"
#include "help_text.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "wisecrowd/messages.hpp"
#include "wisecrowd/version.hpp"

namespace wisecrowd::app {
namespace {

void complain(const std::string& message) {
  say(fmt::format("wisecrowd: {} {}\n", screen_of(STDERR_FILENO).red("error:"), printable_lines(with_flags(message))));
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  for (const auto& argument : arguments) {
    if (argument == "--") return false;
    if (argument == "--help" || argument == "-h") return true;
  }
  return false;
}

void run(std::vector<std::string> arguments, Session& session) {
  const auto print = [&](const std::string& text) {
    session.out.add(text);
    session.out.flush();
  };
  const std::string first = arguments.empty() ? "help" : arguments.front();
  if (first == "--version" || first == "-V") return print("wisecrowd " WISECROWD_VERSION "\n");

  CommandSet commands(first);
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (first == "--help" || first == "-h" || (first == "help" && arguments.empty())) {
    return print(general_help(commands, session.out_screen));
  }
  const bool explain = first == "help" || asks_for_help(arguments);
  const std::string& name = first == "help" ? arguments.front() : first;
  Command* command = commands.find(name);
  if (command == nullptr && (name == "--cpu" || name.starts_with("--cpu="))) {
    throw usage_error("this program was built for one processor; --cpu chooses where it was built for all of them");
  }
  if (command == nullptr && name.starts_with("-")) {
    const std::string near = suggestion(name, {"--help", "--version"});
    throw usage_error(
        fmt::format("there is no option '{}'{}", printable(name), near.empty() ? "; see wisecrowd --help" : near));
  }
  if (command == nullptr) {
    const std::string near = suggestion(name, commands.names());
    throw usage_error(fmt::format("there is no command '{}'{}", printable(name),
                                  near.empty() ? fmt::format(": choose {}", fmt::join(commands.names(), ", ")) : near));
  }
  if (explain) return print(command_help(*command, arguments, session.out_screen));
  commands.parse(*command, std::move(arguments));
  command->run(session);
  session.out.flush();
}

/// The one place where exceptions become exit codes.
int guarded_main(int count, char** words) {
  Session session;
  session.out_screen = screen_of(STDOUT_FILENO);
  session.error_screen = screen_of(STDERR_FILENO);
  session.out.to_terminal = session.out_screen.is_terminal;
  session.typed = "wisecrowd";
  std::vector<std::string> arguments(words + std::min(count, 1), words + count);
  for (const auto& argument : arguments) session.typed += " " + shell_word(argument);
  const auto finish = [&] {
    say(warning_lines(session.warnings, session.error_screen));
    const bool attention = session.needs_attention || (session.fail_on_warning && !session.warnings.empty());
    return attention ? kNeedsAttention : EX_OK;
  };
  try {
    run(std::move(arguments), session);
    return finish();
  } catch (const ReaderLeft&) {
    return finish();
  } catch (const Stopped&) {
  } catch (const Cancelled&) {
  } catch (const Failure& failure) {
    if (!session.interrupts.cancelled()) {
      complain(failure.what());
      return failure.exit_code();
    }
  } catch (const Error& error) {
    complain(error.what());
    return exit_code_of(error.code(), Stage::reading);
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory for these data");
    return EX_OSERR;
  } catch (const std::exception& error) {
    complain(fmt::format("an unexpected failure, which is a defect of wisecrowd: {}", error.what()));
    return EX_SOFTWARE;
  }
  say("wisecrowd: stopped; nothing was written\n");
  return session.interrupts.exit_code();
}

}  // namespace
}  // namespace wisecrowd::app

int main(int count, char** words) {
  try {
    return wisecrowd::app::guarded_main(count, words);
  } catch (const std::bad_alloc&) {  // too little even to begin, or to say what went wrong
    wisecrowd::app::say("wisecrowd: error: there is not enough memory\n");
    return EX_OSERR;
  }
}
