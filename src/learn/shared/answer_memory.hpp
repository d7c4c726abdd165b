#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "learn/shared/output_head.hpp"
#include "learn/shared/regions.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/ids.hpp"

namespace wisecrowd {

/// Reliability that depends on the row: worker j is right at x with log odds weights_j · φ(x).
struct RowSkill {
  enum class Basis {
    none,        ///< workers have tables instead
    columns,     ///< φ(x) = x and a constant 1; without columns the constant alone
    projection,  ///< φ(x) = F x, with a constant 1 at the end of x
    regions,     ///< φ(x) = memberships of a mixture, and a constant 1
  };
  Basis basis = Basis::none;
  std::size_t width = 0;        ///< of φ
  std::vector<double> weights;  ///< workers × width, unless they are sparse
  /// Sparse: worker j has weights [offsets_j, offsets_j+1) for these columns in order; the last is for the constant.
  std::vector<std::uint64_t> offsets, columns;
  std::vector<double> projection;  ///< F by column: (columns + 1) × width
  Regions regions;
};

/// What a learner knows of how workers answer, as a plain value that is saved with the network: enough for the
/// posterior of rows that are answered later, and for how far each worker can be trusted on a row.
struct AnswerMemory {
  /// Why there is nothing to remember; empty if there is.
  std::string why_none = "it was made without a model of answers";
  double answer_power = 1;   ///< weight of the answers beside the classifier
  double ceiling = 0;        ///< how sure the classifier may be beside answers (clip); 0: as sure as it is
  std::vector<double> bias;  ///< added to the logits of the classes beside answers, or empty

  std::vector<double> tables;       ///< workers × truth × label: P(label | truth); logits of them with row_head
  std::vector<double> log_weights;  ///< what an answer adds to the logit of each truth; empty: log of the tables
  /// A table for all, and a vector per worker: its product with the network's further outputs says how much of an
  /// answer the common table makes.
  std::vector<double> common, gates;
  /// Tables that depend on the row: logits + H tanh(further outputs + V e_j).
  std::vector<double> row_head, mixing, embeddings;
  RowSkill skill;

  [[nodiscard]] bool empty() const noexcept { return !why_none.empty(); }
  /// Whether all sizes fit, and all probabilities are some. `columns` are those of a row of features.
  [[nodiscard]] bool fits(std::size_t workers, std::size_t classes, std::size_t outputs, std::size_t columns) const;
};

/// One row with all that a memory needs of it.
class RememberedRow {
 public:
  /// `inputs` are scaled. All arguments outlive the object.
  RememberedRow(const AnswerMemory& memory, const OutputHead& head, std::size_t classes, const Features& inputs);
  /// Goes to another row.
  void move_to(std::uint32_t row, std::span<const double> outputs);
  /// P(truth | row, answers).
  void posterior(std::span<const WorkerId> workers, std::span<const ClassId> labels, std::span<double> probabilities);
  /// P(this worker is right | row).
  [[nodiscard]] double reliability(WorkerId worker);

 private:
  /// Log odds that a worker is right here.
  [[nodiscard]] double log_odds(WorkerId worker) const;
  /// The worker's table here, truth × label, into table_.
  void find_table(WorkerId worker);
  void add(WorkerId worker, ClassId label, std::span<double> log_probabilities);

  const AnswerMemory& memory_;
  const OutputHead& head_;
  const std::size_t classes_;
  const Features& inputs_;
  std::uint32_t row_ = 0;
  std::span<const double> outputs_;
  std::vector<double> f_, basis_, table_, hidden_;
};

/// f^(1−power) · posterior^power: as if every answer counted for `power` of one. `f` is what the classifier says.
void temper(std::span<const double> f, double power, std::span<double> posterior);

}  // namespace wisecrowd
