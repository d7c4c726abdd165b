#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "screen_text.hpp"
#include "sequence_run.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"

namespace wisecrowd::app {

void simulate_documents(const DocumentSimulationRequest& request, Session& session) {
  const Parameters parameters =
      parameters_from(sequence_simulation_parameters(), request.settings, kSequenceSimulation);
  SequenceSimulationSize size;
  if (request.documents > 0) size.documents = request.documents;
  if (request.workers > 0) size.workers = request.workers;
  if (request.answers_per_document > 0) size.answers_per_document = request.answers_per_document;
  if (request.types > 0) size.types = request.types;
  at_stage(Stage::creating, [&] { check_output_directory(request.out, "simulation.json"); });
  Work work(session, request.run);
  const SequenceSimulation simulation = simulate_sequences(size, parameters, work.context());
  work.check_stopped();
  session.interrupts.writes_to(request.out);
  const Status status =
      at_stage(Stage::writing, [&] { return write_simulation(simulation, request.out, work.context()); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
  if (request.json) {
    session.out.add_json({{"kind", kSequenceSimulation}, {"answers_kind", "sequences"}, {"out", request.out}});
    return;
  }
  if (request.run.quiet) return;
  session.out.add(fmt::format(
      "{} {}\n  answers.csv      the answers: doc, position, worker, tag\n"
      "  gold.csv         the truth of every token\n"
      "  workers.csv      what every worker gets wrong\n"
      "  simulation.json  how it was made\n\nTo aggregate them:\n  wisecrowd aggregate {} --answers sequences\n",
      session.out_screen.bold("Written to"), shell_word(request.out),
      shell_word(request.out + (request.out.ends_with('/') ? "" : "/") + "answers.csv")));
}

}  // namespace wisecrowd::app
