#pragma once

#include <span>
#include <string>
#include <vector>

#include "wisecrowd/aggregate.hpp"

namespace wisecrowd {

/// Vote fractions, tasks × classes: q_ik = (1/m_i) Σ_j 1[y_ij = k]. Tasks without answers get their prior
/// (or a uniform row). With weights, answer a of worker j counts weights[j].
[[nodiscard]] std::vector<double> vote_fractions(const CategoryData& data, const RunContext& context,
                                                 std::span<const double> worker_weights = {});

/// Puts one-hot rows where gold is known.
void pin_gold(const CategoryData& data, std::span<double> posterior);

/// Hard labels from a posterior. Probabilities within 1e-9 of the top count as tied.
[[nodiscard]] std::vector<ClassId> hard_labels(std::span<const double> posterior, std::size_t class_count, TieRule rule,
                                               const RunContext& context);

/// Share of each worker's answers that equal the given labels; 0 for workers without answers.
[[nodiscard]] std::vector<double> worker_agreement(const CategoryAnswers& answers, std::span<const ClassId> labels,
                                                   const RunContext& context);

/// Mean of the posterior over tasks that have an answer.
[[nodiscard]] std::vector<double> mean_posterior(const CategoryAnswers& answers, std::span<const double> posterior);

[[nodiscard]] TieRule tie_rule_from(std::string_view name);
/// The parameter that every method with a tie rule declares.
[[nodiscard]] ParameterSpec tie_rule_parameter();

/// An aggregation with its sizes set and the warnings that hold for any method (unanswered tasks, silent workers,
/// classes never used).
[[nodiscard]] CategoryFit start_aggregation(const CategoryData& data);

}  // namespace wisecrowd
