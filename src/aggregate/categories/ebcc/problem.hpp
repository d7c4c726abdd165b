#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "aggregate/categories/ebcc/ebcc.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::ebcc {

/// Rows are requested this many answers before they are read.
inline constexpr std::size_t kRowsAhead = 8;

/// The data and the prior. A cell (k, g) is class k, subtype g.
struct Problem {
  Problem(const CategoryData& dataset, const Options& given)
      : data(dataset),
        options(given),
        tasks(dataset.answers.task_count()),
        workers(dataset.answers.worker_count()),
        classes(dataset.answers.class_count()),
        cells(classes * given.subtypes) {
    const auto labels = data.answers.labels();
    tasks_by_label.reserve(data.answers.answer_count());
    first_task.reserve(workers * classes + 1);
    std::vector<std::vector<std::uint32_t>> lists(classes);
    for (std::size_t w = 0; w < workers; ++w) {
      const auto id = WorkerId{static_cast<std::uint32_t>(w)};
      const auto own_tasks = data.answers.tasks_of(id);
      const auto own_answers = data.answers.answers_of(id);
      for (std::size_t a = 0; a < own_tasks.size(); ++a) {
        lists[index(labels[own_answers[a]])].push_back(static_cast<std::uint32_t>(own_tasks[a]));
      }
      for (auto& list : lists) {
        first_task.push_back(tasks_by_label.size());
        tasks_by_label.insert(tasks_by_label.end(), list.begin(), list.end());
        list.clear();
      }
    }
    first_task.push_back(tasks_by_label.size());
    const auto by = data.answers.workers();
    find_twins();
    answer_rows.assign(by.size() + kRowsAhead, 0);
    for (std::size_t a = 0; a < by.size(); ++a) {
      answer_rows[a] = static_cast<std::uint32_t>(twin_of[index(by[a])] * classes + index(labels[a]));
    }
  }

  const CategoryData& data;
  Options options;
  std::size_t tasks, workers, classes;
  std::size_t cells;  // K G
  // The tasks to which worker w answered l stand together, so that their sum can stay in registers: those from
  // first_task[w K + l] to the next.
  std::vector<std::uint32_t> tasks_by_label;
  std::vector<std::size_t> first_task;
  std::vector<std::uint32_t> answer_rows;  // per answer in task order, w K + l; a few more to look ahead
  // Workers with one answer each, the same label for the same task, are twins: all that is known of them is the same,
  // so the first of them stands for all.
  std::vector<std::uint32_t> twin_of;     // per worker, the one that stands for it: itself, or an earlier one
  std::vector<std::uint32_t> stands_for;  // per worker, how many it stands for; 0: there is a twin before it

  [[nodiscard]] bool has_given(std::size_t worker, std::size_t label) const {
    return first_task[worker * classes + label] != first_task[worker * classes + label + 1];
  }

 private:
  void find_twins() {
    twin_of.resize(workers);
    stands_for.assign(workers, 1);
    std::iota(twin_of.begin(), twin_of.end(), 0U);
    const auto offsets = data.answers.task_offsets();
    std::vector<std::uint32_t> first_who_said(classes);
    for (std::size_t t = 0; t < tasks; ++t) {
      std::fill(first_who_said.begin(), first_who_said.end(), kNobody);
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        const auto w = static_cast<std::uint32_t>(data.answers.workers()[a]);
        if (first_task[(w + 1) * classes] - first_task[w * classes] != 1) continue;
        std::uint32_t& first = first_who_said[index(data.answers.labels()[a])];
        if (first == kNobody) first = w;
        if (first == w) continue;
        twin_of[w] = first;
        ++stands_for[first];
        stands_for[w] = 0;
      }
    }
  }
  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;
};

/// sum += the rows that `next` gives, `count` of them. Rows of the usual widths are summed in registers.
template <std::size_t Pitch, class Real, class Next>
void add_rows_of(std::size_t pitch, std::size_t count, double* sum, const Next& next) {
  if constexpr (Pitch != 0) {
    std::array<double, Pitch> held;
    for (std::size_t c = 0; c < Pitch; ++c) held[c] = sum[c];
    for (std::size_t i = 0; i < count; ++i) {
      const Real* const row = next(i);
#pragma omp simd
      for (std::size_t c = 0; c < Pitch; ++c) held[c] += static_cast<double>(row[c]);
    }
    for (std::size_t c = 0; c < Pitch; ++c) sum[c] = held[c];
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const Real* const row = next(i);
#pragma omp simd
      for (std::size_t c = 0; c < pitch; ++c) sum[c] += static_cast<double>(row[c]);
    }
  }
}

template <class Real, class Next>
void add_rows(std::size_t pitch, std::size_t count, double* sum, const Next& next) {
  switch (pitch) {
    case 8: return add_rows_of<8, Real>(pitch, count, sum, next);
    case 16: return add_rows_of<16, Real>(pitch, count, sum, next);
    case 24: return add_rows_of<24, Real>(pitch, count, sum, next);
    case 32: return add_rows_of<32, Real>(pitch, count, sum, next);
    case 40: return add_rows_of<40, Real>(pitch, count, sum, next);
    case 56: return add_rows_of<56, Real>(pitch, count, sum, next);
    default: return add_rows_of<0, Real>(pitch, count, sum, next);
  }
}

/// Cells of a row are padded to whole vectors.
[[nodiscard]] inline std::size_t pitch_for(std::size_t cells) { return (cells + 7) / 8 * 8; }

/// Runs blocks of work in the calling thread or on the team. The blocks are the same, so the results are, too.
class Runner {
 public:
  explicit Runner(const RunContext* team) : team_(team) {}
  void operator()(std::size_t blocks, const std::function<void(std::size_t)>& work) const {
    if (team_ == nullptr) {
      for (std::size_t block = 0; block < blocks; ++block) work(block);
    } else {
      team_->pool().for_each_block(blocks, [&](std::size_t block, unsigned) { work(block); });
    }
  }

 private:
  const RunContext* team_;
};

}  // namespace wisecrowd::ebcc
