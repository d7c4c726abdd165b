#include "support/protocols.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/rng.hpp"

namespace wisecrowd::testing {
namespace {

NameTable numbered(const char* kind, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < count; ++n) names.push_back(fmt::format("{}{}", kind, n));
  return NameTable(names);
}

/// Rows with features and nothing answered yet.
FeatureCrowd rows_of(std::vector<ClassId> truth, std::size_t tasks, std::size_t columns, double separation, Rng& rng) {
  FeatureCrowd crowd;
  crowd.tasks = tasks;
  crowd.truth = std::move(truth);
  Features& features = crowd.data.features;
  features.rows = crowd.truth.size();
  features.shape = {columns};
  for (const ClassId z : crowd.truth) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double mean = c > 0 ? 0 : index(z) == 1 ? separation : -separation;
      features.dense.push_back(static_cast<float>(mean + rng.normal()));
    }
  }
  crowd.data.row_names = numbered("t", crowd.truth.size());
  crowd.data.split.assign(crowd.truth.size(), Split::test);
  std::fill_n(crowd.data.split.begin(), tasks, Split::train);
  crowd.data.row_of_task.resize(tasks);
  std::iota(crowd.data.row_of_task.begin(), crowd.data.row_of_task.end(), 0U);
  return crowd;
}

/// What Student's t with this many degrees of freedom exceeds in half a percent of cases (Abramowitz, Stegun 26.7.5;
/// from 4 degrees on right to .1, which is more than enough for three digits of a mean).
double quantile(double degrees) {
  constexpr double z = 2.5758293035489, z2 = z * z;
  return z + z * (z2 + 1) / (4 * degrees) + z * ((5 * z2 + 16) * z2 + 3) / (96 * degrees * degrees) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * degrees * degrees * degrees);
}

}  // namespace

FeatureCrowd sparse_crowd(const SparseProtocol& protocol, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<ClassId> truth;
  for (std::size_t r = 0; r < protocol.tasks + protocol.test_rows; ++r) truth.push_back(ClassId(rng.below(2)));
  FeatureCrowd crowd = rows_of(std::move(truth), protocol.tasks, 20, protocol.separation, rng);

  // Random stubs; a worker who meets a task twice swaps with somebody else.
  const std::size_t edges = protocol.tasks * protocol.per_task;
  const std::size_t workers = (edges + protocol.per_worker - 1) / protocol.per_worker;
  std::vector<std::size_t> worker(edges);
  for (std::size_t e = 0; e < edges; ++e) worker[e] = e / protocol.per_worker;
  rng.shuffle(std::span(worker));
  const auto meets_twice = [&](std::size_t e) {
    const std::size_t first = e / protocol.per_task * protocol.per_task;
    for (std::size_t other = first; other < first + protocol.per_task; ++other) {
      if (other != e && worker[other] == worker[e]) return true;
    }
    return false;
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t e = 0; e < edges; ++e) {
      if (!meets_twice(e)) continue;
      std::swap(worker[e], worker[rng.below(edges)]);
      again = true;
    }
  }
  std::vector<double> accuracy(workers);
  for (double& w : accuracy) w = rng.beta(protocol.true_right, protocol.true_wrong);
  std::vector<CategoryAnswer> answers;
  for (std::size_t e = 0; e < edges; ++e) {
    const std::size_t t = e / protocol.per_task, z = index(crowd.truth[t]);
    answers.push_back({TaskId(t), WorkerId(worker[e]), ClassId(rng.bernoulli(accuracy[worker[e]]) ? z : 1 - z)});
  }
  for (std::size_t s = 0; s < protocol.spammers; ++s) {
    for (std::size_t t = 0; t < protocol.tasks; ++t) {
      answers.push_back({TaskId(t), WorkerId(workers + s), ClassId(rng.below(2))});
    }
  }
  crowd.data.crowd.answers = make_category_answers(
      answers, {numbered("t", protocol.tasks), numbered("w", workers + protocol.spammers), numbered("", 2)});
  return crowd;
}

FeatureCrowd unbalanced_crowd(std::size_t tasks, double rate, double kept, std::uint64_t seed, bool bent) {
  Rng rng(seed);
  std::vector<ClassId> truth;
  for (std::size_t t = 0; t < tasks; ++t) truth.push_back(ClassId(rng.bernoulli(rate) ? 1 : 0));
  FeatureCrowd crowd = rows_of(std::move(truth), tasks, 2, bent ? 0 : 1.3, rng);
  for (std::size_t t = 0; bent && t < tasks; ++t) {
    constexpr double kCorner = 1.7;
    const double side = rng.bernoulli(0.5) ? kCorner : -kCorner;
    float* const row = crowd.data.features.dense.data() + 2 * t;
    row[0] += static_cast<float>(side);
    row[1] += static_cast<float>(index(crowd.truth[t]) == 1 ? -side : side);
  }
  std::vector<double> sensitivity(9), specificity(9);
  for (std::size_t j = 0; j < 9; ++j) {
    sensitivity[j] = rng.uniform(.6, .9);
    specificity[j] = rng.uniform(.7, .95);
  }
  std::vector<CategoryAnswer> answers;
  for (std::size_t t = 0; t < tasks; ++t) {
    for (std::size_t j = 0; j < 9; ++j) {
      const bool one = index(crowd.truth[t]) == 1;
      const bool says_one = rng.bernoulli(one ? sensitivity[j] : 1 - specificity[j]);
      if (rng.bernoulli(kept)) answers.push_back({TaskId(t), WorkerId(j), ClassId(says_one ? 1 : 0)});
    }
  }
  crowd.data.crowd.answers = make_category_answers(answers, {numbered("t", tasks), numbered("w", 9), numbered("", 2)});
  return crowd;
}

CategoryFit run_aggregator(const CategoryData& data, const std::string& name,
                           const std::vector<std::pair<std::string, std::string>>& settings) {
  Parameters parameters(aggregation_method(name).parameters);
  for (const auto& [key, value] : settings) parameters.set(key, value);
  return aggregate(data, name, parameters, RunContext({.threads = 1}));
}

Spread spread(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0;
  for (const double v : values) square += (v - mean) * (v - mean);
  return {mean, n < 2 ? 1 : quantile(n - 1) * std::sqrt(square / (n - 1) / n)};
}

std::size_t seeds(std::size_t usual) {
  const char* const text = std::getenv("WISECROWD_SEEDS");
  return text == nullptr ? usual : static_cast<std::size_t>(std::max(std::atoi(text), 1));
}

}  // namespace wisecrowd::testing
