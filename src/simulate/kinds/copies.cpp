#include <fmt/core.h>

#include <memory>

#include "simulate/honest_workers.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::copies_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Some workers copy the answers of others.";
  info.parameters = {
      ParameterSpec::real("copy_share", 0.3, 0, 1, "share of workers who copy"),
      ParameterSpec::real(
          "rho", 0.8, 0, 1,
          "probability that a copier gives what the source says of the task, asked or not; else an answer "
          "of his own"),
      ParameterSpec::integer("sources", 2, 1, 1e9, "how many workers are copied from"), honest_level_parameter()};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t workers = request.size.workers;
  const std::size_t cells = classes * classes;
  const std::size_t copiers = share_of(request.parameters.real("copy_share"), workers);
  const auto sources = static_cast<std::size_t>(request.parameters.integer("sources"));
  if (copiers > 0 && copiers + sources > workers) {
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("{} workers cannot hold {} copiers and {} sources that do not copy: lower copy_share or sources",
                    workers, copiers, sources));
  }
  struct State {
    std::vector<double> own;            // tables of answers that are not copied
    std::vector<std::uint32_t> source;  // itself for those who do not copy
    PairDraws answers, choices;
    double rho;
    std::size_t classes;

    [[nodiscard]] std::size_t own_answer(std::uint64_t task, std::size_t truth, std::size_t worker) const {
      return pick(std::span(own).subspan((worker * classes + truth) * classes, classes), answers(task, worker));
    }
  };
  Crowd crowd = honest_workers(request);
  const double rho = request.parameters.real("rho");
  State state{crowd.confusion,
              std::vector<std::uint32_t>(workers),
              PairDraws(request.rng.fork("answers")),
              PairDraws(request.rng.fork("choices")),
              rho,
              classes};
  for (std::size_t w = 0; w < workers; ++w) state.source[w] = static_cast<std::uint32_t>(w);
  if (copiers > 0) {
    const auto chosen = choose_workers(workers, sources + copiers, request.rng.fork("copiers"));
    Rng rng = request.rng.fork("sources");
    for (std::size_t i = sources; i < chosen.size(); ++i) {
      const std::uint32_t copier = chosen[i];
      const std::uint32_t source = chosen[rng.below(sources)];
      state.source[copier] = source;
      crowd.kinds[copier] = fmt::format("copy of {}", worker_name(source));
      for (std::size_t c = 0; c < cells; ++c) {
        crowd.confusion[copier * cells + c] =
            rho * state.own[source * cells + c] + (1 - rho) * state.own[copier * cells + c];
      }
    }
  }
  crowd.answer = [state = std::make_shared<const State>(std::move(state))](std::uint64_t task, std::size_t truth,
                                                                           std::size_t worker) {
    const std::size_t source = state->source[worker];
    const bool copied = source != worker && state->choices(task, worker) < state->rho;
    return state->own_answer(task, truth, copied ? source : worker);
  };
  return crowd;
}

}  // namespace wisecrowd::copies_crowd
