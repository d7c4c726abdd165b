#include "wisecrowd/drift.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "data/drift_evidence.hpp"
#include "trust/shared/others_posterior.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {
namespace {

using trust::OthersPosterior;

constexpr std::size_t kDriftBlock = 16;  // workers
/// What is usual for a worker counts as so many answers of its past, once it is known without its worse stretches.
constexpr double kUsualWeight = 1000;
/// An alarm is raised where one who bears so many false ones among 1,000 answers would raise it, and reported if all
/// answers bear it out: by so much more than for that many in the end.
constexpr double kRaisedAt = 0.4, kBorneOut = 0.75;
constexpr int kAccuracySteps = 25;
/// A loss of accuracy that is worth an alarm, at least.
constexpr double kLeastLoss = 0.1;
/// Answers in a stretch of a timeline, at least.
constexpr std::size_t kLeastInStretch = 20;

/// The answers of one worker in time order, and what the others say of their tasks.
struct History {
  std::vector<AnswerIndex> answer;
  std::vector<TaskId> task;
  std::vector<double> q;  ///< answers × classes
  std::size_t classes = 0;

  [[nodiscard]] std::size_t size() const noexcept { return answer.size(); }
  [[nodiscard]] std::span<const double> q_of(std::size_t t) const { return std::span(q).subspan(t * classes, classes); }
};

History history_of(const JudgedCrowd& crowd, const OthersPosterior& others, WorkerId worker) {
  const auto own = crowd.answers.answers_of(worker);
  const auto tasks = crowd.answers.tasks_of(worker);
  const auto times = crowd.times;
  std::vector<std::uint32_t> order(own.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return times[own[a]] < times[own[b]]; });
  History history;
  history.classes = others.classes();
  history.q.resize(own.size() * history.classes);
  for (std::size_t t = 0; t < order.size(); ++t) {
    history.answer.push_back(own[order[t]]);
    history.task.push_back(tasks[order[t]]);
    others.without(tasks[order[t]], own[order[t]], std::span(history.q).subspan(t * history.classes, history.classes));
  }
  return history;
}

/// Worse stretches of a history: [first, end), and where the alarm was raised.
struct Stretch {
  std::size_t first = 0, end = 0, raised = 0;
  double evidence = 0;
  bool lasts = true;
};

/// Goes through a history: the stretches in which the odds of a degraded worker rise to the alarm, each until they have
/// fallen as much again.
class DriftScan {
 public:
  DriftScan(const JudgedCrowd& crowd, const History& history, const DriftOptions& options, PastTable past)
      : crowd_(crowd), history_(history), options_(options), past_(std::move(past)) {
    alarm_ = drift_alarm(information(), kRaisedAt);
  }

  std::vector<Stretch> run() {
    for (std::size_t t = 0; t < history_.size(); ++t) {
      if (degraded_) {
        wait_for_recovery(t);
      } else {
        wait_for_alarm(t);
      }
    }
    return std::move(found_);
  }
  /// Of one answer, on average; by so many of the tasks that it costs no more than going through all answers once.
  [[nodiscard]] double information() const {
    const std::size_t step = std::max<std::size_t>(history_.classes / 2, 1);
    double sum = 0, tasks = 0;
    for (std::size_t t = 0; t < history_.size(); t += step, tasks += 1) {
      sum += drift_information(past_, history_.q_of(t), options_.degraded);
    }
    return sum / tasks;
  }

 private:
  [[nodiscard]] std::size_t said(std::size_t t) const { return index(crowd_.answers.labels()[history_.answer[t]]); }
  /// ln p₁/p₀.
  [[nodiscard]] double odds(std::size_t t) const {
    return drift_odds(past_, history_.q_of(t), said(t), options_.degraded);
  }
  /// Answers before `end` are above suspicion.
  void learn_until(std::size_t end) {
    for (; learned_ < end; ++learned_) past_.count(history_.q_of(learned_), said(learned_));
  }
  void wait_for_alarm(std::size_t t) {
    sum_ += odds(t);
    if (sum_ <= 0) {
      sum_ = 0;
      learn_until(t + 1);
    } else if (sum_ >= alarm_) {
      found_.push_back({learned_, history_.size(), t, sum_, true});
      degraded_ = true;
      sum_ = 0;
      recovers_ = t + 1;
    }
  }
  void wait_for_recovery(std::size_t t) {
    sum_ -= odds(t);
    if (sum_ <= 0) {
      sum_ = 0;
      recovers_ = t + 1;
    } else if (sum_ >= alarm_) {
      found_.back().end = recovers_;
      found_.back().lasts = false;
      degraded_ = false;
      sum_ = 0;
      learned_ = recovers_;
      learn_until(t + 1);
    }
  }

