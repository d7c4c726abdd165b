#include "aggregate/sets/shared/relevance_pass.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::sets {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;
constexpr std::size_t kWorkersPerBlock = 8;

double log_odds(double p) {
  const double inside = std::clamp(p, kProbabilityFloor, 1 - kProbabilityFloor);
  return math::log(inside / (1 - inside));
}

/// What the E-step needs of the profiles.
struct ProfileLogs {
  std::vector<double> odds;    ///< profiles × classes
  std::vector<double> silent;  ///< by profile: its own weight, and that no class is true

  ProfileLogs(const Profiles& profiles, std::size_t classes) : odds(profiles.probability.size()) {
    for (std::size_t g = 0; g < profiles.count; ++g) {
      double sum = math::log(std::max(profiles.weight[g], kProbabilityFloor));
      for (std::size_t k = 0; k < classes; ++k) {
        const double p = profiles.probability[g * classes + k];
        odds[g * classes + k] = log_odds(p);
        sum += math::log(std::max(1 - p, kProbabilityFloor));
      }
      silent.push_back(sum);
    }
  }
};

/// What one task adds to the sums of its block.
struct BlockSums {
  double log_probability = 0;
  std::vector<double> mass, tasks;
};

/// Room that one thread works in.
struct Scratch {
  std::vector<double> odds, within, logs;
};

/// Posterior of one class in one profile, and the log of what both truths together give.
[[gnu::always_inline]] inline double settle(double odds, double& softplus) {
  const double e = exp_nonpositive(odds > 0 ? -odds : odds);
  softplus = (odds > 0 ? odds : 0.0) + log_positive(1 + e);
  return (odds > 0 ? 1.0 : e) / (1 + e);
}

/// Fills `within` (profiles × candidates) with the classes' probabilities in each profile, and `logs` with the log
/// weight of the profiles.
void settle_profiles(const CandidateRow& row, const ProfileLogs& profiles, std::size_t classes, Scratch& s) {
  const std::size_t size = row.size();
  for (std::size_t g = 0; g < profiles.silent.size(); ++g) {
    const double* const prior = profiles.odds.data() + g * classes;
    double* const out = s.within.data() + g * size;
    double sum = 0;
    if (row.all()) {
      for (std::size_t c = 0; c < size; ++c) {
        double softplus = 0;
        out[c] = settle(prior[c] + s.odds[c], softplus);
        sum += softplus;
      }
    } else {
      for (std::size_t c = 0; c < size; ++c) {
        double softplus = 0;
        out[c] = settle(prior[index(row.classes()[c])] + s.odds[c], softplus);
        sum += softplus;
      }
    }
    s.logs[g] = profiles.silent[g] + sum;
  }
}

/// The same where the truth is known.
void settle_gold(const CandidateRow& row, std::span<const ClassId> gold, const ProfileLogs& profiles,
                 std::size_t classes, Scratch& s) {
  const std::size_t size = row.size();
  for (std::size_t g = 0; g < profiles.silent.size(); ++g) {
    double* const out = s.within.data() + g * size;
    std::fill_n(out, size, 0.0);
    s.logs[g] = profiles.silent[g];
    row.for_each(gold, [&](std::size_t c) {
      out[c] = 1;
      s.logs[g] += profiles.odds[g * classes + index(row.classes()[c])] + s.odds[c];
    });
  }
}

}  // namespace

RelevancePass::RelevancePass(const SetData& data, SetFit& fit, const RunContext& context)
    : data_(data), fit_(fit), context_(context), classes_(fit.class_count) {
  const std::size_t cells = fit.worker_count * classes_;
  counts_.hits.resize(cells);
  counts_.truths.resize(cells);
  counts_.named.resize(cells);
  counts_.answers.resize(fit.worker_count);
  unnamed_.resize(cells);
  gain_.resize(cells);
  alarm_.resize(cells);
  silence_.resize(fit.worker_count);
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    const auto own = data.answers.answers_of(WorkerId(w));
    counts_.answers[w] = static_cast<double>(own.size());
    for (const AnswerIndex a : own) {
      for (const ClassId label : data.answers.set(a)) counts_.named[w * classes_ + index(label)] += 1;
    }
  }
}

void RelevancePass::count_worker(std::size_t worker) {
  double* const hits = counts_.hits.data() + worker * classes_;
  double* const truths = counts_.truths.data() + worker * classes_;
  std::fill_n(hits, classes_, 0.0);
  std::fill_n(truths, classes_, 0.0);
  const auto own = data_.answers.answers_of(WorkerId(worker));
  const auto tasks = data_.answers.tasks_of(WorkerId(worker));
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t task = index(tasks[i]);
    const CandidateRow row(fit_, task);
    const double* const q = fit_.probability.data() + fit_.offsets[task];
    if (row.all()) {
      for (std::size_t k = 0; k < classes_; ++k) truths[k] += q[k];
    } else {
      for (std::size_t c = 0; c < row.size(); ++c) truths[index(row.classes()[c])] += q[c];
    }
    row.for_each(data_.answers.set(own[i]), [&](std::size_t c) { hits[index(row.classes()[c])] += q[c]; });
  }
}

