#include "aggregate/categories/shared/votes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kTasksPerBlock = 4096;
constexpr double kTieTolerance = 1e-9;

}  // namespace

std::vector<double> vote_fractions(const CategoryData& data, const RunContext& context,
                                   std::span<const double> worker_weights) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t classes = answers.class_count();
  std::vector<double> fractions(answers.task_count() * classes);
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      double* row = fractions.data() + t * classes;
      const auto workers = answers.workers_of(TaskId{static_cast<std::uint32_t>(t)});
      const auto labels = answers.labels_of(TaskId{static_cast<std::uint32_t>(t)});
      double total = 0;
      for (std::size_t a = 0; a < labels.size(); ++a) {
        const double weight = worker_weights.empty() ? 1 : worker_weights[index(workers[a])];
        row[index(labels[a])] += weight;
        total += weight;
      }
      for (std::size_t k = 0; k < classes; ++k) {
        if (total > 0) {
          row[k] /= total;
        } else if (!data.task_priors.empty()) {
          row[k] = data.task_priors[t * classes + k];
        } else {
          row[k] = 1.0 / static_cast<double>(classes);
        }
      }
    }
  });
  return fractions;
}

void pin_gold(const CategoryData& data, std::span<double> posterior) {
  const std::size_t classes = data.answers.class_count();
  for (std::size_t t = 0; t < data.gold.size(); ++t) {
    if (data.gold[t] == kNoClass) continue;
    const auto row = posterior.subspan(t * classes, classes);
    std::fill(row.begin(), row.end(), 0.0);
    row[index(data.gold[t])] = 1;
  }
}

std::vector<ClassId> hard_labels(std::span<const double> posterior, std::size_t class_count, TieRule rule,
                                 const RunContext& context) {
  const std::size_t tasks = class_count == 0 ? 0 : posterior.size() / class_count;
  std::vector<ClassId> labels(tasks);
  const Blocks blocks{tasks, kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const auto row = posterior.subspan(t * class_count, class_count);
      const double threshold = *std::max_element(row.begin(), row.end()) - kTieTolerance;
      std::size_t chosen = class_count;
      std::size_t tied = 0;
      for (std::size_t k = 0; k < class_count; ++k) {
        if (row[k] < threshold) continue;
        ++tied;
        if (tied == 1 || rule == TieRule::highest) chosen = k;
      }
      if (rule == TieRule::random && tied > 1) {
        std::uint64_t skip = context.rng("ties", t).below(tied);
        for (std::size_t k = 0; k < class_count; ++k) {
          if (row[k] < threshold) continue;
          if (skip-- == 0) {
            chosen = k;
            break;
          }
        }
      }
      labels[t] = ClassId{static_cast<std::uint16_t>(chosen)};
    }
  });
  return labels;
}

std::vector<double> worker_agreement(const CategoryAnswers& answers, std::span<const ClassId> labels,
                                     const RunContext& context) {
  struct Tally {
    std::uint32_t agreed = 0;
    std::uint32_t answered = 0;
  };
  // Integers: the sum over threads does not depend on who counted what.
  std::vector<std::vector<Tally>> tallies(context.threads());
  const auto offsets = answers.task_offsets();
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    auto& tally = tallies[thread];
    tally.resize(answers.worker_count());
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        Tally& own = tally[index(answers.workers()[a])];
        ++own.answered;
        own.agreed += answers.labels()[a] == labels[t] ? 1 : 0;
      }
    }
  });
  std::vector<double> agreement(answers.worker_count(), 0.0);
  for (std::size_t w = 0; w < agreement.size(); ++w) {
    std::uint64_t agreed = 0, answered = 0;
    for (const auto& tally : tallies) {
      if (tally.empty()) continue;
      agreed += tally[w].agreed;
      answered += tally[w].answered;
    }
    if (answered > 0) agreement[w] = static_cast<double>(agreed) / static_cast<double>(answered);
  }
  return agreement;
}

std::vector<double> mean_posterior(const CategoryAnswers& answers, std::span<const double> posterior) {
  const std::size_t classes = answers.class_count();
  std::vector<double> mean(classes, 0.0);
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    if (offsets[t + 1] == offsets[t]) continue;
    for (std::size_t k = 0; k < classes; ++k) mean[k] += posterior[t * classes + k];
  }
  normalise(mean);
  return mean;
}

TieRule tie_rule_from(std::string_view name) {
  if (name == "highest") return TieRule::highest;
  if (name == "random") return TieRule::random;
  if (name == "fractional") return TieRule::fractional;
  return TieRule::lowest;
}

ParameterSpec tie_rule_parameter() {
  return ParameterSpec::choice(
      "ties", "lowest", {"lowest", "highest", "random", "fractional"},
      "which of equally probable classes becomes the label; fractional labels as lowest and is "
      "scored with credit 1/t for t tied classes");
}

CategoryFit start_aggregation(const CategoryData& data) {
  const CategoryAnswers& answers = data.answers;
  CategoryFit result;
  result.task_count = answers.task_count();
  result.worker_count = answers.worker_count();
  result.class_count = answers.class_count();

  const auto offsets = answers.task_offsets();
  std::size_t unanswered = 0;
  for (std::size_t t = 0; t < result.task_count; ++t) unanswered += offsets[t + 1] == offsets[t] ? 1 : 0;
  std::vector<bool> spoke(result.worker_count);
  for (const WorkerId w : answers.workers()) spoke[index(w)] = true;
  std::vector<bool> used(result.class_count);
  for (const ClassId k : answers.labels()) used[index(k)] = true;
  const auto silent = static_cast<std::size_t>(std::count(spoke.begin(), spoke.end(), false));
  if (unanswered > 0) {
    result.warnings.push_back({"unanswered_tasks",
                               fmt::format("{} of {} tasks have no answer; their probabilities are the prior.",
                                           unanswered, result.task_count),
                               "Ask for answers, or drop these tasks."});
  }
  if (silent > 0) {
    result.warnings.push_back({"silent_workers",
                               fmt::format("{} of {} workers gave no answer; what is said of them is the prior alone.",
                                           silent, result.worker_count),
                               "Leave them out of the list if they will not work any more.", Severity::note});
  }
  std::vector<std::string_view> unused;
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (!used[k]) unused.push_back(answers.class_names()[k]);
  }
  if (!unused.empty() && !used.empty()) {
    result.warnings.push_back({"unused_classes", fmt::format("no worker ever answered {}", fmt::join(unused, ", ")),
                               "check the class list.", Severity::note});
  }
  return result;
}

}  // namespace wisecrowd
