#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common_options.hpp"
#include "failure.hpp"
#include "number_text.hpp"
#include "output_place.hpp"
#include "screen_text.hpp"
#include "table.hpp"
#include "wisecrowd/comparison_aggregator.hpp"
#include "wisecrowd/online_comparisons.hpp"
#include "wisecrowd/preferences.hpp"
#include "wisecrowd/read_comparisons.hpp"

namespace wisecrowd::app {
namespace {

struct PairsArguments {
  std::string answers;
  std::string method;
  std::vector<std::string> settings;
  std::uint64_t next = 10;
  std::string preferences;
  bool force = false;
  bool json = false;
  ReadFlags read;
  RunFlags run;
};

void show_questions(const std::vector<PairQuestion>& questions, const ComparisonAnswers& answers,
                    const PairsArguments& options, Session& session) {
  const auto item = [&](ItemId id) { return std::string(answers.item_names()[index(id)]); };
  if (options.json) {
    nlohmann::ordered_json json = {{"questions", nlohmann::ordered_json::array()}};
    for (const PairQuestion& q : questions) {
      json["questions"].push_back({{"left", item(q.left)},
                                   {"right", item(q.right)},
                                   {"worker", std::string(answers.worker_names()[index(q.worker)])},
                                   {"gain", q.gain}});
    }
    if (!options.preferences.empty()) json["preferences"] = options.preferences;
    session.out.add_json(json);
    return;
  }
  const Screen& screen = session.out_screen;
  Table table({{"left", Column::Side::left}, {"right", Column::Side::left}, {"worker", Column::Side::left}, {"gain"}});
  for (const PairQuestion& q : questions) {
    table.add({printable(item(q.left)), printable(item(q.right)), printable(answers.worker_names()[index(q.worker)]),
               fixed(q.gain, 4)});
  }
  session.out.add(
      fmt::format("{}   the most informative questions, with the gain expected in nats\n", screen.bold("Ask next")));
  session.out.add(table.text(screen.width, screen.dim_on(), screen.off()));
}

void run_pairs(const PairsArguments& options, Session& session) {
  Work work(session, options.run);
  const std::string name = options.method.empty() ? "crowd_bt" : options.method;
  const MethodInfo* info = nullptr;
  try {
    info = &method_of<Comparisons>(name);
  } catch (const Error& error) {
    throw usage_error(error.what());
  }
  const Parameters parameters = parameters_from(info->parameters, options.settings, info->name);
  if (!options.preferences.empty()) require_place_for(options.preferences, options.force);
  DataReport report;
  ReadFlags read = options.read;
  read.kind = Comparisons::name;
  ComparisonData data = at_stage(Stage::reading, [&] {
    return read_comparisons(options.answers, std::nullopt, read.options(), work.context(), &report);
  });
  work.check_stopped();
  session.warn(report.warnings);
  ComparisonFit fit = aggregate(data, info->name, parameters, work.context());
  work.check_stopped();
  session.warn(fit.warnings);
  const auto questions = OnlineCrowdBt(data.answers, fit).choose(options.next, work.context());
  work.check_stopped();
  const ComparisonAnswers answers = data.answers;
  std::size_t pairs = 0;
  if (!options.preferences.empty()) {
    pairs = preferences(data.answers, fit).size();
    const ComparisonResult result = make_result(std::move(data), std::move(fit), {});
    at_stage(Stage::writing, [&] { write_preferences(result, {}, options.preferences); });
  }
  if (options.run.quiet) return;
  show_questions(questions, answers, options, session);
  if (options.json || options.preferences.empty()) return;
  session.out.add(fmt::format("\n{} {}: {} as prompt, chosen, rejected and weight\n",
                              session.out_screen.bold("Written to"), shell_word(options.preferences),
                              counted(pairs, "pair")));
}

}  // namespace

void add_pairs(CommandSet& commands) {
  Command& command = commands.add("pairs", "comparisons: which pair to ask next and whom, preferences for training");
  command.details =
      "Ranks the items of comparisons (as aggregate --answers comparisons does), and tells which pairs would say most, "
      "and which worker to ask. With --preferences it writes every pair that is no tie as JSON Lines for TRL: prompt, "
      "chosen, rejected, and a weight from 0 (nothing known) to 1 (certain).";
  auto options = std::make_shared<PairsArguments>();
  command
      .add_text("ANSWERS", options->answers, "FILE",
                "the comparisons: worker, left, right, label; - for standard input", {ValueHint::Kind::file})
      ->required();
  command.add_text("--method,-m", options->method, "NAME", "how to rank (crowd_bt)", {ValueHint::Kind::method});
  add_settings(command, options->settings, "set a parameter of the method; may be repeated");
  command.add_count("--next", options->next, 0, 1'000'000, "how many questions to show (10)");
  command.add_text("--preferences", options->preferences, "FILE", "write the pairs for training",
                   ValueHint::written_file());
  add_force(command, options->force);
  command.add_flag("--json", options->json, "print one JSON object");
  options->read.add_to(command, false);
  options->run.add_to(command, true);
  options->run.add_warning_flag(command);
  command.examples =
      "wisecrowd simulate compared_items --items 20 --out duels\n"
      "wisecrowd pairs duels/answers.csv --next 3\n"
      "wisecrowd pairs duels/answers.csv --preferences preferences.jsonl --force";
  command.run = [options](Session& session) { run_pairs(*options, session); };
}

}  // namespace wisecrowd::app
