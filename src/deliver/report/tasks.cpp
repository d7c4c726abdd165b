#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/intervals.hpp"
#include "base/numeric.hpp"
#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostTasks = 1000;
constexpr std::size_t kMostWrongTasks = 300, kMostAgainst = 150;
constexpr std::size_t kTaskBytes = 520'000;
constexpr std::size_t kMostSaid = 30;
constexpr std::size_t kMostClassesOfTask = 5;
constexpr std::size_t kBins = 20;

/// What is odd about a task.
enum Oddity : unsigned { kWrong = 1, kTorn = 2, kFew = 4, kAgainst = 8, kSilent = 16 };

Json words_of(unsigned oddities) {
  Json words = Json::array();
  if (oddities & kWrong) words.push_back("wrong on gold");
  if (oddities & kTorn) words.push_back("torn");
  if (oddities & kAgainst) words.push_back("against the majority");
  if (oddities & kSilent) words.push_back("no answers");
  if (oddities & kFew) words.push_back("few answers");
  return words;
}

/// Whether a task's label is none of the most frequent answers.
bool against_majority(std::span<const ClassId> said, ClassId label, std::vector<std::uint32_t>& votes) {
  if (said.empty()) return false;
  std::uint32_t best = 0;
  for (const ClassId k : said) best = std::max(best, ++votes[index(k)]);
  const bool against = votes[index(label)] < best;
  for (const ClassId k : said) votes[index(k)] = 0;
  return against;
}

class Tasks {
 public:
  explicit Tasks(const Source& source) : source_(source), oddities_(source.answers().task_count(), 0) {
    const CategoryAnswers& answers = source.answers();
    const RunRecord& record = source.result.record;
    const bool scored = record.gold_use == "evaluation" && source.result.data.has_gold();
    const double few = std::min(3.0, source.facts.description.answers_per_task.median);
    std::vector<std::uint32_t> votes(answers.class_count(), 0);
    for (std::size_t t = 0; t < oddities_.size(); ++t) {
      const auto said = answers.labels_of(TaskId(t));
      const ClassId label = source.result.aggregation.labels[t];
      unsigned odd = 0;
      const ClassId gold = scored ? source.result.data.gold[t] : kNoClass;
      if (gold != kNoClass && gold != label) odd |= kWrong;
      if (source.probability(t) < Certainty::kTorn) odd |= kTorn;
      if (said.empty()) {
        odd |= kSilent;
      } else if (static_cast<double>(said.size()) < few) {
        odd |= kFew;
      }
      if (against_majority(said, label, votes)) odd |= kAgainst;
      oddities_[t] = static_cast<std::uint8_t>(odd);
    }
  }

  [[nodiscard]] unsigned oddities(std::size_t task) const { return oddities_[task]; }
  [[nodiscard]] std::size_t count(Oddity what) const {
    return static_cast<std::size_t>(
        std::count_if(oddities_.begin(), oddities_.end(), [&](std::uint8_t odd) { return (odd & what) != 0; }));
  }

