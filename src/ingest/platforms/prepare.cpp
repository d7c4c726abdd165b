#include <fmt/core.h>

#include <algorithm>

#include "ingest/platforms/platform.hpp"
#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/kinds.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 18;

/// Whoever says how a table is laid out wants it read so.
bool may_be_recognised(const ReadOptions& options) {
  return options.format == TableFormat::automatic && options.layout == TableLayout::automatic &&
         options.task_column.empty() && options.worker_column.empty() && options.label_column.empty() &&
         options.value_columns.empty();
}

/// The platform of an input: the one that was named, else the one that its beginning shows, or null.
const Platform* platform_of(Input& input, const ReadOptions& options, const RunContext& context) {
  if (!options.platform.name.empty()) return &platform_entry(options.platform.name);
  if (!may_be_recognised(options)) return nullptr;
  return recognised(head_of(display_name(input), look_at(input, kHeadBytes, context)));
}

std::string counted_noun(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Warning note_of(const std::string& file, const Platform& platform, const PlatformTables& tables, bool by_content) {
  std::string text = fmt::format("{}: read as {}{}: {}", file, platform.info.title,
                                 by_content ? ", by its content" : "", counted_noun(tables.answer_count, "answer"));
  if (!tables.question.empty()) text += fmt::format(" to '{}'", printable(tables.question));
  text += fmt::format(" of {}", counted_noun(tables.worker_count, "worker"));
  if (tables.machine_count > 0) text += fmt::format(" ({})", counted_noun(tables.machine_count, "machine"));
  if (tables.gold_count > 0) text += fmt::format(", gold of {}", counted_noun(tables.gold_count, "task"));
  std::string rest;
  for (const auto& [what, count] : tables.left_out)
    rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", count, what);
  if (!rest.empty()) text += fmt::format("; left out: {}", rest);
  return {"platform", text + ".", by_content ? "If it is something else, say so with `format`" : "", Severity::note};
}

PlatformTables tables_of(const Platform& platform, const PlatformFile& file, const std::string& kind, bool by_content) {
  Collected collected = collect(platform, file);
  PlatformTables tables = make_tables(collected, platform, kind, file.options);
  // Whoever named the platform and got all that is there has nothing to learn.
  if (by_content || !tables.left_out.empty()) {
    tables.notes.insert(tables.notes.begin(), note_of(collected.file, platform, tables, by_content));
  }
  return tables;
}

/// Which column the times are to be read from, if any.
std::string time_column_of(const Platform& platform, const PlatformTables& tables, bool timed,
                           const ReadOptions& options, const std::string& file) {
  const std::string& asked = options.time_column;
  if (asked.empty()) return timed && tables.has_times ? "time" : "";
  const auto& names = platform.time_names;
  if (asked != "time" && std::find(names.begin(), names.end(), asked) == names.end()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} has no time '{}': say 'time'{}", file, platform.info.title, printable(asked),
                            names.empty() ? "" : fmt::format(" or '{}'", names.front())));
  }
  if (!tables.has_times) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: not every answer has a time that can be read", file));
  }
  return "time";
}

/// The options for the tables that were made of a platform's file.
ReadOptions options_for_tables(const PlatformTables& tables, const ReadOptions& given) {
  ReadOptions options = given;
  options.platform = {};
  options.format = TableFormat::csv;
  options.layout = TableLayout::automatic;
  options.task_column = options.worker_column = options.label_column = "";
  options.value_columns.clear();
  if (tables.answers_kind == Numbers::name) {
    options.value_columns = tables.answers.starts_with("task,worker,x,y,")
                                ? std::vector<std::string>{"x", "y", "width", "height"}
                                : std::vector<std::string>{"value"};
  }
  options.sets.rows = SetRowRule::whole;
  return options;
}

