#include "aggregate/comparisons/preference_groups/preference_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregate/comparisons/shared/plain_scores.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "data/pair_labels.hpp"

namespace wisecrowd::preference_groups {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("groups", o.groups, 1, 64, "groups of workers");
  v.integer("restarts", o.restarts, 1, 1000, "random starts, of which the best is kept");
  v.real("virtual_games", o.virtual_games, 1e-9, 1e6, "wins, and losses, of every item against one of score 0");
  v.integer("max_iterations", o.max_iterations, 1, 1e6, "most iterations of a start");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no worker's probability of a group changes by more");
}

/// One start: scores per group, shares of the groups, and who belongs where.
class Mixture {
 public:
  Mixture(const ComparisonData& data, const Options& options, const comparisons::ItemGraph& graph,
          const RunContext& context)
      : answers_(data.answers),
        options_(options),
        graph_(graph),
        context_(context),
        scores(options.groups, std::vector<double>(answers_.item_count(), 0)),
        share(options.groups, 1.0 / static_cast<double>(options.groups)),
        member(answers_.worker_count() * options.groups) {
    (void)answers_.worker_offsets();
  }

  void start(Rng rng) {
    for (std::size_t w = 0; w < answers_.worker_count(); ++w) {
      const std::span own(member.data() + w * groups(), groups());
      const std::vector<double> even(groups(), 1);
      rng.dirichlet(even, own);
    }
  }

  /// Scores and shares for the members; a step of Newton's method each.
  void maximise() {
    std::vector<double> first(answers_.task_count()), second(answers_.task_count());
    for (std::size_t g = 0; g < groups(); ++g) {
      double total = 0;
      for (std::size_t w = 0; w < answers_.worker_count(); ++w) total += member[w * groups() + g];
      share[g] = (total + 1) / static_cast<double>(answers_.worker_count() + groups());
      for (std::size_t t = 0; t < answers_.task_count(); ++t) {
        first[t] = second[t] = 0;
        for (AnswerIndex a = answers_.task_offsets()[t]; a < answers_.task_offsets()[t + 1]; ++a) {
          const double weight = member[index(answers_.workers()[a]) * groups() + g];
          const Outcome said = ComparisonAnswers::outcome_of(answers_.codes()[a]);
          first[t] += weight * (said == Outcome::left ? 1 : said == Outcome::tie ? 0.5 : 0);
          second[t] += weight * (said == Outcome::right ? 1 : said == Outcome::tie ? 0.5 : 0);
        }
      }
      comparisons::ScoreSolver solver(graph_, {.games = options_.virtual_games}, context_);
      solver.set_weights(first, second);
      solver.improve(scores[g], 3, 1e-6);
    }
  }

  /// log r_jc = log τ_c + Σ log σ(s_c,i − s_c,i'). Returns the largest change; fills the objective.
  double expect() {
    std::vector<double> log_worker(answers_.worker_count() * groups());
    std::vector<double> log_first(answers_.task_count()), log_second(answers_.task_count());
    for (std::size_t g = 0; g < groups(); ++g) {
      for (std::size_t t = 0; t < answers_.task_count(); ++t) {
        const ItemPair pair = answers_.pairs()[t];
        const double d = scores[g][index(pair.first)] - scores[g][index(pair.second)];
        log_first[t] = log_sigmoid(d);
        log_second[t] = log_sigmoid(-d);
      }
      for (std::size_t w = 0; w < answers_.worker_count(); ++w) {
        double sum = math::log(share[g]);
        const auto tasks = answers_.tasks_of(WorkerId(w));
        const auto places = answers_.answers_of(WorkerId(w));
        for (std::size_t i = 0; i < tasks.size(); ++i) {
          const Outcome said = ComparisonAnswers::outcome_of(answers_.codes()[places[i]]);
          const double one = log_first[index(tasks[i])], two = log_second[index(tasks[i])];
          sum += said == Outcome::left ? one : said == Outcome::right ? two : (one + two) / 2;
        }
        log_worker[w * groups() + g] = sum;
      }
    }
    log_likelihood = 0;
    double change = 0;
    for (std::size_t w = 0; w < answers_.worker_count(); ++w) {
      const std::span own(log_worker.data() + w * groups(), groups());
      log_likelihood += softmax(own);
      for (std::size_t g = 0; g < groups(); ++g) {
        change = std::max(change, std::abs(own[g] - member[w * groups() + g]));
        member[w * groups() + g] = own[g];
      }
    }
    objective = log_likelihood;
    for (std::size_t g = 0; g < groups(); ++g) {
      objective += math::log(share[g]);  // one more worker in each group
      for (const double s : scores[g]) objective += options_.virtual_games * (log_sigmoid(s) + log_sigmoid(-s));
    }
    return change;
  }

