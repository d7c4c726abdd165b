#include "simulate/one_coin_workers.hpp"

namespace wisecrowd::regular_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary =
      "One-coin workers on a regular graph: every task has the same number of workers and every worker the same number "
      "of tasks.";
  info.parameters = beta_parameters();
  // The same as assignment = regular elsewhere, here by default.
  info.parameters.push_back(ParameterSpec::choice("assignment", "regular", {"regular"}, "fixed by this kind"));
  return info;
}

Crowd draw(const CrowdRequest& request) { return one_coin_workers(request); }

}  // namespace wisecrowd::regular_crowd
