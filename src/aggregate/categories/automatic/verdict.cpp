#include "aggregate/categories/automatic/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/held_out.hpp"

namespace wisecrowd::automatic {
namespace {

constexpr double kHiddenShare = 0.2;
/// Folds by which probabilities are tempered: more would cost more than they tell, because they share tasks.
constexpr std::size_t kTemperingFolds = 3;
/// And one is enough where a crowd is so large that a sample of it is looked at.
std::size_t tempering_folds(const TaskSample& sample) { return sample.tasks.empty() ? kTemperingFolds : 1; }
/// A test that has not even reached this after a fold is not carried on.
constexpr double kHopeless = 0.5;
/// Where most answers come from workers with fewer than this many, little is to be learnt about single workers, only
/// how far the crowd as a whole can be believed: that needs neither many iterations nor many answers.
constexpr std::uint32_t kFewAnswers = 3;
constexpr std::int64_t kPassingIterations = 100;
constexpr std::size_t kPassingTested = 10'000;

/// ln P of held-out answers by the posterior and the tables of a fit.
std::vector<double> log_predicted(const CategoryFit& fit, std::span<const CategoryAnswer> hidden) {
  const std::size_t classes = fit.class_count;
  std::vector<double> logs;
  for (const CategoryAnswer& answer : hidden) {
    const auto posterior = fit.posterior_of(answer.task);
    const auto table = fit.confusion_of(answer.worker);
    double p = 0;
    for (std::size_t k = 0; k < classes; ++k) p += posterior[k] * table[k * classes + index(answer.label)];
    logs.push_back(math::log(std::max(p, kProbabilityFloor)));
  }
  return logs;
}

}  // namespace

Parameters with_ties(std::string_view method, TieRule ties) {
  Parameters parameters(aggregation_method(method).parameters);
  parameters.set("ties", to_string(ties));
  return parameters;
}

Parameters base_parameters(TieRule ties, bool workers_repeat) {
  Parameters parameters = with_ties(kBase, ties);
  if (!workers_repeat) parameters.set_value("max_iterations", kPassingIterations);
  return parameters;
}

Parameters subtype_parameters(const CategoryData& data, TieRule ties, std::size_t starts, std::size_t subtypes) {
  Parameters parameters = with_ties("ebcc", ties);
  const auto tasks = static_cast<double>(data.answers.task_count());
  const auto classes = static_cast<double>(std::max<std::size_t>(data.answers.class_count(), 1));
  parameters.set_value("subtypes", static_cast<std::int64_t>(subtypes));
  parameters.set_value("subtype_prior", 1.0);
  parameters.set_value("row_prior", std::string("learned"));
  parameters.set_value("class_pseudo_count", std::max(1.0, std::sqrt(tasks) / classes));
  parameters.set_value("max_iterations", std::int64_t{150});
  parameters.set_value("restarts", static_cast<std::int64_t>(starts - 1));
  parameters.set_value("combine", std::string("average"));
  return parameters;
}

bool most_workers_repeat(const CategoryAnswers& answers) {
  std::vector<std::uint32_t> given(answers.worker_count(), 0);
  for (const WorkerId worker : answers.workers()) ++given[index(worker)];
  std::size_t passing = 0;
  for (const std::uint32_t count : given) passing += count < kFewAnswers ? count : 0;
  return passing <= answers.answer_count() / 2;
}

Verdict judge(const CategoryData& data, const CategoryFit& base_fit, const Options& options, bool workers_repeat,
              const RunContext& context) {
  Verdict verdict;
  const std::size_t tested = workers_repeat ? options.tested : std::min(options.tested, kPassingTested);
  const TaskSample sample = sample_of_tasks(data, tested, context);
  const HeldOut held_out(sample.data, {.folds = options.folds, .share = kHiddenShare}, context);
  if (held_out.hidden_count() == 0) return verdict;
  const auto base = make_aggregator(kBase, base_parameters(options.ties, workers_repeat));
  const auto subtypes = make_aggregator("ebcc", subtype_parameters(sample.data, options.ties, 1));
  const auto undivided = make_aggregator("ebcc", subtype_parameters(sample.data, options.ties, 1, 1));
  TemperingSearch search(sample.data, rows_of(sample, base_fit), *base, context);
  std::vector<double> plain, refined, rival;
  bool hopeful = workers_repeat;
  for (std::size_t f = 0; f < held_out.folds() && !context.cancelled(); ++f) {
    const CategoryData& visible = held_out.visible(f);
    if (!hopeful && f >= tempering_folds(sample)) break;
    const CategoryFit fit = base->fit(visible, context);
    if (f < tempering_folds(sample)) search.add_fold(visible, fit, held_out.hidden(f), context);
    if (!hopeful) continue;
    const auto by_base = log_predicted(fit, held_out.hidden(f));
    plain.insert(plain.end(), by_base.begin(), by_base.end());
    const auto part = held_out.log_probabilities(*subtypes, f, context);
    refined.insert(refined.end(), part.begin(), part.end());
    verdict.dependence = held_out.z_score(refined, plain);
    hopeful = verdict.dependence >= kHopeless;
    if (!hopeful) continue;
    // The same model without subtypes: what it predicts as well is owed to its prior, not to dependence.
    const auto other = held_out.log_probabilities(*undivided, f, context);
    rival.insert(rival.end(), other.begin(), other.end());
    verdict.dependence = std::min(verdict.dependence, held_out.z_score(refined, rival));
    hopeful = verdict.dependence >= kHopeless;
  }
  verdict.tempering = search.conclude();
  return verdict;
}

TemperingFit tempering_of_groups(const CategoryData& grouped, const CategoryFit& fit, const Options& options,
                                 const RunContext& context) {
  const TaskSample sample = sample_of_tasks(grouped, options.tested, context);
  const HeldOut held_out(sample.data, {.folds = tempering_folds(sample), .share = kHiddenShare}, context);
  if (held_out.hidden_count() == 0) return {};
  const auto method = make_aggregator(kOfGroups, with_ties(kOfGroups, options.ties));
  std::vector<std::uint32_t> size(grouped.worker_groups.size(), 0);
  for (const std::uint32_t voice : grouped.worker_groups) ++size[voice];
  TemperingSearch search(sample.data, rows_of(sample, fit), *method, context);
  for (std::size_t f = 0; f < held_out.folds() && !context.cancelled(); ++f) {
    std::vector<CategoryAnswer> alone;
    for (const CategoryAnswer& answer : held_out.hidden(f)) {
      if (size[sample.data.worker_groups[index(answer.worker)]] == 1) alone.push_back(answer);
    }
    if (alone.empty()) return {};
    search.add_fold(held_out.visible(f), method->fit(held_out.visible(f), context), alone, context);
  }
  return search.conclude();
}

}  // namespace wisecrowd::automatic
