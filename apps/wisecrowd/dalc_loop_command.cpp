#include "dalc_loop_command.hpp"

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "learn_run.hpp"
#include "run_summary.hpp"
#include "screen_text.hpp"
#include "table.hpp"
#include "wisecrowd/dalc_loop.hpp"
#include "wisecrowd/experiment_files.hpp"

namespace wisecrowd::app {
namespace {

struct DalcLoopArguments {
  std::string labels;
  std::string gold;
  std::string policies = "rd,ac,ad,dalc";
  std::uint64_t seeds = 5;
  std::string out;
  std::vector<std::string> settings;
  FeatureFlags features;
  NetworkFlags network;
  ReadFlags read;
  RunFlags run;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::string interval(const Estimate& estimate) {
  if (std::isnan(estimate.low)) return percent(estimate.value);
  return fmt::format("{} ({} to {})", percent(estimate.value), percent(estimate.low), percent(estimate.high));
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v / static_cast<double>(values.size());
  return sum;
}

std::string summary(const DalcLoop& loop, const NetworkSpec& network, const Screen& screen) {
  const auto line = [&](const std::string& title, const std::string& words) {
    return summary_line(title, words, screen);
  };
  std::string text;
  text += line("Past", fmt::format("{}, from which reliabilities are known", counted(loop.past_tasks, "task")));
  text += line("Pool", fmt::format("{} with {} answers; the most bought: {}", counted(loop.pool_tasks, "task"),
                                   grouped(static_cast<std::uint64_t>(std::lround(loop.all_answers))),
                                   grouped(loop.answers.empty() ? 0 : loop.answers.back())));
  text += line("Network", network_text(network));
  text += line("All", fmt::format("with all answers accuracy {}, AUC {} on {}; {}",
                                  percent(mean(loop.reference_accuracy)), fixed(mean(loop.reference_auc), 3),
                                  counted(loop.test_rows, "test row"), counted(loop.seeds, "seed")));
  Table table({{"policy", Column::Side::left}, {"area"}, {"last"}, {"AUC"}, {"answers to reach all's"}, {"saved"}});
  for (const DalcCurve& curve : loop.curves) {
    if (curve.mean_accuracy.empty()) continue;
    table.add({curve.policy, interval(curve.area), percent(curve.mean_accuracy.back()), fixed(curve.mean_auc.back(), 3),
               curve.reaches ? grouped(static_cast<std::uint64_t>(std::lround(curve.answers_to_reach))) : "–",
               curve.reaches ? interval(curve.saved) : "–"});
  }
  return text + "\n" + table.text(screen.width);
}

void run_dalc_loop(const DalcLoopArguments& options, Session& session) {
  const std::vector<std::string> policies = words_of(options.policies);
  for (const std::string& name : policies) static_cast<void>(dalc_policy(name));
  const std::vector<ParameterSpec> own = dalc_loop_parameters();
  const std::vector<Parameters> parameters = parameters_for_each(
      {"loop", "dalc"},
      [&](const std::string& name) -> const std::vector<ParameterSpec>& {
        return name == "loop" ? own : learner_named("dalc").parameters;
      },
      options.settings);
  for (const Parameters& set : parameters) warn_of_former_names(session, set);
  const NetworkSpec network = options.network.spec(learner_named("dalc"));
  Work work(session, options.run);
  const LearningInput input = at_stage(Stage::reading, [&] {
    return read_learning_data(options.features.files(options.labels, options.gold, false), options.read.options(),
                              work.context());
  });
  work.check_stopped();
  const DalcLoop loop = play_dalc_loop(input.data, input.row_gold, parameters[0], parameters[1], network, policies,
                                       options.seeds, work.context());
  work.check_stopped();
  WrittenReplay written;
  if (!options.out.empty()) {
    nlohmann::ordered_json about;
    about["labels"] = options.labels;
    about["features"] = options.features.features;
    about["policies"] = options.policies;
    about["settings"] = options.settings;
    about["network"] = network_text(network);
    about["seed"] = options.run.seed;
    // A path need not be UTF-8; JSON must be.
    const std::string text = about.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    const std::string title = fmt::format("{}, {}", options.labels, counted(loop.seeds, "repetition"));
    written = at_stage(Stage::writing, [&] { return write_dalc_loop(loop, title, text, options.out); });
  }
  if (options.run.quiet) return;
  session.out.add(summary(loop, network, session.out_screen));
  if (!options.out.empty()) {
    session.out.add(fmt::format("\n{} {}\n", session.out_screen.bold("Written to"), shell_word(options.out)));
    if (!written.no_png.empty()) session.out.add(fmt::format("No curves.png: {}.\n", printable(written.no_png)));
  }
}

}  // namespace

void add_dalc_loop(CommandSet& commands) {
  Command& command = commands.add("dalc-loop", "replay: ask about what a network is unsure of, and ask who knows it");
  command.details =
      "Replays a recorded crowd with features. Some tasks are the past, from which it learns whom to trust on which "
      "tasks; the answers to the others are bought one by one: rd asks anybody about anything, ac asks the worker who "
      "knows such tasks best, ad asks about the tasks that network and answers leave open, dalc does both. After each "
      "round the network goes on learning and is scored on the test rows, whose truth nothing else sees.\n"
      "It says how good each policy is on the way (area: mean accuracy over the answers bought) and with how many "
      "answers it is as good as the same model with all answers. With --out it writes seeds.csv (policy, seed, "
      "answers, "
      "accuracy, auc), curves.csv, savings.csv, the curves as curves.svg and curves.png, and summary.json.";
  auto options = std::make_shared<DalcLoopArguments>();
  command
      .add_text("ANSWERS", options->labels, "FILE", "the recorded answers: CSV, TSV or JSON Lines, plain, .gz or .zst",
                {ValueHint::Kind::file})
      ->required();
  options->features.add_to(command, true, true);
  command
      .add_text("--gold,-g", options->gold, "FILE", "the truth of the test rows: task, label", {ValueHint::Kind::file})
      ->required();
  command.add_text("--policies", options->policies, "LIST", "some of rd, ac, ad, dalc (all)");
  command.add_count("--seeds", options->seeds, 1, 10000,
                    fmt::format("repetitions with other chance ({})", options->seeds));
  options->network.add_to(command);
  add_settings(command, options->settings,
               "set a parameter of the loop (below), of the learner dalc or of training; may be repeated");
  command.add_text("--out,-o", options->out, "DIR", "where to write the curves", ValueHint::written_folder());
  options->read.add_to(command, true);
  options->run.add_to(command, true);
  command.more = [](const std::vector<std::string>&, const Screen& screen) {
    return "Parameters of the loop\n" + parameter_lines(dalc_loop_parameters(), screen);
  };
  command.examples =
      "wisecrowd simulate lftc --tasks 600 --workers 200 --test-tasks 200 --out crowd\n"
      "wisecrowd dalc-loop crowd/answers.csv -f crowd/features.npy -t crowd/tasks.csv -g crowd/gold.csv --seeds 1 "
      "--hidden 16 --set first_answers=100 --set round_answers=400 --set epochs=5";
  command.run = [options](Session& session) { run_dalc_loop(*options, session); };
}

}  // namespace wisecrowd::app
