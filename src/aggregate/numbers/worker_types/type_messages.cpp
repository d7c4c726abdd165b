#include "aggregate/numbers/worker_types/type_messages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hpp"

namespace wisecrowd::worker_types {
namespace {

constexpr double kLeastBelief = 1e-30;  // so that products of a few stay numbers, and can be divided by one of them

struct Combination {
  double log_density, mean, variance;  // of the answers; of z given them
};

/// Of all combinations in one dimension.
std::vector<Combination> combinations(const TaskView& view, std::span<const double> variances) {
  struct Sums {
    double precision, sum, rest;
  };
  const bool known = view.variance == 0;
  std::vector<Sums> sums{{known ? 0 : 1 / view.variance, 0, 0}}, next;
  for (const double y : view.answers) {
    const double off = y - view.mean;  // keeps sums of squares small
    next.clear();
    for (const double v : variances) {
      const double p = 1 / v, more = math::log(v) + off * off * p;
      for (const Sums& s : sums) next.push_back({s.precision + p, s.sum + off * p, s.rest + more});
    }
    sums.swap(next);
  }
  std::vector<Combination> out;
  out.reserve(sums.size());
  for (const Sums& s : sums) {
    const double off = known ? 0 : s.sum / s.precision;
    const double prior = known ? 0 : math::log(view.variance * s.precision) - off * s.sum;
    out.push_back({-(s.rest + prior) / 2, view.mean + off, known ? 0 : 1 / s.precision});
  }
  return out;
}

/// Multiplies the beliefs of a combination's types into its density.
void weigh_by_beliefs(std::span<const double> beliefs, std::size_t types, std::vector<double>& weights) {
  std::size_t stride = 1;
  for (std::size_t first = 0; first < beliefs.size(); first += types, stride *= types) {
    for (std::size_t at = 0; at < weights.size(); at += stride * types) {
      for (std::size_t t = 0; t < types; ++t) {
        const double belief = std::max(beliefs[first + t], kLeastBelief);
        for (std::size_t i = 0; i < stride; ++i) weights[at + t * stride + i] *= belief;
      }
    }
  }
}

void set_largest_to_zero(std::span<double> log_messages, std::size_t types) {
  for (std::size_t first = 0; first < log_messages.size(); first += types) {
    const auto row = log_messages.subspan(first, types);
    const double most = *std::max_element(row.begin(), row.end());
    for (double& m : row) m -= most;
  }
}

}  // namespace

bool is_exact(std::size_t answers, std::size_t types) {
  std::size_t others = 1;
  for (std::size_t a = 1; a < answers; ++a) {
    others *= types;
    if (others > kMostCombinations) return false;
  }
  return true;
}

void combination_densities(std::span<const TaskView> views, std::span<const double> variances,
                           std::vector<double>& densities) {
  densities.clear();
  for (const TaskView& view : views) {
    const auto own = combinations(view, variances);
    densities.resize(own.size(), 0);
    for (std::size_t c = 0; c < own.size(); ++c) densities[c] += own[c].log_density;
  }
  const double most = *std::max_element(densities.begin(), densities.end());
  for (double& d : densities) d = math::exp(d - most);
}

void exact_messages(std::span<const double> densities, std::span<const double> beliefs, std::size_t types,
                    std::span<double> log_messages) {
  std::vector<double> weights(densities.begin(), densities.end());
  weigh_by_beliefs(beliefs, types, weights);
  std::size_t stride = 1;
  for (std::size_t first = 0; first < beliefs.size(); first += types, stride *= types) {
    for (std::size_t t = 0; t < types; ++t) {
      double sum = 0;
      for (std::size_t at = t * stride; at < weights.size(); at += stride * types) {
        for (std::size_t i = 0; i < stride; ++i) sum += weights[at + i];
      }
      log_messages[first + t] = math::log(std::max(sum, 1e-300) / std::max(beliefs[first + t], kLeastBelief));
    }
  }
  set_largest_to_zero(log_messages, types);
}

void approximate_messages(std::span<const TaskView> views, std::span<const double> beliefs,
                          std::span<const double> variances, std::span<double> log_messages) {
  const std::size_t types = variances.size(), answers = beliefs.size() / types;
  std::vector<double> precision(answers, 0);
  for (std::size_t at = 0; at < beliefs.size(); ++at) precision[at / types] += beliefs[at] / variances[at % types];
  std::fill(log_messages.begin(), log_messages.end(), 0);
  for (const TaskView& view : views) {
    const bool known = view.variance == 0;
    double all = known ? 0 : 1 / view.variance, sum = 0;
    for (std::size_t a = 0; a < answers; ++a) {
      all += precision[a];
      sum += precision[a] * (view.answers[a] - view.mean);
    }
    for (std::size_t a = 0; a < answers; ++a) {
      const double off = view.answers[a] - view.mean;
      const double others = known ? 0 : (sum - precision[a] * off) / (all - precision[a]);
      const double unsure = known ? 0 : 1 / (all - precision[a]);
      for (std::size_t t = 0; t < types; ++t) {
        const double v = unsure + variances[t];
        log_messages[a * types + t] -= (math::log(v) + (off - others) * (off - others) / v) / 2;
      }
    }
  }
  set_largest_to_zero(log_messages, types);
}

TaskEstimate estimate_task(std::span<const TaskView> views, std::span<const double> beliefs,
                           std::span<const double> variances) {
  const std::size_t types = variances.size(), answers = beliefs.size() / types;
  TaskEstimate out;
  if (is_exact(answers, types)) {
    std::vector<double> weights;
    combination_densities(views, variances, weights);
    weigh_by_beliefs(beliefs, types, weights);
    double total = 0;
    for (const double w : weights) total += w;
    for (const TaskView& view : views) {
      const auto own = combinations(view, variances);
      double mean = 0, variance = 0;
      for (std::size_t c = 0; c < own.size(); ++c) mean += weights[c] / total * own[c].mean;
      for (std::size_t c = 0; c < own.size(); ++c) {
        const double off = own[c].mean - mean;
        variance += weights[c] / total * (off * off + own[c].variance);
      }
      out.mean.push_back(mean);
      out.variance.push_back(variance);
    }
    return out;
  }
  for (const TaskView& view : views) {
    double precision = view.variance == 0 ? 0 : 1 / view.variance, sum = 0;
    for (std::size_t at = 0; at < beliefs.size(); ++at) {
      const double p = beliefs[at] / variances[at % types];
      precision += p;
      sum += p * (view.answers[at / types] - view.mean);
    }
    out.mean.push_back(view.variance == 0 ? view.mean : view.mean + sum / precision);
    out.variance.push_back(view.variance == 0 ? 0 : 1 / precision);
  }
  return out;
}

}  // namespace wisecrowd::worker_types
