#include "active/pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace wisecrowd::dalc_loop {

Pool::Pool(const CategoryAnswers& answers, std::span<const TaskId> tasks)
    : answers_(answers),
      tasks_(tasks.begin(), tasks.end()),
      left_(tasks.size()),
      bought_(tasks.size(), false),
      number_(answers.task_count(), 0) {
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    const std::size_t t = index(tasks_[n]);
    number_[t] = static_cast<std::uint32_t>(n);
    for (auto a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) left_[n].push_back(a);
    left_count_ += left_[n].size();
  }
}

std::vector<TaskId> Pool::open_tasks(bool repeats) const {
  std::vector<TaskId> open;
  for (std::size_t n = 0; n < tasks_.size(); ++n) {
    if (!left_[n].empty() && (repeats || !bought_[n])) open.push_back(tasks_[n]);
  }
  return open;
}

CategoryAnswer Pool::answer(std::size_t task, std::uint64_t place) const {
  return {tasks_[task], answers_.workers()[place], answers_.labels()[place]};
}

std::vector<CategoryAnswer> Pool::buy(std::span<const TaskId> order, std::size_t count, std::size_t capacity,
                                      const Choice& choose) {
  std::vector<CategoryAnswer> result;
  std::unordered_map<std::size_t, std::size_t> asked;  // workers, in this call
  std::vector<WorkerId> candidates;
  std::vector<std::size_t> where;
  for (const TaskId task : order) {
    if (result.size() == count) break;
    const std::size_t n = number_[index(task)];
    candidates.clear();
    where.clear();
    for (std::size_t p = 0; p < left_[n].size(); ++p) {
      const WorkerId worker = answers_.workers()[left_[n][p]];
      if (capacity > 0) {
        const auto found = asked.find(index(worker));
        if (found != asked.end() && found->second >= capacity) continue;
      }
      candidates.push_back(worker);
      where.push_back(p);
    }
    if (candidates.empty()) continue;
    const std::size_t chosen = choose(task, candidates);
    result.push_back(answer(n, left_[n][where[chosen]]));
    ++asked[index(candidates[chosen])];
    left_[n].erase(left_[n].begin() + static_cast<std::ptrdiff_t>(where[chosen]));
    bought_[n] = true;
    --left_count_;
  }
  return result;
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
