#include "common_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "failure.hpp"
#include "help_text.hpp"
#include "screen_text.hpp"
#include "wisecrowd/answer_kind_names.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/messages.hpp"
#include "wisecrowd/platforms.hpp"

namespace wisecrowd::app {

void read_columns(const std::string& list, const std::string& option, const std::vector<std::string*>& roles,
                  const std::string& example) {
  if (list.empty()) return;
  const auto parts = split_list(list);
  if (parts.size() != roles.size()) {
    throw usage_error(fmt::format("{} cannot be '{}': it takes {} names with commas between, for example {}", option,
                                  printable(list), roles.size(), example));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) *roles[i] = parts[i];
}

std::vector<std::string> read_value_columns(const std::string& list, const std::string& option,
                                            const std::vector<std::string*>& roles, const std::string& example) {
  if (list.empty()) return {};
  auto parts = split_list(list);
  const std::size_t values = parts.size() - std::min(parts.size(), roles.size());
  const bool found_later = values == 1 && parts.back().empty();
  const auto blank = std::find(parts.end() - static_cast<std::ptrdiff_t>(values), parts.end(), "");
  if (values == 0 || (!found_later && blank != parts.end())) {
    throw usage_error(
        fmt::format("{0} cannot be '{1}': it takes {2} names or more with commas between, one for each "
                    "column of numbers, for example {0} {3}",
                    option, printable(list), roles.size() + 1, example));
  }
  for (std::size_t i = 0; i < roles.size(); ++i) *roles[i] = parts[i];
  if (found_later) return {};
  return {parts.begin() + static_cast<std::ptrdiff_t>(roles.size()), parts.end()};
}

void ReadFlags::add_to(Command& command, bool with_gold) {
  command.add_text("--columns", columns, "T,W,L",
                   "names of the task, worker and label columns, if the file calls them "
                   "something unusual; leave one blank to have it found");
  if (with_gold) {
    command.add_text("--gold-columns", gold_columns, "T,L", "the same for the gold file: task and label");
  }
  add_platform_format(command, format);
  command.add_text("--question", question, "NAME",
                   "files of a platform: which question to read, where there are several");
  command.add_flag("--no-models", no_models, "files of a platform: leave out what models predicted");
  command.add_flag("--wide", wide, "one row per task and one column per worker");
  command.add_text("--classes", classes, "A,B,C", "all classes in order; otherwise those that occur");
  command.add_choice("--duplicates", duplicates, names_in(kDuplicatePolicyNames),
                     "what to do when a worker answered a task twice (keep-last; comparisons: repeat)");
  command.add_text("--no-answer", no_answer, "LABEL",
                   "a label that means no answer (unsure, skip): such rows are counted, and never become a class");
  command.add_flag("--lenient", lenient, "drop rows that cannot be read instead of refusing the file");
  command.add_text("--exclude-workers", exclude_workers, "FILE",
                   "leave out the answers of these workers: one name per line, or a table with a worker column",
                   {ValueHint::Kind::file});
  command.add_text("--merge-workers", merge_workers, "FILE",
                   "names that belong to one worker: columns old,new, or lines of names whose first is kept",
                   {ValueHint::Kind::file});
  add_safe_csv(command, safe_csv);
}

void ReadFlags::add_kind_to(Command& command) {
  std::vector<std::string> kinds;
  for (const std::string_view name : answer_kind_names()) kinds.emplace_back(name);
  command.add_choice(
      "--answers", kind, kinds,
      "what an answer is: a class out of a list (the default), a number, which of two items is better, a set of "
      "classes, or tags of a document; numbers of several dimensions have one column each, --columns TASK,WORKER,X,Y; "
      "comparisons have --columns WORKER,LEFT,RIGHT,LABEL, sequences --columns DOC,POSITION,WORKER,TAG, or for "
      "spans DOC,WORKER,START,END,TYPE");
  command.add_text("--item-features", item_features, "FILE",
                   "comparisons: numbers known of each item (its length, say), columns item and others; bradley_terry "
                   "takes what they explain out of the scores",
                   {ValueHint::Kind::file});
  command.add_text("--set-separator", set_separator, "TEXT",
                   "sets: what stands between the classes of a cell (|); lists as JSON writes them are always read");
  command.add_text("--empty-set", empty_set, "TEXT", "sets: a text that means none of the classes, beside []");
  command.add_flag("--blank-is-empty", blank_is_empty, "sets: a blank cell means none of the classes, too");
  command.add_choice("--set-rows", set_rows, names_in(kSetRowRuleNames),
                     "sets: whether a row is a whole answer, or rows of one task and worker are united; by default "
                     "they are united if no cell holds more than one class");
  command.add_text("--tokens", tokens, "FILE",
                   "for --answers sequences: doc,position,token, the texts of the documents; where answers are spans, "
                   "doc,text or doc,length will do",
                   {ValueHint::Kind::file});
}

void add_without(Command& command, std::string& without) {
  command.add_text("--without", without, "LIST",
                   "leave out the answers of spammers, copies or colluders, or of several of them with commas; a task "
                   "never loses its last answer, and the result says who was left out and why");
}

CleaningRequest without_of(const std::string& list) {
  try {
    return cleaning_request(list);
  } catch (const Error& error) {
    throw usage_error(std::string("--") + error.what());
  }
}

void ReadFlags::add_trust_to(Command& command) {
  command.add_list("--trusted", trusted, "WORKER",
                   "a worker to be believed where answers alone cannot tell which of two sides is right; may be "
                   "repeated");
  command.add_text("--groups", groups, "FILE",
                   "workers who do not answer independently, and count as one voice: columns worker,group; otherwise "
                   "they are looked for",
                   {ValueHint::Kind::file});
}

void add_time(Command& command, std::string& time, const std::string& without_it) {
  command.add_text("--time", time, "COLUMN",
                   "when an answer was given: numbers, or dates such as 2024-03-07 14:05:30. Without it " + without_it);
}

std::string ReadFlags::duplicate_policy() const {
  if (!duplicates.empty()) return duplicates;
  // People may see the same two items in several settings, so no comparison replaces another.
  const DuplicatePolicy usual =
      kind == Comparisons::name ? ComparisonReadOptions().duplicates : ReadOptions{}.duplicates;
  return std::string(to_string(usual));
}

ReadFlags::PositionColumns ReadFlags::read_sequence_columns(ReadOptions& options) const {
  PositionColumns positions;
  std::string start, end;
  if (wide) {
    read_columns(columns, "--columns", {&options.task_column, &positions.answers}, "--columns doc,position");
  } else if (split_list(columns).size() == 5) {
    read_columns(columns, "--columns",
                 {&options.task_column, &options.worker_column, &start, &end, &options.label_column},
                 "--columns doc,worker,start,end,type");
    options.value_columns = {start, end};
  } else {
    read_columns(columns, "--columns",
                 {&options.task_column, &positions.answers, &options.worker_column, &options.label_column},
                 "--columns doc,position,worker,tag, or five for spans, --columns doc,worker,start,end,type");
  }
  if (split_list(gold_columns).size() == 4) {
    read_columns(gold_columns, "--gold-columns", {&options.gold_task_column, &start, &end, &options.gold_label_column},
                 "--gold-columns doc,start,end,type");
    options.gold_value_columns = {start, end};
  } else {
    read_columns(gold_columns, "--gold-columns",
                 {&options.gold_task_column, &positions.gold, &options.gold_label_column},
                 "--gold-columns doc,position,tag, or four for spans, --gold-columns doc,start,end,type");
  }
  return positions;
}

ReadFlags::PositionColumns ReadFlags::position_columns() const {
  ReadOptions others;
  return read_sequence_columns(others);
}

ReadOptions ReadFlags::options() const {
  ReadOptions options;
  if (!item_features.empty() && kind != Comparisons::name) {
    throw usage_error("--item-features is for --answers comparisons alone");
  }
  if (numbers()) {
    options.value_columns =
        read_value_columns(columns, "--columns", {&options.task_column, &options.worker_column}, "task,worker,value");
    options.gold_value_columns =
        read_value_columns(gold_columns, "--gold-columns", {&options.gold_task_column}, "task,truth");
  } else if (kind == Comparisons::name) {
    options.value_columns.resize(columns.empty() ? 0 : 2);
    std::string unused;
    auto& items = options.value_columns;
    read_columns(columns, "--columns",
                 {&options.worker_column, items.empty() ? &unused : &items[0], items.empty() ? &unused : &items[1],
                  &options.label_column},
                 "--columns worker,left,right,label");
    if (!gold_columns.empty()) {
      throw usage_error(
          "--gold-columns is not for comparisons: name the columns left, right and label, or item and score");
    }
  } else if (kind == Similarities::name) {
    std::string left, right;
    read_columns(columns, "--columns", {&options.worker_column, &left, &right, &options.label_column},
                 "--columns worker,left,right,label");
    if (!columns.empty()) options.value_columns = {left, right};
    read_columns(gold_columns, "--gold-columns", {&options.gold_task_column, &options.gold_label_column},
                 "--gold-columns item,cluster");
  } else if (sequences()) {
    (void)read_sequence_columns(options);
  } else {
    read_columns(columns, "--columns", {&options.task_column, &options.worker_column, &options.label_column},
                 "--columns task,worker,label");
    read_columns(gold_columns, "--gold-columns", {&options.gold_task_column, &options.gold_label_column},
                 "--gold-columns task,truth");
  }
  if (find_in(kTableFormatNames, format)) {
    options.format = *find_in(kTableFormatNames, format);
  } else if (!format.empty()) {
    options.platform.name = platform_named(format).name;
  }
  options.platform.question = question;
  options.platform.models = !no_models;
  if (wide) options.layout = TableLayout::wide;
  if (!classes.empty()) options.classes = split_list(classes);
  options.duplicates = value_in(kDuplicatePolicyNames, "duplicate policy", duplicate_policy());
  options.sets = {set_separator, empty_set, blank_is_empty, value_in(kSetRowRuleNames, "set-rows", set_rows)};
  options.lenient = lenient;
  if (!no_answer.empty() && !kind.empty() && kind != Categories::name) {
    throw usage_error("--no-answer is for answers that are classes");
  }
  options.no_answer = no_answer;
  options.safe_names = safe_csv;
  if (!exclude_workers.empty()) options.exclude_workers = read_worker_list(exclude_workers);
  if (!merge_workers.empty()) options.merge_workers = read_worker_merges(merge_workers);
  options.trusted_workers = trusted;
  if (!groups.empty()) options.worker_groups = read_worker_groups(groups);
  return options;
}

std::string ReadFlags::words(bool with_gold) const {
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", option, shell_word(value));
  };
  if (kind != Categories::name) add("--answers", kind);
  add("--columns", columns);
  if (with_gold) add("--gold-columns", gold_columns);
  add("--format", format);
  add("--question", question);
  if (no_models) text += " --no-models";
  if (wide) text += " --wide";
  add("--classes", classes);
  add("--duplicates", duplicates);
  add("--set-separator", set_separator);
  add("--empty-set", empty_set);
  if (blank_is_empty) text += " --blank-is-empty";
  if (set_rows != ReadFlags{}.set_rows) add("--set-rows", set_rows);
  add("--no-answer", no_answer);
  if (lenient) text += " --lenient";
  if (safe_csv) text += " --safe-csv";
  add("--exclude-workers", exclude_workers);
  add("--merge-workers", merge_workers);
  add("--tokens", tokens);
  for (const std::string& worker : trusted) add("--trusted", worker);
  add("--groups", groups);
  add("--item-features", item_features);
  return text;
}

