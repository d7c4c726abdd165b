#include "comparison_simulate.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "screen_text.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/simulate_comparisons.hpp"

namespace wisecrowd::app {

std::string comparison_kind_text(const Screen& screen) {
  return fmt::format(
      "{}\n  {}\n  {}\n\nParameters of {}, with their defaults\n{}", screen.bold(kComparisonSimulation),
      wrapped(comparison_simulation_summary(), screen.width, 2),
      wrapped("Unless you say otherwise: 50 items (--items), 1000 pairs of them (--tasks), 40 workers, 5 "
              "answers per pair.",
              screen.width, 2),
      kComparisonSimulation, parameter_lines(comparison_simulation_parameters(), screen));
}

void simulate_compared_items(const ComparedItemsRequest& request, Session& session) {
  const Parameters parameters =
      parameters_from(comparison_simulation_parameters(), request.settings, kComparisonSimulation);
  ComparisonSimulationSize size;
  if (request.items > 0) size.items = request.items;
  if (request.pairs > 0) size.pairs = request.pairs;
  if (request.workers > 0) size.workers = request.workers;
  if (request.answers_per_pair > 0) size.answers_per_pair = request.answers_per_pair;
  at_stage(Stage::creating, [&] { check_output_directory(request.out, "simulation.json"); });
  Work work(session, request.run);
  const ComparisonSimulation simulation = simulate_comparisons(size, parameters, work.context());
  work.check_stopped();
  session.interrupts.writes_to(request.out);
  const Status status =
      at_stage(Stage::writing, [&] { return write_simulation(simulation, request.out, work.context()); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
  if (request.json) {
    session.out.add_json({{"kind", kComparisonSimulation}, {"answers_kind", "comparisons"}, {"out", request.out}});
    return;
  }
  if (request.run.quiet) return;
  session.out.add(fmt::format(
      "{} {}\n  answers.csv      the answers: worker, left, right, label\n"
      "  gold.csv         the score of every item\n"
      "  gold_pairs.csv   the outcome of every pair\n"
      "  workers.csv      kind and reliability of every worker\n"
      "  simulation.json  how it was made\n\nTo aggregate them:\n  wisecrowd aggregate {} --answers comparisons\n",
      session.out_screen.bold("Written to"), shell_word(request.out),
      shell_word(request.out + (request.out.ends_with('/') ? "" : "/") + "answers.csv")));
}

}  // namespace wisecrowd::app
