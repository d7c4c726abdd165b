#include <fmt/core.h>

#include <memory>

#include "failure.hpp"
#include "learn_run.hpp"
#include "output_place.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "wisecrowd/learn_numbers.hpp"
#include "wisecrowd/names.hpp"
#include "wisecrowd/prediction_files.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {
namespace {

struct PredictArguments {
  std::string model;
  std::string out;
  bool lenient = false;
  bool trust_model = false;
  bool force = false;
  bool safe_csv = false;
  std::string answers;
  ReadFlags read;
  bool reliability = false;
  std::uint64_t draws = 0;
  FeatureFlags features;
  RunFlags run;
};

/// The answers to rows of the table, by the model's numbers; says what had to be left out.
std::vector<RowAnswer> read_answers(const PredictArguments& options, const Classifier& classifier,
                                    const FeatureTable& table, Work& work, Session& session) {
  DataReport report;
  ReadFlags read = options.read;
  read.lenient = options.lenient;
  const CategoryData data = at_stage(Stage::reading, [&] {
    return read_dataset(options.answers, std::nullopt, read.options(), work.context(), &report);
  });
  session.warn(report.warnings);
  const MatchedAnswers matched = match_answers(classifier, data.answers, table.names);
  const auto left_out = [&](const std::vector<std::uint32_t>& unknown, const NameTable& names, const char* code,
                            const char* what, const char* remedy) {
    if (unknown.empty()) return;
    session.warn(std::vector<Warning>{
        {code,
         fmt::format("{}: {} of {} {}, for example '{}': their answers are left out", options.answers, unknown.size(),
                     names.size(), what, printable(names[unknown.front()])),
         remedy}});
  };
  left_out(matched.unknown_workers, data.answers.worker_names(), "unknown_workers",
           "workers are not known to the model", "learn again with answers of theirs.");
  left_out(matched.unknown_tasks, data.answers.task_names(), "tasks_without_features", "tasks have no features",
           "give rows of features for them.");
  if (matched.answers.empty()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: no answer is by a worker whom the model knows, to a task with features: check the "
                            "names of tasks and workers",
                            options.answers));
  }
  return matched.answers;
}

std::string reliabilities(const std::vector<RowAnswer>& answers, const Classifier& classifier,
                          const FeatureTable& table, const NameTable& names, const PredictArguments& options,
                          const RunContext& context) {
  std::vector<RowWorker> pairs;
  for (const RowAnswer& answer : answers) pairs.push_back({answer.row, answer.worker});
  if (options.answers.empty()) {
    for (std::uint32_t row = 0; row < table.names.size(); ++row) {
      for (std::size_t j = 0; j < known_workers(classifier).size(); ++j) pairs.push_back({row, WorkerId(j)});
    }
  }
  return reliabilities_csv(names, known_workers(classifier), pairs,
                           reliability(classifier, table.features, pairs, context), options.safe_csv);
}

void refuse_contradictions(const PredictArguments& options) {
  if (options.draws > 0 && (options.reliability || !options.answers.empty())) {
    throw usage_error(
        "--draws looks at the network alone: leave out --answers and --reliability, or ask in two commands");
  }
  if (!options.read.columns.empty() && options.answers.empty()) {
    throw usage_error("--columns names columns of --answers: give both");
  }
}

void refuse_for_numbers(const PredictArguments& options) {
  for (const auto& [given, flag] : {std::pair(!options.answers.empty(), "--answers"),
                                    {options.reliability, "--reliability"},
                                    {options.draws > 0, "--draws"}}) {
    if (given) throw usage_error(fmt::format("{} is for models of classes, and this one predicts numbers", flag));
  }
}

NameTable row_names(const PredictArguments& options, const FeatureTable& table) {
  std::vector<std::string> rows;
  for (std::size_t r = 0; r < table.names.size(); ++r) {
    rows.push_back(options.safe_csv ? spreadsheet_safe(table.names[r]) : std::string(table.names[r]));
  }
  return NameTable(rows);
}

std::string predicted_numbers(const PredictArguments& options, const Regressor& regressor, const FeatureTable& table,
                              Work& work) {
  return number_predictions_csv(row_names(options, table), regressor.dimension_names(),
                                regressor.predict(table.features, work.context()), regressor.deviation());
}

std::string predicted(const PredictArguments& options, const Classifier& classifier, const FeatureTable& table,
                      Work& work, Session& session) {
  const NameTable names = row_names(options, table);
  const bool with_workers = options.reliability || !options.answers.empty();
  if (with_workers && !why_no_workers(classifier).empty()) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: the model knows nothing of workers: {}", options.model, why_no_workers(classifier)));
  }
  std::vector<RowAnswer> answers;
  if (!options.answers.empty()) answers = read_answers(options, classifier, table, work, session);
  if (options.reliability) return reliabilities(answers, classifier, table, names, options, work.context());
  if (options.draws > 0) {
    const Draws draws = draw(classifier, table.features, options.draws, work.context());
    if (draws.identical) {
      session.warn(std::vector<Warning>{
          {"identical_draws",
           "all draws are the same: the network drops nothing, so they say nothing of how sure it is",
           "train one with dropout, or put dropout into the TorchScript module."}});
    }
    return predictions_csv(names, classifier.class_names(), draws);
  }
  return predictions_csv(names, classifier.class_names(),
                         options.answers.empty() ? classifier.predict(table.features, work.context())
                                                 : posterior(classifier, table.features, answers, work.context()));
}

