#include "aggregate/categories/latent_ordinal/threshold_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"

namespace wisecrowd::latent_ordinal {
namespace {

constexpr double kLeastLogNoise = -2.302585092994046;  // 0.1: the spacing of nodes resolves no less
constexpr double kMostLogNoise = 3;
constexpr double kMostBias = 6;
constexpr double kNegligible = 1e-9;  // expected answers at a node
constexpr double kSmallStep = 1e-4;   // what is left after it is below its square

double normal_density(double x) { return 0.3989422804014327 * std::exp(-0.5 * x * x); }
double normal_below(double x) { return 0.5 * std::erfc(-0.7071067811865476 * x); }

/// Φ(high) − Φ(low) without cancellation in the upper tail.
double normal_between(double low, double high) {
  return low > 0 ? normal_below(-low) - normal_below(-high) : normal_below(high) - normal_below(low);
}

constexpr double kInfinity = 1e300;

/// For one node: the standardised cuts, their densities, and the probabilities of the labels.
struct AtNode {
  explicit AtNode(std::size_t cuts) : place(cuts), density(cuts), probability(cuts + 1) {}
  void look(double g, const Worker& worker, double precision, std::span<const double> cuts, bool densities) {
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      place[c] = (cuts[c] - g - worker.bias) * precision;
      if (densities) density[c] = normal_density(place[c]);
    }
    for (std::size_t l = 0; l <= cuts.size(); ++l) {
      const double low = l == 0 ? -kInfinity : place[l - 1];
      const double high = l == cuts.size() ? kInfinity : place[l];
      probability[l] = std::max(normal_between(low, high), kProbabilityFloor);
    }
  }
  std::vector<double> place, density, probability;
};

}  // namespace

const std::array<double, kNodes>& node_prior() {
  static const auto prior = [] {
    std::array<double, kNodes> p{};
    for (std::size_t m = 0; m < kNodes; ++m) p[m] = normal_density(node(m));
    normalise(p);
    return p;
  }();
  return prior;
}

void log_table(const Worker& worker, std::span<const double> cuts, double* logs) {
  const double precision = std::exp(-worker.log_noise);
  AtNode at(cuts.size());
  for (std::size_t m = 0; m < kNodes; ++m) {
    at.look(node(m), worker, precision, cuts, false);
    for (std::size_t l = 0; l <= cuts.size(); ++l) logs[l * kNodes + m] = std::log(at.probability[l]);
  }
}

double worker_objective(const Worker& worker, std::span<const double> cuts, const double* counts,
                        const WorkerPrior& prior, WorkerSlope* slope) {
  const double precision = std::exp(-worker.log_noise);
  const double bias_weight = 1 / (prior.bias_spread * prior.bias_spread);
  const double noise_weight = 1 / (prior.noise_spread * prior.noise_spread);
  const double from_level = worker.log_noise - prior.noise_level;
  double value = -0.5 * (bias_weight * worker.bias * worker.bias + noise_weight * from_level * from_level);
  if (slope != nullptr) {
    *slope = {-bias_weight * worker.bias, -noise_weight * from_level, bias_weight, 0, noise_weight};
  }
  const std::size_t labels = cuts.size() + 1;
  AtNode at(cuts.size());
  for (std::size_t m = 0; m < kNodes; ++m) {
    double here = 0;
    for (std::size_t l = 0; l < labels; ++l) here += counts[l * kNodes + m];
    if (here <= kNegligible) continue;
    at.look(node(m), worker, precision, cuts, slope != nullptr);
    for (std::size_t l = 0; l < labels; ++l) {
      const double p = at.probability[l];
      value += counts[l * kNodes + m] * std::log(p);
      if (slope == nullptr) continue;
      const double low = l == 0 ? 0 : at.density[l - 1], high = l + 1 == labels ? 0 : at.density[l];
      const double low_place = l == 0 ? 0 : at.place[l - 1], high_place = l + 1 == labels ? 0 : at.place[l];
      const double by_bias = -(high - low) * precision / p;
      const double by_noise = -(high_place * high - low_place * low) / p;
      const double said = counts[l * kNodes + m], expected = here * p;
      slope->bias += said * by_bias;
      slope->log_noise += said * by_noise;
      slope->bias_bias += expected * by_bias * by_bias;
      slope->bias_noise += expected * by_bias * by_noise;
      slope->noise_noise += expected * by_noise * by_noise;
    }
  }
  return value;
}

