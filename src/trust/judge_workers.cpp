#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "trust/shared/others_posterior.hpp"
#include "trust/spammer_evidence.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/trust.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kWorkersPerBlock = 64;
/// What a row of a worker's table is drawn towards, the crowd's own, counts as so many answers.
constexpr double kCrowdAnswers = 2;
/// Beyond guessing by at most this (of 1 for a worker who is always right), and perhaps not at all: stop. With two
/// classes it is an accuracy of .675.
constexpr double kLittleSkill = 0.35;
constexpr double kBeyondDoubt = 0.975;
/// recode: each class that is swapped must be so with this probability. Together they must be surer (`sure`).
constexpr double kLikelySwap = 0.8;
/// From this share of the tasks on that the others are sure of, a group that contradicts them is not to be asked any
/// more; below it, its members are judged each for itself.
constexpr double kMostlyAgainst = 0.5;

/// What guessing gives: the accuracy of one who says each class as often as this worker does, but without looking; or
/// of one who says all alike, so that nobody is praised for guessing badly. `meant`: the truth that each label is read
/// as, or empty.
double chance(std::span<const double> table, std::span<const double> shares, std::span<const std::size_t> meant = {}) {
  const std::size_t classes = shares.size();
  double sum = 0;
  for (std::size_t l = 0; l < classes; ++l) {
    const double share = shares[meant.empty() ? l : meant[l]];
    for (std::size_t k = 0; k < classes; ++k) sum += share * shares[k] * table[k * classes + l];
  }
  return std::max(sum, 1 / static_cast<double>(classes));
}

double skill_of(double right, double blind) { return (right - blind) / std::max(1 - blind, kProbabilityFloor); }

/// What each label means if the worker swaps classes: it says another label than the truth's most often, and every
/// label for one truth only. Empty if it does not.
std::vector<std::size_t> swapped_meaning(std::span<const double> mean, std::size_t classes) {
  std::vector<std::size_t> meant(classes, classes);
  bool swapped = false;
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = mean.subspan(k * classes, classes);
    const auto label = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    if (meant[label] != classes) return {};
    meant[label] = k;
    swapped = swapped || label != k;
  }
  return swapped ? meant : std::vector<std::size_t>();
}

double quantile(const std::vector<double>& sorted, double p) {
  return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1) + 0.5)];
}

Estimate estimate(double value, std::vector<double>& draws, double level) {
  std::sort(draws.begin(), draws.end());
  return {value, quantile(draws, (1 - level) / 2), quantile(draws, (1 + level) / 2)};
}

/// The mean table of the crowd's workers as far as they are no spammers, with one right answer added to each row.
std::vector<double> crowd_table(std::span<const double> counts, std::size_t classes,
                                const trust::SpammerEvidence& evidence) {
  std::vector<double> table(classes * classes, 0.0);
  for (std::size_t k = 0; k < classes; ++k) table[k * (classes + 1)] = 1;
  for (std::size_t e = 0; e < counts.size(); ++e) {
    table[e % table.size()] += (1 - evidence.spammer[e / table.size()]) * counts[e];
  }
  normalise_rows(table, classes);
  return table;
}

/// What draws of a worker's table say.
struct Drawn {
  std::vector<double> accuracies, scores, informations, skills;
  std::vector<double> recoded_skills;  ///< if labels mean something else
  std::size_t better_recoded = 0;      ///< draws in which the accuracy is higher then
  std::vector<std::size_t> largest;    ///< truth × label: draws in which this label is the row's largest
};

