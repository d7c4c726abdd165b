#include "simulate/honest_workers.hpp"

#include "simulate/tables.hpp"

namespace wisecrowd {

ParameterSpec honest_level_parameter(double value) {
  return ParameterSpec::real(
      "level", value, 1, 1e6,
      "how good honest workers are: uniform rows, the largest entry on the diagonal times level, "
      "normalised");
}

Crowd honest_workers(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t cells = classes * classes;
  Crowd crowd;
  crowd.confusion.resize(request.size.workers * cells);
  crowd.kinds.assign(request.size.workers, "honest");
  for (std::size_t w = 0; w < request.size.workers; ++w) {
    Rng rng = request.rng.fork("worker", w);
    tables::better_than_random(std::span(crowd.confusion).subspan(w * cells, cells), classes,
                               request.parameters.real("level"), rng);
  }
  return crowd;
}

}  // namespace wisecrowd
