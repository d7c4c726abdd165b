#include "active/pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace wisecrowd::dalc_loop {

Pool::Pool(const CategoryAnswers& answers, std::span<const TaskId> tasks, std::span<const std::uint32_t> order)
    : answers_(answers),
      tasks_(tasks.begin(), tasks.end()),
      left_(tasks.size()),
      bought_(tasks.size(), false),
      number_(answers.task_count(), 0) {
  std::sort(tasks_.begin(), tasks_.end(), [&](TaskId a, TaskId b) { return order[index(a)] < order[index(b)]; });
  const NameTable& names = answers.worker_names();
  const auto name_of = [&](std::uint64_t place) { return names[index(answers.workers()[place])]; };
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    const std::size_t t = index(tasks_[n]);
    number_[t] = static_cast<std::uint32_t>(n);
    for (auto a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) left_[n].push_back(a);
    std::sort(left_[n].begin(), left_[n].end(), [&](auto a, auto b) { return name_of(a) < name_of(b); });
    left_count_ += left_[n].size();
  }
}

void Pool::hide(std::vector<bool> workers, std::vector<bool> tasks) {
  hidden_workers_ = std::move(workers);
  hidden_tasks_ = std::move(tasks);
}

void Pool::show_all() {
  hidden_workers_.clear();
  hidden_tasks_.clear();
}

std::vector<TaskId> Pool::open_tasks(bool repeats) const {
  std::vector<TaskId> open;
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    if (!hidden_tasks_.empty() && hidden_tasks_[index(tasks_[n])]) continue;
    if (!left_[n].empty() && (repeats || !bought_[n])) open.push_back(tasks_[n]);
  }
  return open;
}

void Pool::askable(TaskId task, std::vector<WorkerId>& workers) const {
  workers.clear();
  for (const std::uint64_t place : left_[number_[index(task)]]) {
    const WorkerId worker = answers_.workers()[place];
    if (hidden_workers_.empty() || !hidden_workers_[index(worker)]) workers.push_back(worker);
  }
}

CategoryAnswer Pool::answer(std::size_t task, std::uint64_t place) const {
  return {tasks_[task], answers_.workers()[place], answers_.labels()[place]};
}

CategoryAnswer Pool::take(TaskId task, WorkerId worker, bool bought) {
  const std::size_t n = number_[index(task)];
  const auto place =
      std::find_if(left_[n].begin(), left_[n].end(), [&](std::uint64_t a) { return answers_.workers()[a] == worker; });
  const CategoryAnswer taken = answer(n, *place);
  left_[n].erase(place);
  bought_[n] = bought_[n] || bought;
  --left_count_;
  return taken;
}

std::vector<CategoryAnswer> Pool::rest() const {
  std::vector<CategoryAnswer> result;
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    for (const std::uint64_t place : left_[n]) result.push_back(answer(n, place));
  }
  return result;
}

std::vector<std::size_t> spread_out(std::span<const float> points, std::size_t rows, std::size_t count, Rng rng) {
  count = std::min(count, rows);
  if (count == 0) return {};
  const std::size_t width = points.size() / rows;
  std::vector<double> distance(rows, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> picked{rng.below(rows)};
  while (true) {
    const float* const last = points.data() + picked.back() * width;
    for (std::size_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (std::size_t c = 0; c < width; ++c) {
        const double away = points[i * width + c] - last[c];
        sum += away * away;
      }
      distance[i] = std::min(distance[i], sum);
    }
    distance[picked.back()] = 0;
    if (picked.size() == count) return picked;
    double total = 0;
    for (const double d : distance) total += d;
    if (total > 0) {
      picked.push_back(rng.categorical(distance));
      continue;
    }
    // All others lie upon those picked: take them in order.
    std::vector<bool> taken(rows, false);
    for (const std::size_t i : picked) taken[i] = true;
    for (std::size_t i = 0; i < rows && picked.size() < count; ++i) {
      if (!taken[i]) picked.push_back(i);
    }
    return picked;
  }
}

Score score(std::span<const double> probabilities, std::span<const ClassId> truth, std::size_t classes) {
  const std::size_t rows = truth.size();
  Score result{0, std::numeric_limits<double>::quiet_NaN()};
  if (rows == 0) return {std::numeric_limits<double>::quiet_NaN(), result.auc};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = probabilities.subspan(i * classes, classes);
    const auto best = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    result.accuracy += best == index(truth[i]) ? 1.0 / static_cast<double>(rows) : 0.0;
  }
  double sum = 0;
  std::size_t judged = 0;
  std::vector<std::size_t> order(rows);
  for (std::size_t k = classes == 2 ? 1 : 0; k < classes; ++k) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto value = [&](std::size_t i) { return probabilities[i * classes + k]; };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
    // The mean rank of the positives, tied ones sharing theirs.
    double ranks = 0, positives = 0;
    for (std::size_t begin = 0; begin < rows;) {
      std::size_t end = begin;
      double here = 0;
      while (end < rows && value(order[end]) == value(order[begin])) here += index(truth[order[end++]]) == k ? 1 : 0;
      ranks += here * static_cast<double>(begin + end + 1) / 2;
      positives += here;
      begin = end;
    }
    const double negatives = static_cast<double>(rows) - positives;
    if (positives == 0 || negatives == 0) continue;
    sum += (ranks - positives * (positives + 1) / 2) / (positives * negatives);
    ++judged;
  }
  if (judged > 0) result.auc = sum / static_cast<double>(judged);
  return result;
}

}  // namespace wisecrowd::dalc_loop