Drawn draw_tables(std::span<const double> parameters, std::span<const double> shares,
                  std::span<const std::size_t> meant, std::size_t draws, Rng rng) {
  const std::size_t classes = shares.size();
  Drawn drawn;
  drawn.largest.assign(classes * classes, 0);
  std::vector<double> table(classes * classes);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (std::size_t k = 0; k < classes; ++k) {
      const auto row = std::span(table).subspan(k * classes, classes);
      rng.dirichlet(parameters.subspan(k * classes, classes), row);
      ++drawn.largest[k * classes + static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin())];
    }
    const double right = accuracy_at(shares, table), blind = chance(table, shares);
    drawn.accuracies.push_back(right);
    drawn.skills.push_back(skill_of(right, blind));
    if (!meant.empty()) {
      double recoded = 0;
      for (std::size_t l = 0; l < classes; ++l) recoded += shares[meant[l]] * table[meant[l] * classes + l];
      drawn.better_recoded += recoded > right ? 1 : 0;
      drawn.recoded_skills.push_back(skill_of(recoded, chance(table, shares, meant)));
    }
    drawn.scores.push_back(spammer_score(table, classes));
    drawn.informations.push_back(M_LN2 * mutual_information_bits(shares, table));
  }
  std::sort(drawn.skills.begin(), drawn.skills.end());
  std::sort(drawn.recoded_skills.begin(), drawn.recoded_skills.end());
  return drawn;
}

/// Whether reading its labels by `meant` makes a good worker of it, beyond doubt.
bool find_recoding(const Drawn& drawn, std::span<const std::size_t> meant, const JudgeOptions& options,
                   WorkerAssessment& judged) {
  if (meant.empty()) return false;
  const std::size_t classes = meant.size();
  const auto share = [&](std::size_t draws) { return static_cast<double>(draws) / static_cast<double>(options.draws); };
  for (std::size_t l = 0; l < classes; ++l) {
    if (meant[l] != l && share(drawn.largest[meant[l] * classes + l]) < kLikelySwap) return false;
  }
  if (share(drawn.better_recoded) < options.sure || quantile(drawn.recoded_skills, 0.5) < kLittleSkill ||
      quantile(drawn.recoded_skills, 1 - kBeyondDoubt) <= 0) {
    return false;
  }
  for (const std::size_t k : meant) judged.recoding.push_back(ClassId{static_cast<std::uint16_t>(k)});
  return true;
}

/// The swap that costs most right answers, if there is one beyond doubt.
bool find_swap(const Drawn& drawn, std::span<const double> mean, std::span<const double> shares,
               const JudgeOptions& options, WorkerAssessment& judged) {
  const std::size_t classes = shares.size();
  double worst = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t l = 0; l < classes; ++l) {
      const double sure = static_cast<double>(drawn.largest[k * classes + l]) / static_cast<double>(options.draws);
      const double harm = shares[k] * mean[k * classes + l];
      if (l == k || sure < options.sure || harm <= worst) continue;
      worst = harm;
      judged.truth = ClassId{static_cast<std::uint16_t>(k)};
      judged.said = ClassId{static_cast<std::uint16_t>(l)};
    }
  }
  return worst > 0;
}

/// The table of cases, from the top: the first that holds decides.
void decide(const Drawn& drawn, std::span<const double> mean, std::span<const double> shares,
            std::span<const std::size_t> meant, const JudgeOptions& options, WorkerAssessment& judged) {
  const auto set = [&](WorkerAdvice advice, AdviceReason reason) {
    judged.advice = advice;
    judged.reason = reason;
  };
  const double low = quantile(drawn.skills, (1 - options.confidence_level) / 2);
  const double high = quantile(drawn.skills, (1 + options.confidence_level) / 2);
  if (judged.answers == 0) return set(WorkerAdvice::unsure, AdviceReason::no_answers);
  if (judged.answers < options.least_answers) return set(WorkerAdvice::unsure, AdviceReason::few_answers);
  if (judged.contradicts >= kMostlyAgainst) return set(WorkerAdvice::stop, AdviceReason::colludes);
  if (judged.spammer < options.stop_from && find_recoding(drawn, meant, options, judged)) {
    return set(WorkerAdvice::recode, AdviceReason::swaps_classes);
  }
  if (judged.spammer < options.stop_from && quantile(drawn.skills, kBeyondDoubt) < 0) {
    return set(WorkerAdvice::retrain, AdviceReason::reliably_wrong);
  }
  if (judged.spammer >= options.stop_from || (low <= 0 && high < kLittleSkill)) {
    return set(WorkerAdvice::stop, AdviceReason::guesses);
  }
  if (judged.score.high < options.spammer_below) return set(WorkerAdvice::stop, AdviceReason::tells_little);
  if (find_swap(drawn, mean, shares, options, judged)) {
    return set(WorkerAdvice::retrain, AdviceReason::takes_one_for_another);
  }
  if (judged.spammer >= options.keep_below || quantile(drawn.skills, 1 - kBeyondDoubt) <= 0) {
    return set(WorkerAdvice::unsure, AdviceReason::undecided);
  }
  if (judged.contradicts > 0) return set(WorkerAdvice::check, AdviceReason::colludes);
  if (judged.copies > 0) return set(WorkerAdvice::check, AdviceReason::answers_as_one);
  set(WorkerAdvice::keep, AdviceReason::better_than_guessing);
}

