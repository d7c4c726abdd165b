#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_set.hpp"
#include "progress_bar.hpp"
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/cleaning.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/learn_comparisons.hpp"
#include "wisecrowd/learn_numbers.hpp"
#include "wisecrowd/learn_similarities.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd::app {

/// How to read tables of answers.
struct ReadFlags {
  std::string kind;  ///< of answers: empty or one of answer_kinds()
  std::string columns;
  std::string gold_columns;
  std::string format;    ///< of tables, or a platform
  std::string question;  ///< of a platform's file
  bool no_models = false;
  std::string classes;
  std::string duplicates;  ///< empty: as usual for the kind of answers
  std::string no_answer;
  std::string exclude_workers;
  std::string merge_workers;
  std::vector<std::string> trusted;
  std::string groups;
  std::string item_features;  ///< of comparisons
  // Of sets.
  std::string set_separator;
  std::string empty_set;
  std::string set_rows{name_in(kSetRowRuleNames, SetRowRule::automatic)};
  bool blank_is_empty = false;
  std::string tokens;  ///< of sequences: the file of the tokens
  bool safe_csv = false;
  bool wide = false;
  bool lenient = false;

  void add_to(Command& command, bool with_gold);
  /// Adds --answers, for commands that take several kinds of answers.
  void add_kind_to(Command& command);
  /// Adds --trusted and --groups, for commands that ask who answers independently.
  void add_trust_to(Command& command);
  [[nodiscard]] bool numbers() const noexcept { return kind == "numbers"; }
  /// What --duplicates says, or what is usual.
  [[nodiscard]] std::string duplicate_policy() const;
  [[nodiscard]] bool sequences() const noexcept { return kind == "sequences"; }
  /// Of sequences: the columns of positions, if they were named.
  struct PositionColumns {
    std::string answers, gold;
  };
  [[nodiscard]] PositionColumns position_columns() const;
  /// Reads the files of --exclude-workers, --merge-workers and --groups.
  [[nodiscard]] ReadOptions options() const;
  /// The options that were given, as words for a shell, each with a blank before it: for commands that we suggest.
  [[nodiscard]] std::string words(bool with_gold) const;

 private:
  /// Of sequences: one row per tag, wide tables, or spans, by the number of columns.
  PositionColumns read_sequence_columns(ReadOptions& options) const;
};

/// Adds --force, for commands that write a single file.
void add_force(Command& command, bool& force);

/// Adds --format.
void add_format(Command& command, std::string& format, const std::string& help);

/// The same with the platforms whose files are read.
void add_platform_format(Command& command, std::string& format);

/// Adds --time.
void add_time(Command& command, std::string& time, const std::string& without_it);

/// Adds --without.
void add_without(Command& command, std::string& without);
/// Whom it names; a usage error lists the names.
[[nodiscard]] CleaningRequest without_of(const std::string& list);

/// Adds --safe-csv.
void add_safe_csv(Command& command, bool& safe_csv);

/// Column names by role from a list such as "task,worker,label"; a blank part leaves its role to be found. Nothing
/// happens when the list is empty; another number of parts is a usage error.
void read_columns(const std::string& list, const std::string& option, const std::vector<std::string*>& roles,
                  const std::string& example);

/// The same where the columns of numbers, one or more, follow those of the roles; they are returned, none if the only
/// one is blank.
[[nodiscard]] std::vector<std::string> read_value_columns(const std::string& list, const std::string& option,
                                                          const std::vector<std::string*>& roles,
                                                          const std::string& example);

/// What the reader said of gold that is of no task with answers.
[[nodiscard]] std::string gold_warning(const DataReport& report);

/// Seed, threads, progress.
struct RunFlags {
  std::uint64_t seed = 0;
  std::uint64_t threads = 0;
  bool quiet = false;
  bool fail_on_warning = false;

  void add_to(Command& command, bool with_seed);
  /// Adds --fail-on-warning, for commands that may warn.
  void add_warning_flag(Command& command);
};

/// A run context with a progress bar (on terminals only), cancelled by Ctrl-C.
class Work {
 public:
  Work(Session& session, const RunFlags& flags);
  [[nodiscard]] const RunContext& context() const noexcept { return *context_; }
  /// Throws Stopped after Ctrl-C; call it after every stage. Takes the bar away.
  void check_stopped();

 private:
  Session& session_;
  ProgressBar bar_;
  std::optional<RunContext> context_;
};

class Stopwatch {
 public:
  /// Seconds since the last call, or since it was made.
  double lap();

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The kind of answers other than categories that has such a method, or null.
[[nodiscard]] const AnswerKind* other_kind_with(std::string_view method);
/// The method of that name; a usage error suggests the nearest.
[[nodiscard]] const MethodInfo& method_named(const std::string& name);
[[nodiscard]] std::vector<std::string> method_names();
/// The same for learners.
[[nodiscard]] const LearnerInfo& learner_named(const std::string& name);
[[nodiscard]] std::vector<std::string> learner_names();
/// The same for learners of numbers.
[[nodiscard]] const LearnerInfo& number_learner_named(const std::string& name);
[[nodiscard]] std::vector<std::string> number_learner_names();
/// Learners of other answers than categories.
struct OtherLearner {
  std::string_view kind;  ///< of the answers
  const LearnerInfo* info;
  bool is_default;  ///< of its kind
};
[[nodiscard]] std::vector<OtherLearner> other_learners();
[[nodiscard]] std::vector<std::string> other_learner_names();

/// Defaults changed by "name=value" words; a usage error suggests the nearest name. `whose` owns the parameters.
[[nodiscard]] Parameters parameters_from(const std::vector<ParameterSpec>& specs,
                                         const std::vector<std::string>& settings, const std::string& whose);
/// The same for several methods at once: "method.name=value", or "name=value" for all that have the name. A usage error
/// when a setting fits none of them.
[[nodiscard]] std::vector<Parameters> parameters_for_each(
    const std::vector<std::string>& names,
    const std::function<const std::vector<ParameterSpec>&(const std::string& name)>& specs_of,
    const std::vector<std::string>& settings);
/// Parameters that were set by a name from before they were renamed become notes.
void warn_of_former_names(Session& session, const Parameters& parameters);
[[nodiscard]] std::vector<std::pair<std::string, ParameterValue>> as_list(const Parameters& parameters);

/// Adds --set, which may be given many times.
void add_settings(Command& command, std::vector<std::string>& settings, const std::string& help);

/// Lines that describe parameters: name, default, range, meaning.
[[nodiscard]] std::string parameter_lines(const std::vector<ParameterSpec>& specs, const Screen& screen);

}  // namespace wisecrowd::app
