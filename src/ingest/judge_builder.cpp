#include "ingest/judge_builder.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd::ingest {
namespace {

/// New ids by the order of names; as they are where they are in order already.
std::vector<std::uint32_t> judge_ranks(const NameTable& names, ThreadPool& pool) {
  std::vector<std::uint32_t> ranks = ranks_in_order(names, pool);
  if (!ranks.empty() || names.size() == 0) return ranks;
  ranks.resize(names.size());
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

}  // namespace

/// The classes of the data and the place of each that was read.
void JudgeBuilder::order_class_names(JudgeData& data, std::vector<std::uint32_t>& place) {
  if (comparisons_) {
    bool three = false;
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const Raw& raw : raw_) {
      three =
          three || raw.said == static_cast<std::uint32_t>(Outcome::tie) || !seen.emplace(raw.task, raw.worker).second;
      for (const auto& [of, log] : raw.logs) three = three || of == static_cast<std::uint32_t>(Outcome::tie);
    }
    for (const std::uint32_t gold : gold_) three = three || gold == static_cast<std::uint32_t>(Outcome::tie);
    std::vector<std::string> names{"left", "right"};
    if (three) names.emplace_back("tie");
    data.classes = NameTable(names);
    place = {0, 1, 2};
    return;
  }
  std::vector<std::string> names;
  if (!options_.classes.empty()) {
    names = options_.classes;
    for (std::uint32_t k = 0; k < classes_.size(); ++k) {
      const auto at = std::find(names.begin(), names.end(), classes_[k]);
      if (at == names.end()) {
        throw Error(ErrorCode::bad_input, fmt::format("the answers name the class '{}', which is not among `classes`",
                                                      printable(classes_[k])));
      }
      place.push_back(static_cast<std::uint32_t>(at - names.begin()));
    }
    data.classes = NameTable(names);
    return;
  }
  for (std::uint32_t k = 0; k < classes_.size(); ++k) names.emplace_back(classes_[k]);
  if (options_.ordered) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::vector<std::uint32_t> order = ordered_class_order(views);  // of places
    std::vector<std::string> sorted(names.size());
    place.resize(names.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted[i] = names[order[i]];
      place[order[i]] = static_cast<std::uint32_t>(i);
    }
    data.classes = NameTable(sorted);
    return;
  }
  const NameTable table(names);
  place = judge_ranks(table, context_.pool());
  data.classes = reordered(table, place, context_.pool());
}

void JudgeBuilder::add_answers(JudgeData& data, const std::vector<std::uint32_t>& tasks,
                               const std::vector<std::uint32_t>& workers, const std::vector<std::uint32_t>& classes) {
  const std::size_t count = data.classes.size();
  for (const Raw& raw : raw_) {
    JudgeAnswer answer{TaskId(tasks[raw.task]), WorkerId(workers[raw.worker]),
                       raw.said == kNone ? kNoClass : ClassId(classes[raw.said]), JudgeAnswer::kHard, raw.swapped};
    if (!raw.logs.empty()) {
      std::vector<double> logs(count, math::log(1e-9));
      const double top = std::max_element(raw.logs.begin(), raw.logs.end(), [](const auto& a, const auto& b) {
                           return a.second < b.second;
                         })->second;
      for (const auto& [of, log] : raw.logs) logs[classes[of]] = std::max(log - top, math::log(1e-9));
      const double sum = log_sum_exp(logs);
      for (double& log : logs) log -= sum;
      answer.probabilities = static_cast<std::uint32_t>(data.log_probabilities.size() / count);
      if (answer.said == kNoClass) answer.said = ClassId(std::max_element(logs.begin(), logs.end()) - logs.begin());
      data.log_probabilities.insert(data.log_probabilities.end(), logs.begin(), logs.end());
    }
    data.answers.push_back(answer);
  }
  std::stable_sort(data.answers.begin(), data.answers.end(), [](const JudgeAnswer& a, const JudgeAnswer& b) {
    return std::tuple(a.task, a.worker) < std::tuple(b.task, b.worker);
  });
}

