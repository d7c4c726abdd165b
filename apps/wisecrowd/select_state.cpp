#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "failure.hpp"
#include "screen_text.hpp"
#include "select_modes.hpp"
#include "wisecrowd/state.hpp"
#include "worker_offers.hpp"

namespace wisecrowd::app {
namespace {

/// Workers of a file whom the state does not know yet are like the crowd as a whole, with the weight of a few answers.
void add_strangers(WorkerTables& workers, const OfferFile& file, const std::vector<std::size_t>& strangers,
                   std::vector<WorkerOffer>& offers) {
  const std::size_t cells = workers.class_count * workers.class_count;
  std::vector<double> crowd(cells, 0);
  for (std::size_t n = 0; n < workers.counts.size(); ++n) crowd[n % cells] += workers.counts[n];
  for (std::size_t k = 0; k < workers.class_count; ++k) {
    double sum = 0;
    for (std::size_t l = 0; l < workers.class_count; ++l) sum += crowd[k * workers.class_count + l];
    for (std::size_t l = 0; l < workers.class_count; ++l) {
      double& cell = crowd[k * workers.class_count + l];
      cell = ReplayOptions{}.prior_strength * (sum > 0 ? cell / sum : 1.0 / static_cast<double>(workers.class_count));
    }
  }
  for (const std::size_t n : strangers) {
    workers.names.push_back(file.workers[n]);
    workers.answers.push_back(0);
    workers.counts.insert(workers.counts.end(), crowd.begin(), crowd.end());
    offers.push_back(file.offers[n]);
  }
}

}  // namespace

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
  WorkerTables workers = state.workers();
  work.check_stopped();
  const std::size_t known_workers = workers.names.size();
  SelectionRequest request;
  std::vector<WorkerOffer> offers;
  double cheapest = 1;
  if (!options.workers.empty()) {
    const OfferFile file = at_stage(Stage::reading, [&] { return read_offers(options.workers); });
    std::vector<std::size_t> strangers;
    offers = offers_for(file, workers.names, strangers);
    add_strangers(workers, file, strangers, offers);
    request.offers = offers;
    for (const WorkerOffer& offer : file.offers) cheapest = std::min(cheapest, offer.cost);
  }
  request.budget = options.budget;
  request.pairs = static_cast<std::size_t>(options.budget / cheapest + 1e-9);
  constexpr std::size_t kTasksPerPair = 10, kFewestTasks = 10'000;
  const Candidates tasks = state.candidates(
      options.candidates != 0 ? options.candidates : std::max(kTasksPerPair * request.pairs, kFewestTasks));
  work.check_stopped();
  CrowdView view;
  view.class_count = tasks.class_count;
  view.posterior = tasks.posterior;
  view.worker_counts = workers.counts;
  view.task_answers = tasks.task_answers;
  view.worker_answers = workers.answers;
  view.asked = [&](TaskId task, WorkerId worker) {
    return index(worker) < known_workers && tasks.asked(index(task), static_cast<std::uint32_t>(index(worker)));
  };
  request.round = options.round != 0
                      ? options.round
                      : std::accumulate(workers.answers.begin(), workers.answers.end(), std::uint64_t{0});
  const Selection selection = select(view, request, policy.name, parameters, work.context());
  work.check_stopped();
  const std::string csv = choices_csv(
      selection.choices, [&](TaskId task) -> std::string_view { return tasks.names[index(task)]; },
      [&](WorkerId worker) -> std::string_view { return workers.names[index(worker)]; });
  if (!options.out.empty()) {
    at_stage(Stage::writing, [&] { write_selection_file(options.out, csv); });
  }
  if (options.json) {
    nlohmann::ordered_json json = {{"state", options.state},
                                   {"policy", policy.name},
                                   {"candidates", tasks.size()},
                                   {"workers", workers.names.size()},
                                   {"cost", selection.cost()},
                                   {"settled", selection.settled},
                                   {"not_worth_the_price", selection.unworthy},
                                   {"nobody_to_ask", selection.exhausted},
                                   {"choices", nlohmann::ordered_json::array()}};
    for (const Choice& choice : selection.choices) {
      json["choices"].push_back({{"task", tasks.names[index(choice.task)]},
                                 {"worker", workers.names[index(choice.worker)]},
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
