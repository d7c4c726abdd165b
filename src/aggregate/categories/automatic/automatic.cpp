#include "aggregate/categories/automatic/automatic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "aggregate/categories/automatic/groups.hpp"
#include "aggregate/categories/automatic/orientation.hpp"
#include "aggregate/categories/automatic/pool.hpp"
#include "aggregate/categories/automatic/verdict.hpp"
#include "aggregate/categories/shared/confusion_em.hpp"
#include "aggregate/categories/shared/constant_workers.hpp"
#include "aggregate/categories/shared/memory_need.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd::automatic {
namespace {

/// Iterations of the method that is asked for a second opinion: to see whether it goes another way, not to the last
/// digit.
constexpr std::int64_t kSecondOpinion = 25;
/// Share of tasks with other labels from which on two methods are said to disagree.
constexpr double kDisagreement = 0.15;

double share_of_other_labels(const CategoryData& data, std::span<const ClassId> a, std::span<const ClassId> b) {
  std::size_t other = 0, all = 0;
  const auto offsets = data.answers.task_offsets();
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (offsets[t] == offsets[t + 1]) continue;
    ++all;
    other += a[t] != b[t] ? 1 : 0;
  }
  return all == 0 ? 0 : static_cast<double>(other) / static_cast<double>(all);
}

/// For so many workers and classes that tables would not fit: one number per worker.
CategoryFit fit_without_tables(const CategoryData& data, TieRule ties, const RunContext& context,
                               const CategoryStart& start) {
  CategoryFit result = aggregate(data, "one_coin", with_ties("one_coin", ties), context, start);
  result.explanation =
      fmt::format("one_coin, because tables of {} workers and {} classes would be too large to learn or to show.",
                  result.worker_count, result.class_count);
  result.warnings.push_back(
      {"tables_left_out",
       fmt::format("{} workers × {} classes are too many for a confusion table each: every worker is taken to have one "
                   "accuracy and to err evenly among the classes.",
                   result.worker_count, result.class_count),
       "Merge rare classes to learn more about workers."});
  return result;
}

/// The base the other way round, if most workers contradict `result`, and if most agree with that; `result` is replaced
/// then. Its probabilities are the model's own: votes, which those who are now contradicted decide, would only spoil
/// them.
bool turn_around(const CategoryData& data, const Options& options, const RunContext& context, bool workers_repeat,
                 CategoryFit& result) {
  const std::optional<std::vector<double>> votes = votes_of_those_against(data, result);
  if (!votes || context.cancelled()) return false;
  CategoryFit turned = aggregate(data, kBase, base_parameters(options.ties, workers_repeat), context, {*votes});
  const Sides sides = sides_of(data, turned);
  if (sides.with <= sides.against) return false;
  turned.dependence = std::move(result.dependence);
  result = std::move(turned);
  result.explanation = fmt::format(
      "{}, begun from the workers who contradict the votes: {} workers are then right more often than by guessing, and "
      "{} less often.",
      kBase, sides.with, sides.against);
  result.warnings.push_back(
      {"turned_around",
       fmt::format("{} workers contradict the others on most tasks. Where votes are counted they decide; here the "
                   "others are believed, who are more ({}).",
                   sides.against, sides.with),
       "Answers alone cannot tell which side is right. Name a worker as `trusted`, or give some gold.",
       Severity::serious});
  result.learned.emplace_back("dependence_z", 0.0);
  result.learned.emplace_back("misfit", 0.0);
  return true;
}

void parameters(ParameterVisitor& v, Options& o) {
  v.flag(
      "find_groups", o.find_groups,
      "look for workers who do not answer independently, and count a group as one voice where it contradicts the rest");
  v.flag("pool", o.pool,
         "average families of methods as far as held-out answers are not as the model says, and set constant workers "
         "aside; false: one model alone");
  v.flag("calibrate", o.calibrate,
         "temper the probabilities, and mix them with the votes as far as held-out answers call for it");
  v.real("evidence", o.evidence, 0, 1e9,
         "threshold of the z-score by which subtypes of tasks must predict held-out answers better to be used");
  v.integer("folds", o.folds, 0, 5, "how often a fifth of the answers is held out for that test; 0 leaves it out");
  v.integer("tested", o.tested, 1, 1e9,
            "answers that the test looks at, at most; a random part of the tasks if there are more");
  tie_rule_parameter(v, o.ties);
}

