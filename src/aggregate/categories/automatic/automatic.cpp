#include "aggregate/categories/automatic/automatic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "aggregate/categories/automatic/orientation.hpp"
#include "aggregate/categories/shared/confusion_em.hpp"
#include "aggregate/categories/shared/memory_need.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/dependence.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/ordered_classes.hpp"
#include "wisecrowd/tempering.hpp"

namespace wisecrowd::automatic {
namespace {

constexpr std::string_view kBase = "hierarchical_dawid_skene", kOfGroups = "group_dawid_skene";
constexpr double kHiddenShare = 0.2;
/// Folds by which probabilities are tempered: more would cost more than they tell, because they share tasks.
constexpr std::size_t kTemperingFolds = 3;
/// A test that has not even reached this after a fold is not carried on.
constexpr double kHopeless = 0.5;
constexpr std::size_t kSubtypes = 10;
constexpr std::size_t kSubtypeStarts = 3;
/// Numbers that a fit with subtypes would touch, from which on it is only recommended.
constexpr double kMostSubtypeWork = 2e9;
/// Iterations of the method that is asked for a second opinion: to see whether it goes another way, not to the last
/// digit.
constexpr std::int64_t kSecondOpinion = 25;
/// Where most answers come from workers with fewer than this many, little is to be learnt about single workers, only
/// how far the crowd as a whole can be believed: that needs neither many iterations nor many answers.
constexpr std::uint32_t kFewAnswers = 3;
constexpr std::int64_t kPassingIterations = 100;
constexpr std::size_t kPassingTested = 10'000;
/// Share of tasks with other labels from which on two methods are said to disagree.
constexpr double kDisagreement = 0.15;

Parameters with_ties(std::string_view method, TieRule ties) {
  Parameters parameters(aggregation_method(method).parameters);
  parameters.set("ties", to_string(ties));
  return parameters;
}

/// The base, carried as far as the crowd can feed it.
Parameters base_parameters(TieRule ties, bool workers_repeat) {
  Parameters parameters = with_ties(kBase, ties);
  if (!workers_repeat) parameters.set_value("max_iterations", kPassingIterations);
  return parameters;
}

/// EBCC whose rows are learned: so that its prior is no handicap, and few starts suffice.
Parameters subtype_parameters(const CategoryData& data, TieRule ties, std::size_t starts,
                              std::size_t subtypes = kSubtypes) {
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

/// What held-out answers say of the base.
struct Verdict {
  double dependence = 0;   ///< by how many standard errors subtypes predict better than the base, and than none
  TemperingFit tempering;  ///< of the base's probabilities
};

/// ln P of held-out answers by the posterior and the tables of a fit.
std::vector<double> log_predicted(const CategoryFit& fit, std::span<const CategoryAnswer> hidden) {
  const std::size_t classes = fit.class_count;
  std::vector<double> logs;
  for (const CategoryAnswer& answer : hidden) {
    const auto posterior = fit.posterior_of(answer.task);
    const auto table = fit.confusion_of(answer.worker);
    double p = 0;
    for (std::size_t k = 0; k < classes; ++k) p += posterior[k] * table[k * classes + index(answer.label)];
    logs.push_back(std::log(std::max(p, kProbabilityFloor)));
  }
  return logs;
}

/// Do at least half of the answers come from workers who gave kFewAnswers or more? Subtypes can be told apart only by
/// workers of whom answers are seen while another is held out: a single answer gives the same table in every subtype.
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
    if (!hopeful && f >= kTemperingFolds) break;
    const CategoryFit fit = base->fit(visible, context);
    if (f < kTemperingFolds) search.add_fold(visible, fit, held_out.hidden(f), context);
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

/// How far the posterior of a fit with groups can be believed, by hidden answers of workers who belong to none: those
/// of a group's members follow the group, not the truth.
TemperingFit tempering_of_groups(const CategoryData& grouped, const CategoryFit& fit, const Options& options,
                                 const RunContext& context) {
  const TaskSample sample = sample_of_tasks(grouped, options.tested, context);
  const HeldOut held_out(sample.data, {.folds = kTemperingFolds, .share = kHiddenShare}, context);
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

/// The crowd in which each group answers once, by its first member: what most of those who answered say.
CategoryData one_voice_per_group(const CategoryData& data, std::span<const std::uint32_t> voices) {
  const CategoryAnswers& answers = data.answers;
  constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  std::vector<std::uint32_t> size(voices.size(), 0), first(voices.size(), kNobody);
  for (std::uint32_t w = 0; w < voices.size(); ++w) {
    ++size[voices[w]];
    if (first[voices[w]] == kNobody) first[voices[w]] = w;
  }
  std::vector<CategoryAnswer> kept;
  std::vector<std::uint32_t> spoken;
  std::vector<double> votes;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId{t});
    const auto labels = answers.labels_of(TaskId{t});
    spoken.clear();
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const std::uint32_t voice = voices[index(workers[a])];
      if (size[voice] == 1) {
        kept.push_back({TaskId{t}, workers[a], labels[a]});
      } else if (std::find(spoken.begin(), spoken.end(), voice) == spoken.end()) {
        spoken.push_back(voice);
      }
    }
    for (const std::uint32_t voice : spoken) {
      votes.assign(answers.class_count(), 0.0);
      for (std::size_t a = 0; a < workers.size(); ++a) {
        if (voices[index(workers[a])] == voice) votes[index(labels[a])] += 1;
      }
      const auto most = std::max_element(votes.begin(), votes.end()) - votes.begin();
      kept.push_back({TaskId{t}, WorkerId{first[voice]}, ClassId(static_cast<std::uint16_t>(most))});
    }
  }
  CategoryData collapsed = data;
  collapsed.answers = inherited(
      answers, make_category_answers(kept, {answers.task_names(), answers.worker_names(), answers.class_names()},
                                     DuplicatePolicy::repeat));
  return collapsed;
}

std::string words_of_groups(const Dependence& found) {
  std::size_t groups = 0, members = 0;
  for (const DependentGroup& group : found.groups) {
    if (!group.acted_on) continue;
    ++groups;
    members += group.workers.size();
  }
  return fmt::format("{} workers in {} group{} do not answer independently: each group counts as one voice", members,
                     groups, groups == 1 ? "" : "s");
}

/// Subtypes of tasks where the crowd of voices asks for them.
std::optional<CategoryFit> subtypes_of_voices(const CategoryData& data, const Dependence& found, const Options& options,
                                              const RunContext& context, Verdict& verdict) {
  if (options.folds == 0 || found.everybody_grouped) return std::nullopt;
  const CategoryData voices = one_voice_per_group(data, found.voices);
  const CategoryFit base = aggregate(voices, kBase, base_parameters(options.ties, true), context);
  verdict = judge(voices, base, options, most_workers_repeat(voices.answers), context);
  const double work =
      static_cast<double>(voices.answers.answer_count()) * static_cast<double>(base.class_count) * kSubtypes;
  if (verdict.dependence <= options.evidence || work > kMostSubtypeWork || context.cancelled()) return std::nullopt;
  CategoryFit fit = aggregate(voices, "ebcc", subtype_parameters(voices, options.ties, kSubtypeStarts), context);
  fit.confusion.clear();  // members of groups have not answered for themselves
  fit.explanation = fmt::format(
      "ebcc, because {}; and subtypes of tasks predict hidden answers better than independent voices do (by {:.1f} "
      "standard errors).",
      words_of_groups(found), verdict.dependence);
  return fit;
}

/// The fit in which each group of dependent workers is one voice, if there are such groups; `result` is replaced then.
bool count_groups_once(const CategoryData& data, const Options& options, const RunContext& context,
                       CategoryFit& result) {
  Dependence found;
  if (data.worker_groups.empty()) {
    found = find_dependence(data, {}, context);
  } else {
    found = given_groups(data);
  }
  if (!found.acts() || context.cancelled()) {
    result.dependence = std::move(found);
    return false;
  }
  Verdict verdict;
  std::optional<CategoryFit> subtypes = subtypes_of_voices(data, found, options, context, verdict);
  TemperingFit tempering = verdict.tempering;
  std::vector<double> skill = std::move(result.skill);
  if (subtypes) {
    // Who is silent among the voices is not who is silent in the crowd.
    const auto silent = [](const Warning& warning) { return warning.code == "silent_workers"; };
    std::erase_if(subtypes->warnings, silent);
    std::copy_if(result.warnings.begin(), result.warnings.end(), std::back_inserter(subtypes->warnings), silent);
    result = std::move(*subtypes);
  } else {
    CategoryData grouped = data;
    grouped.worker_groups = found.voices;
    result = aggregate(grouped, kOfGroups, with_ties(kOfGroups, options.ties), context);
    result.explanation = fmt::format("{}, because {}.", kOfGroups, words_of_groups(found));
    if (options.calibrate && options.folds > 0) tempering = tempering_of_groups(grouped, result, options, context);
  }
  result.skill = std::move(skill);
  found.counted_once = true;
  result.dependence = std::move(found);
  result.learned.emplace_back("dependence_z", verdict.dependence);
  result.learned.emplace_back("misfit", tempering.misfit);
  pin_gold(data, result.posterior);
  result.tie_rule = options.ties;
  result.labels = hard_labels(result.posterior, result.class_count, options.ties, context);
  if (options.calibrate) temper(data, tempering, result, context);
  return true;
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
  if (options.calibrate) temper(data, {}, result, context);
  return true;
}

void parameters(ParameterVisitor& v, Options& o) {
  v.flag(
      "find_groups", o.find_groups,
      "look for workers who do not answer independently, and count a group as one voice where it contradicts the rest");
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
void choose(const CategoryData& data, const Options& options, const Verdict& verdict, bool tested, bool workers_repeat,
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
  } else if (dependent) {
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

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Automatic";
  info.summary =
      "Hierarchical Dawid–Skene, or EBCC where held-out answers show correlated errors; probabilities tempered as far "
      "as held-out answers call for it.";
  info.when_to_use =
      "The default, also under the name auto. It says what it chose and why, and warns when methods disagree or "
      "workers "
      "look copied.";
  info.reference =
      "Its parts: hierarchical_dawid_skene, ebcc, and a test by held-out answers with errors clustered by task";
  info.assumptions = "Those of the method that it chooses; most workers are better than chance.";
  info.cost =
      "that of hierarchical_dawid_skene, and a test that costs as much as four fits of it and five of ebcc to at most "
      "100 000 answers";
  info.uses_start = true;
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;
  return CategoryMethod::of<Automatic, parameters>(std::move(info));
}

CategoryFit Automatic::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  if (!tables_fit(shape_of(data.answers, context))) return fit_without_tables(data, options_.ties, context, start);
  const bool workers_repeat = most_workers_repeat(data.answers);
  CategoryFit result = aggregate(data, kBase, base_parameters(options_.ties, workers_repeat), context, start);
  if (result.class_count < 2 || data.answers.answer_count() == 0) return result;

  const bool grouped = options_.find_groups && count_groups_once(data, options_, context, result);
  const bool turned = !grouped && start.empty() && turn_around(data, options_, context, workers_repeat, result);
  if (!grouped && !turned) choose_for_single_workers(data, context, start, workers_repeat, result);
  ask_other_methods(data, options_.ties, grouped || turned, context, result);
  keep_first_of_each_code(result.warnings);
  if (context.cancelled()) result.status = Status::cancelled;
  return result;
}

void Automatic::choose_for_single_workers(const CategoryData& data, const RunContext& context,
                                          const CategoryStart& start, bool workers_repeat, CategoryFit& result) const {
  std::optional<Dependence> dependence = std::move(result.dependence);
  const bool tested = options_.folds > 0 && !context.cancelled();
  const Verdict verdict = tested ? judge(data, result, options_, workers_repeat, context) : Verdict{};
  choose(data, options_, verdict, tested, workers_repeat, context, start, result);
  result.learned.emplace_back("dependence_z", verdict.dependence);
  result.learned.emplace_back("misfit", verdict.tempering.misfit);
  pin_gold(data, result.posterior);
  result.tie_rule = options_.ties;
  result.labels = hard_labels(result.posterior, result.class_count, options_.ties, context);
  if (options_.calibrate) temper(data, verdict.tempering, result, context);

  result.dependence = std::move(dependence);
  warn_if_flipped(data, result);
}

}  // namespace wisecrowd::automatic
