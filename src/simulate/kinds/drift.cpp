#include <fmt/core.h>

#include <limits>

#include "simulate/honest_workers.hpp"
#include "simulate/tables.hpp"

namespace wisecrowd::drift_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Workers of one accuracy, some of whom tire: from some answer on they guess.";
  info.parameters = {
      ParameterSpec::real("accuracy", 0.85, 0, 1, "share of right answers of a worker who is awake"),
      ParameterSpec::real("drift_share", 0.3, 0, 1, "share of workers who tire"),
      ParameterSpec::integer("after", 50, 0, 1e9, "answers that they give before, in the order of the tasks"),
      ParameterSpec::real("depth", 1, 0, 1, "how far they then go from their own accuracy (0) to guessing (1)")};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes, workers = request.size.workers, cells = classes * classes;
  const double accuracy = request.parameters.real("accuracy"), depth = request.parameters.real("depth");
  const auto after = static_cast<std::uint64_t>(request.parameters.integer("after"));
  Crowd crowd;
  crowd.kinds.assign(workers, "honest");
  crowd.confusion.resize(workers * cells);
  for (std::size_t w = 0; w < workers; ++w) {
    tables::one_coin(std::span(crowd.confusion).subspan(w * cells, cells), classes, accuracy);
  }
  crowd.changed = crowd.confusion;
  crowd.change.assign(workers, std::numeric_limits<std::uint64_t>::max());
  const double tired = (1 - depth) * accuracy + depth / static_cast<double>(classes);
  const std::size_t count = share_of(request.parameters.real("drift_share"), workers);
  for (const std::uint32_t w : choose_workers(workers, count, request.rng.fork("tired"))) {
    tables::one_coin(std::span(crowd.changed).subspan(w * cells, cells), classes, tired);
    crowd.change[w] = after;
    crowd.kinds[w] = fmt::format("tired after {} answers", after);
  }
  return crowd;
}

}  // namespace wisecrowd::drift_crowd