  const JudgedCrowd& crowd_;
  const History& history_;
  const DriftOptions& options_;
  PastTable past_;
  std::vector<Stretch> found_;
  bool degraded_ = false;
  double sum_ = 0, alarm_ = 0;
  std::size_t learned_ = 0;   ///< the first answer that is not in the table yet: where a worse stretch would begin
  std::size_t recovers_ = 0;  ///< where it would end
};

/// The share of right answers in [first, end), as one number for all classes; `skip` is left out, if given.
double accuracy_of(const JudgedCrowd& crowd, const History& history, std::size_t first, std::size_t end,
                   const std::vector<bool>* skip = nullptr) {
  const double others = static_cast<double>(history.classes - 1);
  double accuracy = 0.7;
  for (int step = 0; step < kAccuracySteps; ++step) {
    double right = 0, answers = 0;
    for (std::size_t t = first; t < end; ++t) {
      if (skip != nullptr && (*skip)[t]) continue;
      const double said = history.q_of(t)[index(crowd.answers.labels()[history.answer[t]])];
      const double if_right = said * accuracy, if_wrong = (1 - said) * (1 - accuracy) / others;
      right += if_right + if_wrong > 0 ? if_right / (if_right + if_wrong) : said;
      answers += 1;
    }
    if (answers == 0) return std::nan("");
    accuracy = std::clamp(right / answers, 1e-6, 1 - 1e-6);
  }
  return accuracy;
}

/// The answers that belong to one of the stretches.
std::vector<bool> marked(std::span<const Stretch> stretches, std::size_t answers) {
  std::vector<bool> marks(answers, false);
  for (const Stretch& stretch : stretches) {
    for (std::size_t t = stretch.first; t < stretch.end; ++t) marks[t] = true;
  }
  return marks;
}

/// ln P(answers) of all but those to skip, at the accuracy that explains them best.
double best_likelihood(const JudgedCrowd& crowd, const History& history, const std::vector<bool>& skip) {
  const double accuracy = accuracy_of(crowd, history, 0, history.size(), &skip);
  const double others = static_cast<double>(history.classes - 1);
  double sum = 0;
  for (std::size_t t = 0; t < skip.size(); ++t) {
    if (skip[t]) continue;
    const double said = history.q_of(t)[index(crowd.answers.labels()[history.answer[t]])];
    sum += math::log(std::max(said * accuracy + (1 - said) * (1 - accuracy) / others, kProbabilityFloor));
  }
  return sum;
}

/// ln of how much better all answers are explained by an accuracy of its own for the stretch than by one for all.
double explained_by(const JudgedCrowd& crowd, const History& history, const Stretch& stretch) {
  const std::vector<bool> within = marked(std::span(&stretch, 1), history.size());
  std::vector<bool> outside = within;
  outside.flip();
  const std::vector<bool> none(history.size(), false);
  return best_likelihood(crowd, history, within) + best_likelihood(crowd, history, outside) -
         best_likelihood(crowd, history, none);
}

struct Finding {
  WorkerDrift drift;
  std::vector<DriftAlarm> alarms;
};

DriftSegment segment_of(const JudgedCrowd& crowd, const History& history, std::size_t first, std::size_t end) {
  const auto times = crowd.times;
  DriftSegment segment;
  segment.first = first;
  segment.answers = end - first;
  segment.begins = times[history.answer[first]];
  segment.ends = times[history.answer[end - 1]];
  segment.accuracy = accuracy_of(crowd, history, first, end);
  return segment;
}

