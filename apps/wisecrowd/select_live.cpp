#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "output_place.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/live_asking.hpp"
#include "wisecrowd/live_files.hpp"
#include "wisecrowd/state_result.hpp"
#include "worker_offers.hpp"

namespace wisecrowd::app {
namespace {

/// What the command line says about a loop that begins.
LiveSettings settings_of(const SelectOptions& options, const std::string& policy) {
  LiveSettings settings;
  const std::vector<Parameters> parameters = parameters_for_each(
      {"loop", "dalc"},
      [&](const std::string& name) -> const std::vector<ParameterSpec>& {
        return name == "loop" ? live_loop_parameters() : learner_named("dalc").parameters;
      },
      options.settings);
  settings.policy = policy;
  settings.loop = parameters[0];
  settings.model = parameters[1];
  settings.network = options.network.spec(learner_named("dalc"));
  return settings;
}

std::string questions_csv(const LiveAsked& asked) {
  const auto number = [](double x) { return std::isnan(x) ? std::string() : fmt::format("{:.6g}", x); };
  std::string csv = "task,worker,uncertainty,reliability,cost\n";
  for (const LiveQuestion& q : asked.round.questions) {
    csv +=
        fmt::format("{},{},{},{},{}\n", csv_name(asked.tasks[index(q.task)]), csv_name(asked.workers[index(q.worker)]),
                    number(q.doubt), number(q.reliability), number(q.cost));
  }
  return csv;
}

nlohmann::ordered_json questions_json(const LiveAsked& asked, const LiveMemory& memory, const SelectOptions& options) {
  const LiveRound& round = asked.round;
  const auto number = [](double x) { return std::isnan(x) ? nlohmann::ordered_json() : nlohmann::ordered_json(x); };
  nlohmann::ordered_json json = {{"state", options.source},
                                 {"policy", memory.settings.policy},
                                 {"trainings", memory.round},
                                 {"trained_now", round.trained},
                                 {"by_chance", round.by_chance},
                                 {"new_answers", round.new_answers},
                                 {"given_up", round.given_up},
                                 {"refunded", round.refunded},
                                 {"waiting", round.waiting},
                                 {"answered_in_all", memory.answered},
                                 {"given_up_in_all", memory.given_up},
                                 {"spent_in_all", memory.spent},
                                 {"candidates", round.candidates},
                                 {"questions", nlohmann::ordered_json::array()}};
  for (const LiveQuestion& q : round.questions) {
    json["questions"].push_back({{"task", asked.tasks[index(q.task)]},
                                 {"worker", asked.workers[index(q.worker)]},
                                 {"uncertainty", number(q.doubt)},
                                 {"reliability", number(q.reliability)},
                                 {"cost", q.cost}});
  }
  return json;
}

/// What happened since the last time, in one line.
std::string news(const LiveAsked& asked) {
  const LiveRound& round = asked.round;
  std::string text = fmt::format("{} answered since the last time", counted(round.new_answers, "question"));
  if (round.given_up > 0) {
    text += fmt::format("; {} given up, {:g} refunded", counted(round.given_up, "question"), round.refunded);
  }
  if (round.waiting > 0) text += fmt::format("; {} still open", counted(round.waiting, "question"));
  if (round.by_chance) text += "; drawn by chance: there are too few answers to learn from";
  return text;
}

}  // namespace

void select_live_questions(const SelectOptions& options, const SelectorInfo& policy, Session& session) {
  if (!is_state_file(options.source)) {
    throw usage_error(
        fmt::format("policy {} asks, waits and learns, so it needs a state to take answers from: make one "
                    "by wisecrowd state",
                    policy.name));
  }
  if (options.features.features.empty()) {
    throw usage_error(
        fmt::format("policy {} needs --features: what is known of each task, also of those that nobody "
                    "has answered yet",
                    policy.name));
  }
  const std::string loop = options.loop.empty() ? options.source + ".loop" : options.loop;
  const LiveSettings given = settings_of(options, policy.name);
  warn_of_former_names(session, given.model);
  bool resumes = false;
  const LiveLock lock = at_stage(Stage::writing, [&] { return LiveLock(loop); });
  LiveMemory memory = at_stage(Stage::reading, [&] { return begin_or_resume(given, loop, resumes); });
  AskRequest request;
  request.budget = options.budget;
  if (!options.workers.empty()) {
    request.offers = at_stage(Stage::reading, [&] { return read_offers(options.workers); });
  }
  Work work(session, options.run);
  DataReport found;
  FeatureTable features = at_stage(Stage::reading, [&] {
    return read_features(options.features.features, options.features.tasks_file(),
                         {.recipe = resumes ? &memory.recipe : nullptr, .text_columns = options.features.text_columns},
                         work.context(), &found);
  });
  session.warn(found.warnings);
  const CrowdState state =
      at_stage(Stage::reading, [&] { return CrowdState::open(options.source, CrowdState::Access::read); });
  work.check_stopped();
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const LiveAsked asked = select_live(state, std::move(features), request, memory, now.count(), work.context());
  work.check_stopped();
  const std::string csv = questions_csv(asked);
  at_stage(Stage::writing, [&] {
    if (!options.out.empty()) write_selection_file(options.out, csv);
    write_live_memory(memory, loop);
  });
  if (options.json) {
    session.out.add_json(questions_json(asked, memory, options));
  } else if (options.out.empty()) {
    session.out.add_data(csv);
  } else {
    session.out.add(fmt::format("{} in {}; {}\n", counted(asked.round.questions.size(), "question"),
                                shell_word(options.out), news(asked)));
  }
}

}  // namespace wisecrowd::app
