#include "simulate_kinds.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "comparison_simulate.hpp"
#include "failure.hpp"
#include "screen_text.hpp"
#include "similarity_run.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/run_folder.hpp"
#include "wisecrowd/simulate_comparisons.hpp"
#include "wisecrowd/simulate_numbers.hpp"
#include "wisecrowd/simulate_sequences.hpp"
#include "wisecrowd/simulate_sets.hpp"
#include "wisecrowd/simulate_similarities.hpp"

namespace wisecrowd::app {
namespace {

/// A flag that was given though it means nothing for the crowd.
struct Refused {
  bool given;
  const char* flag;
};

/// Flags that only crowds with classes have, and those that this crowd refuses besides.
void refuse_flags(const SimulateArguments& options, const char* crowd, std::initializer_list<Refused> more) {
  const auto refuse = [&](const Refused& flag) {
    if (flag.given) throw usage_error(fmt::format("{} is not for {}", flag.flag, crowd));
  };
  for (const Refused& flag : {Refused{!options.class_shares.empty(), "--class-shares"},
                              {options.test_tasks > 0, "--test-tasks"},
                              {options.has_separation, "--gaussian-features"}}) {
    refuse(flag);
  }
  for (const Refused& flag : more) refuse(flag);
}

void set_if_given(std::uint64_t given, std::size_t& size) {
  if (given > 0) size = given;
}

/// Draws a crowd, writes it, and says what was written; `files` are the lines about the files that differ.
template <class Draw>
void draw_and_write(const SimulateArguments& options, const char* crowd, std::string_view answers_kind,
                    const char* files, const std::string& columns, const Draw& draw, Session& session) {
  at_stage(Stage::creating, [&] { check_output_directory(options.out, "simulation.json"); });
  Work work(session, options.run);
  const auto simulation = draw(work.context());
  work.check_stopped();
  session.interrupts.writes_to(options.out);
  const Status status =
      at_stage(Stage::writing, [&] { return write_simulation(simulation, options.out, work.context()); });
  session.interrupts.writes_to("");
  if (status == Status::cancelled) throw Stopped();
  if (options.json) {
    session.out.add_json({{"kind", crowd}, {"answers_kind", answers_kind}, {"out", options.out}});
    return;
  }
  if (options.run.quiet) return;
  session.out.add(
      fmt::format("{} {}\n{}  simulation.json  how it was made\n\nTo aggregate them:\n  wisecrowd aggregate {} "
                  "--answers {}{}\n",
                  session.out_screen.bold("Written to"), shell_word(options.out), files,
                  shell_word(options.out + (options.out.ends_with('/') ? "" : "/") + "answers.csv"), answers_kind,
                  columns.empty() ? "" : " --columns " + columns));
}

/// Answers that are numbers: --classes means nothing there, --dimensions does.
void simulate_number_answers(const SimulateArguments& options, Session& session) {
  refuse_flags(options, kNumberSimulation, {{options.classes > 0, "--classes"}, {!options.gold.empty(), "--gold"}});
  const Parameters parameters = parameters_from(number_simulation_parameters(), options.settings, kNumberSimulation);
  NumberSimulationSize size;
  set_if_given(options.tasks, size.tasks);
  set_if_given(options.workers, size.workers);
  set_if_given(options.answers_per_task, size.answers_per_task);
  set_if_given(options.dimensions, size.dimensions);
  std::string columns;
  for (std::size_t d = 0; d < size.dimensions && size.dimensions > 1; ++d) columns += fmt::format(",value_{}", d + 1);
  draw_and_write(
      options, kNumberSimulation, "numbers",
      "  answers.csv      the answers: task, worker, numbers\n"
      "  gold.csv         the truth of every task\n"
      "  workers.csv      bias and noise of every worker\n",
      columns.empty() ? "" : "task,worker" + columns,
      [&](const RunContext& context) { return simulate_numbers(size, parameters, context); }, session);
}

/// Pairs of items: --items counts these, --tasks the pairs.
void simulate_comparison_answers(const SimulateArguments& options, Session& session) {
  refuse_flags(options, kComparisonSimulation, {{options.classes > 0, "--classes"}, {!options.gold.empty(), "--gold"}});
  simulate_compared_items({.items = options.items,
                           .pairs = options.tasks,
                           .workers = options.workers,
                           .answers_per_pair = options.answers_per_task,
                           .settings = options.settings,
                           .out = options.out,
                           .json = options.json,
                           .run = options.run},
                          session);
}

/// Answers that say same or different: tasks are items there, and classes clusters.
void simulate_similar_answers(const SimulateArguments& options, Session& session) {
  refuse_flags(options, kSimilaritySimulation,
               {{!options.gold.empty() && options.tasks > 0, "--tasks, with --gold,"},
                {!options.gold.empty() && options.classes > 0, "--classes, with --gold,"}});
  simulate_clusters({options.tasks, options.workers, options.classes, options.answers_per_task, options.gold,
                     options.settings, options.out, options.json, options.run},
                    session);
}

/// Answers that are sets of classes.
void simulate_set_answers(const SimulateArguments& options, Session& session) {
  refuse_flags(options, kSetSimulation, {{!options.gold.empty(), "--gold"}});
  const Parameters parameters = parameters_from(set_simulation_parameters(), options.settings, kSetSimulation);
  SetSimulationSize size;
  set_if_given(options.tasks, size.tasks);
  set_if_given(options.workers, size.workers);
  set_if_given(options.answers_per_task, size.answers_per_task);
  set_if_given(options.classes, size.classes);
  draw_and_write(
      options, kSetSimulation, "sets",
      "  answers.csv      the answers: task, worker, set\n"
      "  gold.csv         the true set of every task\n"
      "  workers.csv      sensitivity and specificity of every worker, by class\n",
      "", [&](const RunContext& context) { return simulate_sets(size, parameters, context); }, session);
}

/// Documents with tags: --tasks are the documents, --classes the types of spans.
void simulate_tagged_documents(const SimulateArguments& options, Session& session) {
  refuse_flags(options, kSequenceSimulation, {{!options.gold.empty(), "--gold"}});
  const Parameters parameters =
      parameters_from(sequence_simulation_parameters(), options.settings, kSequenceSimulation);
  SequenceSimulationSize size;
  set_if_given(options.tasks, size.documents);
  set_if_given(options.workers, size.workers);
  set_if_given(options.answers_per_task, size.answers_per_document);
  set_if_given(options.classes, size.types);
  draw_and_write(
      options, kSequenceSimulation, "sequences",
      "  answers.csv      the answers: doc, position, worker, tag\n"
      "  gold.csv         the truth of every token\n"
      "  workers.csv      what every worker gets wrong\n",
      "", [&](const RunContext& context) { return simulate_sequences(size, parameters, context); }, session);
}

}  // namespace

bool simulate_other_kind(const SimulateArguments& options, Session& session) {
  const struct {
    const char* crowd;
    void (*run)(const SimulateArguments&, Session&);
  } kinds[] = {{kNumberSimulation, simulate_number_answers},
               {kComparisonSimulation, simulate_comparison_answers},
               {kSimilaritySimulation, simulate_similar_answers},
               {kSetSimulation, simulate_set_answers},
               {kSequenceSimulation, simulate_tagged_documents}};
  for (const auto& kind : kinds) {
    if (options.kind != kind.crowd) continue;
    kind.run(options, session);
    return true;
  }
  return false;
}

}  // namespace wisecrowd::app