Finding describe(const JudgedCrowd& crowd, const History& history, WorkerId worker, std::span<const Stretch> found) {
  Finding finding;
  finding.drift.worker = worker;
  const std::vector<bool> worse = marked(found, history.size());
  const double usual = accuracy_of(crowd, history, 0, history.size(), &worse);
  std::size_t at = 0;
  const auto add = [&](std::size_t end, bool degraded) {
    if (end <= at) return;
    finding.drift.segments.push_back(segment_of(crowd, history, at, end));
    finding.drift.segments.back().degraded = degraded;
    at = end;
  };
  for (const Stretch& stretch : found) {
    add(stretch.first, false);
    add(stretch.end, true);
    DriftAlarm alarm;
    alarm.worker = worker;
    alarm.raised = stretch.raised + 1;
    alarm.began = stretch.first + 1;
    alarm.task = history.task[stretch.raised];
    alarm.time = crowd.times[history.answer[stretch.raised]];
    alarm.evidence = stretch.evidence;
    alarm.before = usual;
    alarm.lately = finding.drift.segments.back().accuracy;
    alarm.lasts = stretch.lasts;
    finding.alarms.push_back(alarm);
  }
  add(history.size(), false);
  return finding;
}

std::optional<Finding> look_at(const JudgedCrowd& crowd, const OthersPosterior& others, WorkerId worker,
                               std::span<const double> crowd_table, std::span<const double> shares,
                               const DriftOptions& options) {
  const History history = history_of(crowd, others, worker);
  const std::size_t cells = history.classes * history.classes;
  const auto overall = crowd.tables.subspan(index(worker) * cells, cells);
  PastTable past(overall, crowd_table, static_cast<double>(history.size()), shares);
  std::vector<Stretch> found = DriftScan(crowd, history, options, past).run();
  if (found.empty()) return {};
  // Worse answers have spoilt the table that the rest was compared with: look once more, from what it is without them.
  const std::vector<bool> worse = marked(found, history.size());
  if (std::count(worse.begin(), worse.end(), false) >= static_cast<std::ptrdiff_t>(kLeastInStretch)) {
    past.start_at(accuracy_of(crowd, history, 0, history.size(), &worse), kUsualWeight);
  }
  DriftScan scan(crowd, history, options, past);
  const double enough = drift_alarm(scan.information(), options.false_alarms) + kBorneOut;
  found = scan.run();
  const std::vector<bool> all = marked(found, history.size());
  const double usual = accuracy_of(crowd, history, 0, history.size(), &all);
  std::erase_if(found, [&](const Stretch& stretch) {
    const double loss = usual - accuracy_of(crowd, history, stretch.first, stretch.end);
    return !(loss >= kLeastLoss && explained_by(crowd, history, stretch) >= enough);
  });
  if (found.empty()) return {};
  return describe(crowd, history, worker, found);
}

/// The mean table of all, each worker by the number of its answers, with one right answer added to each row.
std::vector<double> mean_table(const JudgedCrowd& crowd, std::size_t classes) {
  std::vector<double> table(classes * classes, 0.0);
  for (std::size_t k = 0; k < classes; ++k) table[k * (classes + 1)] = 1;
  const auto offsets = crowd.answers.worker_offsets();
  for (std::size_t j = 0; j + 1 < offsets.size(); ++j) {
    const double weight = static_cast<double>(offsets[j + 1] - offsets[j]);
    for (std::size_t c = 0; c < table.size(); ++c) table[c] += weight * crowd.tables[j * table.size() + c];
  }
  normalise_rows(table, classes);
  return table;
}

std::vector<double> shares_of(const JudgedCrowd& crowd) {
  const std::size_t classes = crowd.answers.class_count();
  if (crowd.tables.size() != crowd.answers.worker_count() * classes * classes) {
    throw Error(ErrorCode::bad_input, fmt::format("tables of {} cells do not fit {} workers and {} classes",
                                                  crowd.tables.size(), crowd.answers.worker_count(), classes));
  }
  if (crowd.times.size() != crowd.answers.answer_count()) {
    throw Error(ErrorCode::bad_input, fmt::format("{} times do not fit {} answers: drift needs one per answer",
                                                  crowd.times.size(), crowd.answers.answer_count()));
  }
  if (!crowd.class_shares.empty()) return {crowd.class_shares.begin(), crowd.class_shares.end()};
  return std::vector<double>(classes, 1 / static_cast<double>(std::max<std::size_t>(classes, 1)));
}

}  // namespace

