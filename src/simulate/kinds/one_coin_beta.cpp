#include "simulate/one_coin_workers.hpp"

namespace wisecrowd::one_coin_beta_crowd {

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Each worker is right with one probability, drawn from Beta(a, b); wrong answers are spread evenly.";
  info.parameters = beta_parameters();
  return info;
}

Crowd draw(const CrowdRequest& request) { return one_coin_workers(request); }

}  // namespace wisecrowd::one_coin_beta_crowd
