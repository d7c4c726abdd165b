#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "failure.hpp"
#include "output_place.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"
#include "wisecrowd/experiment_files.hpp"
#include "wisecrowd/live_loop.hpp"
#include "wisecrowd/state_result.hpp"
#include "worker_offers.hpp"

namespace wisecrowd::app {
namespace {

AskRequest request_of(const SelectOptions& options) {
  AskRequest request;
  request.budget = options.budget;
  request.candidates = options.candidates;
  request.round = options.round;
  if (!options.workers.empty()) {
    request.offers = at_stage(Stage::reading, [&] { return read_offers(options.workers); });
  }
  return request;
}

NamedSelection choose(const SelectOptions& options, bool state, const SelectorInfo& policy, Session& session,
                      Work& work) {
  const Parameters parameters = parameters_from(policy.parameters, options.settings, policy.name);
  warn_of_former_names(session, parameters);
  const AskRequest request = request_of(options);
  if (state) {
    const CrowdState crowd =
        at_stage(Stage::reading, [&] { return CrowdState::open(options.source, CrowdState::Access::read); });
    work.check_stopped();
    session.warn(crowd.summary().warnings);
    return select_from_state(crowd, request, policy.name, parameters, work.context());
  }
  const MethodInfo& method =
      method_named(options.method.empty() ? std::string(default_refit_method()) : options.method);
  DataReport found;
  const CategoryData data = at_stage(Stage::reading, [&] {
    return read_dataset(options.source, std::nullopt, options.read.options(), work.context(), &found);
  });
  work.check_stopped();
  session.warn(found.warnings);
  const CategoryFit fit = aggregate(data, method.name, Parameters(method.parameters), work.context());
  work.check_stopped();
  session.warn(inspect_answers(data.answers, work.context()));
  session.warn(fit.warnings);
  return select_from_fit(data.answers, fit, request, policy.name, parameters, work.context());
}

}  // namespace

void select_choices(const SelectOptions& options, Session& session) {
  if (!(options.budget > 0)) {
    throw usage_error("select needs --budget: how much the answers may cost together, for example --budget 100");
  }
  const bool state = is_state_file(options.source);
  if (state && !options.method.empty()) {
    throw usage_error("--method is for answers: a state has its own (see wisecrowd state)");
  }
  if (!options.out.empty()) require_place_for(options.out, options.force);
  const SelectorInfo& policy =
      selector_named(options.policy.empty() ? std::string(default_selector()) : options.policy);
  if (is_live_policy(policy.name)) return select_live_questions(options, policy, session);
  if (!options.features.features.empty()) {
    throw usage_error(
        fmt::format("--features are for the policies that a network decides, and {} is none: choose dalc, bald or "
                    "predictive_entropy by --policy",
                    policy.name));
  }
  Work work(session, options.run);
  const auto [selection, tasks, workers, candidates] = choose(options, state, policy, session, work);
  work.check_stopped();
  const std::string csv = choices_csv(
      selection.choices, [&](TaskId task) -> std::string_view { return tasks[index(task)]; },
      [&](WorkerId worker) -> std::string_view { return workers[index(worker)]; });
  if (!options.out.empty()) {
    at_stage(Stage::writing, [&] { write_selection_file(options.out, csv); });
  }
  if (options.json) {
    nlohmann::ordered_json json = {{state ? "state" : "answers", options.source},
                                   {"policy", policy.name},
                                   {"candidates", candidates},
                                   {"workers", workers.size()},
                                   {"cost", selection.cost()},
                                   {"settled", selection.settled},
                                   {"not_worth_the_price", selection.not_worth_cost},
                                   {"nobody_to_ask", selection.exhausted},
                                   {"choices", nlohmann::ordered_json::array()}};
    for (const Choice& choice : selection.choices) {
      json["choices"].push_back({{"task", tasks[index(choice.task)]},
                                 {"worker", workers[index(choice.worker)]},
                                 {"expected_gain", choice.expected_gain},
                                 {"cost", choice.cost}});
    }
    session.out.add_json(json);
    return;
  }
  if (options.out.empty()) {
    session.out.add_data(csv);
    return;
  }
  session.out.add(fmt::format("{} for {} in {}", counted(selection.choices.size(), "pair"),
                              fixed(selection.cost(), selection.cost() == std::floor(selection.cost()) ? 0 : 2),
                              shell_word(options.out)));
  if (selection.settled > 0) session.out.add(fmt::format("; {} sure enough", counted(selection.settled, "task")));
  if (selection.not_worth_cost > 0) {
    session.out.add(fmt::format("; {} not worth the price", counted(selection.not_worth_cost, "task")));
  }
  session.out.add("\n");
}

}  // namespace wisecrowd::app