Drift find_drift(const JudgedCrowd& crowd, const DriftOptions& options, const RunContext& context) {
  const std::vector<double> shares = shares_of(crowd);
  Drift drift;
  const std::size_t workers = crowd.answers.worker_count();
  if (shares.size() < 2 || workers == 0) return drift;
  const OthersPosterior others(crowd, shares, context);
  const auto offsets = crowd.answers.worker_offsets();
  const std::vector<double> crowd_table = mean_table(crowd, shares.size());
  std::vector<std::optional<Finding>> found(workers);
  const Blocks blocks{workers, kDriftBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block) && !context.cancelled(); ++j) {
      if (offsets[j + 1] - offsets[j] < options.least_answers) continue;
      found[j] = look_at(crowd, others, WorkerId{static_cast<std::uint32_t>(j)}, crowd_table, shares, options);
    }
  });
  for (std::size_t j = 0; j < workers; ++j) {
    drift.looked_at += offsets[j + 1] - offsets[j] >= options.least_answers ? 1 : 0;
    if (!found[j]) continue;
    drift.workers.push_back(std::move(found[j]->drift));
    drift.alarms.insert(drift.alarms.end(), found[j]->alarms.begin(), found[j]->alarms.end());
  }
  std::stable_sort(drift.alarms.begin(), drift.alarms.end(),
                   [](const DriftAlarm& a, const DriftAlarm& b) { return a.before - a.lately > b.before - b.lately; });
  return drift;
}

std::vector<double> times_in_order(const CategoryAnswers& answers, std::span<const CategoryAnswer> list,
                                   std::span<const double> times) {
  if (times.size() != list.size()) {
    throw Error(ErrorCode::bad_input, fmt::format("{} times do not fit {} answers", times.size(), list.size()));
  }
  std::vector<double> ordered(answers.answer_count(), 0.0);
  std::vector<std::uint32_t> taken(answers.has_repeats() ? answers.answer_count() : 0, 0);  // at the first of equals
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!std::isfinite(times[i])) {
      throw Error(ErrorCode::bad_input, fmt::format("answer {}: its time {} is not a finite number", i, times[i]));
    }
    const auto workers = answers.workers_of(list[i].task);  // sorted
    const auto [first, last] = std::equal_range(workers.begin(), workers.end(), list[i].worker);
    if (first == last) throw Error(ErrorCode::bad_input, fmt::format("answer {} is not among the answers", i));
    std::size_t at = answers.task_offsets()[index(list[i].task)] + static_cast<std::size_t>(first - workers.begin());
    if (!taken.empty()) {  // repeats are sorted by what was said
      const std::size_t end = at + static_cast<std::size_t>(last - first);
      while (at + 1 < end && answers.labels()[at] != list[i].label) ++at;
      const std::size_t place = at + taken[at]++;
      at = std::min(place, end - 1);
    }
    ordered[at] = times[i];
  }
  return ordered;
}

std::vector<std::vector<DriftSegment>> worker_timelines(const JudgedCrowd& crowd, std::span<const WorkerId> workers,
                                                        std::size_t most_stretches, const RunContext& context) {
  const std::vector<double> shares = shares_of(crowd);
  std::vector<std::vector<DriftSegment>> lines(workers.size());
  if (shares.size() < 2) return lines;
  const OthersPosterior others(crowd, shares, context);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const History history = history_of(crowd, others, workers[w]);
    const std::size_t count = std::min(most_stretches, std::max<std::size_t>(history.size() / kLeastInStretch, 1));
    for (std::size_t n = 0; n < count && history.size() > 0; ++n) {
      lines[w].push_back(segment_of(crowd, history, history.size() * n / count, history.size() * (n + 1) / count));
    }
  }
  return lines;
}

}  // namespace wisecrowd
