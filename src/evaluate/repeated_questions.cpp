#include <algorithm>
#include <cstring>
#include <numeric>

#include "wisecrowd/data_defects.hpp"

namespace wisecrowd {
namespace {

/// The numbers of a row as bytes: of a sparse one, its columns and values.
struct RowBytes {
  std::span<const std::byte> columns, values;
  bool operator==(const RowBytes& other) const {
    return std::ranges::equal(columns, other.columns) && std::ranges::equal(values, other.values);
  }
  bool operator<(const RowBytes& other) const {
    if (!std::ranges::equal(columns, other.columns))
      return std::ranges::lexicographical_compare(columns, other.columns);
    return std::ranges::lexicographical_compare(values, other.values);
  }
};

RowBytes bytes_of(const Features& features, std::size_t row) {
  if (!features.is_sparse()) return {{}, std::as_bytes(features.row(row))};
  const std::size_t begin = features.offsets[row], size = features.offsets[row + 1] - begin;
  return {std::as_bytes(std::span(features.indices).subspan(begin, size)),
          std::as_bytes(std::span(features.values).subspan(begin, size))};
}

bool tells_nothing(const RowBytes& row) {
  return std::ranges::all_of(row.values, [](std::byte b) { return b == std::byte{0}; });
}

ClassId commonest(std::span<const ClassId> labels, std::size_t classes) {
  if (labels.empty()) return kNoClass;
  std::vector<std::size_t> count(classes, 0);
  for (const ClassId label : labels) ++count[index(label)];
  return ClassId(static_cast<std::size_t>(std::max_element(count.begin(), count.end()) - count.begin()));
}

/// Gold, or what most answers say.
ClassId word_on(const CategoryData& data, TaskId task) {
  if (!data.gold.empty() && data.gold[index(task)] != kNoClass) return data.gold[index(task)];
  return commonest(data.answers.labels_of(task), data.answers.class_count());
}

bool has_gold(const CategoryData& data, TaskId task) {
  return !data.gold.empty() && data.gold[index(task)] != kNoClass;
}

bool contradict(const CategoryData& data, std::span<const TaskId> tasks) {
  const bool by_gold = std::ranges::count_if(tasks, [&](TaskId task) { return has_gold(data, task); }) >= 2;
  ClassId said = kNoClass;
  for (const TaskId task : tasks) {
    if (by_gold && !has_gold(data, task)) continue;
    const ClassId word = word_on(data, task);
    if (word == kNoClass) continue;
    if (said != kNoClass && word != said) return true;
    said = word;
  }
  return false;
}

}  // namespace

std::vector<Contradiction> contradictions(const CategoryAnswers& answers) {
  std::vector<Contradiction> found;
  if (!answers.has_repeats()) return found;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    std::vector<std::pair<WorkerId, ClassId>> said(workers.size());
    for (std::size_t a = 0; a < workers.size(); ++a) said[a] = {workers[a], labels[a]};
    std::sort(said.begin(), said.end());
    said.erase(std::unique(said.begin(), said.end()), said.end());
    for (std::size_t begin = 0, end = 0; begin < said.size(); begin = end) {
      while (end < said.size() && said[end].first == said[begin].first) ++end;
      if (end - begin < 2) continue;
      Contradiction one{TaskId(t), said[begin].first, {}};
      for (std::size_t a = begin; a < end; ++a) one.labels.push_back(said[a].second);
      found.push_back(std::move(one));
    }
  }
  return found;
}

std::vector<TwinTasks> twin_tasks(const CategoryData& data, const Features& features,
                                  std::span<const std::uint32_t> row_of_task) {
  std::vector<std::pair<RowBytes, TaskId>> rows;
  for (std::size_t t = 0; t < row_of_task.size(); ++t) {
    if (row_of_task[t] == kNoRow) continue;
    const RowBytes row = bytes_of(features, row_of_task[t]);
    if (!tells_nothing(row)) rows.emplace_back(row, TaskId(t));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.first < b.first || (a.first == b.first && a.second < b.second);
  });
  std::vector<TwinTasks> found;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    while (end < rows.size() && rows[end].first == rows[begin].first) ++end;
    if (end - begin < 2) continue;
    TwinTasks twins;
    for (std::size_t r = begin; r < end; ++r) twins.tasks.push_back(rows[r].second);
    twins.contradict = contradict(data, twins.tasks);
    found.push_back(std::move(twins));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.tasks[0] < b.tasks[0]; });
  return found;
}

}  // namespace wisecrowd
