#pragma once

#include <span>

#include "learn/shared/answer_model.hpp"

namespace wisecrowd {

/// The power at which classifier and answers to hidden tasks tell most of each other: the mean over tasks of
/// log Σ_k f_k g_k/π_k with g ∝ π A^power, where A is what the answers say and π the mean of f. Given the truth the
/// classifier knows nothing of the answers, so where they are too sure of themselves (workers who copy each other or
/// err on the same tasks, tables learned from few answers), it contradicts them too often, and a lower power fits
/// better.
[[nodiscard]] double learned_power(const AnswerModel& model, const TrainingSet& hidden,
                                   std::span<const double> outputs);

}  // namespace wisecrowd
