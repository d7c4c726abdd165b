#include "report_run.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "output_place.hpp"
#include "screen_text.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/fairness_files.hpp"
#include "wisecrowd/learn_comparisons.hpp"
#include "wisecrowd/learn_similarities.hpp"
#include "wisecrowd/set_methods.hpp"

namespace wisecrowd::app {
namespace {

bool wants_json(const std::string& path) { return path.ends_with(".json"); }

/// Other methods on the same answers, unless that would take long.
void add_comparison(const CategoryResult& result, const ReportRequest& request, const RunContext& context,
                    ReportOptions& options) {
  if (request.compare == "none") {
    options.comparison_note = "Other methods were not run (--compare none).";
    return;
  }
  if (!request.compare.empty()) {
    options.comparison =
        at_stage(Stage::reading, [&] { return read_comparison(request.compare, result.record.method); });
    return;
  }
  const CategoryAnswers& answers = result.data.answers;
  if (answers.answer_count() == 0) return;
  if (answers.answer_count() > kQuickFitCells / answers.class_count()) {
    options.comparison_note = fmt::format(
        "Other methods were not run, because {} × {} would take more than a second or two: wisecrowd compare does it, "
        "and --compare shows what it found.",
        counted(answers.answer_count(), "answer"), counted(answers.class_count(), "class"));
    return;
  }
  // They see what the method saw.
  CategoryData seen = result.data;
  if (result.record.gold_use != "inference") seen.gold.clear();
  options.comparison = compare_with(result, quick_fits(seen, result.record.method, context), context);
}

/// What is for categories alone.
void refuse_for(std::string_view kind, const ReportRequest& request) {
  for (const auto& [given, flag] : {std::pair(!request.replay.empty(), "--replay"),
                                    {!request.compare.empty() && request.compare != "none", "--compare"}}) {
    if (given) throw usage_error(fmt::format("{} is for results of categories, and this one is of {}", flag, kind));
  }
}

}  // namespace

void add_report_flags(Command& command, ReportRequest& request) {
  command.add_text("--title", request.title, "WORDS", "what the report is called (the name of the answers)");
  command.add_text(
      "--replay", request.replay, "DIR",
      "a folder that select --replay or dalc-loop wrote: the report shows how many answers would have been "
      "enough",
      {ValueHint::Kind::folder});
  command.add_text("--fairness", request.fairness, "DIR",
                   "a folder that fairness wrote for the same answers: the report shows how groups are treated",
                   {ValueHint::Kind::folder});
  command.add_text(
      "--compare", request.compare, "FILE",
      "what compare --json printed, to show how other methods do; none to run none (a few quick methods are "
      "run if the data are small)",
      {ValueHint::Kind::file});
}

void check_report(const ReportRequest& request) {
  if (!request.path.empty()) require_place_for(request.path, request.force);
  if (!request.path.empty() && !wants_json(request.path)) at_stage(Stage::creating, [] { check_report_page(); });
  if (!request.replay.empty()) at_stage(Stage::reading, [&] { (void)read_savings(request.replay); });
  if (!request.fairness.empty()) at_stage(Stage::reading, [&] { (void)read_fairness(request.fairness); });
  if (!request.compare.empty() && request.compare != "none") {
    at_stage(Stage::reading, [&] { (void)read_comparison(request.compare, ""); });
  }
}

ReportOptions report_options(ResultView result, const std::optional<LearnSummary>& learned,
                             const ReportRequest& request, Work& work) {
  ReportOptions options;
  options.title = request.title;
  options.learned = learned;
  const auto describe_method = [&](const EntryInfo& info) {
    options.method_title = info.title;
    options.method_summary = info.summary;
  };
  if (const NumberResult* numbers = result.numbers()) {
    refuse_for(Numbers::name, request);
    if (learned) {
      describe_method(number_learner_named(numbers->record.method));
    } else {
      describe_method(method_of<Numbers>(numbers->record.method));
    }
    return options;
  }
  if (const ComparisonResult* comparisons = result.comparisons()) {
    refuse_for(Comparisons::name, request);
    if (comparisons->record.method == comparison_learner().name) {
      describe_method(comparison_learner());
    } else {
      describe_method(method_of<Comparisons>(comparisons->record.method));
    }
    return options;
  }
  if (const SimilarityResult* similarities = result.similarities()) {
    refuse_for(Similarities::name, request);
    if (similarities->record.method == similarity_learner().name) {
      describe_method(similarity_learner());
    } else {
      describe_method(method_of<Similarities>(similarities->record.method));
    }
    return options;
  }
  if (const SetResult* sets = result.sets()) {
    refuse_for(Sets::name, request);
    describe_method(method_of<Sets>(sets->record.method));
    return options;
  }
  if (const SequenceResult* sequences = result.sequences()) {
    refuse_for(Sequences::name, request);
    describe_method(method_of<Sequences>(sequences->record.method));
    return options;
  }
  const CategoryResult& categories = *result.categories();
  if (learned) {
    describe_method(learner_named(categories.record.method));
  } else {
    describe_method(method_named(categories.record.method));
  }
  if (!request.replay.empty()) {
    options.savings = at_stage(Stage::reading, [&] { return read_savings(request.replay); });
  }
  if (!request.fairness.empty()) {
    options.fairness = at_stage(Stage::reading, [&] { return read_fairness(request.fairness); });
  }
  add_comparison(categories, request, work.context(), options);
  work.check_stopped();
  return options;
}

std::size_t write_run_report(ResultView result, const std::optional<LearnSummary>& learned,
                             const ReportRequest& request, Work& work, FoundBesides besides) {
  ReportOptions options = report_options(result, learned, request, work);
  if (!besides.fairness.empty()) options.fairness = std::move(besides.fairness);
  options.trust = std::move(besides.trust);
  const Status status =
      at_stage(Stage::writing, [&] { return write_report(result, options, request.path, work.context()); });
  work.check_stopped();
  if (status == Status::cancelled) throw Stopped();
  std::error_code unknown;  // a pipe has no size
  const auto size = std::filesystem::file_size(request.path, unknown);
  return unknown ? 0 : size;
}

std::string report_line(const std::string& path, std::size_t bytes, const Screen& screen) {
  return fmt::format("\n{} {}, {} kB{}\n", screen.bold("Report in"), shell_word(path), grouped((bytes + 999) / 1000),
                     wants_json(path) ? "" : ": open it in a browser");
}

}  // namespace wisecrowd::app
