#include "wisecrowd/asking.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "wisecrowd/category_result.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Workers whom nobody knows yet are like the crowd as a whole, with the weight of a few answers.
void add_unknown_workers(KnownWorkers& workers, const NamedOffers& given,
                         const std::vector<std::size_t>& unknown_workers, std::vector<WorkerOffer>& offers) {
  std::vector<double> crowd = workers.tables.sum();
  normalise_rows(crowd, workers.tables.class_count());
  for (double& cell : crowd) cell *= ReplayOptions{}.prior_strength;
  for (const std::size_t n : unknown_workers) {
    workers.names.push_back(given.workers[n]);
    workers.answers.push_back(0);
    workers.tables.append(crowd);
    offers.push_back(given.offers[n]);
  }
}

/// Workers with those added whom the request brings; what is asked of the selector.
struct Terms {
  KnownWorkers workers;
  std::size_t known_workers = 0;
  std::vector<WorkerOffer> offers;
  SelectionRequest request;

  Terms(KnownWorkers known, const AskRequest& asked) : workers(std::move(known)) {
    known_workers = workers.names.size();
    double cheapest = 1;
    if (asked.offers) {
      std::vector<std::size_t> unknown_workers;
      offers = offers_for(*asked.offers, workers.names, unknown_workers);
      add_unknown_workers(workers, *asked.offers, unknown_workers, offers);
      for (const WorkerOffer& offer : asked.offers->offers) cheapest = std::min(cheapest, offer.cost);
    }
    if (!(asked.budget > 0) || !std::isfinite(asked.budget)) {
      throw Error(
          ErrorCode::bad_parameter,
          fmt::format("budget {}: it takes a number above 0: how much the answers may cost together", asked.budget));
    }
    request.offers = offers;
    request.budget = asked.budget;
    request.pairs = static_cast<std::size_t>(asked.budget / cheapest + 1e-9);
    request.round = asked.round != 0
                        ? asked.round
                        : std::accumulate(workers.answers.begin(), workers.answers.end(), std::uint64_t{0});
  }
};

std::vector<std::string> list_of(const NameTable& names) {
  std::vector<std::string> list;
  for (std::size_t n = 0; n < names.size(); ++n) list.emplace_back(names[n]);
  return list;
}

bool has_answered(const CategoryAnswers& answers, TaskId task, WorkerId worker) {
  const auto workers = answers.workers_of(task);  // sorted
  return std::binary_search(workers.begin(), workers.end(), worker);
}

CrowdView view_of(const CategoryAnswers& answers, const CategoryFit& fit, const CrowdKnowledge& known) {
  CrowdView view;
  view.class_count = answers.class_count();
  view.posterior = fit.posterior;
  view.posterior_is_averaged = fit.posterior_is_averaged;
  view.worker_counts = known.tables.cells();
  view.task_answers = known.task_answers;
  view.worker_answers = known.worker_answers;
  view.asked = [&](TaskId task, WorkerId worker) { return has_answered(answers, task, worker); };
  return view;
}

}  // namespace

std::vector<WorkerOffer> offers_for(const NamedOffers& given, const std::vector<std::string>& names,
                                    std::vector<std::size_t>& unknown_workers) {
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t j = 0; j < names.size(); ++j) place.emplace(names[j], j);
  WorkerOffer absent;
  absent.available = false;
  std::vector<WorkerOffer> offers(names.size(), absent);
  for (std::size_t n = 0; n < given.workers.size(); ++n) {
    const auto at = place.find(given.workers[n]);
    if (at == place.end()) {
      unknown_workers.push_back(n);
    } else {
      offers[at->second] = given.offers[n];
    }
  }
  return offers;
}

