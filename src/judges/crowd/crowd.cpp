#include <algorithm>
#include <cmath>
#include <limits>

#include "judges/crowd/crowd_model.hpp"

namespace wisecrowd {

ClassId MixedCrowdFit::label_of(TaskId task) const {
  const auto q = posterior_of(task);
  return ClassId(std::max_element(q.begin(), q.end()) - q.begin());
}

MixedCrowdFit fit_mixed_crowd(const JudgeData& data, const MixedCrowdOptions& options, const RunContext& context) {
  validate(data);
  judges::CrowdModel model(data, options);
  MixedCrowdFit fit;
  fit.class_count = data.class_count();
  fit.objective_name = "log-likelihood";
  fit.status = Status::iteration_limit;
  for (; fit.iterations < options.max_iterations; ++fit.iterations) {
    if (context.cancelled()) {
      fit.status = Status::cancelled;
      break;
    }
    fit.log_likelihood = model.expect();
    const double change = fit.trace.empty() ? 1 : std::abs(fit.log_likelihood - fit.trace.back());
    fit.trace.push_back(fit.log_likelihood);
    context.report({.stage = "fitting",
                    .done = static_cast<double>(fit.iterations),
                    .objective = fit.log_likelihood,
                    .has_objective = true});
    if (change <= options.tolerance * std::abs(fit.log_likelihood)) {
      fit.status = Status::converged;
      break;
    }
    model.maximise();
  }
  fit.has_log_likelihood = true;
  fit.posterior = model.posterior();
  fit.class_prior = model.prior();
  for (std::size_t w = 0; w < data.workers.size(); ++w) {
    const std::vector<double> table = model.marginal_table(w);
    fit.tables.insert(fit.tables.end(), table.begin(), table.end());
    fit.copying.push_back(model.copying(w));
    const bool soft = model.is_soft(w);
    fit.temperature.push_back(soft ? 1 / model.calibration(w).sharpness : std::numeric_limits<double>::quiet_NaN());
    const auto& bias = model.calibration(w).bias;
    fit.calibration_bias.insert(fit.calibration_bias.end(), bias.begin(), bias.end());
  }
  return fit;
}

}  // namespace wisecrowd