  [[nodiscard]] std::size_t groups() const noexcept { return options_.groups; }

 private:
  const ComparisonAnswers& answers_;
  const Options& options_;
  const comparisons::ItemGraph& graph_;
  const RunContext& context_;

 public:
  std::vector<std::vector<double>> scores;
  std::vector<double> share, member;
  double objective = 0, log_likelihood = 0;
};

/// The largest group first.
std::vector<std::size_t> order_of(const Mixture& mixture) {
  std::vector<std::size_t> order(mixture.groups());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return mixture.share[a] > mixture.share[b]; });
  return order;
}

void take(const Mixture& mixture, const comparisons::Connectivity& found, ComparisonFit& fit) {
  fit.group_count = mixture.groups();
  fit.group_score.assign(fit.group_count * fit.item_count, 0);
  fit.group_of_worker.assign(fit.worker_count * fit.group_count, 0);
  const std::vector<std::size_t> order = order_of(mixture);
  for (std::size_t g = 0; g < fit.group_count; ++g) {
    std::vector<double> scores = mixture.scores[order[g]];
    comparisons::centre_by_component(scores, found);
    fit.group_share.push_back(mixture.share[order[g]]);
    fit.learned.emplace_back(fmt::format("share_group{}", g + 1), mixture.share[order[g]]);
    std::copy(scores.begin(), scores.end(), fit.group_score.begin() + static_cast<std::ptrdiff_t>(g * fit.item_count));
    for (std::size_t i = 0; i < fit.item_count; ++i) fit.score[i] += mixture.share[order[g]] * scores[i];
    for (std::size_t w = 0; w < fit.worker_count; ++w) {
      fit.group_of_worker[w * fit.group_count + g] = mixture.member[w * fit.group_count + order[g]];
    }
  }
}

/// Which item serves the worst-served group best: the max-min over groups.
void explain_worst_served(const ComparisonData& data, ComparisonFit& fit) {
  if (fit.item_count == 0 || fit.group_count < 2) return;
  std::size_t best_mean = 0, best_worst = 0;
  double worst_of_best = -1e300;
  for (std::size_t i = 0; i < fit.item_count; ++i) {
    if (fit.score[i] > fit.score[best_mean]) best_mean = i;
    double worst = 1e300;
    for (std::size_t g = 0; g < fit.group_count; ++g) worst = std::min(worst, fit.group_score[g * fit.item_count + i]);
    if (worst > worst_of_best) {
      worst_of_best = worst;
      best_worst = i;
    }
  }
  const NameTable& names = data.answers.item_names();
  fit.explanation = fmt::format(
      "Scores are means over {} groups of workers. '{}' has the best mean; '{}' serves the group best that likes it "
      "least ({:.3g}).",
      fit.group_count, names[best_mean], names[best_worst], worst_of_best);
  fit.learned.emplace_back("worst_group_score", worst_of_best);
}

}  // namespace

