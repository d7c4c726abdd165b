#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "common_options.hpp"
#include "failure.hpp"
#include "output_place.hpp"
#include "screen_text.hpp"
#include "wisecrowd/answer_kind_names.hpp"
#include "wisecrowd/platform_files.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {
namespace {

struct ConvertArguments {
  std::string source, out, to, target, answers_file;
  bool force = false;
  ReadFlags read;
  RunFlags run;
};

std::string counted_answers(const PlatformTables& tables, const Screen& screen) {
  std::string text = fmt::format("{}  {}: {} to '{}' by {}", screen.bold("Read"), platform_named(tables.platform).title,
                                 counted(tables.answer_count, "answer"), printable(tables.question),
                                 counted(tables.worker_count, "worker"));
  if (tables.machine_count > 0) text += fmt::format(", {} of them machines", grouped(tables.machine_count));
  text += fmt::format("; they are {}\n", tables.answers_kind);
  if (tables.gold_count > 0) text += fmt::format("      gold of {}\n", counted(tables.gold_count, "task"));
  for (const auto& [what, count] : tables.left_out)
    text += fmt::format("      left out: {} {}\n", grouped(count), what);
  return text;
}

/// What to do with the tables.
std::string next_step(const ConvertArguments& options, const PlatformTables& tables) {
  const std::string folder = options.out.ends_with('/') ? options.out : options.out + "/";
  std::string command = fmt::format("wisecrowd aggregate {}", shell_word(folder + "answers.csv"));
  if (!tables.gold.empty()) command += fmt::format(" --gold {}", shell_word(folder + "gold.csv"));
  if (tables.answers_kind != Categories::name) command += " --answers " + tables.answers_kind;
  if (!tables.tokens.empty()) command += fmt::format(" --tokens {}", shell_word(folder + "tokens.csv"));
  return fmt::format("\nTo aggregate these answers:\n  {} --out result\n", command);
}

void convert_file(const ConvertArguments& options, Session& session, Work& work) {
  at_stage(Stage::creating, [&] { check_output_directory(options.out, "conversion.json"); });
  refuse_input({"--out", options.out}, {"FILE", options.source});
  const PlatformTables tables = at_stage(Stage::reading, [&] {
    return read_platform(options.source, options.read.kind, options.read.options(), work.context());
  });
  work.check_stopped();
  session.interrupts.writes_to(options.out);
  at_stage(Stage::writing, [&] { write_platform_tables(tables, options.source, options.out); });
  session.interrupts.writes_to("");
  std::vector<Warning> notes = tables.notes;
  std::erase_if(notes, [](const Warning& note) { return note.code == "platform"; });  // the summary says it
  session.warn(notes);
  if (options.run.quiet) return;
  session.out.add(counted_answers(tables, session.out_screen));
  session.out.add(next_step(options, tables));
}

void convert_run(const ConvertArguments& options, Session& session, Work& work) {
  require_place_for(options.out, options.force);
  refuse_input({"--out", options.out}, {"RUN", options.source});
  const WriteBack to = value_in(kWriteBackNames, "platform", options.to);
  WriteBackOptions how{.question = options.read.question, .target = options.target};
  if (!options.answers_file.empty()) how.answers = options.answers_file;
  const WrittenBack written =
      at_stage(Stage::reading, [&] { return write_back(options.source, to, how, work.context()); });
  work.check_stopped();
  for (const auto& [role, path] : written.inputs) refuse_input({"--out", options.out}, {role, path});
  at_stage(Stage::writing, [&] { write_back_file(written, options.out); });
  if (options.run.quiet) return;
  std::string text = fmt::format("{}  {} for {} to {}\n", session.out_screen.bold("Wrote"),
                                 counted(written.rows, "row"), options.to, printable(options.out));
  if (to == WriteBack::mturk_review || to == WriteBack::toloka_review) {
    text += fmt::format("       {} to be rejected, by the advice on their workers: look at them first\n",
                        grouped(written.refused));
  }
  session.out.add(text);
}

void run_convert(const ConvertArguments& options, Session& session) {
  Work work(session, options.run);
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(options.source, ignored);
  if (options.to.empty() && folder) {
    throw usage_error(fmt::format("{} is a folder: say with --to which file is to be made of the result in it",
                                  printable(options.source)));
  }
  if (options.to.empty()) return convert_file(options, session, work);
  convert_run(options, session, work);
}

}  // namespace

void add_convert(CommandSet& commands) {
  Command& command = commands.add("convert", "files of labelling platforms into tables, and results back");
  command.details =
      "Without --to: reads a file that a platform exported and writes a folder with answers.csv, workers.csv (people "
      "and "
      "machines), gold.csv where there is gold, tokens.csv for spans of text, and conversion.json, which says what was "
      "left out. The other commands read such files themselves; this is for looking at them, and for other programs.\n"
      "With --to: reads a folder that aggregate wrote and makes a file that the platform takes: predictions, "
      "suggestions, or a table that accepts and refuses work, with reasons. A review refuses only the work of those "
      "whom "
      "the report advises to stop.";
  auto options = std::make_shared<ConvertArguments>();
  command
      .add_text("FILE", options->source, "FILE", "what a platform exported, or, with --to, what aggregate wrote",
                {ValueHint::Kind::file})
      ->required();
  command
      .add_text("--out,-o", options->out, "PLACE", "the folder to write, or, with --to, the file",
                ValueHint::written_folder())
      ->required();
  command.add_choice("--to", options->to, names_in(kWriteBackNames), "what to make of a result");
  add_force(command, options->force);
  add_platform_format(command, options->read.format);
  std::vector<std::string> kinds;
  for (const std::string_view name : answer_kind_names()) kinds.emplace_back(name);
  command.add_choice("--answers", options->read.kind, kinds,
                     "what the answers are to be read as; by default what they are");
  command.add_text("--question", options->read.question, "NAME", "which question, where there are several");
  command.add_text("--target", options->target, "NAME",
                   "with --to label-studio-predictions: what the question is asked of (to_name), if the answers do not "
                   "tell");
  command.add_text("--answers-file", options->answers_file, "FILE",
                   "with --to: where the answers are now, if not where they were", {ValueHint::Kind::file});
  command.add_flag("--no-models", options->read.no_models, "leave out what models predicted");
  command.add_flag("--blank-is-empty", options->read.blank_is_empty, "sets: no answer means none of the classes");
  command.add_flag("--lenient", options->read.lenient, "leave out what cannot be read instead of refusing the file");
  options->run.add_to(command, false);
  options->run.add_warning_flag(command);
  command.examples =
      "printf 'w1 t1 cat\\nw2 t1 cat\\nw1 t2 dog\\nw2 t2 cat\\nw3 t2 dog\\n' > pets.resp\n"
      "wisecrowd convert pets.resp --format ceka --out pets\n"
      "wisecrowd aggregate pets/answers.csv --out result\n"
      "wisecrowd convert result --to argilla-suggestions --question label --out suggestions.json";
  command.run = [options](Session& session) { run_convert(*options, session); };
}

}  // namespace wisecrowd::app