/// An ordinary table whose columns a platform names.
void name_columns(const Platform& platform, PreparedInputs& inputs, const RunContext& context) {
  ReadOptions& options = inputs.options;
  options.platform = {};
  if (options.layout == TableLayout::wide || !options.task_column.empty() || !options.worker_column.empty()) return;
  const FileHead head = head_of(display_name(inputs.answers), look_at(inputs.answers, kHeadBytes, context));
  if (head.has_column(platform.columns[1])) {
    options.task_column = platform.columns[0];
    options.worker_column = platform.columns[1];
    options.label_column = platform.columns[2];
  } else if (platform.info.name == "cleanlab" && !head.columns.empty()) {
    options.layout = TableLayout::wide;
    options.task_column = head.columns.front();
  } else {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: files of {} have the columns {}, {} and {}", display_name(inputs.answers),
                            platform.info.title, platform.columns[0], platform.columns[1], platform.columns[2]));
  }
}

}  // namespace

Collected collect(const Platform& platform, const PlatformFile& file) {
  Collected collected;
  collected.file = display_name(file.input);
  platform.read(file, collected);
  return collected;
}

void PreparedInputs::tell(DataReport* report) const {
  if (report == nullptr || !tables) return;
  report->warnings.insert(report->warnings.begin(), tables->notes.begin(), tables->notes.end());
}

PreparedInputs prepare_inputs(const std::string& answers, const std::optional<std::string>& gold,
                              std::string_view answers_kind, bool timed, const ReadOptions& options,
                              const RunContext& context) {
  PreparedInputs inputs{.answers = {answers, std::nullopt}, .options = options};
  if (gold) inputs.gold = Input{*gold, std::nullopt};
  refuse_one_input_twice(inputs.answers, inputs.gold);  // before a look at it waits for either
  const Platform* const platform = platform_of(inputs.answers, options, context);
  const bool ordinary = platform == nullptr || !platform->columns.empty();
  if (ordinary && !options.platform.question.empty()) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{}: is an ordinary table, so there is no question to choose", answers));
  }
  if (ordinary) {
    if (platform != nullptr) name_columns(*platform, inputs, context);
    return inputs;
  }
  const Tuning tuning;
  const PlatformFile file{inputs.answers, options, tuning, context, answers_kind == Sequences::name};
  auto tables = std::make_shared<PlatformTables>(
      tables_of(*platform, file, std::string(answers_kind), options.platform.name.empty()));
  inputs.options = options_for_tables(*tables, options);
  inputs.options.time_column = time_column_of(*platform, *tables, timed, options, display_name(inputs.answers));
  inputs.answers = {display_name(inputs.answers) + " (its answers)", tables->answers};
  if (gold && platform->read_gold != nullptr) {
    Collected truths;
    truths.file = display_name(*inputs.gold);
    platform->read_gold({*inputs.gold, options, tuning, context}, truths);
    settle_problems(truths.file, options.lenient, truths.problems);
    tables->gold = gold_table(truths);
    inputs.gold = Input{truths.file + " (its gold)", tables->gold};
  } else if (!gold && !tables->gold.empty()) {
    inputs.gold = Input{inputs.answers.name.substr(0, inputs.answers.name.size() - 8) + "gold)", tables->gold};
    inputs.options.gold_task_column = inputs.options.gold_label_column = "";
    inputs.options.gold_value_columns = tables->gold.starts_with("task,x,")
                                            ? std::vector<std::string>{"x", "y", "width", "height"}
                                            : std::vector<std::string>{};
  }
  if (!tables->tokens.empty()) inputs.tokens = Input{display_name(file.input) + " (its texts)", tables->tokens};
  inputs.tables = std::move(tables);
  return inputs;
}

}  // namespace wisecrowd::ingest

namespace wisecrowd {

PlatformTables read_platform(const std::string& path, const std::string& answers_kind, const ReadOptions& options,
                             const RunContext& context) {
  ingest::Input input{path, std::nullopt};
  const ingest::Platform* const platform = ingest::platform_of(input, options, context);
  if (platform == nullptr) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: cannot be recognised as a file of a platform: name it with `format`",
                            ingest::display_name(input)));
  }
  if (!platform->columns.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: files of {} are ordinary tables, which are read as they are: nothing has to be "
                            "converted",
                            ingest::display_name(input), platform->info.title));
  }
  const ingest::Tuning tuning;
  return ingest::tables_of(*platform, {input, options, tuning, context, true}, answers_kind,
                           options.platform.name.empty());
}

}  // namespace wisecrowd
