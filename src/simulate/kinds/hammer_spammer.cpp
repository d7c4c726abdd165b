#include "simulate/crowd.hpp"
#include "simulate/tables.hpp"

namespace wisecrowd::hammer_spammer_crowd {
namespace {

/// What a spammer knows: keeps the order of classes identifiable in theory, and is invisible in practice.
constexpr double kSpammerEdge = 1e-4;

}  // namespace

SimulationInfo info() {
  SimulationInfo info;
  info.summary = "Workers are hammers, always right, or spammers, who guess evenly.";
  info.parameters = {ParameterSpec::real("gamma", 0.5, 0, 1, "probability that a worker is a hammer")};
  return info;
}

Crowd draw(const CrowdRequest& request) {
  const std::size_t classes = request.size.classes;
  const std::size_t cells = classes * classes;
  Crowd crowd;
  crowd.confusion.resize(request.size.workers * cells);
  crowd.kinds.resize(request.size.workers);
  // The diagonal of (1/K + ε I), rows normalised.
  const double spammer_accuracy = (1 / static_cast<double>(classes) + kSpammerEdge) / (1 + kSpammerEdge);
  for (std::size_t w = 0; w < request.size.workers; ++w) {
    const bool hammer = request.rng.fork("worker", w).bernoulli(request.parameters.real("gamma"));
    tables::one_coin(std::span(crowd.confusion).subspan(w * cells, cells), classes, hammer ? 1 : spammer_accuracy);
    crowd.kinds[w] = hammer ? "hammer" : "spammer";
  }
  return crowd;
}

}  // namespace wisecrowd::hammer_spammer_crowd
