#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wisecrowd/category_data.hpp"
#include "wisecrowd/dependent_workers.hpp"
#include "wisecrowd/fit_summary.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd {

struct DependenceOptions {
  bool list_attacked_tasks = false;
  /// A look at the pairs alone, and the search only where one of them stands out: for results that do not depend on it.
  /// A hidden group whose pairs share few tasks is not found then.
  bool only_where_pairs_stand_out = false;
};

/// Finds workers who do not answer independently. It asks no fit, because such groups deceive it:
/// src/trust/dependence/METHOD.md says how it is done. Where answers alone cannot tell which side is right, trusted
/// workers and gold decide. The same answers give the same groups, whatever the seed and the
/// number of threads. Of very large crowds a fixed part is looked at.
[[nodiscard]] Dependence find_dependence(const CategoryData& data, const DependenceOptions& options,
                                         const RunContext& context);

/// The same of groups that the data name (CategoryData::worker_groups): all of them are acted on.
[[nodiscard]] Dependence given_groups(const CategoryData& data);

/// Dawid–Skene in which each group of workers is one voice (hierarchical EM): a group has a hidden answer to every
/// task, and its members' answers depend on that.
struct VoiceFitOptions {
  double smoothing = 0.2, more_on_diagonal = 0.4;
  std::size_t max_iterations = 200;
  double tolerance = 1e-7;
};
struct VoiceFit {
  std::vector<double> posterior;  ///< tasks × classes
  std::vector<double> class_prior;
  std::vector<double> confusion;     ///< workers × truth × said, whatever the group's hidden answer
  std::vector<double> group_table;   ///< groups × truth × hidden answer
  std::vector<std::uint32_t> group;  ///< of each worker: its row in group_table, or kAlone
  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
  std::vector<double> trace;
  double log_likelihood = 0;
  bool converged = false;
};
/// What it says of answers that are not part of the data: the log probability of each.
[[nodiscard]] std::vector<double> log_predictive_of_voices(const CategoryData& data,
                                                           std::span<const std::uint32_t> voices,
                                                           std::span<const CategoryAnswer> answers,
                                                           const VoiceFitOptions& options, const RunContext& context);
/// The grouping by plain linkage: clusters of workers by agreement, and by how they err together, in every number from
/// 1 to `most_groups`; the one with the best penalised likelihood. It has no guards, so skilled workers may be taken
/// for a group.
[[nodiscard]] std::vector<std::uint32_t> voices_by_linkage(const CategoryData& data, std::size_t most_groups,
                                                           const RunContext& context);

/// True when so many answers come from groups that count as independent voices, a tenth or more, that no probability
/// can be trusted. With fewer, tasks that several members of a group answered look surer than they are.
[[nodiscard]] bool dependence_casts_doubt(const CategoryAnswers& answers, const Dependence& found);

/// What is to be said of them, by name: code "dependent_workers" of groups that count as one voice, "copied_workers" of
/// those that do not.
[[nodiscard]] std::vector<Warning> dependence_warnings(const CategoryData& data, const Dependence& found);

/// `voices`: one label per worker, equal for members of a group. `start`: a posterior to begin from, or empty.
[[nodiscard]] VoiceFit fit_voices(const CategoryData& data, std::span<const std::uint32_t> voices,
                                  const VoiceFitOptions& options, const RunContext& context,
                                  std::span<const double> start = {});

}  // namespace wisecrowd
