#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trust/shared/crowd_sample.hpp"

namespace wisecrowd::trust {

/// Which workers speak as one. A unit is a group of two or more, or a single worker.
struct Grouping {
  std::vector<std::uint32_t> unit;   ///< of each worker, from 0 in the order of first appearance
  std::vector<std::uint32_t> size;   ///< of each unit
  std::vector<std::uint32_t> group;  ///< of each unit: its number among the groups, or kNone
  std::size_t groups = 0;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// From any labels that are equal for workers of a unit.
  explicit Grouping(std::span<const std::uint32_t> labels);
  [[nodiscard]] bool together(std::size_t a, std::size_t b) const { return unit[a] == unit[b]; }
  /// The units that are groups, the largest first.
  [[nodiscard]] std::vector<std::uint32_t> groups_by_size() const;
  bool operator==(const Grouping& other) const { return unit == other.unit; }
};

struct GroupModelOptions {
  double smoothing = 0.2;         ///< pseudo-answers in each cell of a table
  double more_on_diagonal = 0.4;  ///< and more on its diagonal
  std::size_t max_iterations = 40;
  double tolerance = 2e-6;  ///< of the log-likelihood, relative
  /// A fit ends early where its score would not get here even if all iterations that are left gained as much as the
  /// last one; later ones mostly gain less.
  double least_score = -std::numeric_limits<double>::infinity();
};

/// Dawid–Skene with groups: a group has a hidden answer of its own to every task, which depends on the truth by one
/// table, and its members' answers depend on the hidden one. So a group speaks once, however many belong to it.
///
/// Layout: tables are worker × said × truth, so that what an answer says of the truth stands in one row.
class GroupModel {
 public:
  /// EM from `start` (tasks × bins), or from the vote in which each group counts once.
  static GroupModel fit(const CrowdSample& sample, const Grouping& grouping, const GroupModelOptions& options,
                        const RunContext& context, std::span<const double> start = {});
  /// The same, and the other way round if most units that tell anything contradict the truth so found.
  static GroupModel fit_oriented(const CrowdSample& sample, const Grouping& grouping, const GroupModelOptions& options,
                                 const RunContext& context, std::span<const double> start = {});
  /// What the same tables say of other answers of the same crowd.
  [[nodiscard]] GroupModel applied_to(const CrowdSample& sample, const RunContext& context) const;

  [[nodiscard]] double log_likelihood() const noexcept { return log_likelihood_; }
  /// Log-likelihood less what the tables of groups cost by BIC.
  [[nodiscard]] double score() const noexcept;
  /// Log-likelihood plus the logarithm of the tables' priors, after each iteration: never falls.
  [[nodiscard]] const std::vector<double>& trace() const noexcept { return trace_; }
  [[nodiscard]] bool converged() const noexcept { return converged_; }
  [[nodiscard]] const Grouping& grouping() const noexcept { return grouping_; }
  [[nodiscard]] std::size_t bins() const noexcept { return bins_; }
  [[nodiscard]] const std::vector<double>& posterior() const noexcept { return q_; }
  [[nodiscard]] const std::vector<double>& class_prior() const noexcept { return prior_; }
  /// group × truth × hidden answer.
  [[nodiscard]] const std::vector<double>& group_tables() const noexcept { return xi_; }
  /// ln of the joint probability of task and answers, by truth.
  [[nodiscard]] const double* log_joint(std::size_t task) const { return log_joint_.data() + task * bins_; }
  /// What an answer's unit as a whole says of the truth, in logarithms.
  [[nodiscard]] const double* message(const CrowdSample& sample, std::uint64_t answer) const {
    const std::size_t slot = slot_of(answer);
    return slot == Grouping::kNone ? log_tables_.data() + row_of(sample, answer) : message_.data() + slot * bins_;
  }
  /// P(said | truth) of each worker as the posterior sees it, group or not.
  [[nodiscard]] const std::vector<double>& marginal_tables() const noexcept { return marginal_; }
  [[nodiscard]] std::size_t row_of(const CrowdSample& sample, std::uint64_t answer) const {
    return (sample.who[answer] * bins_ + sample.bin[answer]) * bins_;
  }
  /// The grouping in which every worker is where its answers are most probable: alone, or in one of the groups.
  [[nodiscard]] std::vector<std::uint32_t> reassigned(const CrowdSample& sample) const;
  /// P(the worker says this of the task), given the answers of the sample.
  [[nodiscard]] double predicted(std::size_t task, std::size_t worker, std::size_t bin) const;
  /// For each unit (trace of its table − 1)/(K − 1) by what the others say of the tasks, and its number of answers. 1:
  /// it is always right, 0: it tells nothing, negative: it is wrong more often than by chance.
  struct Informedness {
    std::vector<double> value, answers;
    [[nodiscard]] bool sure(std::size_t unit) const;
  };
  [[nodiscard]] Informedness informedness(const CrowdSample& sample) const;

 private:
  GroupModel(const CrowdSample& sample, Grouping grouping);
  [[nodiscard]] std::size_t slot_of(std::uint64_t answer) const {
    return slot_of_.empty() ? Grouping::kNone : slot_of_[answer];
  }
  void find_slots(const CrowdSample& sample);
  void start(const CrowdSample& sample, std::span<const double> posterior);
  void maximise(const CrowdSample& sample, const GroupModelOptions& options, const RunContext& context);
  template <std::size_t kBins>
  void count_beliefs(const CrowdSample& sample, std::size_t worker, double* table) const;
  template <std::size_t kBins>
  void count_by_others(const CrowdSample& sample, std::vector<double>& counts) const;
  void smooth_group_tables(const GroupModelOptions& options);
  void expect(const CrowdSample& sample, const RunContext& context);
  /// The steps of `expect` for a few tasks, with the number of bins known to the compiler where it is small; 0: any.
  struct FewTasks;
  template <std::size_t kBins>
  void expect_tasks(FewTasks& tasks);
  template <std::size_t kBins>
  void add_up_answers(const FewTasks& tasks);
  template <std::size_t kBins>
  void find_messages(FewTasks& tasks);
  template <std::size_t kBins>
  void find_posterior(FewTasks& tasks);
  template <std::size_t kBins>
  void count_hidden_answers(FewTasks& tasks);
  void find_marginal_tables(const CrowdSample& sample, const RunContext& context);
  /// The answers of a worker to tasks of which others of the group said something: how much more probable they are when
  /// the worker follows the group than when it follows the truth.
  [[nodiscard]] double gain_of_joining(const CrowdSample& sample, std::size_t worker, std::uint32_t group,
                                       const std::vector<std::uint32_t>& slot_at) const;

  Grouping grouping_;
  std::size_t bins_, tasks_;
  double log_likelihood_ = 0;
  double log_table_prior_ = 0;  ///< of all tables and the class shares, up to a constant
  bool converged_ = false;
  std::vector<double> trace_;
  std::vector<double> prior_, log_prior_, log_tables_, marginal_;
  std::vector<double> xi_, log_xi_;  ///< group × truth × hidden answer
  std::vector<double> q_, log_joint_;
  /// A slot is a group at a task; those of a task stand together.
  std::vector<std::uint32_t> slot_of_;     ///< of each answer, kNone for single workers; empty without groups
  std::vector<std::size_t> slot_offsets_;  ///< per task
  std::vector<std::uint32_t> slot_group_;
  std::vector<double> message_;  ///< slot × truth
  std::vector<double> hidden_;   ///< slot × hidden answer: ln P(answers | hidden) within a step, then its probability
  std::vector<double> xi_counts_;
};

}  // namespace wisecrowd::trust
