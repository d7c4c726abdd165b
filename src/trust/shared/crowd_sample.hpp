#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "wisecrowd/category_data.hpp"
#include "wisecrowd/run_context.hpp"

namespace wisecrowd::trust {

/// Answers that the search for copies looks at: all, or of very many a part that is chosen by the numbers of tasks and
/// workers alone, so that it is always the same part.
///
/// Classes may be put together to bins: any map of labels makes a crowd of its own, in which independent workers stay
/// independent and copies stay copies, and whose tables need less memory.
struct CrowdSample {
  std::size_t tasks = 0, workers = 0, bins = 0;
  std::vector<std::uint64_t> offsets;  ///< of the answers of each task
  std::vector<std::uint32_t> who;      ///< per answer, rising within a task
  std::vector<std::uint16_t> bin;      ///< per answer
  std::vector<std::uint16_t> label;    ///< per answer; empty where every class has a bin of its own
  std::vector<std::uint32_t> task;     ///< per task: its id in the whole crowd
  /// Per task the bin of its known truth, or kUnknown; empty if nothing is known.
  std::vector<std::uint16_t> known;
  /// Per task and bin ln of the prior of its own; empty if all tasks share one.
  std::vector<double> log_prior;
  static constexpr std::uint16_t kUnknown = 0xFFFF;
  std::vector<std::uint64_t> worker_offsets;  ///< of the answers of each worker
  std::vector<std::uint32_t> answer_of;       ///< by worker: the place of an answer
  std::vector<std::uint32_t> task_of;         ///< by worker: its task
  [[nodiscard]] std::size_t answers() const noexcept { return who.size(); }
  [[nodiscard]] std::uint16_t said(std::uint64_t answer) const { return label.empty() ? bin[answer] : label[answer]; }
  [[nodiscard]] double pairs_of_answers() const noexcept;
};

struct SampleLimits {
  double pairs = 1e7;  ///< of answers to the same task
  std::size_t answers = ~std::size_t{0};
  std::size_t per_task = 1000;  ///< answers to one task: those of the same workers everywhere, so that pairs stay whole
  std::size_t bins = 32;
  bool repeats = false;                       ///< every answer of a worker to a task; else the last
  std::size_t cells = std::size_t{1} << 24U;  ///< of all workers' tables

  /// Limits that keep the time of a look the same for any number of classes: an answer costs as much as there are.
  /// `share`: of the time that there is.
  [[nodiscard]] static SampleLimits in_time(const CategoryAnswers& answers, double share = 1,
                                            std::size_t most_answers = std::size_t{1} << 40U);
};

[[nodiscard]] CrowdSample sample_of(const CategoryAnswers& answers, const SampleLimits& limits);
/// Every answer and every class, with gold and priors of tasks: what a fit is made from.
[[nodiscard]] CrowdSample whole_crowd(const CategoryData& data);

/// Pairs of workers with a task in common. Those of worker a are the places [row[a], row[a + 1]); `other` is larger
/// than a and rises. Where there are more than `most`, those with the fewest common tasks are left out.
struct WorkerPairs {
  std::vector<std::size_t> row;
  std::vector<std::uint32_t> other;
  std::vector<std::uint32_t> common, agreed;
  [[nodiscard]] std::size_t size() const noexcept { return other.size(); }
};
inline constexpr std::size_t kMostPairs = 3'000'000;
/// None at all where they are too many to be kept and no pair has as many common tasks as `needed`.
[[nodiscard]] WorkerPairs pairs_of(const CrowdSample& sample, const RunContext& context, std::size_t needed = 1,
                                   std::size_t most = kMostPairs);

}  // namespace wisecrowd::trust
