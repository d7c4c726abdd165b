#include "select/expected_information/pilot.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.hpp"
#include "select/shared/believable.hpp"

namespace wisecrowd::expected_information_selector {
namespace {

/// Answers that the pilot has in all.
double size_of(const CrowdView& crowd, const SelectionRequest& request, const Pilot& pilot) {
  double workers = static_cast<double>(crowd.worker_count());
  if (!request.offers.empty()) {
    workers = static_cast<double>(std::count_if(request.offers.begin(), request.offers.end(),
                                                [](const WorkerOffer& o) { return o.available && o.capacity > 0; }));
  }
  const double tasks = std::ceil(pilot.tasks * static_cast<double>(crowd.task_count()));
  return std::min(pilot.per_worker * workers, tasks * static_cast<double>(pilot.depth));
}

/// How many more a task may get now.
std::size_t room_of(const CrowdView& crowd, TaskId task, const Pilot& pilot) {
  const std::size_t answers = crowd.task_answers[index(task)];
  if (answers >= pilot.depth) return 0;
  const std::size_t others =
      crowd.askable ? crowd.askable(task).size() : crowd.worker_count() - std::min(answers, crowd.worker_count());
  const std::size_t room = std::min(pilot.depth - answers, others);
  if (pilot.delta == 0) return room;
  const auto q = crowd.posterior_of(task);
  return selecting::surest(q, pilot.power) >= 1 - pilot.delta ? 0 : std::min<std::size_t>(room, 1);
}

}  // namespace

PilotPlan plan_pilot(const CrowdView& crowd, const SelectionRequest& request, const Pilot& pilot,
                     const RunContext& context) {
  PilotPlan plan;
  const double answers = std::accumulate(crowd.worker_answers.begin(), crowd.worker_answers.end(), 0.0);
  const double lacking = std::ceil(size_of(crowd, request, pilot) - answers);
  if (lacking <= 0) return plan;
  const std::size_t wanted = std::min(request.pairs, static_cast<std::size_t>(lacking));
  std::vector<TaskId> order;
  for (std::size_t i = 0; i < crowd.task_count(); ++i) {
    if (crowd.task_answers[i] > 0) order.push_back(TaskId(i));
  }
  const std::size_t begun = order.size();
  for (std::size_t i = 0; i < crowd.task_count(); ++i) {
    if (crowd.task_answers[i] == 0) order.push_back(TaskId(i));
  }
  Rng rng = context.rng("select: pilot", request.round);
  rng.shuffle(std::span(order).subspan(begun));
  // One answer per batch must not mean that a large batch begins as many tasks as the pilot has answers.
  if (pilot.delta > 0) {
    const double fresh = std::ceil(lacking / static_cast<double>(pilot.depth));
    order.resize(std::min(order.size(), begun + static_cast<std::size_t>(fresh)));
  }
  plan.rooms.assign(crowd.task_count(), 0);
  for (const TaskId task : order) {
    if (plan.pairs >= wanted) break;
    const std::size_t room = std::min(room_of(crowd, task, pilot), wanted - plan.pairs);
    plan.rooms[index(task)] = static_cast<std::uint32_t>(room);
    plan.pairs += room;
  }
  if (plan.pairs == 0) plan.rooms.clear();
  return plan;
}

}  // namespace wisecrowd::expected_information_selector