  /// Wrong ones first, the surest before the others; then the least probable; then surprises.
  [[nodiscard]] std::vector<std::uint32_t> chosen() const {
    const std::size_t tasks = oddities_.size();
    std::vector<std::uint32_t> order;
    std::vector<bool> there(tasks, false);
    const auto take = [&](const std::vector<std::uint32_t>& group) {
      for (const std::uint32_t t : group) {
        if (there[t] || order.size() == kMostTasks) continue;
        there[t] = true;
        order.push_back(t);
      }
    };
    const auto surest = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(-source_.probability(a), a) < std::pair(-source_.probability(b), b);
    };
    const auto hardest = [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(source_.probability(a), a) < std::pair(source_.probability(b), b);
    };
    if (tasks <= kMostTasks) {
      take(first([&](std::size_t t) { return (oddities_[t] & kWrong) != 0; }, tasks, surest));
      take(first([](std::size_t) { return true; }, tasks, hardest));
      return order;
    }
    take(first([&](std::size_t t) { return (oddities_[t] & kWrong) != 0; }, kMostWrongTasks, surest));
    const auto against = first([&](std::size_t t) { return (oddities_[t] & kAgainst) != 0; }, kMostAgainst, surest);
    const auto hard = first([](std::size_t) { return true; }, kMostTasks, hardest);
    take({hard.begin(), hard.begin() + static_cast<std::ptrdiff_t>(
                                           std::min(hard.size(), kMostTasks - order.size() - against.size()))});
    take(against);
    take(hard);
    return order;
  }

 private:
  /// The first `most` of those that `wanted` names, by a rule that knows no ties.
  template <class Wanted, class Before>
  [[nodiscard]] std::vector<std::uint32_t> first(const Wanted& wanted, std::size_t most, const Before& before) const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t t = 0; t < oddities_.size(); ++t) {
      if (wanted(t)) order.push_back(t);
    }
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
    std::partial_sort(order.begin(), end, order.end(), before);
    order.erase(end, order.end());
    return order;
  }

  const Source& source_;
  std::vector<std::uint8_t> oddities_;
};

/// The most probable classes of a task.
Json posterior_of(const Source& source, std::size_t task, std::size_t& bytes) {
  const auto row = source.result.aggregation.posterior_of(TaskId(task));
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t shown = std::min(kMostClassesOfTask, row.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) { return std::pair(-row[a], a) < std::pair(-row[b], b); });
  Json list = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto k = ClassId(order[i]);
    bytes += source.classes.reference_size(k) + 10;
    list.push_back({source.classes.reference(k), number(row[order[i]])});
  }
  return list;
}

/// Who said what, the most reliable first.
Json said_of(const Source& source, std::size_t task, std::size_t& bytes) {
  const auto workers = source.answers().workers_of(TaskId(task));
  const auto labels = source.answers().labels_of(TaskId(task));
  std::vector<std::size_t> order(workers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto accuracy = [&](std::size_t a) { return source.result.workers[index(workers[a])].accuracy; };
  const std::size_t shown = std::min(kMostSaid, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
      [&](std::size_t a, std::size_t b) { return std::pair(-accuracy(a), a) < std::pair(-accuracy(b), b); });
  Json list = Json::array();
  for (std::size_t i = 0; i < shown; ++i) {
    std::string name = shown_name(source.answers().worker_names()[index(workers[order[i]])]);
    bytes += embedded_size(name) + source.classes.reference_size(labels[order[i]]) + 10;
    list.push_back({std::move(name), source.classes.reference(labels[order[i]]), number(accuracy(order[i]), 3)});
  }
  return list;
}

Json probability_histogram(const Source& source) {
  std::vector<std::uint64_t> count(kBins, 0);
  for (std::size_t t = 0; t < source.answers().task_count(); ++t) {
    const auto bin = static_cast<std::size_t>(source.probability(t) * kBins);
    ++count[std::min(bin, kBins - 1)];
  }
  Json edges = Json::array();
  for (std::size_t b = 0; b <= kBins; ++b) edges.push_back(number(static_cast<double>(b) / kBins));
  return {{"edges", std::move(edges)}, {"count", count}};
}

}  // namespace

Certainty certainty(const Source& source) {
  Certainty sure;
  double right = 0, variance = 0;
  const std::size_t tasks = source.answers().task_count();
  for (std::size_t t = 0; t < tasks; ++t) {
    const double p = source.probability(t);
    sure.sure += p >= Certainty::kSure ? 1 : 0;
    sure.torn += p < Certainty::kTorn ? 1 : 0;
    right += p;
    variance += p * (1 - p);
  }
  const auto n = static_cast<double>(std::max<std::size_t>(tasks, 1));
  const double half = kNormal95 * std::sqrt(std::max(variance, 0.0)) / n;
  sure.expected_accuracy = right / n;
  sure.low = std::max(0.0, sure.expected_accuracy - half);
  sure.high = std::min(1.0, sure.expected_accuracy + half);
  // A method that has judged its own probabilities knows how far they may be off.
  for (const auto& [name, value] : source.result.aggregation.learned) {
    if (name == "expected_right_low") sure.low = std::min(sure.low, value);
    if (name == "expected_right_high") sure.high = std::max(sure.high, value);
  }
  return sure;
}

