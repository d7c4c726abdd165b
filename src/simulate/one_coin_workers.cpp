#include "simulate/one_coin_workers.hpp"

#include "simulate/tables.hpp"

namespace wisecrowd {

std::vector<ParameterSpec> beta_parameters() {
  return {ParameterSpec::real("a", 2, 1e-3, 1e6, "each worker's accuracy is drawn from Beta(a, b)"),
          ParameterSpec::real("b", 1, 1e-3, 1e6, "see a")};
}

Crowd one_coin_workers(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t cells = classes * classes;
  Crowd crowd;
  crowd.confusion.resize(request.size.workers * cells);
  crowd.kinds.assign(request.size.workers, "one coin");
  for (std::size_t w = 0; w < request.size.workers; ++w) {
    Rng rng = request.rng.fork("worker", w);
    const double accuracy = rng.beta(request.parameters.real("a"), request.parameters.real("b"));
    tables::one_coin(std::span(crowd.confusion).subspan(w * cells, cells), classes, accuracy);
  }
  return crowd;
}

}  // namespace wisecrowd
