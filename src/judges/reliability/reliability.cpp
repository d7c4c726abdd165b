#include "judges/reliability/reliability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/intervals.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "judges/shared/estimates.hpp"
#include "judges/shared/voices.hpp"

namespace wisecrowd::judges {
namespace {

constexpr std::size_t kBins = 10;

/// How far two classes are apart: 0 alike, 1 as far as can be.
double distance(std::size_t a, std::size_t b, const JudgeData& data) {
  if (data.kind != JudgedKind::ordered) return a == b ? 0 : 1;
  const double steps = (static_cast<double>(a) - static_cast<double>(b)) / static_cast<double>(data.class_count() - 1);
  return steps * steps;
}

Estimate accuracy_by(const MixedCrowdFit& fit, const Voices& voices, std::size_t worker) {
  const auto& own = voices.of_worker(worker);
  if (own.empty()) return nothing_known();
  double right = 0, variance = 0;
  for (const std::uint32_t v : own) {
    const double q = fit.posterior_of(TaskId(voices[v].task))[index(voices[v].said)];
    right += q;
    variance += q * (1 - q);
  }
  const auto count = static_cast<double>(own.size());
  const Interval interval = rate_interval(right, variance, count);
  return {right / count, interval.low, interval.high};
}

/// What the answers of one worker have in common with those of people to the same tasks.
struct WithPeople {
  std::vector<double> agreement, apart, weight;  ///< per task
  std::vector<double> own, theirs;               ///< shares of classes, over all pairs of answers
};

WithPeople with_people(const JudgeData& data, const Voices& voices, std::size_t worker) {
  WithPeople found;
  found.own.assign(data.class_count(), 0.0);
  found.theirs.assign(data.class_count(), 0.0);
  for (const std::uint32_t v : voices.of_worker(worker)) {
    const std::size_t said = index(voices[v].said), task = voices[v].task;
    double agree = 0, apart = 0, count = 0;
    for (std::size_t o = voices.begin_of(task); o < voices.end_of(task); ++o) {
      if (voices[o].worker == worker || data.judges[voices[o].worker].kind != WorkerKind::human) continue;
      const std::size_t other = index(voices[o].said);
      agree += said == other ? 1 : 0;
      apart += distance(said, other, data);
      count += 1;
      found.theirs[other] += 1;
    }
    if (count == 0) continue;
    found.own[said] += count;
    found.agreement.push_back(agree / count);
    found.apart.push_back(apart / count);
    found.weight.push_back(count);
  }
  normalise(found.own);
  normalise(found.theirs);
  return found;
}

void add_agreement(const JudgeData& data, const Voices& voices, JudgeReliability& judge) {
  const WithPeople pairs = with_people(data, voices, index(judge.worker));
  judge.agreement = mean_of(pairs.agreement, pairs.weight, 0, 1);
  judge.kappa = nothing_known();
  judge.base_rate = std::numeric_limits<double>::quiet_NaN();
  if (pairs.weight.empty()) return;
  judge.base_rate = *std::max_element(pairs.theirs.begin(), pairs.theirs.end());
  double by_chance = 0;
  for (std::size_t a = 0; a < data.class_count(); ++a) {
    for (std::size_t b = 0; b < data.class_count(); ++b) {
      by_chance += pairs.own[a] * pairs.theirs[b] * distance(a, b, data);
    }
  }
  if (!(by_chance > 0)) return;
  // The shares of classes are known far better than the agreement, so its interval is the interval of kappa.
  const Estimate apart = mean_of(pairs.apart, pairs.weight, 0, 1);
  judge.kappa = {1 - apart.value / by_chance, 1 - apart.high / by_chance, 1 - apart.low / by_chance};
}

/// Of pairs of answers that a worker gave to one task, how many are alike: of any, or of those in both orders.
Estimate alike(const JudgeData& data, const Voices& voices, std::size_t worker, bool swapped, std::uint64_t& tasks) {
  std::vector<double> values, weights;
  for (const std::uint32_t v : voices.of_worker(worker)) {
    const std::span answers(data.answers.data() + voices[v].first, voices[v].count);
    double same = 0, pairs = 0;
    for (std::size_t a = 0; a < answers.size(); ++a) {
      for (std::size_t b = a + 1; b < answers.size(); ++b) {
        if ((answers[a].swapped != answers[b].swapped) != swapped) continue;
        pairs += 1;
        same += answers[a].said == answers[b].said ? 1 : 0;
      }
    }
    if (pairs == 0) continue;
    values.push_back(same / pairs);
    weights.push_back(1);
  }
  tasks = values.size();
  return mean_of(values, weights, 0, 1);
}

/// How often what was said with so much confidence was right.
std::vector<JudgeReliability::Bin> bins_of(const std::vector<std::pair<double, double>>& confidence_and_right) {
  std::vector<JudgeReliability::Bin> bins(kBins);
  for (const auto& [confidence, right] : confidence_and_right) {
    auto& bin = bins[std::min(kBins - 1, static_cast<std::size_t>(confidence * kBins))];
    bin.confidence += confidence;
    bin.right += right;
    ++bin.tasks;
  }
  std::erase_if(bins, [](const auto& bin) { return bin.tasks == 0; });
  for (auto& bin : bins) {
    bin.confidence /= static_cast<double>(bin.tasks);
    bin.right /= static_cast<double>(bin.tasks);
  }
  return bins;
}

bool seen_by_people(const JudgeData& data, const Voices& voices, std::size_t task) {
  if (data.gold_of(TaskId(task)) != kNoClass) return true;
  for (std::size_t v = voices.begin_of(task); v < voices.end_of(task); ++v) {
    if (data.judges[voices[v].worker].kind == WorkerKind::human) return true;
  }
  return false;
}

/// Probabilities before and after calibration, by the truth of tasks that people saw.
void add_calibration(const JudgeData& data, const MixedCrowdFit& fit, const Voices& voices, JudgeReliability& judge) {
  const std::size_t worker = index(judge.worker), classes = fit.class_count;
  judge.temperature = fit.temperature[worker];
  judge.log_loss = judge.calibrated_log_loss = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(judge.temperature)) return;
  std::vector<std::pair<double, double>> raw, tempered;
  double loss = 0, tempered_loss = 0;
  for (const std::uint32_t v : voices.of_worker(worker)) {
    if (!voices[v].soft || !seen_by_people(data, voices, voices[v].task)) continue;
    const auto q = fit.posterior_of(TaskId(voices[v].task));
    const auto p = voices.shares(v);
    const std::vector<double> c = calibrated(voices.log_shares(v), judge.temperature,
                                             std::span(fit.calibration_bias).subspan(worker * classes, classes));
    const auto top = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    const auto top_c = static_cast<std::size_t>(std::max_element(c.begin(), c.end()) - c.begin());
    raw.emplace_back(p[top], q[top]);
    tempered.emplace_back(c[top_c], q[top_c]);
    for (std::size_t k = 0; k < classes; ++k) {
      loss -= q[k] * math::log(std::max(p[k], kProbabilityFloor));
      tempered_loss -= q[k] * math::log(std::max(c[k], kProbabilityFloor));
    }
  }
  if (raw.empty()) return;
  judge.log_loss = loss / static_cast<double>(raw.size());
  judge.calibrated_log_loss = tempered_loss / static_cast<double>(raw.size());
  judge.raw_bins = bins_of(raw);
  judge.calibrated_bins = bins_of(tempered);
}

/// Krippendorff's alpha of the voices that count.
template <class Counts>
double alpha_of(const JudgeData& data, const Voices& voices, const Counts& counts) {
  const std::size_t classes = data.class_count();
  std::vector<double> totals(classes, 0.0), here(classes);
  double observed = 0, all = 0;
  for (std::size_t t = 0; t < voices.tasks(); ++t) {
    std::fill(here.begin(), here.end(), 0.0);
    double n = 0;
    for (std::size_t v = voices.begin_of(t); v < voices.end_of(t); ++v) {
      if (!counts(voices[v].worker)) continue;
      here[index(voices[v].said)] += 1;
      n += 1;
    }
    if (n < 2) continue;
    for (std::size_t a = 0; a < classes; ++a) {
      totals[a] += here[a];
      for (std::size_t b = 0; b < classes; ++b) observed += here[a] * here[b] * distance(a, b, data) / (n - 1);
    }
    all += n;
  }
  double expected = 0;
  for (std::size_t a = 0; a < classes; ++a) {
    for (std::size_t b = 0; b < classes; ++b) expected += totals[a] * totals[b] * distance(a, b, data);
  }
  if (!(expected > 0)) return std::numeric_limits<double>::quiet_NaN();
  return 1 - observed * (all - 1) / expected;
}

}  // namespace