void add_tasks(const Source& source, Json& document) {
  const CategoryAnswers& answers = source.answers();
  const CategoryFit& fit = source.result.aggregation;
  const Tasks tasks(source);
  Json name = Json::array(), label = Json::array(), probability = Json::array(), uncertainty = Json::array();
  Json count = Json::array(), gold = Json::array(), posterior = Json::array(), said = Json::array();
  Json more_said = Json::array(), why = Json::array();
  std::size_t bytes = 0, shown = 0;
  for (const std::uint32_t t : tasks.chosen()) {
    std::string called = shown_name(answers.task_names()[t]);
    bytes += embedded_size(called) + 90;
    Json classes = posterior_of(source, t, bytes);
    Json answered = said_of(source, t, bytes);
    if (bytes > kTaskBytes) break;
    ++shown;
    const std::size_t answer_count = answers.labels_of(TaskId(t)).size();
    name.push_back(std::move(called));
    label.push_back(source.classes.reference(source.labels[t]));
    probability.push_back(number(source.probability(t)));
    uncertainty.push_back(number(entropy(fit.posterior_of(TaskId(t))) / M_LN2));
    count.push_back(answer_count);
    gold.push_back(source.classes.reference(source.result.data.gold_of(TaskId(t))));
    posterior.push_back(std::move(classes));
    more_said.push_back(answer_count - answered.size());
    said.push_back(std::move(answered));
    why.push_back(words_of(tasks.oddities(t)));
  }
  const std::string chosen_by = shown == answers.task_count()
                                    ? "all tasks, the hardest first"
                                    : fmt::format("{}the least probable labels, and labels against the majority",
                                                  tasks.count(kWrong) > 0 ? "the surest mistakes on gold, " : "");
  document["tasks"] = {{"total", answers.task_count()},
                       {"shown", shown},
                       {"chosen_by", chosen_by},
                       {"name", std::move(name)},
                       {"label", std::move(label)},
                       {"probability", std::move(probability)},
                       {"entropy", std::move(uncertainty)},
                       {"answers", std::move(count)},
                       {"gold", std::move(gold)},
                       {"posterior", std::move(posterior)},
                       {"said", std::move(said)},
                       {"more_said", std::move(more_said)},
                       {"why", std::move(why)},
                       {"counts",
                        {{"wrong on gold", tasks.count(kWrong)},
                         {"torn", tasks.count(kTorn)},
                         {"against the majority", tasks.count(kAgainst)},
                         {"few answers", tasks.count(kFew)},
                         {"no answers", tasks.count(kSilent)}}}};
  if (shown < answers.task_count()) {
    source.sampling.push_back(fmt::format("{} of {} are listed: {}. labels.csv has all of them.", grouped(shown),
                                          counted(answers.task_count(), "task"), chosen_by));
  }
  if (answers.task_count() > 0) document["task_histogram"] = probability_histogram(source);
  std::vector<std::uint64_t> per_task, per_worker;
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) per_task.push_back(offsets[t + 1] - offsets[t]);
  for (const WorkerSummary& worker : source.result.workers) per_worker.push_back(worker.answers);
  if (!per_task.empty()) document["answers_per_task_histogram"] = count_histogram(per_task);
  if (!per_worker.empty()) document["answers_per_worker_histogram"] = count_histogram(per_worker);
}

}  // namespace wisecrowd::report
