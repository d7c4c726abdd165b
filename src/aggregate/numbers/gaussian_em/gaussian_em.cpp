#include "aggregate/numbers/gaussian_em/gaussian_em.hpp"

#include "aggregate/method.hpp"

namespace wisecrowd::gaussian_em {
namespace {

void parameters(ParameterVisitor& v, numbers::PrecisionOptions& o) { numbers::precision_parameters(v, o); }

}  // namespace

NumberMethod method() {
  MethodInfo info;
  info.title = "Gaussian EM";
  info.summary = "Bias and precision of each worker by EM; precise workers count more, and biases are taken off.";
  info.when_to_use = "When workers differ in care or lean to one side, and each has answered some tasks.";
  info.reference = "V. C. Raykar et al., Learning from crowds, JMLR 2010 (section on regression)";
  info.assumptions =
      "Errors are independent and normal, with a bias and a variance per worker; biases cancel over all answers.";
  info.cost = "time S·D per iteration; memory S + N + M";
  info.uses_gold = true;
  return NumberMethod::of<GaussianEm, parameters>(std::move(info));
}

NumberFit GaussianEm::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  return numbers::precision_fit(data, options_, context);
}

std::vector<double> GaussianEm::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                               const RunContext& context) const {
  return numbers::precision_log_predictive(data, answers, options_, context);
}

}  // namespace wisecrowd::gaussian_em
