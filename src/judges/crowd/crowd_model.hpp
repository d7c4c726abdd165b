#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judges/shared/calibration.hpp"
#include "judges/shared/voices.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd::judges {

/// EM of the truth, of the hidden answer of each family, and of whether a member gave that or its own: METHOD.md has
/// the equations.
class CrowdModel {
 public:
  CrowdModel(const JudgeData& data, const MixedCrowdOptions& options);

  /// One E-step, which counts as well; returns the log-likelihood.
  double expect();
  void maximise();

  /// P(said | truth) of a worker, with what comes from its family.
  [[nodiscard]] std::vector<double> marginal_table(std::size_t worker) const;
  [[nodiscard]] const std::vector<double>& posterior() const noexcept { return q_; }
  [[nodiscard]] const std::vector<double>& prior() const noexcept { return prior_; }
  [[nodiscard]] double copying(std::size_t worker) const { return family_[worker] == kAlone ? 0 : copying_[worker]; }
  [[nodiscard]] const Calibration& calibration(std::size_t worker) const { return calibration_[worker]; }
  [[nodiscard]] bool is_soft(std::size_t worker) const { return soft_[worker] != 0; }
  static constexpr std::uint32_t kAlone = 0xFFFFFFFF;
  /// Its place among the families, or kAlone.
  [[nodiscard]] std::uint32_t family_of(std::size_t worker) const { return family_[worker]; }
  /// workers × truth × said where a worker speaks for itself, and families × truth × hidden answer.
  [[nodiscard]] const std::vector<double>& own_tables() const noexcept { return tables_; }
  [[nodiscard]] const std::vector<double>& family_tables() const noexcept { return family_tables_; }

 private:
  using Members = std::vector<std::uint32_t>;  ///< voices
  void start();
  void find_families();
  /// What each voice says of the truth, and of the hidden answer of its family, with the tables of now.
  void find_evidence();
  void find_soft_evidence(std::size_t voice);
  void count_alone(std::size_t voice, std::span<const double> q);
  /// ln P(answers of a family | truth), and the joint with the hidden answer.
  void family_message(std::uint32_t family, const Members& members, std::vector<double>& joint,
                      std::vector<double>& message) const;
  void count_family(std::uint32_t family, const Members& members, const std::vector<double>& joint,
                    std::span<const double> message, std::span<const double> q);
  void count_own(std::size_t voice, std::size_t truth, double weight);
  void add_target(std::size_t voice, std::size_t k, double weight);
  void clear_counts();
  [[nodiscard]] std::vector<double> kind_table(WorkerKind kind) const;

  const JudgeData& data_;
  const MixedCrowdOptions& options_;
  Voices voices_;
  std::size_t classes_;
  bool mirrored_;
  std::vector<std::uint32_t> family_;  ///< of each worker
  std::size_t families_ = 0;
  std::vector<char> soft_;
  std::vector<double> prior_, q_, tables_, family_tables_, copying_;
  std::vector<Calibration> calibration_;
  std::vector<double> prior_counts_, counts_, family_counts_, copied_, could_copy_, targets_;
  std::vector<double> of_truth_, of_hidden_;  ///< voices × classes
};

}  // namespace wisecrowd::judges
