#include <fmt/core.h>

#include "simulate/honest_workers.hpp"
#include "simulate/tables.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::naive_majority_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Honest workers among naive ones who always say the same class.";
  info.parameters = {ParameterSpec::real("naive_share", 0.6, 0, 1, "share of workers who always say naive_class"),
                     ParameterSpec::integer("naive_class", 0, 0, static_cast<double>(kMaxClasses), "what they say"),
                     honest_level_parameter()};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t workers = request.size.workers;
  const auto label = static_cast<std::size_t>(request.parameters.integer("naive_class"));
  if (label >= classes) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("parameter 'naive_class' cannot be {}: with {} classes it is at most {}", label, classes,
                            classes - 1));
  }
  Crowd crowd = honest_workers(request);
  const std::size_t cells = classes * classes;
  const std::size_t naive = share_of(request.parameters.real("naive_share"), workers);
  for (const std::uint32_t w : choose_workers(workers, naive, request.rng.fork("naive"))) {
    tables::constant(std::span(crowd.confusion).subspan(w * cells, cells), classes, label);
    crowd.kinds[w] = "naive";
  }
  return crowd;
}

}  // namespace wisecrowd::naive_majority_crowd
