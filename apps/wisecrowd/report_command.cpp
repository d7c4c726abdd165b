#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "output_place.hpp"
#include "report_run.hpp"
#include "screen_text.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/state_result.hpp"

namespace wisecrowd::app {
namespace {

struct ReportArguments {
  std::string folder;
  std::string answers;
  std::string gold;
  std::string time;
  bool json = false;
  ReportRequest request;
  RunFlags run;
};

/// A state tells its own result.
StoredRun read_state(const ReportArguments& options, Session& session, const RunContext& context) {
  if (!options.answers.empty()) throw usage_error("a state holds its answers: leave --answers out");
  if (!options.time.empty()) throw usage_error("a state does not keep when its answers were given: leave --time out");
  const CrowdState state = CrowdState::open(options.folder, CrowdState::Access::read);
  CategoryResult result = state_result(state, options.folder, session.typed, context);
  if (!options.gold.empty()) add_gold(result, options.gold, read_options(state.summary().reading), context);
  session.warn(result.record.data_warnings);
  session.warn(result.aggregation.warnings);
  return {std::move(result), std::nullopt};
}

void run_report(const ReportArguments& options, Session& session) {
  ReportRequest request = options.request;
  if (request.path.empty()) request.path = "report.html";
  if (options.json) request.path.clear();
  check_report(request);
  Work work(session, options.run);
  ReadResultOptions where;
  if (!options.answers.empty()) where.answers = options.answers;
  if (!options.gold.empty()) where.gold = options.gold;
  if (!options.time.empty()) where.time_column = options.time;
  const StoredRun stored = at_stage(Stage::reading, [&] {
    return is_state_file(options.folder) ? read_state(options, session, work.context())
                                         : read_result(options.folder, where, work.context());
  });
  work.check_stopped();
  const RunRecord& record = record_of(stored.result);
  for (const auto& [role, path] : record.inputs) {
    if (!request.path.empty()) refuse_input({"--out", request.path}, {role, path});
  }
  // Chance (bootstrap, samples) is that of the run.
  RunFlags flags = options.run;
  flags.seed = record.seed;
  Work again(session, flags);
  if (options.json) {
    const ReportOptions shown = report_options(stored.result, stored.learned, request, again);
    session.out.add(report_json(stored.result, shown, again.context()) + "\n");
    return;
  }
  const std::size_t bytes = write_run_report(stored.result, stored.learned, request, again);
  if (!options.run.quiet) session.out.add(report_line(request.path, bytes, session.out_screen));
}

}  // namespace

void add_report(CommandSet& commands) {
  Command& command =
      commands.add("report", "one HTML file that shows a result: labels or estimates, workers, tasks, warnings");
  command.details =
      "Reads a folder that aggregate or learn wrote, or a state, and makes a page of it for people: what was found and "
      "whether to "
      "trust it, which workers to keep, train or stop, which tasks are hard and who said what, and more. The page is "
      "one "
      "file without any network and works from disk.\n"
      "The answers must still be there, unchanged; if they moved, say where with --answers and --gold. aggregate and "
      "learn write the same page at once with --report. Of large data the page shows a part and says which.";
  auto options = std::make_shared<ReportArguments>();
  command
      .add_text("DIR", options->folder, "DIR", "what aggregate, learn or state export wrote with --out, or a state",
                {ValueHint::Kind::folder})
      ->required();
  command.add_text("--out,-o", options->request.path, "FILE",
                   "where to write it (report.html); a name that ends with .json gets the data alone",
                   ValueHint::written_file());
  add_force(command, options->request.force);
  add_report_flags(command, options->request);
  command.add_text("--answers", options->answers, "FILE", "where the answers are now, if not where they were",
                   {ValueHint::Kind::file});
  command.add_text("--gold,-g", options->gold, "FILE",
                   "where gold is now, if not where it was; or gold for a result that was made without",
                   {ValueHint::Kind::file});
  add_time(command, options->time, "it is the column that aggregate was told, if any");
  command.add_flag("--json", options->json, "print the data of the report instead of writing a page");
  options->run.add_to(command, false);
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 400 --classes 3 --out crowd\n"
      "wisecrowd aggregate crowd/answers.csv --gold crowd/gold.csv --gold-for evaluation --out result\n"
      "wisecrowd report result\n"
      "wisecrowd report result --out result.html --title \"Birds, first batch\" --compare none\n"
      "wisecrowd compare crowd/answers.csv --gold crowd/gold.csv -m majority_vote,dawid_skene --json > compared.json\n"
      "wisecrowd select --replay crowd/answers.csv --gold crowd/gold.csv --seeds 2 --out replay\n"
      "wisecrowd report result --compare compared.json --replay replay --out all.html\n"
      "wisecrowd report result --json";
  command.run = [options](Session& session) { run_report(*options, session); };
}

}  // namespace wisecrowd::app