void improve(Worker& worker, std::span<const double> cuts, const double* counts, const WorkerPrior& prior) {
  constexpr int kSteps = 2, kHalvings = 6;
  for (int step = 0; step < kSteps; ++step) {
    WorkerSlope slope;
    const double before = worker_objective(worker, cuts, counts, prior, &slope);
    const double determinant = slope.bias_bias * slope.noise_noise - slope.bias_noise * slope.bias_noise;
    if (!(determinant > 0)) return;
    const double bias = (slope.noise_noise * slope.bias - slope.bias_noise * slope.log_noise) / determinant;
    const double noise = (slope.bias_bias * slope.log_noise - slope.bias_noise * slope.bias) / determinant;
    const bool small = std::abs(bias) < kSmallStep && std::abs(noise) < kSmallStep;
    double length = 1;
    for (int halving = 0;; ++halving, length /= 2) {
      if (halving == kHalvings) return;
      const Worker moved{std::clamp(worker.bias + length * bias, -kMostBias, kMostBias),
                         std::clamp(worker.log_noise + length * noise, kLeastLogNoise, kMostLogNoise)};
      if (worker_objective(moved, cuts, counts, prior) < before) continue;
      worker = moved;
      break;
    }
    if (small) return;
  }
}

void CutSlope::add(const CutSlope& other) {
  for (std::size_t c = 0; c < gradient.size(); ++c) {
    gradient[c] += other.gradient[c];
    diagonal[c] += other.diagonal[c];
    beside[c] += other.beside[c];
  }
}

double add_cut_terms(const Worker& worker, std::span<const double> cuts, const double* counts, CutSlope* slope) {
  const double precision = std::exp(-worker.log_noise);
  const std::size_t labels = cuts.size() + 1;
  double value = 0;
  AtNode at(cuts.size());
  for (std::size_t m = 0; m < kNodes; ++m) {
    double here = 0;
    for (std::size_t l = 0; l < labels; ++l) here += counts[l * kNodes + m];
    if (here <= kNegligible) continue;
    at.look(node(m), worker, precision, cuts, slope != nullptr);
    for (std::size_t l = 0; l < labels; ++l) value += counts[l * kNodes + m] * std::log(at.probability[l]);
    if (slope == nullptr) continue;
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const double rise = at.density[c] * precision;
      const double below = at.probability[c], above = at.probability[c + 1];
      slope->gradient[c] += rise * (counts[c * kNodes + m] / below - counts[(c + 1) * kNodes + m] / above);
      slope->diagonal[c] += here * rise * rise * (1 / below + 1 / above);
      if (c + 1 < cuts.size()) slope->beside[c] -= here * rise * at.density[c + 1] * precision / above;
    }
  }
  return value;
}

double add_cut_prior(std::span<const double> cuts, double pseudo_count, CutSlope* slope) {
  AtNode at(cuts.size());
  at.look(0, {}, 1, cuts, true);
  double value = 0;
  for (const double p : at.probability) value += pseudo_count * std::log(p);
  for (std::size_t c = 0; slope != nullptr && c < cuts.size(); ++c) {
    const double rise = at.density[c], below = at.probability[c], above = at.probability[c + 1];
    slope->gradient[c] += pseudo_count * rise * (1 / below - 1 / above);
    slope->diagonal[c] += pseudo_count * rise * rise * (1 / (below * below) + 1 / (above * above));
    if (c + 1 < cuts.size()) slope->beside[c] -= pseudo_count * rise * at.density[c + 1] / (above * above);
  }
  return value;
}

std::vector<double> cut_step(const CutSlope& slope, std::span<const double> cuts) {
  // Elimination for a tridiagonal matrix; a little on the diagonal keeps it away from 0.
  const std::size_t n = cuts.size();
  std::vector<double> diagonal = slope.diagonal, step = slope.gradient;
  for (std::size_t c = 0; c < n; ++c) {
    diagonal[c] += 1e-6 * diagonal[c] + 1e-9;
    if (c == 0) continue;
    const double factor = slope.beside[c - 1] / diagonal[c - 1];
    diagonal[c] -= factor * slope.beside[c - 1];
    step[c] -= factor * step[c - 1];
  }
  for (std::size_t c = n; c-- > 0;) {
    if (c + 1 < n) step[c] -= slope.beside[c] * step[c + 1];
    step[c] /= diagonal[c];
  }
  double length = 1;
  for (std::size_t c = 0; c < n; ++c) {
    length = std::min(length, 1 / std::max(std::abs(step[c]), 1.0));
    if (c + 1 == n) continue;
    const double closing = step[c] - step[c + 1];
    if (closing > 0) length = std::min(length, 0.9 * (cuts[c + 1] - cuts[c]) / closing);
  }
  for (double& s : step) s *= length;
  return step;
}

std::vector<double> class_shares(std::span<const double> cuts) {
  const std::size_t classes = cuts.size() + 1;
  std::vector<double> shares(kNodes * classes);
  for (std::size_t m = 0; m < kNodes; ++m) {
    const double begin = node(m) - kSpacing / 2;
    double reached = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      const double until = k + 1 == classes ? 1 : std::clamp((cuts[k] - begin) / kSpacing, 0.0, 1.0);
      shares[m * classes + k] = until - reached;
      reached = until;
    }
  }
  return shares;
}

}  // namespace wisecrowd::latent_ordinal