void RelevancePass::count() {
  const Blocks blocks{fit_.worker_count, kWorkersPerBlock};
  context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t w = blocks.begin(b); w < blocks.end(b) && !context_.cancelled(); ++w) count_worker(w);
  });
}

void RelevancePass::set_worker(std::size_t worker, const LogRow& logs) {
  const std::size_t first = worker * classes_;
  double silence = 0;
  for (std::size_t k = 0; k < classes_; ++k) {
    unnamed_[first + k] = logs.miss[k] - logs.clear[k];
    gain_[first + k] = logs.hit[k] - logs.false_alarm[k] - unnamed_[first + k];
    alarm_[first + k] = logs.false_alarm[k] - logs.clear[k];
    silence += logs.clear[k];
  }
  silence_[worker] = silence;
}

double RelevancePass::update_workers(const WorkerModel& model) {
  const Blocks blocks{fit_.worker_count, kWorkersPerBlock};
  std::vector<double> parts(blocks.count());
  context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    LogRow logs;
    for (auto* row : {&logs.hit, &logs.miss, &logs.false_alarm, &logs.clear}) row->resize(classes_);
    for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) {
      parts[b] += model.update(counts_, w, logs);
      set_worker(w, logs);
    }
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

double RelevancePass::evidence(std::size_t task, const CandidateRow& row, std::vector<double>& odds) const {
  odds.assign(row.size(), 0);
  double log_probability = 0;
  const auto offsets = data_.answers.task_offsets();
  for (AnswerIndex a = offsets[task]; a < offsets[task + 1]; ++a) {
    const std::size_t worker = index(data_.answers.workers()[a]), first = worker * classes_;
    const double* const unnamed = unnamed_.data() + first;
    if (row.all()) {
      for (std::size_t k = 0; k < classes_; ++k) odds[k] += unnamed[k];
    } else {
      for (std::size_t c = 0; c < row.size(); ++c) odds[c] += unnamed[index(row.classes()[c])];
    }
    log_probability += silence_[worker];
    row.for_each(data_.answers.set(a), [&](std::size_t c) {
      const std::size_t cell = first + index(row.classes()[c]);
      odds[c] += gain_[cell];
      log_probability += alarm_[cell];
    });
  }
  return log_probability;
}

double RelevancePass::posterior(Profiles& profiles, std::vector<double>& mass, std::vector<double>& tasks) {
  const std::size_t count = profiles.count;
  const ProfileLogs logs(profiles, classes_);
  if (count > 1) {
    profiles.share.resize(fit_.task_count * count);
    profiles.evidence.resize(fit_.probability.size());
  }
  const Blocks blocks{fit_.task_count, kTasksPerBlock};
  std::vector<BlockSums> sums(blocks.count());
  context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    BlockSums& own = sums[b];
    own.mass.resize(count * classes_);
    own.tasks.resize(count);
    Scratch s;
    s.logs.resize(count);
    for (std::size_t t = blocks.begin(b); t < blocks.end(b) && !context_.cancelled(); ++t) {
      if (fit_.known[t] == 0) continue;
      const CandidateRow row(fit_, t);
      const double base = evidence(t, row, s.odds);
      s.within.resize(count * row.size());
      if (data_.has_gold(TaskId(t))) {
        settle_gold(row, data_.gold_of(TaskId(t)), logs, classes_, s);
      } else {
        settle_profiles(row, logs, classes_, s);
      }
      if (count > 1) std::copy(s.odds.begin(), s.odds.end(), profiles.evidence.data() + fit_.offsets[t]);
      own.log_probability += base + softmax(s.logs);
      double* const q = fit_.probability.data() + fit_.offsets[t];
      std::fill_n(q, row.size(), 0.0);
      for (std::size_t g = 0; g < count; ++g) {
        const double share = s.logs[g];
        own.tasks[g] += share;
        if (count > 1) profiles.share[t * count + g] = share;
        for (std::size_t c = 0; c < row.size(); ++c) {
          const double p = share * s.within[g * row.size() + c];
          q[c] += p;
          own.mass[g * classes_ + index(row.classes()[c])] += p;
        }
      }
    }
  });
  mass.assign(count * classes_, 0);
  tasks.assign(count, 0);
  double total = 0;
  for (const BlockSums& part : sums) {
    total += part.log_probability;
    for (std::size_t i = 0; i < mass.size(); ++i) mass[i] += part.mass[i];
    for (std::size_t g = 0; g < count; ++g) tasks[g] += part.tasks[g];
  }
  return total;
}

}  // namespace wisecrowd::sets
