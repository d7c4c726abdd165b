#pragma once

#include <functional>
#include <vector>

#include "wisecrowd/wisecrowd.hpp"

namespace wisecrowd::testing {

/// Plain, slow, obviously right versions to compare the engine with.

/// th[j][k][l] from counts n[j][k][l].
using Counts = std::vector<std::vector<std::vector<double>>>;
using TableUpdate = std::function<Counts(const Counts& counts)>;

struct SlowFit {
  std::vector<std::vector<double>> posterior;
  std::vector<double> class_prior;
  Counts tables;
  std::vector<double> log_likelihood;  // per iteration
};

/// Textbook EM from vote shares: M-step by `update`, then E-step, `iterations` times.
[[nodiscard]] SlowFit slow_em(const CategoryData& data, bool learn_prior, double class_pseudo_count,
                              std::size_t iterations, const TableUpdate& update);

/// log Σ_z P(z) P(answers | z) by enumeration of all K^N truths; for tiny data.
[[nodiscard]] double enumerated_log_likelihood(const CategoryAnswers& answers, const std::vector<double>& class_prior,
                                               const std::vector<double>& confusion);

}  // namespace wisecrowd::testing
