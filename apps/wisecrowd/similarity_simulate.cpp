#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "screen_text.hpp"
#include "similarity_run.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/read_similarities.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/simulate_similarities.hpp"

namespace wisecrowd::app {
namespace {

/// Items and clusters of a table; every item of it has a cluster.
SimilarityData items_of(const std::string& path, const RunContext& context) {
  ReadOptions options;
  const LabelTable table = read_label_table(path, options, context);
  SimilarityAnswersBuilder builder;
  for (std::size_t i = 0; i < table.tasks.size(); ++i) builder.add_item(table.tasks[i]);
  SimilarityData data;
  data.answers = builder.build();
  read_similarity_gold(path, options, context, data);
  return data;
}

}  // namespace

void simulate_clusters(const ClusterSimulationRequest& request, Session& session) {
  const Parameters parameters =
      parameters_from(similarity_simulation_parameters(), request.settings, kSimilaritySimulation);
  SimilaritySimulationSize size;
  if (request.items > 0) size.items = request.items;
  if (request.workers > 0) size.workers = request.workers;
  if (request.clusters > 0) size.clusters = request.clusters;
  if (request.answers_per_item > 0) size.answers_per_item = request.answers_per_item;
  at_stage(Stage::creating, [&] { check_output_directory(request.out, "simulation.json"); });
  Work work(session, request.run);
  std::optional<SimilarityData> given;
  if (!request.gold.empty()) given = at_stage(Stage::reading, [&] { return items_of(request.gold, work.context()); });
  const SimilaritySimulation simulation =
      simulate_similarities(size, parameters, work.context(), given ? &*given : nullptr);
  work.check_stopped();
  session.interrupts.writes_to(request.out);
  const Status status =
      at_stage(Stage::writing, [&] { return write_simulation(simulation, request.out, work.context()); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
  const SimilarityAnswers& answers = simulation.data.answers;
  if (request.json) {
    session.out.add_json({{"kind", kSimilaritySimulation},
                          {"answers_kind", Similarities::name},
                          {"items", answers.item_count()},
                          {"pairs", answers.task_count()},
                          {"answers", answers.answer_count()},
                          {"out", request.out}});
    return;
  }
  if (request.run.quiet) return;
  const std::string folder = request.out + (request.out.ends_with('/') ? "" : "/");
  session.out.add(fmt::format(
      "{} {}\n  answers.csv      worker, left, right, label\n"
      "  gold.csv         the cluster of every item\n"
      "  workers.csv      both error rates of every worker\n"
      "  simulation.json  how it was made\n\nTo find the clusters:\n  wisecrowd aggregate {} --answers similarities\n",
      session.out_screen.bold("Written to"), shell_word(request.out), shell_word(folder + "answers.csv")));
}

}  // namespace wisecrowd::app
