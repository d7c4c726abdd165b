#include "service/study.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "result/report_facts.hpp"

namespace wisecrowd::service {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostInMatrix = 40, kStretches = 12;
constexpr double kDay = 24 * 3600;

/// What the journal tells of times, per worker.
struct TimesOfWorker {
  std::vector<float> seconds;  // the last thousand
  std::vector<std::string> tasks;
  double last = 0;
};

/// The tasks of each worker in the order in which it answered them; what was taken back or replaced is there again.
std::unordered_map<std::string, TimesOfWorker> times_of(const Journal& journal, double& per_hour) {
  std::unordered_map<std::string, TimesOfWorker> workers;
  std::vector<double> recent;
  journal.read_all([&](const Entry& entry) {
    if (entry.kind != EntryKind::answer) return;
    TimesOfWorker& worker = workers[entry.worker];
    if (!std::isnan(entry.seconds)) worker.seconds.push_back(static_cast<float>(entry.seconds));
    worker.tasks.push_back(entry.task);
    worker.last = std::max(worker.last, entry.time);
    recent.push_back(entry.time);
  });
  per_hour = kUnknown;
  if (recent.size() < 2) return workers;
  const double end = *std::max_element(recent.begin(), recent.end());
  std::erase_if(recent, [&](double time) { return time < end - kDay; });
  const double span = end - *std::min_element(recent.begin(), recent.end());
  if (span > 0) per_hour = static_cast<double>(recent.size() - 1) / span * 3600;
  return workers;
}

double median(std::vector<float> values) {
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The expected share of right answers in stretches of a worker's answers.
std::vector<WorkerStudy::Stretch> stretches(const TimesOfWorker& times, const CategoryResult& result, WorkerId worker,
                                            const std::unordered_map<std::string_view, std::uint32_t>& place) {
  const CategoryAnswers& answers = result.data.answers;
  std::vector<double> right;
  for (const std::string& name : times.tasks) {
    const auto task = place.find(name);
    if (task == place.end()) continue;
    const auto given = answers.workers_of(TaskId(task->second));
    const auto at = std::lower_bound(given.begin(), given.end(), worker);
    if (at == given.end() || *at != worker) continue;  // taken back
    const ClassId said = answers.labels_of(TaskId(task->second))[static_cast<std::size_t>(at - given.begin())];
    const ClassId truth = result.data.gold_of(TaskId(task->second));
    right.push_back(truth != kNoClass ? (truth == said ? 1.0 : 0.0)
                                      : result.aggregation.posterior_of(TaskId(task->second))[index(said)]);
  }
  std::vector<WorkerStudy::Stretch> found;
  const std::size_t pieces = std::min(kStretches, right.size() / 10);
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t first = right.size() * p / pieces, end = right.size() * (p + 1) / pieces;
    const double sum = std::accumulate(right.begin() + static_cast<std::ptrdiff_t>(first),
                                       right.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    found.push_back({end - first, sum / static_cast<double>(end - first)});
  }
  return found;
}

void add_workers(const CategoryResult& result, const Journal& journal, Study& study, const RunContext& context) {
  const CategoryAnswers& answers = result.data.answers;
  std::vector<std::uint32_t> order(answers.worker_count());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return result.workers[a].answers > result.workers[b].answers;
  });
  const AdviceFacts advice = advise(result, order, context);
  const auto times = times_of(journal, study.answers_per_hour);
  std::unordered_map<std::string_view, std::uint32_t> place;
  for (std::size_t t = 0; t < answers.task_count(); ++t)
    place.emplace(answers.task_names()[t], static_cast<std::uint32_t>(t));
  std::vector<double> agreed(answers.worker_count(), 0.0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto given = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < given.size(); ++a) {
      agreed[index(given[a])] += labels[a] == result.aggregation.labels[t] ? 1 : 0;
    }
  }
  for (const std::uint32_t w : order) {
    WorkerStudy& worker = study.by_worker[std::string(answers.worker_names()[w])];
    worker.summary = result.workers[w];
    worker.agreement = worker.summary.answers > 0 ? agreed[w] / static_cast<double>(worker.summary.answers) : kUnknown;
    if (advice.judged[w] != 0) {
      const WorkerAssessment& judged = advice.workers[w];
      worker.advice = to_string(judged.advice);
      worker.reason = reason_of(judged, answers.class_names());
      worker.spammer = judged.spammer;
      worker.copies = judged.copies;
    }
    worker.median_seconds = kUnknown;
    const auto timed = times.find(std::string(answers.worker_names()[w]));
    if (timed == times.end()) continue;
    worker.median_seconds = median(timed->second.seconds);
    worker.last_answer = timed->second.last;
    worker.over_time = stretches(timed->second, result, WorkerId(w), place);
  }
}

