#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd {

// What a trained classifier, saved and read back or not, says of rows beyond its own prediction: with the answers to
// them, of the workers who might answer, and how sure it is.

/// An answer to a row of features, and a worker who might give one. Workers and classes are those of the classifier.
struct RowAnswer {
  std::uint32_t row;
  WorkerId worker;
  ClassId label;
};
struct RowWorker {
  std::uint32_t row;
  WorkerId worker;
};

/// The workers that it knows. Empty where its learner has no model of answers; then `why_no_workers` says why, and
/// posterior and reliability throw unsupported with it.
[[nodiscard]] const NameTable& known_workers(const Classifier& classifier);
[[nodiscard]] const std::string& why_no_workers(const Classifier& classifier);

/// P(class | row, its answers), rows × classes: what learn gives answered tasks. Answers in any order.
[[nodiscard]] std::vector<double> posterior(const Classifier& classifier, const Features& features,
                                            std::span<const RowAnswer> answers, const RunContext& context);
/// P(the worker is right | row) per pair: whom to ask.
[[nodiscard]] std::vector<double> reliability(const Classifier& classifier, const Features& features,
                                              std::span<const RowWorker> pairs, const RunContext& context);

/// Answers by name, as a classifier numbers them.
struct MatchedAnswers {
  std::vector<RowAnswer> answers;
  std::vector<std::uint32_t> unknown_workers;  ///< of the given answers: theirs are left out
  std::vector<std::uint32_t> unknown_tasks;    ///< without a row: answers to them are left out
};
/// Throws bad_input for an answer with a label that the classifier does not know.
[[nodiscard]] MatchedAnswers match_answers(const Classifier& classifier, const CategoryAnswers& answers,
                                           const NameTable& row_names);

/// What draws of MC-dropout say of rows.
struct Draws {
  std::vector<double> probabilities;       ///< rows × classes: their mean
  std::vector<double> entropy;             ///< per row, of the mean: how unsure the label is
  std::vector<double> mutual_information;  ///< per row, that minus the mean entropy of the draws (BALD)
  bool identical = false;                  ///< there were several, and all said the same of every row
};
/// So many draws (1 or more) with units dropped as in training. The same seed of the context, the same draws.
[[nodiscard]] Draws draw(const Classifier& classifier, const Features& features, std::size_t draws,
                         const RunContext& context);

}  // namespace wisecrowd
