#include "aggregate/categories/zero_based_skill/zero_based_skill.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"

namespace wisecrowd::zero_based_skill {

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "Zero-based skill";
  info.summary = "Wawa repeated: skills move step by step toward agreement with the vote that they weigh.";
  info.when_to_use = "Like wawa, when the first vote is poor and a few rounds can improve on it.";
  info.reference = "Toloka, Zero-Based Skill aggregation, 2022";
  info.assumptions = "As for wawa; a few rounds of votes lead to better votes.";
  info.cost = "time S per round; memory N·K";
  info.uses_start = true;
  info.parameters = {
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.max_iterations), 1, 1e9,
                             "give up after this many rounds"),
      ParameterSpec::real("learning_rate", defaults.learning_rate, 1e-6, 1,
                          "share of the way that a skill moves in one round"),
      ParameterSpec::integer("halve_every", static_cast<std::int64_t>(defaults.halve_every), 1, 1e9,
                             "the learning rate is halved after this many rounds"),
      ParameterSpec::real("tolerance", defaults.tolerance, 0, 1, "stop when no skill moves by more than this"),
      tie_rule_parameter(),
  };
  info.uses_gold = true;
  return info;
}

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<ZeroBasedSkill>(
      Options{.max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations")),
              .learning_rate = parameters.real("learning_rate"),
              .halve_every = static_cast<std::size_t>(parameters.integer("halve_every")),
              .tolerance = parameters.real("tolerance"),
              .ties = tie_rule_from(parameters.choice("ties"))});
}

CategoryFit ZeroBasedSkill::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options_.ties;
  result.status = Status::iteration_limit;
  const double chance = 1.0 / static_cast<double>(std::max<std::size_t>(result.class_count, 1));
  result.skill.assign(result.worker_count, chance);
  if (!start.empty()) {
    const auto labels = hard_labels(start.posterior, result.class_count, options_.ties, context);
    result.skill = worker_agreement(data.answers, labels, context);
  }
  const auto vote = [&] {
    result.posterior = vote_fractions(data, context, result.skill);
    pin_gold(data, result.posterior);
    result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  };
  double rate = options_.learning_rate;
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t iteration = 0; iteration < options_.max_iterations; ++iteration) {
    vote();
    const auto agreement = worker_agreement(data.answers, result.labels, context);
    double moved = 0;
    for (std::size_t w = 0; w < agreement.size(); ++w) {
      const double step = rate * (agreement[w] - result.skill[w]);
      result.skill[w] += step;
      moved = std::max(moved, std::abs(step));
    }
    result.iterations = iteration + 1;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options_.max_iterations)});
    if (context.cancelled()) {
      result.status = Status::cancelled;
      break;
    }
    if (moved <= options_.tolerance) {
      result.status = Status::converged;
      break;
    }
    if ((iteration + 1) % options_.halve_every == 0) rate /= 2;
  }
  vote();
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  result.class_prior = mean_posterior(data.answers, result.posterior);
  return result;
}

}  // namespace wisecrowd::zero_based_skill