void add_matrix(const CategoryResult& result, Study& study) {
  const CategoryAnswers& answers = result.data.answers;
  std::vector<std::uint32_t> order(answers.worker_count());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return result.workers[a].answers > result.workers[b].answers;
  });
  order.resize(std::min(order.size(), kMostInMatrix));
  const std::size_t n = order.size();
  std::vector<std::size_t> seat(answers.worker_count(), n);
  for (std::size_t i = 0; i < n; ++i) {
    seat[order[i]] = i;
    study.matrix_workers.emplace_back(answers.worker_names()[order[i]]);
  }
  std::vector<std::uint64_t> same(n * n, 0), both(n * n, 0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto given = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < given.size(); ++a) {
      const std::size_t i = seat[index(given[a])];
      for (std::size_t b = a + 1; b < given.size() && i < n; ++b) {
        const std::size_t j = seat[index(given[b])];
        if (j >= n || i == j) continue;
        const std::size_t cell = std::min(i, j) * n + std::max(i, j);
        ++both[cell];
        same[cell] += labels[a] == labels[b] ? 1 : 0;
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (both[i * n + j] > 0) study.pairs.push_back({i, j, same[i * n + j], both[i * n + j]});
    }
  }
}

}  // namespace

double answers_until_sure(std::span<const double> posterior, double sure, double gain) {
  const double top = *std::max_element(posterior.begin(), posterior.end());
  if (top >= sure) return 0;
  const auto odds = [](double p) { return math::log(p / (1 - p)); };
  const double missing = odds(sure) - odds(std::clamp(top, 1e-9, 1 - 1e-9));
  return gain > 0 ? std::max(1.0, missing / gain) : kUnknown;
}

double gain_per_answer(std::span<const double> tables, std::span<const WorkerSummary> workers,
                       std::span<const double> prior) {
  const std::size_t classes = prior.size();
  double gain = 0, weight = 0;
  for (std::size_t w = 0; w < workers.size() && classes > 1 && !tables.empty(); ++w) {
    const std::span table = tables.subspan(w * classes * classes, classes * classes);
    const auto answers = static_cast<double>(workers[w].answers);
    // Σ_k π_k mean over l ≠ k of KL(th_k ‖ th_l)
    double expected = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) {
        for (std::size_t y = 0; y < classes && l != k; ++y) {
          const double p = std::max(table[k * classes + y], kProbabilityFloor);
          const double q = std::max(table[l * classes + y], kProbabilityFloor);
          expected += prior[k] * p * math::log(p / q) / static_cast<double>(classes - 1);
        }
      }
    }
    gain += answers * expected;
    weight += answers;
  }
  return weight > 0 ? gain / weight : 0;
}

std::shared_ptr<const Study> make_study(const Project& project, const RunContext& context) {
  auto study = std::make_shared<Study>();
  study->position = project.absorbed();
  study->refitted_at = project.refitted_at();
  const double sure = project.settings().sure;
  project.with_state([&](const CrowdState& state) {
    const StateSummary summary = state.summary();
    study->tasks = summary.tasks;
    study->answered = summary.answered_tasks;
    study->answers = summary.answers;
    study->workers = summary.workers;
    study->gold = summary.gold_tasks;
    study->expected_accuracy = study->answers_needed = study->answers_per_hour = kUnknown;
    if (summary.classes.size() < 2 || summary.answers == 0) return;
    const CategoryResult result = state_result(state, project.name(), "serve", context);
    const double gain = gain_per_answer(result.worker_confusion, result.workers, result.aggregation.class_prior);
    double right = 0, needed = 0;
    for (std::size_t t = 0; t < result.data.answers.task_count(); ++t) {
      const auto posterior = result.aggregation.posterior_of(TaskId(t));
      const double top = *std::max_element(posterior.begin(), posterior.end());
      const bool answered = !result.data.answers.labels_of(TaskId(t)).empty();
      if (answered) right += top;
      if (answered && top >= sure) ++study->sure;
      needed += answers_until_sure(posterior, sure, gain);
    }
    if (study->answered > 0) study->expected_accuracy = right / static_cast<double>(study->answered);
    study->answers_needed = needed;
    project.with_journal([&](const Journal& journal) { add_workers(result, journal, *study, context); });
    add_matrix(result, *study);
    study->alerts = state_alerts(result, {}, context, state.alarms());
  });
  return study;
}

}  // namespace wisecrowd::service