std::string gold_warning(const DataReport& report) {
  for (const Warning& warning : report.warnings) {
    if (warning.code == "gold_without_answers") return full_text(warning);
  }
  return "no gold task has answers";
}

void add_format(Command& command, std::string& format, const std::string& help) {
  std::vector<std::string> names = names_in(kTableFormatNames);
  std::erase(names, std::string(name_in(kTableFormatNames, TableFormat::automatic)));  // as without the flag
  command.add_choice("--format", format, names, help);
}

void add_platform_format(Command& command, std::string& format) {
  std::vector<std::string> names = names_in(kTableFormatNames);
  std::erase(names, std::string(name_in(kTableFormatNames, TableFormat::automatic)));
  for (const PlatformInfo& platform : platforms()) names.push_back(platform.name);
  command.add_choice("--format", format, names,
                     "how the file is written, or the platform that it comes from; without it, that is found by its "
                     "name and content, as far as they tell");
}

void add_safe_csv(Command& command, bool& safe_csv) {
  command.add_flag("--safe-csv", safe_csv,
                   "put an apostrophe before names that a spreadsheet would run as a formula (=, +, -, @ in front)");
}

void add_force(Command& command, bool& force) {
  command.add_flag("--force", force, "replace a file even if wisecrowd did not write it (an input is never replaced)");
}