/// The base, or subtypes of tasks where held-out answers call for them; `result`, the base's fit, is replaced then.
/// Returns whether it was.
bool choose(const CategoryData& data, const Options& options, const Verdict& verdict, bool tested, bool workers_repeat,
            const RunContext& context, const CategoryStart& start, CategoryFit& result) {
  const double z = verdict.dependence;
  const bool dependent = tested && z > options.evidence;
  const double work =
      static_cast<double>(data.answers.answer_count()) * static_cast<double>(result.class_count) * kSubtypes;
  if (dependent && work <= kMostSubtypeWork && !context.cancelled()) {
    CategoryFit refined =
        aggregate(data, "ebcc", subtype_parameters(data, options.ties, kSubtypeStarts), context, start);
    refined.warnings.insert(refined.warnings.end(), result.warnings.begin(), result.warnings.end());
    std::erase_if(refined.warnings,
                  [](const Warning& w) { return w.code == "not_converged" || w.code == "flipped_solution"; });
    refined.skill = result.skill;
    result = std::move(refined);
    result.explanation = fmt::format(
        "ebcc: held-out answers show correlated errors on some tasks (z = {:.1f}, threshold {}).", z, options.evidence);
    return true;
  }
  if (dependent) {
    result.explanation = fmt::format(
        "{}, although held-out answers show correlated errors on some tasks (z = {:.1f}, threshold {}): ebcc would "
        "take too long here.",
        kBase, z, options.evidence);
    result.warnings.push_back({"dependent_answers",
                               "workers make correlated errors on some tasks, so probabilities are too close to 1.",
                               "With time to spare, run `method=ebcc`, or aggregate a part of the tasks."});
  } else if (tested && !workers_repeat) {
    result.explanation =
        fmt::format("{}: with one or two answers from most workers, correlated errors cannot be tested.", kBase);
  } else if (tested) {
    result.explanation = fmt::format("{}: held-out answers show no correlated errors (z = {:.1f}, threshold {}).",
                                     kBase, z, options.evidence);
  } else {
    result.explanation = fmt::format("{}, without a test of the alternative.", kBase);
  }
  return false;
}

/// What counting votes and another model of the workers say, and a warning if that matters. Where groups count once, or
/// the labels are not those of the vote on purpose, others must differ: no warning then.
void ask_other_methods(const CategoryData& data, TieRule ties, bool on_purpose, const RunContext& context,
                       CategoryFit& result) {
  const double from_votes = share_of_other_labels(
      data, result.labels, hard_labels(vote_fractions(data, context), result.class_count, ties, context));
  result.learned.emplace_back("share_unlike_majority", from_votes);
  Parameters second_opinion = with_ties("one_coin", ties);
  second_opinion.set_value("max_iterations", kSecondOpinion);
  const auto second = aggregate(data, "one_coin", second_opinion, context);
  const double apart = share_of_other_labels(data, result.labels, second.labels);
  result.learned.emplace_back("share_unlike_one_coin", apart);
  if (apart > kDisagreement && !on_purpose) {
    result.warnings.push_back(
        {"methods_disagree",
         fmt::format("another model of the workers (one_coin) gives {:.0f} % of the tasks another label, majority_vote "
                     "{:.0f} %: the choice of the method matters here.",
                     100 * apart, 100 * from_votes),
         "Learn the truth of some tasks where they differ, and give it as gold."});
  }
}

void keep_first_of_each_code(std::vector<Warning>& warnings) {
  std::vector<Warning> unique;
  for (Warning& warning : warnings) {
    const bool known =
        std::any_of(unique.begin(), unique.end(), [&](const Warning& w) { return w.code == warning.code; });
    if (!known) unique.push_back(std::move(warning));
  }
  warnings = std::move(unique);
}