Method<Comparisons> method() {
  MethodInfo info;
  info.title = "Preference groups";
  info.summary = "A mixture of Bradley–Terry models: workers fall into groups with tastes of their own.";
  info.when_to_use = "When people may want different things, and a mean would hide it.";
  info.reference = "Murphy and Martin 2003; Chakraborty et al., MaxMin-RLHF, ICML 2024";
  info.assumptions = "Every worker has the taste of one of a few groups; enough answers per worker tell which.";
  info.cost = "time (S + P) C per iteration and start, C groups; memory S + P";
  info.uses_chance = true;
  return Method<Comparisons>::of<PreferenceGroups, parameters>(std::move(info));
}

ComparisonFit PreferenceGroups::fit(const ComparisonData& data, const RunContext& context,
                                    const ComparisonStart&) const {
  using namespace comparisons;
  ComparisonFit fit = start_comparison_fit(data);
  const ItemGraph graph(data.answers.pairs(), data.answers.item_count());
  const Connectivity found = connectivity(graph, count_wins({.answers = data.answers}, context));
  warn_of_connectivity(found, true, 0, fit);
  fit.objective_name = "log posterior";
  std::optional<Mixture> best;
  for (std::size_t r = 0; r < options_.restarts && !context.cancelled(); ++r) {
    Mixture mixture(data, options_, graph, context);
    mixture.start(context.rng("preference groups", r));
    std::vector<double> trace;
    Status status = Status::iteration_limit;
    while (trace.size() < options_.max_iterations && !context.cancelled()) {
      mixture.maximise();
      const double change = mixture.expect();
      trace.push_back(mixture.objective);
      context.report({.stage = "iterating", .done = static_cast<double>(trace.size())});
      if (change <= options_.tolerance) {
        status = Status::converged;
        break;
      }
    }
    if (best && best->objective >= mixture.objective) continue;
    best.emplace(std::move(mixture));
    fit.status = status;
    fit.iterations = trace.size();
    fit.trace = std::move(trace);
  }
  if (context.cancelled()) fit.status = Status::cancelled;
  if (best) {
    fit.log_likelihood = best->log_likelihood;
    fit.has_log_likelihood = true;
    take(*best, found, fit);
  }
  // How uncertain the mean is: as if all were of one mind, with the curvature at the mean.
  const PairWins wins = count_wins({.answers = data.answers}, context);
  ScoreSolver solver(graph, {.games = options_.virtual_games}, context);
  solver.set_weights(wins.first, wins.second);
  ScoreSolver::Point point;
  solver.evaluate(fit.score, point);
  std::vector<double> own(fit.item_count);
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] = 2 * options_.virtual_games * sigmoid(fit.score[i]) * sigmoid(-fit.score[i]);
  }
  const double spread = plain_dispersion(data.answers, fit.score);
  for (double& information : point.curvature) information /= spread;
  rank_items(graph, point.curvature, own, found, fit);
  label_pairs(data, fit, context);
  explain_worst_served(data, fit);
  return fit;
}

std::vector<double> PreferenceGroups::log_predictive(const ComparisonData& data,
                                                     std::span<const ComparisonAnswer> answers,
                                                     const RunContext& context) const {
  const ComparisonFit fitted = fit(data, context);
  return comparisons::log_answers(data.answers, answers, [&](const ComparisonAnswer& a) {
    const double left = fitted.deviation[index(a.left)], right = fitted.deviation[index(a.right)];
    const double variance = std::isfinite(left) && std::isfinite(right) ? left * left + right * right : 0;
    double p = 0;
    for (std::size_t g = 0; g < fitted.group_count; ++g) {
      const double* const scores = fitted.group_score.data() + g * fitted.item_count;
      p += fitted.group_of_worker[index(a.worker) * fitted.group_count + g] *
           comparisons::moderated_sigmoid(scores[index(a.left)] - scores[index(a.right)], variance);
    }
    return p;
  });
}

}  // namespace wisecrowd::preference_groups
