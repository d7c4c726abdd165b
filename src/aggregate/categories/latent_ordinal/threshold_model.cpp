#include "aggregate/categories/latent_ordinal/threshold_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd::latent_ordinal {
namespace {

constexpr double kLeastLogNoise = -2.302585092994046;  // 0.1: the spacing of nodes resolves no less
constexpr double kMostLogNoise = 3;
constexpr double kMostBias = 6;
constexpr std::size_t kMiddle = kNodes / 2;  // the node at 0
constexpr double kSmallStep = 1e-4;          // what is left after it is below its square

constexpr double kDensityAtZero = 0.3989422804014327;

/// Φ(−x) for x ≥ 0, given e^{−x²/2}: a rational function (Hart 1968) with a relative error below 1e-13 up to 7, where
/// the floor of probabilities is reached. No branches, so that loops over nodes are vectorised.
[[gnu::always_inline]] inline double normal_tail(double x, double bell) noexcept {
  double p = 3.52624965998911e-02;
  p = p * x + 7.00383064443688e-01;
  p = p * x + 6.37396220353165;
  p = p * x + 33.912866078383;
  p = p * x + 112.079291497871;
  p = p * x + 221.213596169931;
  p = p * x + 220.206867912376;
  double q = 8.83883476483184e-02;
  q = q * x + 1.75566716318264;
  q = q * x + 16.064177579207;
  q = q * x + 86.7807322029461;
  q = q * x + 296.564248779674;
  q = q * x + 637.333633378831;
  q = q * x + 793.826512519948;
  q = q * x + 440.413735824752;
  return bell * p / q;
}

using NodeRow = std::array<double, kStride>;

const NodeRow& node_places() {
  static const NodeRow places = [] {
    NodeRow p{};
    for (std::size_t m = 0; m < kStride; ++m) p[m] = node(m);
    return p;
  }();
  return places;
}

/// In lanes, so that it is vectorised without another order of additions.
double sum_of(const NodeRow& terms) {
  std::array<double, 8> lanes{};
  for (std::size_t m = 0; m < kStride; m += lanes.size()) {
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] += terms[m + i];
  }
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

/// For all nodes: the standardised cuts, their densities, and the probabilities of the labels.
class AllNodes {
 public:
  explicit AllNodes(std::size_t cuts) : place(cuts), density(cuts), probability(cuts + 1), lower_(cuts), upper_(cuts) {}

  void look(const Worker& worker, std::span<const double> cuts) {
    const double precision = math::exp(-worker.log_noise);
    const NodeRow& nodes = node_places();
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const double cut = cuts[c] - worker.bias;
      for (std::size_t m = 0; m < kStride; ++m) {
        const double x = (cut - nodes[m]) * precision;
        const double bell = exp_nonpositive(-0.5 * x * x);
        const double tail = normal_tail(std::abs(x), bell);
        place[c][m] = x;
        density[c][m] = kDensityAtZero * bell;
        lower_[c][m] = x < 0 ? tail : 1 - tail;
        upper_[c][m] = x < 0 ? 1 - tail : tail;
      }
    }
    for (std::size_t l = 0; l <= cuts.size(); ++l) fill_probability(l, cuts.size());
  }

  std::vector<NodeRow> place, density, probability;

 private:
  /// Without cancellation in the upper tail.
  void fill_probability(std::size_t l, std::size_t cuts) {
    NodeRow& p = probability[l];
    if (cuts == 0) {
      p.fill(1);
    } else if (l == 0) {
      p = lower_[0];
    } else if (l == cuts) {
      p = upper_[l - 1];
    } else {
      for (std::size_t m = 0; m < kStride; ++m) {
        p[m] = place[l - 1][m] > 0 ? upper_[l - 1][m] - upper_[l][m] : lower_[l][m] - lower_[l - 1][m];
      }
    }
    for (double& value : p) value = value > kProbabilityFloor ? value : kProbabilityFloor;
  }

  std::vector<NodeRow> lower_, upper_;
};