/// Rules that say one class or nothing.
CategoryFit fit_rules(const CategoryData& data, const Constancy& constancy, TieRule ties, const RunContext& context) {
  CategoryFit result;
  pool_of_rules(data, ties, context, result);
  result.explanation =
      "votes, and a little of hierarchical_dawid_skene with an even class prior: nearly every worker says one class "
      "only, as rules do, and from such answers no model can tell who is right.";
  result.learned.emplace_back("diversity", constancy.diversity);
  if (context.cancelled()) result.status = Status::cancelled;
  return result;
}

/// What is known of those who were set aside, and of the tasks that only they answered.
void take_back(const CategoryData& data, const CategoryData& kept, const Constancy& constancy, TieRule ties,
               const RunContext& context, CategoryFit& result) {
  const std::size_t classes = result.class_count;
  std::vector<double> said(result.worker_count * classes, 0.0);
  bool left_empty = false;
  for (std::uint32_t t = 0; t < result.task_count; ++t) {
    const auto workers = data.answers.workers_of(TaskId{t});
    const auto labels = data.answers.labels_of(TaskId{t});
    left_empty = left_empty || (!workers.empty() && kept.answers.workers_of(TaskId{t}).empty());
    for (std::size_t a = 0; a < workers.size(); ++a) said[index(workers[a]) * classes + index(labels[a])] += 1;
  }
  if (left_empty && !context.cancelled()) {
    const CategoryFit whole = aggregate(data, kBase, with_ties(kBase, ties), context);
    for (std::uint32_t t = 0; t < result.task_count; ++t) {
      if (!kept.answers.workers_of(TaskId{t}).empty() || data.answers.workers_of(TaskId{t}).empty()) continue;
      std::copy_n(whole.posterior.data() + t * classes, classes, result.posterior.data() + t * classes);
      result.labels[t] = whole.labels[t];
    }
  }
  for (std::uint32_t w = 0; w < result.worker_count; ++w) {
    if (!constancy.is_constant[w]) continue;
    if (!result.skill.empty()) result.skill[w] = 0;
    for (std::size_t k = 0; k < classes && !result.confusion.empty(); ++k) {
      double* const row = result.confusion.data() + (w * classes + k) * classes;
      for (std::size_t l = 0; l < classes; ++l) row[l] = said[w * classes + l] + 1 / static_cast<double>(classes);
      normalise_rows(std::span(row, classes), classes);
    }
  }
  const CategoryFit blank = start_aggregation(data);  // who is silent among those who are left is not who is silent
  std::erase_if(result.warnings, [](const Warning& warning) {
    return warning.code == "silent_workers" || warning.code == "unanswered_tasks" || warning.code == "unused_classes";
  });
  result.warnings.insert(result.warnings.end(), blank.warnings.begin(), blank.warnings.end());
  result.explanation += fmt::format(" {} worker{} who always say{} the same {} set aside.", constancy.constant,
                                    constancy.constant == 1 ? "" : "s", constancy.constant == 1 ? "s" : "",
                                    constancy.constant == 1 ? "is" : "are");
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Automatic";
  info.summary =
      "Hierarchical Dawid–Skene where held-out answers are as it says; else a pool of families of methods, with EBCC "
      "where errors are correlated. Constant workers are set aside, dependent groups count once; probabilities are "
      "calibrated.";
  info.when_to_use =
      "The default, also under the name auto. It says what it did and why, and warns when methods disagree or workers "
      "look copied.";
  info.reference =
      "Its parts: hierarchical_dawid_skene, ebcc, mace, worker_clusters, wawa, minimax_entropy, and tests by held-out "
      "answers with errors clustered by task";
  info.assumptions = "Those of the methods that it combines; most workers are better than chance.";
  info.cost =
      "that of hierarchical_dawid_skene, and a test that costs as much as four fits of it and five of ebcc to at most "
      "100 000 answers; where the pool is used one fit of each member besides";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;
  return CategoryMethod::of<Automatic, parameters>(std::move(info));
}