void judge(std::span<const double> counts, std::span<const double> crowd, std::span<const double> shares,
           const JudgeOptions& options, const Rng& rng, WorkerAssessment& judged) {
  const std::size_t classes = shares.size();
  std::vector<double> parameters(counts.begin(), counts.end());
  for (std::size_t c = 0; c < parameters.size(); ++c) {
    parameters[c] += kCrowdAnswers * std::max(crowd[c], trust::kLeastCell);
  }
  std::vector<double> mean(parameters);
  normalise_rows(mean, classes);
  const std::vector<std::size_t> meant = swapped_meaning(mean, classes);
  Drawn drawn = draw_tables(parameters, shares, meant, options.draws, rng);
  judged.accuracy = estimate(accuracy_at(shares, mean), drawn.accuracies, options.confidence_level);
  judged.score = estimate(spammer_score(mean, classes), drawn.scores, options.confidence_level);
  judged.information =
      estimate(M_LN2 * mutual_information_bits(shares, mean), drawn.informations, options.confidence_level);
  judged.capacity = channel_capacity(mean, classes, 1e-6).nats;
  judged.chance = chance(mean, shares);
  decide(drawn, mean, shares, meant, options, judged);
}

/// A worker's draws are a matter of its name where there is one, so that they do not depend on the order of the rows.
std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

std::vector<WorkerAssessment> judge_all(std::span<const double> counts, std::span<const double> shares,
                                        std::vector<WorkerAssessment> judged, std::span<const std::uint32_t> drawn,
                                        const JudgeOptions& options, const NameTable* names,
                                        const RunContext& context) {
  const std::size_t classes = shares.size(), cells = classes * classes;
  if (classes < 2) return judged;
  const auto evidence = trust::spammer_evidence(counts, classes, context);
  const auto crowd = crowd_table(counts, classes, evidence);
  for (std::size_t j = 0; j < judged.size(); ++j) {
    judged[j].spammer = evidence.spammer[j];
    std::vector<double> table(counts.begin() + static_cast<std::ptrdiff_t>(j * cells),
                              counts.begin() + static_cast<std::ptrdiff_t>((j + 1) * cells));
    for (std::size_t c = 0; c < cells; ++c) table[c] += kCrowdAnswers * crowd[c];
    normalise_rows(table, classes);
    judged[j].chance = chance(table, shares);
  }
  const Rng base = context.rng("judge workers");
  const Blocks blocks{drawn.size(), kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t n = blocks.begin(block); n < blocks.end(block) && !context.cancelled(); ++n) {
      const std::uint32_t j = drawn[n];
      const std::uint64_t stream = names == nullptr ? j : stream_of((*names)[j]);
      judge(counts.subspan(j * cells, cells), crowd, shares, options, base.fork("worker", stream), judged[j]);
    }
  });
  return judged;
}

/// What each worker said when the answers of the others say what; and how many labels hang on each.
WorkerTables counts_by_others(const JudgedCrowd& crowd, std::span<const double> shares,
                              std::vector<WorkerAssessment>& judged, const RunContext& context) {
  const CategoryAnswers& answers = crowd.answers;
  const trust::OthersPosterior others(crowd, shares, context);
  WorkerTables counts(answers.worker_count(), shares.size());
  static_cast<void>(answers.worker_offsets());  // built here, not by the threads
  const Blocks blocks{answers.worker_count(), kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> q(shares.size());
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      const WorkerId self{static_cast<std::uint32_t>(j)};
      const auto own_tasks = answers.tasks_of(self);
      const auto own = answers.answers_of(self);
      for (std::size_t i = 0; i < own.size(); ++i) {
        others.without(own_tasks[i], own[i], q);
        counts.count(self, answers.labels()[own[i]], q);
        const auto best = static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin());
        judged[j].labels_without += best == others.label(own_tasks[i]) ? 0 : 1;
      }
    }
  });
  return counts;
}

