#include "aggregate/categories/ordinal_dawid_skene/ordinal_dawid_skene.hpp"

#include <algorithm>

#include "aggregate/categories/shared/fixed_smoothing.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "data/build.hpp"

namespace wisecrowd::ordinal_dawid_skene {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  decision_parameter(v, o.decision);
  v.real("pseudo_count", o.pseudo_count, 0, 1e9, "answers added to every cell of every confusion table");
  v.real("diagonal_pseudo_count", o.diagonal_pseudo_count, 0, 1e9,
         "right answers added to every class of every worker");
  em_parameters(v, o.em);
}

/// From P(> c) for c = 0 … K − 2 to the probabilities of the K classes. A sequence that rises somewhere is brought in
/// order first.
void classes_from_tails(std::span<double> tails, std::span<double> row) {
  make_falling(tails);
  const std::size_t cuts = tails.size();
  for (std::size_t k = 0; k <= cuts; ++k) {
    row[k] = std::max(0.0, (k == 0 ? 1.0 : tails[k - 1]) - (k == cuts ? 0.0 : tails[k]));
  }
  normalise(row);
}

/// What the fits of all cuts say together.
void put_together(const std::vector<CategoryFit>& cuts, CategoryFit& result, const RunContext& context) {
  const std::size_t classes = result.class_count;
  result.posterior.resize(result.task_count * classes);
  result.confusion.resize(result.worker_count * classes * classes);
  result.class_prior.resize(classes);
  std::vector<double> tails(cuts.size());
  for (std::size_t c = 0; c < cuts.size(); ++c) tails[c] = cuts[c].class_prior[1];
  classes_from_tails(tails, result.class_prior);
  const Blocks blocks{result.task_count, 4096};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> above_cut(cuts.size());
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      for (std::size_t c = 0; c < cuts.size(); ++c) above_cut[c] = cuts[c].posterior[2 * t + 1];
      classes_from_tails(above_cut, {result.posterior.data() + t * classes, classes});
    }
  });
  // P(y > c | z = k) is the worker's rate at cut c on the side of it on which k lies.
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t c = 0; c < cuts.size(); ++c) tails[c] = cuts[c].confusion[4 * w + (k > c ? 2 : 0) + 1];
      classes_from_tails(tails, {result.confusion.data() + (w * classes + k) * classes, classes});
    }
  }
}

/// Iteration by iteration, the sum over cuts; one that has come to rest stays where it is.
void add_traces(const std::vector<CategoryFit>& cuts, CategoryFit& result) {
  for (const CategoryFit& cut : cuts) {
    result.iterations = std::max(result.iterations, cut.iterations);
    result.seconds_per_iteration += cut.seconds_per_iteration;
    if (cut.status == Status::cancelled || result.status == Status::converged) result.status = cut.status;
  }
  result.trace.assign(result.iterations, 0.0);
  for (const CategoryFit& cut : cuts) {
    for (std::size_t i = 0; i < result.iterations && !cut.trace.empty(); ++i) {
      result.trace[i] += cut.trace[std::min(i, cut.trace.size() - 1)];
    }
  }
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Ordinal Dawid–Skene";
  info.summary = "For ordered classes: a Dawid–Skene model for each question \"above this class?\", put together.";
  info.when_to_use =
      "Grades, ratings and levels of severity, with ten or more answers per worker, when far errors cost more than "
      "near "
      "ones.";
  info.reference =
      "V. C. Raykar et al., Learning from crowds, JMLR 2010 (section 5.1, ordinal regression by binary questions)";
  info.assumptions =
      "Classes are ordered; how often a worker says \"above\" depends only on the side on which the truth lies.";
  info.cost = "time S·K per iteration; memory N·K + M·K²";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  return CategoryMethod::of<OrdinalDawidSkene, parameters>(std::move(info));
}

void make_falling(std::span<double> values) {
  struct Pool {
    double mean;
    std::size_t size;
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean < pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& before = pools.back();
      const std::size_t size = before.size + last.size;
      before.mean = (before.mean * static_cast<double>(before.size) + last.mean * static_cast<double>(last.size)) /
                    static_cast<double>(size);
      before.size = size;
    }
  }
  std::size_t at = 0;
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.size; ++i) values[at++] = pool.mean;
  }
}

CategoryData above(const CategoryData& data, std::size_t cut) {
  const std::size_t classes = data.answers.class_count();
  CategoryData sides;
  auto column = std::make_shared<CategoryAnswers::Column>();
  column->classes = ColumnNames(NameTable(std::vector<std::string>{"0", "1"}));
  const auto labels = data.answers.labels();
  column->labels.resize(labels.size());
  for (std::size_t a = 0; a < labels.size(); ++a) column->labels[a] = ClassId{index(labels[a]) > cut};
  sides.answers = CategoryAnswers(data.answers, std::move(column));
  for (const ClassId gold : data.gold) sides.gold.push_back(gold == kNoClass ? gold : ClassId{index(gold) > cut});
  for (std::size_t i = 0; i < data.task_priors.size(); i += classes) {
    double below = 0, beyond = 0;
    for (std::size_t k = 0; k < classes; ++k) (k > cut ? beyond : below) += data.task_priors[i + k];
    sides.task_priors.push_back(below);
    sides.task_priors.push_back(beyond);
  }
  return sides;
}

CategoryFit OrdinalDawidSkene::fit(const CategoryData& data, const RunContext& context,
                                   const CategoryStart& start) const {
  const auto fit_one = [&](const CategoryData& one, const CategoryStart& from) {
    return fit_confusion_em(one, context, options_.em, from, [this](const ConfusionPass& pass) {
      return std::make_unique<FixedSmoothing>(pass.class_count(), pass.stride(), options_.pseudo_count,
                                              options_.diagonal_pseudo_count);
    });
  };
  const std::size_t classes = data.answers.class_count();
  CategoryFit result;
  if (classes <= 2) {
    result = fit_one(data, start);  // one question: the model of Dawid and Skene itself
  } else {
    result = start_aggregation(data);
    result.tie_rule = options_.em.ties;
    result.objective_name = "log posterior, summed over cuts";
    result.objective_is_monotone = true;
    std::vector<CategoryFit> cuts;
    for (std::size_t cut = 0; cut + 1 < classes; ++cut) {
      std::vector<double> sides(start.empty() ? 0 : 2 * result.task_count, 0.0);
      for (std::size_t i = 0; i < start.posterior.size(); ++i) {
        sides[2 * (i / classes) + (i % classes > cut ? 1 : 0)] += start.posterior[i];
      }
      cuts.push_back(fit_one(above(data, cut), {sides}));
    }
    put_together(cuts, result, context);
    pin_gold(data, result.posterior);
    add_traces(cuts, result);
    warn_if_flipped(data, result);
    if (result.status == Status::iteration_limit) result.warnings.push_back(not_converged_warning(result.iterations));
  }
  result.labels = decided_labels(result.posterior, classes, options_.decision, options_.em.ties, context);
  return result;
}

}  // namespace wisecrowd::ordinal_dawid_skene
