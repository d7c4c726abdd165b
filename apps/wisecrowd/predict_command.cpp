#include <fmt/core.h>

#include <memory>

#include "failure.hpp"
#include "learn_run.hpp"
#include "output_place.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
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
  FeatureFlags features;
  RunFlags run;
};

void run_predict(const PredictArguments& options, Session& session) {
  if (!options.out.empty()) require_place_for(options.out, options.force);
  Work work(session, options.run);
  const auto classifier = at_stage(
      Stage::reading, [&] { return load_classifier(options.model, work.context(), {.trust = options.trust_model}); });
  DataReport report;
  const FeatureTable table = at_stage(Stage::reading, [&] {
    return read_features(options.features.features, options.features.tasks_file(),
                         {.recipe = &classifier->recipe(), .lenient = options.lenient}, work.context(), &report);
  });
  work.check_stopped();
  session.warn(report.warnings);
  std::vector<std::string> rows;
  for (std::size_t r = 0; r < table.names.size(); ++r) {
    rows.push_back(options.safe_csv ? spreadsheet_safe(table.names[r]) : std::string(table.names[r]));
  }
  const NameTable names(rows);
  const std::vector<double> probabilities = classifier->predict(table.features, work.context());
  work.check_stopped();
  if (options.out.empty()) {
    session.out.add_data(predictions_csv(names, classifier->class_names(), probabilities));
  } else {
    at_stage(Stage::writing, [&] { write_predictions(options.out, names, classifier->class_names(), probabilities); });
  }
  if (options.run.quiet) return;
  if (!options.out.empty()) {
    session.out.add(fmt::format("{} {}: {}\n", session.out_screen.bold("Written to"), shell_word(options.out),
                                counted(table.names.size(), "row")));
  }
}

}  // namespace

void add_predict(CommandSet& commands) {
  Command& command = commands.add("predict", "labels for rows of features, by a classifier that learn trained");
  command.details =
      "Reads a trained classifier and features of the same kind as it was trained on, and gives a table task, label, "
      "probability, and p_CLASS for every class, on standard output or into a file.";
  auto options = std::make_shared<PredictArguments>();
  command
      .add_text("MODEL", options->model, "DIR", "the folder that learn wrote, or the folder model in it",
                {ValueHint::Kind::folder})
      ->required();
  options->features.add_to(command, true, false);
  command.add_text("--out,-o", options->out, "FILE", "where to write the table; otherwise it goes to standard output",
                   ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--lenient", options->lenient, "drop rows that cannot be read instead of refusing the file");
  command.add_flag("--trust-model", options->trust_model,
                   "run the TorchScript network that a model brings along; it is a program, so only where you trust "
                   "whoever made the model");
  add_safe_csv(command, options->safe_csv);
  options->run.add_to(command, false);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate dawid_skene --tasks 400 --gaussian-features 1.5 --test-tasks 200 --out crowd\n"
      "wisecrowd learn crowd/answers.csv -f crowd/features.npy -t crowd/tasks.csv --out result --quiet\n"
      "wisecrowd predict result --features crowd/features.npy --tasks crowd/tasks.csv\n"
      "wisecrowd predict result/model -f crowd/features.npy -t crowd/tasks.csv --out predicted.csv\n"
      "wisecrowd evaluate predicted.csv crowd/gold.csv";
  command.run = [options](Session& session) { run_predict(*options, session); };
}

}  // namespace wisecrowd::app
