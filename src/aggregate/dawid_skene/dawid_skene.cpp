#include "aggregate/dawid_skene/dawid_skene.hpp"

#include <algorithm>

#include "base/numeric.hpp"

namespace wisecrowd::dawid_skene {
namespace {

/// th_j[k][l] ∝ n_jkl + c_kl with the same pseudo-counts for every worker.
class FixedSmoothing final : public CrowdModel {
 public:
  FixedSmoothing(std::size_t classes, std::size_t stride, double everywhere, double on_diagonal)
      : classes_(classes), stride_(stride), pseudo_(classes * stride, everywhere) {
    for (std::size_t k = 0; k < classes; ++k) pseudo_[k * stride + k] += on_diagonal;
    // Padding counts nothing; the floor keeps its logarithm finite.
    for (std::size_t l = 0; l < classes; ++l) {
      std::fill_n(pseudo_.begin() + static_cast<std::ptrdiff_t>(l * stride + classes), stride - classes, 0.0);
    }
  }

  double update(std::size_t, const double* counts, double* log_rows) const override {
    thread_local std::vector<double> sums;
    sums.assign(2 * stride_, 0.0);
    double* __restrict const total = sums.data();
    double* __restrict const objective = sums.data() + stride_;
    const double* __restrict const pseudo = pseudo_.data();
    double* __restrict const log_row = log_rows;
    for (std::size_t l = 0; l < classes_; ++l) {
#pragma omp simd
      for (std::size_t k = 0; k < stride_; ++k) {
        const double sum = counts[l * stride_ + k] + pseudo[l * stride_ + k];
        const double mass = sum > kProbabilityFloor ? sum : kProbabilityFloor;
        log_row[l * stride_ + k] = mass;
        total[k] += mass;
      }
    }
    const std::size_t cells = classes_ * stride_;
#pragma omp simd
    for (std::size_t c = 0; c < cells; ++c) log_row[c] = log_positive(log_row[c]);
#pragma omp simd
    for (std::size_t k = 0; k < stride_; ++k) total[k] = log_positive(total[k]);
    for (std::size_t l = 0; l < classes_; ++l) {
#pragma omp simd
      for (std::size_t k = 0; k < stride_; ++k) {
        const double log_share = log_row[l * stride_ + k] - total[k];
        log_row[l * stride_ + k] = log_share;
        objective[k] += pseudo[l * stride_ + k] * log_share;
      }
    }
    double sum = 0;
    for (std::size_t k = 0; k < classes_; ++k) sum += objective[k];
    return sum;
  }

 private:
  std::size_t classes_;
  std::size_t stride_;
  std::vector<double> pseudo_;  // c_kl, labels × stride
};

}  // namespace

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Dawid–Skene";
  info.summary = "Each worker has a full confusion table; EM finds tables and truth together.";
  info.when_to_use =
      "The workhorse: workers who confuse some classes more than others, are biased, or cheat, with ten or more "
      "answers each.";
  info.reference =
      "A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, 1979";
  info.assumptions = "Answers are independent given the truth; workers have enough answers to fill their tables.";
  info.cost = "time S·K per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.parameters = {
      ParameterSpec::real("pseudo_count", defaults.pseudo_count, 0, 1e9,
                          "answers added to every cell of every confusion table"),
      ParameterSpec::real("diagonal_pseudo_count", defaults.diagonal_pseudo_count, 0, 1e9,
                          "right answers added to every class of every worker"),
  };
  for (auto& parameter : em_parameters()) info.parameters.push_back(std::move(parameter));
  info.uses_gold = true;
  info.uses_task_priors = true;
  return info;
}

std::unique_ptr<Aggregator> make(const Parameters& parameters) {
  return std::make_unique<DawidSkene>(Options{.em = em_options_from(parameters),
                                              .pseudo_count = parameters.real("pseudo_count"),
                                              .diagonal_pseudo_count = parameters.real("diagonal_pseudo_count")});
}

Aggregation DawidSkene::fit(const Dataset& data, const RunContext& context, const Start& start) const {
  return fit_confusion_em(data, context, options_.em, start, [this](const ConfusionPass& pass) {
    return std::make_unique<FixedSmoothing>(pass.class_count(), pass.stride(), options_.pseudo_count,
                                            options_.diagonal_pseudo_count);
  });
}

}  // namespace wisecrowd::dawid_skene
