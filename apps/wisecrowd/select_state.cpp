#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "failure.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"
#include "worker_offers.hpp"

namespace wisecrowd::app {
void select_from_state(const SelectOptions& options, Session& session) {
  if (!(options.budget > 0)) {
    throw usage_error("select needs --budget: how much the answers may cost together, for example --budget 100");
  }
  const SelectorInfo& policy =
      selector_named(options.policy.empty() ? std::string(default_selector()) : options.policy);
  const Parameters parameters = parameters_from(policy.parameters, options.settings, policy.name);
  Work work(session, options.run);
  const CrowdState state =
      at_stage(Stage::reading, [&] { return CrowdState::open(options.state, CrowdState::Access::read); });
  work.check_stopped();
  AskRequest request;
  request.budget = options.budget;
  request.candidates = options.candidates;
  request.round = options.round;
  if (!options.workers.empty()) {
    request.offers = at_stage(Stage::reading, [&] { return read_offers(options.workers); });
  }
  const auto [selection, tasks, workers, candidates] =
      wisecrowd::select_from_state(state, request, policy.name, parameters, work.context());
  work.check_stopped();
  const std::string csv = choices_csv(
      selection.choices, [&](TaskId task) -> std::string_view { return tasks[index(task)]; },
      [&](WorkerId worker) -> std::string_view { return workers[index(worker)]; });
  if (!options.out.empty()) {
    at_stage(Stage::writing, [&] { write_selection_file(options.out, csv); });
  }
  if (options.json) {
    nlohmann::ordered_json json = {{"state", options.state},
                                   {"policy", policy.name},
                                   {"candidates", candidates},
                                   {"workers", workers.size()},
                                   {"cost", selection.cost()},
                                   {"settled", selection.settled},
                                   {"not_worth_the_price", selection.unworthy},
                                   {"nobody_to_ask", selection.exhausted},
                                   {"choices", nlohmann::ordered_json::array()}};
    for (const Choice& choice : selection.choices) {
      json["choices"].push_back({{"task", tasks[index(choice.task)]},
                                 {"worker", workers[index(choice.worker)]},
                                 {"expected_gain", choice.expected_gain},
                                 {"cost", choice.cost}});
    }
    session.out.add(json.dump(2) + "\n");
    return;
  }
  if (options.out.empty()) {
    session.out.add(csv);
    return;
  }
  session.out.add(fmt::format("{} for {} in '{}'", counted(selection.choices.size(), "pair"),
                              fixed(selection.cost(), selection.cost() == std::floor(selection.cost()) ? 0 : 2),
                              printable(options.out)));
  if (selection.settled > 0) session.out.add(fmt::format("; {} sure enough", counted(selection.settled, "task")));
  if (selection.unworthy > 0) {
    session.out.add(fmt::format("; {} not worth the price", counted(selection.unworthy, "task")));
  }
  session.out.add("\n");
}

}  // namespace wisecrowd::app
