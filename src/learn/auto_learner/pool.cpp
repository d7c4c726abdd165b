#include "learn/auto_learner/pool.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/numeric.hpp"
#include "wisecrowd/aggregate.hpp"

namespace wisecrowd::auto_learner {

CrowdJudge::CrowdJudge(const TrainingSet& all, std::span<const TaskId> hidden, const RunContext& context)
    : classes_(all.class_count) {
  const MethodInfo& method = aggregation_method(default_aggregation_method());
  const std::vector<double> said =
      aggregate(as_dataset(all), method.name, Parameters(method.parameters), context).posterior;
  std::vector<double> prior(classes_, 0.0);
  for (std::size_t cell = 0; cell < said.size(); ++cell) prior[cell % classes_] += said[cell];
  normalise(prior);
  std::unordered_map<std::size_t, std::size_t> place;
  for (std::size_t i = 0; i < all.task_count(); ++i) place[index(all.task[i])] = i;
  for (const TaskId task : hidden) {
    const double* const g = said.data() + place.at(index(task)) * classes_;
    for (std::size_t k = 0; k < classes_; ++k) weights_.push_back(g[k] / std::max(prior[k], kProbabilityFloor));
  }
}

std::vector<double> CrowdJudge::ratios(std::span<const double> probabilities) const {
  // One row of which a member is wrongly sure must not decide.
  constexpr double kLeastRatio = 1e-3;
  std::vector<double> sums(weights_.size() / classes_, 0.0);
  for (std::size_t cell = 0; cell < weights_.size(); ++cell)
    sums[cell / classes_] += probabilities[cell] * weights_[cell];
  for (double& sum : sums) sum = std::max(sum, kLeastRatio);
  return sums;
}

std::vector<double> mixture_weights(std::span<const std::vector<double>> ratios, double prior) {
  constexpr int kSteps = 200;
  const std::size_t members = ratios.size(), tasks = ratios.front().size();
  std::vector<double> weights(members, 1 / static_cast<double>(members)), share(members);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> next(members, prior);
    for (std::size_t i = 0; i < tasks; ++i) {
      for (std::size_t c = 0; c < members; ++c) share[c] = weights[c] * ratios[c][i];
      normalise(share);
      for (std::size_t c = 0; c < members; ++c) next[c] += share[c];
    }
    normalise(next);
    weights = std::move(next);
  }
  return weights;
}

bool can_merge(const NetworkSpec& network, std::size_t members) {
  if (network.foreign) return false;
  return network.kind == "linear" || (network.kind == "mlp" && network.hidden * members <= kMostHidden);
}

NetworkSpec wide(NetworkSpec network, std::size_t members) {
  if (network.kind == "mlp") network.hidden *= members;
  return network;
}

std::vector<float> merged(std::span<const DensePart> parts, const NetworkSpec& network, std::size_t inputs,
                          std::size_t classes) {
  const std::size_t layers = network.kind == "linear" ? 0 : network.layers, members = parts.size();
  std::vector<float> all;
  std::size_t from = 0;  // where the layer begins in the numbers of each part
  for (std::size_t layer = 0; layer <= layers; ++layer) {
    const bool first = layer == 0, last = layer == layers;
    const std::size_t own_in = first ? inputs : network.hidden, own_out = last ? classes : network.hidden;
    const std::size_t in = first ? inputs : own_in * members, out = last ? classes : own_out * members;
    const std::size_t to = all.size();
    all.resize(to + (in + 1) * out, 0.0F);
    for (std::size_t c = 0; c < members; ++c) {
      const auto factor = static_cast<float>(last ? parts[c].weight : 1);
      for (std::size_t o = 0; o < own_out; ++o) {
        const std::size_t column = last ? parts[c].class_of[o] : c * own_out + o;
        for (std::size_t i = 0; i < own_in; ++i) {
          const std::size_t row = first ? i : c * own_in + i;
          all[to + row * out + column] += factor * parts[c].weights[from + i * own_out + o];
        }
        all[to + in * out + column] += factor * parts[c].weights[from + own_in * own_out + o];
      }
    }
    from += (own_in + 1) * own_out;
  }
  return all;
}

}  // namespace wisecrowd::auto_learner