std::vector<JudgeReliability> reliabilities(const JudgeData& data, const MixedCrowdFit& fit) {
  const Voices voices(data);
  std::vector<JudgeReliability> all;
  for (std::size_t w = 0; w < data.workers.size(); ++w) {
    JudgeReliability judge;
    judge.worker = WorkerId(w);
    judge.tasks = voices.of_worker(w).size();
    for (const std::uint32_t v : voices.of_worker(w)) judge.answers += voices[v].count;
    judge.accuracy = accuracy_by(fit, voices, w);
    judge.against_people = nothing_known();
    judge.half_width = std::numeric_limits<double>::quiet_NaN();
    add_agreement(data, voices, judge);
    judge.consistency = alike(data, voices, w, false, judge.repeated_tasks);
    judge.order_consistency = alike(data, voices, w, true, judge.swapped_tasks);
    add_calibration(data, fit, voices, judge);
    all.push_back(std::move(judge));
  }
  return all;
}

}  // namespace wisecrowd::judges

namespace wisecrowd {

AgreementSummary agreement_of(const JudgeData& data) {
  using namespace judges;
  const Voices voices(data);
  const auto of_kind = [&](WorkerKind kind) {
    return alpha_of(data, voices, [&](std::size_t worker) { return data.judges[worker].kind == kind; });
  };
  AgreementSummary found;
  found.people = of_kind(WorkerKind::human);
  found.machines = of_kind(WorkerKind::machine);
  found.everybody = alpha_of(data, voices, [](std::size_t) { return true; });
  double same = 0, pairs = 0;
  for (std::size_t t = 0; t < voices.tasks(); ++t) {
    for (std::size_t a = voices.begin_of(t); a < voices.end_of(t); ++a) {
      if (data.judges[voices[a].worker].kind != WorkerKind::human) continue;
      for (std::size_t b = a + 1; b < voices.end_of(t); ++b) {
        if (data.judges[voices[b].worker].kind != WorkerKind::human) continue;
        pairs += 1;
        same += voices[a].said == voices[b].said ? 1 : 0;
      }
    }
  }
  found.people_agree = pairs > 0 ? same / pairs : std::numeric_limits<double>::quiet_NaN();
  return found;
}

}  // namespace wisecrowd
