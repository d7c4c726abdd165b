#pragma once

#include <cstdint>
#include <span>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

/// Answers in file order, one column each, by index: what programs have who keep tables of their own.
struct AnswerColumns {
  std::span<const std::uint32_t> tasks;
  std::span<const std::uint32_t> workers;
  std::span<const std::uint32_t> labels;
};

/// As make_category_answers from a list of answers, but for columns and by all threads of the context: the quick way
/// for millions of answers. Throws bad_input when columns differ in length or an index is out of range.
[[nodiscard]] CategoryAnswers make_category_answers(const AnswerColumns& columns, CategoryAnswerNames names,
                                                    DuplicatePolicy policy, const RunContext& context,
                                                    BuildReport* report = nullptr);

}  // namespace wisecrowd