/// As a logarithm of ratios where all lengths are positive, else in standard deviations.
void JudgeBuilder::add_lengths(JudgeData& data, const std::vector<std::uint32_t>& tasks) {
  pair_lengths_.resize(comparisons_ ? tasks_.size() : 0, {kNoLength, kNoLength});
  if (comparisons_ && !item_length_.empty() && !has_pair_lengths_) {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      pair_lengths_[t] = {item_length_[pairs_[t].first], item_length_[pairs_[t].second]};
    }
  }
  if (!comparisons_ && !item_length_.empty()) {
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      if (!std::isnan(item_length_[t])) lengths_[t] = item_length_[t];
    }
  }
  bool positive = true, any = false;
  const auto look = [&](double value) {
    if (std::isnan(value)) return;
    any = true;
    positive = positive && value > 0;
  };
  for (const auto& [first, second] : pair_lengths_) look(first), look(second);
  for (const double length : lengths_) look(length);
  if (!any) return;
  data.length.assign(tasks_.size(), kNoLength);
  data.length_is_ratio = positive;
  double mean = 0, square = 0, count = 0;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    double value = lengths_[t];
    if (comparisons_) {
      value = positive ? math::log2(pair_lengths_[t].first / pair_lengths_[t].second)
                       : pair_lengths_[t].first - pair_lengths_[t].second;
    } else if (positive) {
      value = math::log2(value);
    }
    data.length[tasks[t]] = value;
    if (std::isnan(value)) continue;
    mean += value;
    square += value * value;
    count += 1;
  }
  mean /= std::max(count, 1.0);
  const double deviation = std::sqrt(std::max(square / std::max(count, 1.0) - mean * mean, 0.0));
  for (double& value : data.length) {
    if (!comparisons_) value -= mean;
    if (!positive && deviation > 0) value /= deviation;
  }
}

JudgeData JudgeBuilder::build() {
  JudgeData data;
  data.kind = comparisons_ ? JudgedKind::comparisons : options_.ordered ? JudgedKind::ordered : JudgedKind::categories;
  if (comparisons_ && options_.ordered) {
    throw Error(ErrorCode::bad_parameter, "comparisons have no order of classes: leave `ordered` out");
  }
  data.sides_known = sides_known_;
  ThreadPool& pool = context_.pool();
  std::vector<std::string> shown;
  for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
    shown.push_back(!comparisons_ ? asked_[t]
                                  : fmt::format("{}{}{} vs {}", asked_[t], asked_[t].empty() ? "" : ": ",
                                                items_[pairs_[t].first], items_[pairs_[t].second]));
  }
  const NameTable task_names(shown), worker_names = workers_.table(), item_names = items_.table();
  const auto tasks = judge_ranks(task_names, pool), workers = judge_ranks(worker_names, pool),
             items = judge_ranks(item_names, pool);
  std::vector<std::uint32_t> classes;
  order_class_names(data, classes);
  data.tasks = reordered(task_names, tasks, pool);
  data.workers = reordered(worker_names, workers, pool);
  data.items = reordered(item_names, items, pool);
  data.judges.resize(workers_.size());
  const std::set<std::string_view> named(options_.machines.begin(), options_.machines.end());
  for (const std::string_view name : named) {
    if (workers_.find(name) == Interner::kAbsent) {
      throw Error(ErrorCode::bad_parameter, fmt::format("`machines` names '{}', who gave no answers", printable(name)));
    }
  }
  for (std::uint32_t w = 0; w < workers_.size(); ++w) {
    const Info& info = info_[w];
    const WorkerKind kind = named.contains(workers_[w]) ? WorkerKind::machine : info.kind.value_or(WorkerKind::human);
    data.judges[workers[w]] = {kind, info.family, info.version, false, info.price};
  }
  add_answers(data, tasks, workers, classes);
  add_lengths(data, tasks);
  if (comparisons_) {
    data.pairs.resize(tasks_.size());
    data.asked.resize(tasks_.size());
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      data.pairs[tasks[t]] = {ItemId(items[pairs_[t].first]), ItemId(items[pairs_[t].second])};
      data.asked[tasks[t]] = asked_[t];
    }
  }
  if (std::any_of(item_family_.begin(), item_family_.end(), [](const auto& family) { return !family.empty(); })) {
    data.item_family.resize(item_family_.size());
    const auto& place = comparisons_ ? items : tasks;
    for (std::size_t i = 0; i < item_family_.size(); ++i) data.item_family[place[i]] = item_family_[i];
  }
  if (!gold_.empty()) {
    gold_.resize(tasks_.size(), kNone);
    data.gold.assign(tasks_.size(), kNoClass);
    for (std::size_t t = 0; t < gold_.size(); ++t) {
      if (gold_[t] != kNone) data.gold[tasks[t]] = ClassId(classes[gold_[t]]);
    }
  }
  validate(data);
  return data;
}

}  // namespace wisecrowd::ingest
