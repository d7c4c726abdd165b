#include "learn/trace_reg/trace_reg.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::trace_reg {

double TraceModel::penalty(std::span<const std::uint32_t> tasks, double weight, MatrixView<const double>,
                           MatrixView<double>) {
  const bool logarithm = options_.penalty == Options::Penalty::log;
  double sum = 0;
  for (const std::uint32_t i : tasks) {
    for (const WorkerId worker : set().workers_of(i)) {
      // The trace counts with every answer; the Dirichlet prior behind its logarithm belongs to a worker once, and the
      // loss is a mean over all answers.
      const double scale = options_.strength * weight * (logarithm ? share_of_worker(worker) / terms_in_all() : 1);
      const auto th = table(worker);
      for (std::size_t k = 0; k < classes(); ++k) {
        const double p = std::max(th[k * classes() + k], kProbabilityFloor);
        sum += scale * (logarithm ? math::log(p) : p);
        if (tables_move()) table_gradient(worker)[k * classes() + k] += scale * (logarithm ? 1 / p : 1);
      }
    }
  }
  return sum;
}

Recipe TraceReg::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<TraceModel>(set, options_); }};
}

namespace {

constexpr auto kPenaltyNames =
    enum_names<Options::Penalty>({{Options::Penalty::trace, "trace"}, {Options::Penalty::log, "log"}});

void parameters(ParameterVisitor& v, Options& o) {
  table_parameters(v, o.tables);
  v.choice("penalty", o.penalty, kPenaltyNames,
           "trace: the mean over the answers of tr(table); log: Σ log of the diagonal, which is a Dirichlet prior with "
           "1 − strength on the diagonal of each worker's table");
  v.real("strength", o.strength, 0, 100, "how much the penalty counts");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Trace regularisation of the worker tables";
  info.summary = "Coupled cross-entropy that prefers tables with small traces, so that errors are put down to workers.";
  info.when_to_use =
      "The average worker is better than chance in every class, and the network could explain errors away.";
  info.reference =
      "Tanno, Saeedi, Sankaranarayanan, Alexander, Silberman: Learning from noisy labels by regularized estimation of "
      "annotator confusion, CVPR 2019";
  info.uses_gold = true;
  info.assumptions = "The mean of the true worker tables is diagonally dominant; errors do not depend on the row.";
  info.cost = "O(S K) per epoch beside the network; memory O(M K²)";
  return LearnerEntry::of<TraceReg, parameters>(std::move(info));
}

}  // namespace wisecrowd::trace_reg
