#include <algorithm>

#include "simulate/honest_workers.hpp"
#include "simulate/tables.hpp"

namespace wisecrowd::colluders_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary =
      "Some workers agree beforehand on one wrong answer to the tasks they attack, and tell the truth elsewhere.";
  info.parameters = {
      ParameterSpec::real("alpha", 0.3, 0, 1, "share of workers who collude"),
      ParameterSpec::real("p_corr", 0.9, 0, 1, "probability that a task is attacked"),
      ParameterSpec::real("noise", 0, 0, 1, "probability that a colluder gives any class instead, each alike"),
      honest_level_parameter()};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t workers = request.size.workers;
  const std::size_t cells = classes * classes;
  const double attack = request.parameters.real("p_corr");
  const double noise = request.parameters.real("noise");
  Crowd crowd = honest_workers(request);
  std::vector<bool> colludes(workers, false);
  const std::size_t count = share_of(request.parameters.real("alpha"), workers);
  for (const std::uint32_t w : choose_workers(workers, count, request.rng.fork("colluders"))) {
    colludes[w] = true;
    crowd.kinds[w] = "colluder";
    tables::one_coin(std::span(crowd.confusion).subspan(w * cells, cells), classes, 1 - attack);
    for (double& cell : std::span(crowd.confusion).subspan(w * cells, cells)) {
      cell = (1 - noise) * cell + noise / static_cast<double>(classes);
    }
  }
  crowd.answer = [honest = crowd.confusion, colludes = std::move(colludes), classes, attack, noise,
                  answers = PairDraws(request.rng.fork("answers")), plots = PairDraws(request.rng.fork("plots")),
                  slips = PairDraws(request.rng.fork("slips"))](std::uint64_t task, std::size_t truth,
                                                                std::size_t worker) {
    if (!colludes[worker]) {
      return pick(std::span(honest).subspan((worker * classes + truth) * classes, classes), answers(task, worker));
    }
    if (const double slip = slips(task, worker); slip < noise) {
      return std::min(static_cast<std::size_t>(slip / noise * static_cast<double>(classes)), classes - 1);
    }
    if (plots(task, 0) >= attack) return truth;
    const auto shift = static_cast<std::size_t>(plots(task, 1) * static_cast<double>(classes - 1));
    return (truth + 1 + shift) % classes;
  };
  return crowd;
}

}  // namespace wisecrowd::colluders_crowd