/// Σ counts × ln P.
double log_probabilities(const AllNodes& at, const double* counts) {
  NodeRow value{};
  for (std::size_t l = 0; l < at.probability.size(); ++l) {
    const NodeRow& p = at.probability[l];
    const double* const said = counts + l * kStride;
    for (std::size_t m = 0; m < kStride; ++m) value[m] += said[m] * log_positive(p[m]);
  }
  return sum_of(value);
}

NodeRow answers_at_nodes(const double* counts, std::size_t labels) {
  NodeRow here{};
  for (std::size_t l = 0; l < labels; ++l) {
    for (std::size_t m = 0; m < kStride; ++m) here[m] += counts[l * kStride + m];
  }
  return here;
}

/// Adds what answers say of bias and noise.
void add_worker_slope(const AllNodes& at, double precision, const double* counts, WorkerSlope& slope) {
  const std::size_t labels = at.probability.size();
  const NodeRow here = answers_at_nodes(counts, labels);
  static constexpr NodeRow kNothing{};
  NodeRow bias{}, noise{}, bias_bias{}, bias_noise{}, noise_noise{};
  for (std::size_t l = 0; l < labels; ++l) {
    const NodeRow& low = l == 0 ? kNothing : at.density[l - 1];
    const NodeRow& high = l + 1 == labels ? kNothing : at.density[l];
    const NodeRow& low_place = l == 0 ? kNothing : at.place[l - 1];
    const NodeRow& high_place = l + 1 == labels ? kNothing : at.place[l];
    const NodeRow& p = at.probability[l];
    const double* const said = counts + l * kStride;
    for (std::size_t m = 0; m < kStride; ++m) {
      const double inverse = 1 / p[m];
      const double by_bias = (low[m] - high[m]) * precision * inverse;
      const double by_noise = (low_place[m] * low[m] - high_place[m] * high[m]) * inverse;
      const double expected = here[m] * p[m];
      bias[m] += said[m] * by_bias;
      noise[m] += said[m] * by_noise;
      bias_bias[m] += expected * by_bias * by_bias;
      bias_noise[m] += expected * by_bias * by_noise;
      noise_noise[m] += expected * by_noise * by_noise;
    }
  }
  slope.bias += sum_of(bias);
  slope.log_noise += sum_of(noise);
  slope.bias_bias += sum_of(bias_bias);
  slope.bias_noise += sum_of(bias_noise);
  slope.noise_noise += sum_of(noise_noise);
}

double worker_objective(AllNodes& at, const Worker& worker, std::span<const double> cuts, const double* counts,
                        const WorkerPrior& prior, WorkerSlope* slope) {
  const double bias_weight = 1 / (prior.bias_spread * prior.bias_spread);
  const double noise_weight = 1 / (prior.noise_spread * prior.noise_spread);
  const double from_level = worker.log_noise - prior.noise_level;
  at.look(worker, cuts);
  if (slope != nullptr) {
    *slope = {-bias_weight * worker.bias, -noise_weight * from_level, bias_weight, 0, noise_weight};
    add_worker_slope(at, math::exp(-worker.log_noise), counts, *slope);
  }
  return log_probabilities(at, counts) -
         0.5 * (bias_weight * worker.bias * worker.bias + noise_weight * from_level * from_level);
}

}  // namespace

const std::array<double, kStride>& node_prior() {
  static const auto prior = [] {
    std::array<double, kStride> p{};
    for (std::size_t m = 0; m < kNodes; ++m) p[m] = math::exp(-0.5 * node(m) * node(m));
    double sum = 0;
    for (const double weight : p) sum += weight;
    for (double& weight : p) weight /= sum;
    return p;
  }();
  return prior;
}

double noise_within_bounds(double log_noise) { return std::clamp(log_noise, kLeastLogNoise, kMostLogNoise); }

void log_table(const Worker& worker, std::span<const double> cuts, double* logs) {
  AllNodes at(cuts.size());
  at.look(worker, cuts);
  for (const NodeRow& p : at.probability) {
    for (std::size_t m = 0; m < kStride; ++m) logs[m] = log_positive(p[m]);
    logs += kStride;
  }
}

