#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/components.hpp"
#include "wisecrowd/evaluate.hpp"

namespace wisecrowd {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Quantiles from how often each count occurs; `histogram[c]` tasks or workers have count c.
Distribution distribution_of(std::span<const std::uint64_t> histogram) {
  std::uint64_t members = 0;
  double sum = 0;
  for (std::size_t count = 0; count < histogram.size(); ++count) {
    members += histogram[count];
    sum += static_cast<double>(histogram[count]) * static_cast<double>(count);
  }
  if (members == 0) return {};
  /// The count of the member at `rank` when all are sorted.
  const auto at_rank = [&](std::uint64_t rank) {
    std::uint64_t below = 0;
    std::size_t count = 0;
    while ((below += histogram[count]) <= rank) ++count;
    return static_cast<double>(count);
  };
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(members - 1);
    const auto rank = static_cast<std::uint64_t>(place);
    const double lower = at_rank(rank);
    const double upper = at_rank(std::min(rank + 1, members - 1));
    return lower + (place - static_cast<double>(rank)) * (upper - lower);
  };
  return {.minimum = at_rank(0),
          .lower_quartile = quantile(0.25),
          .median = quantile(0.5),
          .mean = sum / static_cast<double>(members),
          .upper_quartile = quantile(0.75),
          .maximum = at_rank(members - 1)};
}

/// Adds one to histogram[count].
void count_in(std::vector<std::uint64_t>& histogram, std::size_t count) {
  if (histogram.size() <= count) histogram.resize(count + 1, 0);
  ++histogram[count];
}

/// What agreement is computed from. Whole numbers, so that nothing depends on the order of tasks.
struct AgreementCounts {
  std::vector<std::uint64_t> tasks_by_size;     ///< [m]: tasks with m answers
  std::vector<std::uint64_t> agreeing_by_size;  ///< [m]: ordered pairs of equal answers in those tasks
  std::vector<std::uint64_t> pairable;          ///< answers per class in tasks with at least two
  std::uint64_t unanimous = 0;                  ///< tasks with at least two answers, all equal
};

AgreementCounts count_agreement(const CategoryAnswers& answers) {
  AgreementCounts counts;
  counts.pairable.assign(answers.class_count(), 0);
  const auto offsets = answers.task_offsets();
  const auto labels = answers.labels();
  std::vector<std::uint32_t> said(answers.class_count(), 0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto here = labels.subspan(offsets[t], offsets[t + 1] - offsets[t]);
    const std::uint64_t size = here.size();
    count_in(counts.tasks_by_size, size);
    if (counts.agreeing_by_size.size() <= size) counts.agreeing_by_size.resize(size + 1, 0);
    if (size < 2) continue;
    std::uint64_t agreeing = 0;
    // Each answer makes two ordered pairs with every earlier one like it.
    for (const ClassId k : here) agreeing += 2 * static_cast<std::uint64_t>(said[index(k)]++);
    for (const ClassId k : here) {
      said[index(k)] = 0;
      ++counts.pairable[index(k)];
    }
    counts.agreeing_by_size[size] += agreeing;
    counts.unanimous += agreeing == size * (size - 1) ? 1 : 0;
  }
  return counts;
}

void fill_agreement(const AgreementCounts& counts, Description& description) {
  double tasks = 0;
  double answers = 0;
  double pairs = 0;                // ordered
  double agreeing = 0;             // ordered
  double mean_agreement = 0;       // Σ over tasks of the agreeing share of their pairs
  double agreeing_per_answer = 0;  // Σ over tasks of agreeing pairs / (m − 1)
  for (std::size_t m = 2; m < counts.tasks_by_size.size(); ++m) {
    const auto n = static_cast<double>(counts.tasks_by_size[m]);
    const auto size = static_cast<double>(m);
    const auto agree = static_cast<double>(counts.agreeing_by_size[m]);
    tasks += n;
    answers += n * size;
    pairs += n * size * (size - 1);
    agreeing += agree;
    mean_agreement += agree / (size * (size - 1));
    agreeing_per_answer += agree / (size - 1);
  }
  description.krippendorff_alpha = description.fleiss_kappa = kUndefined;
  description.pairwise_agreement = description.unanimous_share = kUndefined;
  if (tasks == 0) return;
  description.pairwise_agreement = agreeing / pairs;
  description.unanimous_share = static_cast<double>(counts.unanimous) / tasks;
  double same_class_pairs = 0;  // Σ n_k (n_k − 1)
  double chance = 0;            // Σ (n_k / n)²
  for (const std::uint64_t count : counts.pairable) {
    const auto n = static_cast<double>(count);
    same_class_pairs += n * (n - 1);
    chance += n / answers * (n / answers);
  }
  const double expected_disagreement = 1 - same_class_pairs / (answers * (answers - 1));
  const bool one_class =
      std::count_if(counts.pairable.begin(), counts.pairable.end(), [](auto n) { return n > 0; }) < 2;
  if (one_class) return;
  description.krippendorff_alpha = 1 - (1 - agreeing_per_answer / answers) / expected_disagreement;
  description.fleiss_kappa = (mean_agreement / tasks - chance) / (1 - chance);
}

}  // namespace

Description describe(const CategoryAnswers& answers) {
  Description description;
  description.tasks = answers.task_count();
  description.workers = answers.worker_count();
  description.classes = answers.class_count();
  description.answers = answers.answer_count();

  const AgreementCounts counts = count_agreement(answers);
  fill_agreement(counts, description);
  description.answers_per_task = distribution_of(counts.tasks_by_size);
  if (!counts.tasks_by_size.empty()) description.unanswered_tasks = counts.tasks_by_size[0];
  if (counts.tasks_by_size.size() > 1) description.single_answer_tasks = counts.tasks_by_size[1];
  description.answers_per_class.assign(description.classes, 0);
  for (const ClassId k : answers.labels()) ++description.answers_per_class[index(k)];

  std::vector<std::uint32_t> per_worker(description.workers, 0);
  for (const WorkerId w : answers.workers()) ++per_worker[index(w)];
  std::vector<std::uint64_t> histogram;
  for (const std::uint32_t count : per_worker) count_in(histogram, count);
  description.answers_per_worker = distribution_of(histogram);
  histogram.resize(std::max<std::size_t>(histogram.size(), 3), 0);
  description.silent_workers = histogram[0];
  description.workers_below_three_answers = histogram[1] + histogram[2];

  const Components components = connected_components(answers);
  description.components = components.count;
  description.largest_component_tasks = components.largest_tasks;
  description.largest_component_workers = components.largest_workers;
  description.warnings = identifiability_warnings(description, answers);
  return description;
}

}  // namespace wisecrowd
