#pragma once

#include <memory>
#include <vector>

#include "learn/shared/feature_rows.hpp"
#include "learn/shared/soft_label_model.hpp"

namespace wisecrowd {

struct RowSkill;

/// Adds what an answer says, whose worker is right with these log odds, to log probabilities of the classes: each wrong
/// class is as probable.
void add_reliable_answer(double log_odds, ClassId label, std::span<double> log_probabilities);

/// What a reliability has learned, to be kept and taken up again: what all workers share, and numbers of each worker.
struct ReliabilityNumbers {
  std::vector<double> shared;
  std::vector<std::uint64_t> offset;  ///< workers + 1: those of worker j are [offset[j], offset[j + 1]) of `own`
  std::vector<double> own;
  std::vector<std::uint32_t> columns;  ///< of the features that `own` weighs, if these differ by worker; else none
};

/// How far each worker can be trusted on each row.
class Reliability {
 public:
  virtual ~Reliability() = default;
  /// Learns from the probability that each answer of the set is right.
  virtual void fit(const TrainingSet& set, std::span<const double> right) = 0;
  /// Log odds that the worker is right on a row; kNoRow: on an ordinary one.
  [[nodiscard]] virtual double log_odds(WorkerId worker, std::uint32_t row) const = 0;
  /// What log_odds needs for other rows, to be saved; by default nothing is.
  virtual void remember(RowSkill& skill) const { (void)skill; }
  [[nodiscard]] virtual std::unique_ptr<Reliability> clone() const = 0;
  /// For those that can be kept; the others throw unsupported.
  [[nodiscard]] virtual ReliabilityNumbers numbers() const;
  /// Takes them up: of rows with the same columns, workers by their new numbers. A worker without numbers is an
  /// ordinary one. Throws bad_input when the sizes do not fit.
  virtual void restore(const ReliabilityNumbers& numbers);
};

/// EM over labels and reliabilities with a network as the prior: P(answer = truth) = eta_ij, each wrong class
/// (1 − eta_ij)/(K − 1). Before each epoch labels are inferred from network and answers, then the reliabilities from
/// the labels; the epoch trains the network on the labels, once per task.
class ReliabilityModel final : public SoftLabelModel {
 public:
  struct Options {
    std::size_t samples = 1;  ///< draws of MC-dropout whose mean is the network's opinion; 1: the network without
    std::size_t warm_up = 3;  ///< epochs before the network has a say
    std::size_t epochs_per_labelling = 1;
    bool known = false;  ///< the reliability is known already: labels are inferred with it from the first epoch on
  };
  /// Adds what the answers to a task say to log probabilities of its classes.
  struct Evidence {
    const Reliability& reliability;
    std::size_t classes;
    void add(const TaskAnswers& answers, std::span<double> log_probabilities) const;
  };
  ReliabilityModel(const TrainingSet& set, std::unique_ptr<Reliability> reliability, Options options);
  ReliabilityModel(const ReliabilityModel& other);

  void begin_epoch(const Epoch& epoch) override;
  void posterior(std::span<const double> outputs, const TaskAnswers& answers,
                 std::span<double> probabilities) const override;
  [[nodiscard]] double answer_probability(std::span<const double> outputs, WorkerId worker,
                                          ClassId label) const override;
  [[nodiscard]] double answer_probability_at(std::uint32_t row, std::span<const double> outputs, WorkerId worker,
                                             ClassId label) const override;
  void remember(AnswerMemory& memory) const override;
  void describe(Learned& learned, const LearningData& data, const OutputsOfTask& outputs_of) const override;
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override {
    return std::make_unique<ReliabilityModel>(*this);
  }

  [[nodiscard]] const Reliability& reliability() const noexcept { return *reliability_; }

 private:
  [[nodiscard]] std::vector<double> opinion(const Epoch& epoch);
  void add_answers(const TaskAnswers& answers, std::span<double> log_probabilities) const {
    Evidence{*reliability_, classes()}.add(answers, log_probabilities);
  }

  std::unique_ptr<Reliability> reliability_;
  Options options_;
  bool identical_draws_ = false;  // several were asked for, and the network gave the same each time
};

}  // namespace wisecrowd