CategoryFit Automatic::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  if (!tables_fit(shape_of(data.answers, context))) return fit_without_tables(data, options_.ties, context, start);
  const Constancy constancy = options_.pool ? constancy_of(data) : Constancy{};
  if (constancy.rules && start.empty()) return fit_rules(data, constancy, options_.ties, context);
  const bool all = constancy.constant == 0;
  const CategoryData rest = all ? CategoryData{} : without_answers_of(data, constancy.is_constant);
  const CategoryData& kept = all ? data : rest;
  TemperingFit tempering;
  CategoryFit result = fit_people(data, kept, context, start, tempering);
  if (result.class_count < 2 || kept.answers.answer_count() == 0) return result;
  if (!all) take_back(data, kept, constancy, options_.ties, context, result);
  if (options_.pool) {
    result.learned.emplace_back("diversity", constancy.diversity);
    result.learned.emplace_back("workers_set_aside", static_cast<double>(constancy.constant));
  }
  tempering.chosen.weighted = options_.pool;
  if (options_.calibrate) temper(data, tempering, result, context);
  keep_first_of_each_code(result.warnings);
  if (context.cancelled()) result.status = Status::cancelled;
  return result;
}

CategoryFit Automatic::fit_people(const CategoryData& everybody, const CategoryData& data, const RunContext& context,
                                  const CategoryStart& start, TemperingFit& tempering) const {
  const bool workers_repeat = most_workers_repeat(data.answers);
  CategoryFit result = aggregate(data, kBase, base_parameters(options_.ties, workers_repeat), context, start);
  if (result.class_count < 2 || data.answers.answer_count() == 0) return result;
  const bool grouped = options_.find_groups && count_groups_once(everybody, data, options_, context, result, tempering);
  const bool turned = !grouped && start.empty() && turn_around(data, options_, context, workers_repeat, result);
  if (!grouped && !turned)
    choose_for_single_workers(everybody, data, context, start, workers_repeat, result, tempering);
  ask_other_methods(data, options_.ties, grouped || turned, context, result);
  return result;
}

void Automatic::choose_for_single_workers(const CategoryData& everybody, const CategoryData& data,
                                          const RunContext& context, const CategoryStart& start, bool workers_repeat,
                                          CategoryFit& result, TemperingFit& tempering) const {
  std::optional<Dependence> dependence = std::move(result.dependence);
  const bool tested = options_.folds > 0 && !context.cancelled();
  const Verdict verdict = tested ? judge(data, result, options_, workers_repeat, context) : Verdict{};
  tempering = verdict.tempering;
  if (tested && &everybody != &data) {
    // Those who were set aside count here: a crowd in which some do not look is not as the model says.
    const Parameters base = base_parameters(options_.ties, workers_repeat);
    const CategoryFit whole = aggregate(everybody, kBase, base, context);
    TemperingFit of_all = fit_tempering(everybody, whole, kBase, base, options_.tested, context);
    if (of_all.misfit > tempering.misfit) tempering = std::move(of_all);
  }
  const double share = options_.pool && workers_repeat ? share_of_pool(data, tempering) : 0;
  const std::vector<double> by_base = share > 0 ? result.posterior : std::vector<double>{};
  const bool dependent = choose(data, options_, verdict, tested, workers_repeat, context, start, result);
  result.learned.emplace_back("dependence_z", verdict.dependence);
  result.learned.emplace_back("misfit", tempering.misfit);
  if (share > 0) {
    const PoolRequest request{data, by_base, dependent ? "ebcc" : "", kChosenWeight, share};
    blend(request, options_.ties, context, start, result, tempering);
  } else if (options_.pool && workers_repeat && tempering.misfit > 0) {
    result.explanation += fmt::format(
        " Held-out answers of a sample of the tasks speak for a pool of several methods (misfit {:.2g} of 1), which is "
        "left out beyond {} answers because it would take several times as long.",
        tempering.misfit, kMostPooledAnswers);
  }
  pin_gold(data, result.posterior);
  result.tie_rule = options_.ties;
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  result.dependence = std::move(dependence);
  warn_if_flipped(data, result);
}

}  // namespace wisecrowd::automatic
