#pragma once

#include <span>

#include "learn/shared/answer_model.hpp"

namespace wisecrowd {

/// How sure the two parts of a posterior may be: f^network · (likelihood of the answers)^answers, normalised.
struct PosteriorPowers {
  double network = 1, answers = 1;
};

/// Gives a model's posterior of a task these powers; `outputs` are the network's for its row.
void temper(const AnswerModel& model, std::span<const double> outputs, const PosteriorPowers& powers,
            std::span<double> posterior);

/// The powers with which network and answers tell most of each other on tasks that the network was not trained on
/// (tasks × classes each): the largest mean of log Σ_k f_k g_k / π_k, the information that Max-MIG measures, where g is
/// what the answers say and π the mean of f; but 1 and 1 unless it is clearly larger than with these. The network does
/// not know who copies, so copies are found to count less; but where it has learned the errors that workers share, it
/// takes them for agreement.
[[nodiscard]] PosteriorPowers most_informative(MatrixView<const double> log_network,
                                               MatrixView<const double> log_likelihoods);

/// The power with which the network and all other answers to a hidden task foretell each of its answers best; `outputs`
/// are the network's, tasks × outputs. Workers who err on the same tasks make it less than 1; but a copy foretells the
/// answer that it copies, so copies make it more than they should.
[[nodiscard]] double most_foretelling(const AnswerModel& model, const TrainingSet& hidden,
                                      std::span<const double> outputs);

/// Of these two judges, of whom copies deceive one and shared errors the other, the one that trusts the answers less.
[[nodiscard]] PosteriorPowers learned_powers(const AnswerModel& model, const TrainingSet& hidden,
                                             std::span<const double> outputs);

}  // namespace wisecrowd