double worker_objective(const Worker& worker, std::span<const double> cuts, const double* counts,
                        const WorkerPrior& prior, WorkerSlope* slope) {
  AllNodes at(cuts.size());
  return worker_objective(at, worker, cuts, counts, prior, slope);
}

void improve(Worker& worker, std::span<const double> cuts, const double* counts, const WorkerPrior& prior) {
  constexpr int kSteps = 2, kHalvings = 6;
  AllNodes at(cuts.size());
  WorkerSlope slope;
  double before = worker_objective(at, worker, cuts, counts, prior, &slope);
  for (int step = 0; step < kSteps; ++step) {
    const double determinant = slope.bias_bias * slope.noise_noise - slope.bias_noise * slope.bias_noise;
    if (!(determinant > 0)) return;
    const double bias = (slope.noise_noise * slope.bias - slope.bias_noise * slope.log_noise) / determinant;
    const double noise = (slope.bias_bias * slope.log_noise - slope.bias_noise * slope.bias) / determinant;
    const bool last = step + 1 == kSteps || (std::abs(bias) < kSmallStep && std::abs(noise) < kSmallStep);
    double length = 1;
    for (int halving = 0;; ++halving, length /= 2) {
      if (halving == kHalvings) return;
      const Worker moved{std::clamp(worker.bias + length * bias, -kMostBias, kMostBias),
                         noise_within_bounds(worker.log_noise + length * noise)};
      const double now = worker_objective(at, moved, cuts, counts, prior, last ? nullptr : &slope);
      if (now < before) continue;
      worker = moved;
      before = now;
      break;
    }
    if (last) return;
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
  AllNodes at(cuts.size());
  at.look(worker, cuts);
  if (slope == nullptr) return log_probabilities(at, counts);
  const double precision = math::exp(-worker.log_noise);
  const NodeRow here = answers_at_nodes(counts, cuts.size() + 1);
  static constexpr NodeRow kNothing{};
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const NodeRow &below = at.probability[c], &above = at.probability[c + 1];
    const NodeRow& next = c + 1 < cuts.size() ? at.density[c + 1] : kNothing;
    const double *const said_below = counts + c * kStride, *const said_above = said_below + kStride;
    NodeRow gradient{}, diagonal{}, beside{};
    for (std::size_t m = 0; m < kStride; ++m) {
      const double rise = at.density[c][m] * precision;
      const double by_below = 1 / below[m], by_above = 1 / above[m];
      gradient[m] = rise * (said_below[m] * by_below - said_above[m] * by_above);
      diagonal[m] = here[m] * rise * rise * (by_below + by_above);
      beside[m] = here[m] * rise * next[m] * precision * by_above;
    }
    slope->gradient[c] += sum_of(gradient);
    slope->diagonal[c] += sum_of(diagonal);
    slope->beside[c] -= sum_of(beside);
  }
  return log_probabilities(at, counts);
}

double add_cut_prior(std::span<const double> cuts, double pseudo_count, CutSlope* slope) {
  AllNodes at(cuts.size());
  at.look({}, cuts);
  const auto p = [&](std::size_t k) { return at.probability[k][kMiddle]; };
  const auto rise = [&](std::size_t c) { return at.density[c][kMiddle]; };
  double value = 0;
  for (std::size_t k = 0; k <= cuts.size(); ++k) value += pseudo_count * math::log(p(k));
  for (std::size_t c = 0; slope != nullptr && c < cuts.size(); ++c) {
    const double below = p(c), above = p(c + 1);
    slope->gradient[c] += pseudo_count * rise(c) * (1 / below - 1 / above);
    slope->diagonal[c] += pseudo_count * rise(c) * rise(c) * (1 / (below * below) + 1 / (above * above));
    if (c + 1 < cuts.size()) slope->beside[c] -= pseudo_count * rise(c) * rise(c + 1) / (above * above);
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
