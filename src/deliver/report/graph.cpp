#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/permutation.hpp"
#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostNodes = 60, kMostGraphWorkers = 30;
constexpr std::size_t kTries = 2000;

/// Random tasks with their workers until there are enough nodes, and all answers between them.
Json sample(const Source& source) {
  const CategoryAnswers& answers = source.answers();
  std::vector<std::uint32_t> tasks;
  std::map<std::uint32_t, std::size_t> place_of_worker;
  std::vector<std::uint32_t> workers;
  const Permutation shuffled(answers.task_count(), source.context.rng("report graph"));
  for (std::size_t i = 0; i < std::min(kTries, answers.task_count()); ++i) {
    if (tasks.size() + workers.size() >= kMostNodes) break;
    const auto task = static_cast<std::uint32_t>(shuffled(i));
    bool joined = false;
    for (const WorkerId worker : answers.workers_of(TaskId{task})) {
      const auto w = static_cast<std::uint32_t>(index(worker));
      if (place_of_worker.contains(w)) {
        joined = true;
      } else if (workers.size() < kMostGraphWorkers && tasks.size() + workers.size() + 1 < kMostNodes) {
        place_of_worker[w] = workers.size();
        workers.push_back(w);
        joined = true;
      }
    }
    if (joined) tasks.push_back(task);
  }
  Json edges = Json::array(), task_names = Json::array(), worker_names = Json::array();
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    task_names.push_back(shown_name(answers.task_names()[tasks[t]]));
    for (const WorkerId worker : answers.workers_of(TaskId{tasks[t]})) {
      const auto found = place_of_worker.find(static_cast<std::uint32_t>(index(worker)));
      if (found != place_of_worker.end()) edges.push_back({t, found->second});
    }
  }
  for (const std::uint32_t w : workers) worker_names.push_back(shown_name(answers.worker_names()[w]));
  if (tasks.size() < answers.task_count() || workers.size() < answers.worker_count()) {
    source.sampling.push_back(fmt::format("The picture of who answered what is a random sample: {} and {}.",
                                          counted(tasks.size(), "task"), counted(workers.size(), "worker")));
  }
  return {{"tasks", std::move(task_names)}, {"workers", std::move(worker_names)}, {"edges", std::move(edges)}};
}

std::string words_on_parts(const Description& description) {
  const std::size_t answered = description.tasks - description.unanswered_tasks;
  if (description.components == 0) return "Nobody answered anything.";
  if (description.components == 1) {
    return "All tasks and workers hang together: from every worker a chain of shared tasks leads to every other one, "
           "so "
           "all can be compared.";
  }
  return fmt::format(
      "The answers fall into {} that share neither a task nor a worker; the largest holds {} of {}. Workers of "
      "different "
      "parts cannot be compared.",
      counted(description.components, "part"), grouped(description.largest_component_tasks),
      counted(answered, "answered task"));
}

}  // namespace

void add_graph(const Source& source, Json& document) {
  const Description& description = source.facts.description;
  const AgreementFacts& agreement = source.facts.agreement;
  if (agreement.pairs > 0) {
    Json by_class = Json::array();
    for (const std::size_t id : source.classes.ids()) by_class.push_back(number(agreement.by_class[id]));
    document["agreement"] = {{"share", number(agreement.share, 6)},
                             {"low", number(agreement.low, 6)},
                             {"high", number(agreement.high, 6)},
                             {"fleiss_kappa", number(description.fleiss_kappa)},
                             {"krippendorff_alpha", number(description.krippendorff_alpha)},
                             {"unanimous", number(description.unanimous_share)},
                             {"pairs", agreement.pairs},
                             {"by_class", std::move(by_class)}};
  }
  if (description.answers == 0) return;
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? Json(nullptr) : number(static_cast<double>(part) / static_cast<double>(whole));
  };
  Json sizes = Json::array();
  for (const GraphPart& part : source.facts.parts) {
    sizes.push_back({{"tasks", part.tasks}, {"workers", part.workers}, {"answers", part.answers}});
  }
  document["graph"] = {{"components", description.components},
                       {"largest_task_share",
                        share(description.largest_component_tasks, description.tasks - description.unanswered_tasks)},
                       {"largest_worker_share",
                        share(description.largest_component_workers, description.workers - description.silent_workers)},
                       {"sizes", std::move(sizes)},
                       {"words", words_on_parts(description)},
                       {"sample", sample(source)}};
}

}  // namespace wisecrowd::report