/// Labels by plain votes, the lower class of equals, that change if the worker's answers are read by its recoding.
std::uint64_t count_recoded_votes(const CategoryAnswers& answers, WorkerId worker, std::span<const ClassId> recoding) {
  std::vector<std::uint32_t> votes(recoding.size(), 0);
  const auto winner = [&] { return std::max_element(votes.begin(), votes.end()) - votes.begin(); };
  const auto tasks = answers.tasks_of(worker);
  const auto own = answers.answers_of(worker);
  std::uint64_t changed = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto labels = answers.labels_of(tasks[i]);
    for (const ClassId label : labels) ++votes[index(label)];
    const auto before = winner();
    --votes[index(answers.labels()[own[i]])];
    ++votes[index(recoding[index(answers.labels()[own[i]])])];
    changed += winner() == before ? 0 : 1;
    std::fill(votes.begin(), votes.end(), 0U);
  }
  return changed;
}

std::vector<std::uint32_t> everybody(std::size_t workers) {
  std::vector<std::uint32_t> all(workers);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

void check_sizes(std::size_t cells, std::size_t workers, std::size_t classes) {
  if (cells != workers * classes * classes) {
    throw Error(ErrorCode::bad_input,
                fmt::format("tables of {} cells do not fit {} workers and {} classes", cells, workers, classes));
  }
}

}  // namespace

std::vector<WorkerAssessment> judge_workers(std::span<const double> counts, std::span<const double> class_shares,
                                            std::span<const std::uint32_t> answers, const JudgeOptions& options,
                                            const RunContext& context) {
  check_sizes(counts.size(), answers.size(), class_shares.size());
  std::vector<WorkerAssessment> judged(answers.size());
  for (std::size_t j = 0; j < answers.size(); ++j) judged[j].answers = answers[j];
  return judge_all(counts, class_shares, std::move(judged), everybody(answers.size()), options, nullptr, context);
}

std::vector<WorkerAssessment> judge_workers(const JudgedCrowd& crowd, std::span<const std::uint32_t> drawn,
                                            const JudgeOptions& options, const RunContext& context) {
  const std::size_t classes = crowd.answers.class_count(), workers = crowd.answers.worker_count();
  check_sizes(crowd.tables.size(), workers, classes);
  std::vector<double> shares(crowd.class_shares.begin(), crowd.class_shares.end());
  if (shares.empty()) shares.assign(classes, 1 / static_cast<double>(classes));
  std::vector<WorkerAssessment> judged(workers);
  for (const WorkerId worker : crowd.answers.workers()) ++judged[index(worker)].answers;
  for (const DependentGroup& group : crowd.groups) {
    for (const WorkerId worker : group.workers) {
      if (crowd.everybody_grouped) continue;
      judged[index(worker)].copies = static_cast<std::uint32_t>(group.workers.size() - 1);
      if (group.acted_on) judged[index(worker)].contradicts = group.contradicts;
    }
  }
  const WorkerTables counts = counts_by_others(crowd, shares, judged, context);
  judged = judge_all(counts.cells(), shares, std::move(judged), drawn, options, &crowd.answers.worker_names(), context);
  for (std::uint32_t w = 0; w < workers; ++w) {
    if (judged[w].recoding.empty()) continue;
    judged[w].votes_recoded = count_recoded_votes(crowd.answers, WorkerId{w}, judged[w].recoding);
  }
  return judged;
}

std::vector<WorkerAssessment> judge_workers(const JudgedCrowd& crowd, const JudgeOptions& options,
                                            const RunContext& context) {
  return judge_workers(crowd, everybody(crowd.answers.worker_count()), options, context);
}

}  // namespace wisecrowd