NamedSelection select_from_state(const CrowdState& state, const AskRequest& asked, std::string_view selector,
                                 const Parameters& parameters, const RunContext& context) {
  constexpr std::size_t kTasksPerPair = 10, kFewestTasks = 10'000;
  Terms terms(state.workers(), asked);
  Candidates tasks = state.candidates(
      asked.candidates != 0 ? asked.candidates : std::max(kTasksPerPair * terms.request.pairs, kFewestTasks));
  CrowdView view;
  view.class_count = tasks.class_count;
  view.posterior = tasks.posterior;
  view.worker_counts = terms.workers.tables.cells();
  view.task_answers = tasks.task_answers;
  view.worker_answers = terms.workers.answers;
  view.answers = {tasks.answer_offsets, tasks.answer_workers, tasks.answer_labels};
  view.asked = [&](TaskId task, WorkerId worker) {
    if (index(worker) < terms.known_workers && tasks.asked(index(task), worker)) return true;
    return asked.excluded && asked.excluded(tasks.names[index(task)], terms.workers.names[index(worker)]);
  };
  NamedSelection chosen;
  chosen.selection = select(view, terms.request, selector, parameters, context);
  chosen.candidates = tasks.size();
  chosen.tasks = std::move(tasks.names);
  chosen.workers = std::move(terms.workers.names);
  return chosen;
}

NamedSelection select_from_fit(const CategoryAnswers& answers, const CategoryFit& fit, const AskRequest& asked,
                               std::string_view selector, const Parameters& parameters, const RunContext& context) {
  CrowdKnowledge known = knowledge_of(answers, fit, ReplayOptions{}.prior_strength);
  Terms terms({.names = list_of(answers.worker_names()),
               .tables = std::move(known.tables),
               .answers = std::move(known.worker_answers)},
              asked);
  CrowdView view = view_of(answers, fit, known);
  view.worker_counts = terms.workers.tables.cells();
  view.worker_answers = terms.workers.answers;
  view.answers = {answers.task_offsets(), answers.workers(), answers.labels()};
  view.asked = [&](TaskId task, WorkerId worker) {
    return index(worker) < terms.known_workers && has_answered(answers, task, worker);
  };
  NamedSelection chosen;
  chosen.selection = select(view, terms.request, selector, parameters, context);
  chosen.candidates = answers.task_count();
  chosen.tasks = list_of(answers.task_names());
  chosen.workers = std::move(terms.workers.names);
  return chosen;
}

Advice advise(const CategoryAnswers& answers, const CategoryFit& fit, const std::optional<NamedOffers>& given,
              std::string_view selector, const Parameters& parameters, const RunContext& context) {
  Advice advice;
  advice.known = knowledge_of(answers, fit, ReplayOptions{}.prior_strength);
  SelectionRequest request;
  request.pairs = answers.task_count();
  std::vector<WorkerOffer> offers;
  if (given) {
    std::vector<std::size_t> unknown_workers;
    offers = offers_for(*given, list_of(answers.worker_names()), unknown_workers);
    request.offers = offers;
  }
  // The view is without the answers: a task is to be shown for its own sake, not because it tells of a worker.
  advice.tasks = select(view_of(answers, fit, advice.known), request, selector, parameters, context);
  // What an answer tells, not a random draw, decides over the order in which tasks are shown.
  std::stable_sort(advice.tasks.choices.begin(), advice.tasks.choices.end(),
                   [](const Choice& a, const Choice& b) { return a.expected_gain > b.expected_gain; });
  const std::vector<double> tables = worker_confusion({answers, {}, {}}, fit, context);
  if (tables.empty() && answers.worker_count() > 0 && answers.class_count() > 0) {
    throw Error(ErrorCode::unsupported,
                "tables of so many workers and classes would take more than 2 GB, and workers "
                "cannot be judged without: use a method that learns tables, or merge rare "
                "classes");
  }
  advice.dependence = find_dependence({.answers = answers}, {}, context);
  advice.workers = judge_workers(
      {answers, tables, fit.class_prior, advice.dependence.groups, {}, {}, advice.dependence.everybody_grouped}, {},
      context);
  return advice;
}

std::string_view default_refit_method() { return "hierarchical_dawid_skene"; }

RefitChoice usual_replay_refit(std::size_t classes) {
  const double wrong = 1 / static_cast<double>(std::max<std::size_t>(classes, 2) - 1);
  return {"gibbs",
          {{"chains", std::int64_t{2}},
           {"burn_in", std::int64_t{50}},
           {"sweeps", std::int64_t{100}},
           {"off_diagonal_prior", wrong}}};
}

bool should_auto_refit(const StateSummary& summary) {
  constexpr std::uint64_t kSmall = 200'000;  // a refit takes about a second
  return summary.answers <= kSmall && !summary.staleness.advice().empty();
}

}  // namespace wisecrowd