void RunFlags::add_to(Command& command, bool with_seed) {
  if (with_seed) {
    command.add_count("--seed", seed, 0, UINT64_MAX, "for everything random; the same seed gives the same result (0)");
  }
  command.add_count("--threads", threads, 1, 256, "how many to use; results do not depend on it (all)");
  command.add_flag("--quiet,-q", quiet, "no progress and no summary; warnings still go to standard error");
}

void RunFlags::add_warning_flag(Command& command) {
  command.add_flag("--fail-on-warning", fail_on_warning,
                   "end with exit code 1 if there was a warning; all work is done and written nevertheless");
}

Work::Work(Session& session, const RunFlags& flags) : session_(session), bar_(session.error_screen) {
  session.fail_on_warning = flags.fail_on_warning;
  RunOptions options;
  options.seed = flags.seed;
  options.threads = static_cast<unsigned>(flags.threads);
  options.cancel = session.interrupts.cancel_flag();
  if (session.error_screen.is_terminal && !flags.quiet) {
    options.on_progress = [this](const Progress& progress) { bar_.update(progress); };
  }
  context_.emplace(std::move(options));
}

void Work::check_stopped() {
  bar_.clear();
  if (session_.interrupts.cancelled()) throw Stopped();
}

double Stopwatch::lap() {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  return seconds;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const MethodInfo& info : aggregation_methods()) names.push_back(info.name);
  return names;
}