void run_predict(const PredictArguments& options, Session& session) {
  refuse_contradictions(options);
  if (!options.out.empty()) require_place_for(options.out, options.force);
  Work work(session, options.run);
  const TrainedModel model = at_stage(
      Stage::reading, [&] { return load_model(options.model, work.context(), {.trust = options.trust_model}); });
  if (model.regressor) refuse_for_numbers(options);
  const FeatureRecipe& recipe = model.classifier ? model.classifier->recipe() : model.regressor->recipe();
  DataReport report;
  const FeatureTable table = at_stage(Stage::reading, [&] {
    return read_features(options.features.features, options.features.tasks_file(),
                         {.recipe = &recipe, .lenient = options.lenient}, work.context(), &report);
  });
  work.check_stopped();
  session.warn(report.warnings);
  const std::string csv = model.classifier ? predicted(options, *model.classifier, table, work, session)
                                           : predicted_numbers(options, *model.regressor, table, work);
  work.check_stopped();
  if (options.out.empty()) {
    session.out.add_data(csv);
  } else {
    at_stage(Stage::writing, [&] { write_prediction_table(options.out, csv); });
  }
  if (options.run.quiet || options.out.empty()) return;
  session.out.add(fmt::format("{} {}: {}\n", session.out_screen.bold("Written to"), shell_word(options.out),
                              counted(table.names.size(), "row")));
}

}  // namespace

void add_predict(CommandSet& commands) {
  Command& command =
      commands.add("predict", "labels, or numbers, for rows of features, by a network that learn trained");
  command.details =
      "Reads a trained classifier and features of the same kind as it was trained on, and gives a table task, label, "
      "probability, and p_CLASS for every class, on standard output or into a file. With --answers, what the model "
      "knows of "
      "the workers is weighed in; --reliability says whom to ask. A network for numbers gives task, estimate, "
      "deviation, "
      "low and high.";
  auto options = std::make_shared<PredictArguments>();
  command
      .add_text("MODEL", options->model, "DIR", "the folder that learn wrote, or the folder model in it",
                {ValueHint::Kind::folder})
      ->required();
  options->features.add_to(command, true, false);
  command.add_text("--answers", options->answers, "FILE",
                   "answers to these rows by workers whom the model knows (task, worker, label): labels are those of "
                   "network and answers together, as learn gives them; rows without an answer are the network's",
                   {ValueHint::Kind::file});
  command.add_text("--columns", options->read.columns, "T,W,L",
                   "names of the task, worker and label columns of --answers, if they are unusual");
  command.add_flag(
      "--reliability", options->reliability,
      "a table task, worker, reliability instead: how probable it is that the worker is right on the task, "
      "for the pairs of --answers, or for all rows and workers");
  command.add_count("--draws", options->draws, 1, 1'000'000,
                    "so many draws of the network with dropout: their mean instead of the network without, and columns "
                    "predictive_entropy and mutual_information (BALD)");
  command.add_text("--out,-o", options->out, "FILE", "where to write the table; otherwise it goes to standard output",
                   ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--lenient", options->lenient, "drop rows that cannot be read instead of refusing the file");
  command.add_flag("--trust-model", options->trust_model,
                   "run the TorchScript network that a model brings along; it is a program, so only where you trust "
                   "whoever made the model");
  add_safe_csv(command, options->safe_csv);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 400 --gaussian-features 1.5 --test-tasks 200 --out crowd\n"
      "wisecrowd learn crowd/answers.csv -f crowd/features.npy -t crowd/tasks.csv --out result --quiet\n"
      "wisecrowd predict result --features crowd/features.npy --tasks crowd/tasks.csv\n"
      "wisecrowd predict result/model -f crowd/features.npy -t crowd/tasks.csv --out predicted.csv\n"
      "wisecrowd evaluate predicted.csv crowd/gold.csv\n"
      "wisecrowd predict result -f crowd/features.npy -t crowd/tasks.csv --answers crowd/answers_test.csv\n"
      "wisecrowd predict result -f crowd/features.npy -t crowd/tasks.csv --reliability --out whom.csv\n"
      "wisecrowd predict result -f crowd/features.npy -t crowd/tasks.csv --draws 50";
  command.run = [options](Session& session) { run_predict(*options, session); };
}

}  // namespace wisecrowd::app
