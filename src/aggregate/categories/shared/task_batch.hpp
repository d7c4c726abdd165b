#pragma once

#include <algorithm>
#include <span>

#include "wisecrowd/category_data.hpp"

namespace wisecrowd {

/// Some neighbouring tasks in a sweep of ConfusionPass: a row of `stride` values each, log joints at first, then
/// posteriors. Small enough to stay in the first-level cache between the steps. Hand it on by value: loops that write
/// through pointers may then keep its members in registers.
template <class Value>
struct TaskBatch {
  const CategoryData& data;
  std::span<const AnswerIndex> offsets;  ///< of all tasks
  bool has_gold;
  std::size_t first;  ///< its first task
  std::size_t size;
  std::size_t stride;
  Value* values;

  [[nodiscard]] Value* row(std::size_t i) const { return values + i * stride; }
  [[nodiscard]] ClassId gold_of(std::size_t i) const { return has_gold ? data.gold[first + i] : kNoClass; }
  [[nodiscard]] bool is_answered(std::size_t i) const { return offsets[first + i + 1] != offsets[first + i]; }

  void fill_with_votes() const {
    std::fill(values, values + size * stride, Value{0});
    const auto labels = data.answers.labels();
    for (std::size_t i = 0; i < size; ++i) {
      const AnswerIndex begin = offsets[first + i], end = offsets[first + i + 1];
      const Value share = 1 / static_cast<Value>(std::max<AnswerIndex>(end - begin, 1));
      for (AnswerIndex a = begin; a < end; ++a) row(i)[index(labels[a])] += share;
    }
  }

  /// From posteriors of all tasks, tasks × classes.
  void fill_with(const double* given, std::size_t classes) const {
    std::fill(values, values + size * stride, Value{0});
    for (std::size_t i = 0; i < size; ++i) {
      const double* const from = given + (first + i) * classes;
      for (std::size_t k = 0; k < classes; ++k) row(i)[k] = static_cast<Value>(from[k]);
    }
  }

  /// The truth of a gold task is known, whatever was answered.
  void pin_gold() const {
    for (std::size_t i = 0; i < size && has_gold; ++i) {
      const ClassId gold = gold_of(i);
      if (gold == kNoClass) continue;
      std::fill_n(row(i), stride, Value{0});
      row(i)[index(gold)] = 1;
    }
  }
};

}  // namespace wisecrowd