std::vector<std::string> learner_names() {
  std::vector<std::string> names;
  for (const LearnerInfo& info : learning_methods()) names.push_back(info.name);
  return names;
}

std::vector<std::string> number_learner_names() {
  std::vector<std::string> names;
  for (const LearnerInfo& info : number_learning_methods()) names.push_back(info.name);
  return names;
}

std::vector<OtherLearner> other_learners() {
  std::vector<OtherLearner> learners;
  for (const LearnerInfo& info : number_learning_methods()) {
    learners.push_back({Numbers::name, &info, info.name == default_number_learning_method()});
  }
  learners.push_back({Comparisons::name, &comparison_learner(), true});
  learners.push_back({Similarities::name, &similarity_learner(), true});
  return learners;
}

std::vector<std::string> other_learner_names() {
  std::vector<std::string> names;
  for (const OtherLearner& learner : other_learners()) names.push_back(learner.info->name);
  return names;
}

namespace {

/// The same as the library's refusal, with a suggestion.
[[noreturn]] void refuse_name(const std::string& what, const std::string& name, const std::vector<std::string>& names) {
  const std::string near = suggestion(name, names);
  throw usage_error(fmt::format("there is no {} '{}'{}", what, printable(name),
                                near.empty() ? fmt::format(": choose {}", fmt::join(names, ", ")) : near));
}

}  // namespace

const AnswerKind* other_kind_with(std::string_view method) {
  for (const AnswerKind& kind : answer_kinds().subspan(1)) {
    for (const MethodInfo& info : kind.methods) {
      if (info.name == method) return &kind;
    }
  }
  return nullptr;
}

const MethodInfo& method_named(const std::string& name) {
  try {
    return aggregation_method(name);
  } catch (const Error& error) {
    if (const AnswerKind* kind = other_kind_with(name)) {
      throw usage_error(fmt::format("{}; or read them with --answers {}", error.what(), kind->name));
    }
    refuse_name("method", name, method_names());
  }
}

