#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "simulate/crowd.hpp"
#include "simulate/tables.hpp"
#include "wisecrowd/error.hpp"

// Workers of a group see the task through the same eyes: the group's hidden label a follows Ξ_g[truth], and each
// member's answer follows Θ_j[a].
namespace wisecrowd::hidden_groups_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Workers in hidden groups: members share one noisy view of each task and add noise of their own.";
  info.parameters = {
      ParameterSpec::integer("groups", 5, 1, 1e9, "number of groups"),
      ParameterSpec::real(
          "largest_share", 0.5, 0, 1,
          "share of the workers in the first group; the others share the rest evenly, at least one each"),
      ParameterSpec::real("group_level", 1.5, 1, 1e6, "how good a group's view is, as level of better_than_random"),
      ParameterSpec::real("worker_level", 3, 1, 1e6,
                          "how well a worker tells that view, as level of better_than_random")};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t workers = request.size.workers;
  const std::size_t cells = classes * classes;
  const auto groups = static_cast<std::size_t>(request.parameters.integer("groups"));
  if (groups > workers) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} groups need at least as many workers, but there are {}", groups, workers));
  }
  struct State {
    std::vector<double> views;         // Ξ, groups × truth × hidden label
    std::vector<double> tellings;      // Θ, workers × hidden label × label
    std::vector<std::uint32_t> group;  // of each worker
    PairDraws hidden, answers;
    std::size_t classes;
  };
  State state{std::vector<double>(groups * cells),    std::vector<double>(workers * cells),
              std::vector<std::uint32_t>(workers),    PairDraws(request.rng.fork("hidden labels")),
              PairDraws(request.rng.fork("answers")), classes};
  for (std::size_t g = 0; g < groups; ++g) {
    Rng rng = request.rng.fork("group", g);
    tables::better_than_random(std::span(state.views).subspan(g * cells, cells), classes,
                               request.parameters.real("group_level"), rng);
  }
  const std::size_t others = groups - 1;
  const std::size_t largest = others == 0 ? workers
                                          : std::clamp(share_of(request.parameters.real("largest_share"), workers),
                                                       std::size_t{1}, workers - others);
  const auto order = choose_workers(workers, workers, request.rng.fork("members"));
  for (std::size_t i = 0; i < workers; ++i) {
    state.group[order[i]] = static_cast<std::uint32_t>(i < largest ? 0 : 1 + (i - largest) % others);
  }
  Crowd crowd;
  crowd.confusion.assign(workers * cells, 0.0);
  crowd.kinds.resize(workers);
  for (std::size_t w = 0; w < workers; ++w) {
    Rng rng = request.rng.fork("worker", w);
    const auto telling = std::span(state.tellings).subspan(w * cells, cells);
    tables::better_than_random(telling, classes, request.parameters.real("worker_level"), rng);
    crowd.kinds[w] = fmt::format("group {}", state.group[w] + 1);
    // What an answer follows when looked at alone: Ξ_g Θ_j.
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t a = 0; a < classes; ++a) {
        const double view = state.views[state.group[w] * cells + k * classes + a];
        for (std::size_t l = 0; l < classes; ++l) {
          crowd.confusion[w * cells + k * classes + l] += view * telling[a * classes + l];
        }
      }
    }
  }
  crowd.answer = [state = std::make_shared<const State>(std::move(state))](std::uint64_t task, std::size_t truth,
                                                                           std::size_t worker) {
    const std::size_t group = state->group[worker];
    const std::size_t k = state->classes;
    const std::size_t hidden =
        pick(std::span(state->views).subspan((group * k + truth) * k, k), state->hidden(task, group));
    return pick(std::span(state->tellings).subspan((worker * k + hidden) * k, k), state->answers(task, worker));
  };
  return crowd;
}

}  // namespace wisecrowd::hidden_groups_crowd