const LearnerInfo& learner_named(const std::string& name) {
  try {
    return learning_method(name);
  } catch (const Error&) {
    for (const OtherLearner& other : other_learners()) {
      if (other.info->name != name) continue;
      throw usage_error(fmt::format("{0} learns from {1}: read them with --answers {1}", name, other.kind));
    }
    refuse_name("learner", name, learner_names());
  }
}

const LearnerInfo& number_learner_named(const std::string& name) {
  try {
    return number_learning_method(name);
  } catch (const Error&) {
    const auto others = learner_names();
    if (std::find(others.begin(), others.end(), name) != others.end()) {
      throw usage_error(fmt::format("{} learns from categories; for numbers choose {}", name,
                                    fmt::join(number_learner_names(), ", ")));
    }
    refuse_name("learner of numbers", name, number_learner_names());
  }
}

Parameters parameters_from(const std::vector<ParameterSpec>& specs, const std::vector<std::string>& settings,
                           const std::string& whose) {
  Parameters parameters(specs);
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs) names.push_back(spec.name);
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return is_called(s, name); });
    if (spec == specs.end()) {
      const std::string near = suggestion(name, names);
      const std::string known = names.empty() ? ", which has none" : fmt::format("; it has {}", fmt::join(names, ", "));
      throw usage_error(
          fmt::format("'{}' is no parameter of {}{}", printable(name), whose, near.empty() ? known : near));
    }
    if (equals == std::string::npos) {
      throw usage_error(fmt::format("--set {0} lacks a value: write --set {0}=VALUE, where VALUE is {1}", name,
                                    describe_range(*spec)));
    }
    parameters.set(name, setting.substr(equals + 1));
  }
  return parameters;
}

std::vector<Parameters> parameters_for_each(
    const std::vector<std::string>& names,
    const std::function<const std::vector<ParameterSpec>&(const std::string& name)>& specs_of,
    const std::vector<std::string>& settings) {
  std::vector<Parameters> all;
  std::vector<bool> used(settings.size());
  for (const std::string& name : names) {
    const std::vector<ParameterSpec>& specs = specs_of(name);
    std::vector<std::string> own;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const std::string& setting = settings[i];
      const std::string key = setting.substr(0, setting.find('='));
      const bool has =
          std::any_of(specs.begin(), specs.end(), [&](const ParameterSpec& spec) { return is_called(spec, key); });
      if (setting.starts_with(name + ".")) {
        own.push_back(setting.substr(name.size() + 1));
        used[i] = true;
      } else if (has) {
        own.push_back(setting);
        used[i] = true;
      }
    }
    all.push_back(parameters_from(specs, own, name));
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    throw usage_error(fmt::format("--set {}: none of {} has this parameter; see wisecrowd methods NAME",
                                  printable(settings[i]), fmt::join(names, ", ")));
  }
  return all;
}

void warn_of_former_names(Session& session, const Parameters& parameters) {
  for (const std::string& note : parameters.notes()) {
    session.warn(std::vector<Warning>{{"renamed_parameter", note + ".", "", Severity::note}});
  }
}

std::vector<std::pair<std::string, ParameterValue>> as_list(const Parameters& parameters) {
  return {parameters.all().begin(), parameters.all().end()};
}

void add_settings(Command& command, std::vector<std::string>& settings, const std::string& help) {
  command.add_list("--set", settings, "NAME=VALUE", help);
}

std::string parameter_lines(const std::vector<ParameterSpec>& specs, const Screen& screen) {
  std::string text;
  for (const ParameterSpec& spec : specs) {
    std::string help = fmt::format("{} ({})", spec.help, describe_range(spec));
    if (!spec.former_names.empty()) help += fmt::format("; formerly {}", fmt::join(spec.former_names, ", "));
    text += help_entry(fmt::format("{}={}", spec.name, to_string(spec.default_value)), help, screen, 30);
  }
  return text;
}

}  // namespace wisecrowd::app
