#include <algorithm>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "base/parallel.hpp"
#include "result/probability_sums.hpp"
#include "wisecrowd/category_result.hpp"
#include "wisecrowd/tempering.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kTasksPerBlock = 16384;
constexpr std::size_t kWorkersPerBlock = 1024;
constexpr std::size_t kMaxEstimatedCells = std::size_t{1} << 28;  // 2 GB of doubles
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// What is counted of each worker, side by side so that one cache line serves an answer.
enum Tally : std::size_t { kRight, kDoubt, kAnswers, kGoldAnswers, kGoldRight, kTallies };

}  // namespace

std::vector<ClassId> delivered_labels(const CategoryFit& aggregation, double abstain_below) {
  std::vector<ClassId> labels = aggregation.labels;
  for (std::size_t t = 0; t < labels.size() && abstain_below > 0; ++t) {
    if (aggregation.posterior[t * aggregation.class_count + index(labels[t])] < abstain_below) labels[t] = kNoClass;
  }
  return labels;
}

std::vector<WorkerSummary> summarise_workers(const CategoryData& data, const CategoryFit& aggregation,
                                             std::span<const double> confusion, const RunContext& context) {
  const std::size_t workers = data.answers.worker_count();
  const std::size_t classes = data.answers.class_count();
  ProbabilitySums sums(workers * kTallies, context.threads());
  const ModelPosterior model(data, aggregation);
  const ClassId* gold = data.has_gold() ? data.gold.data() : nullptr;
  const Blocks tasks{data.answers.task_count(), kTasksPerBlock};
  context.pool().for_each_block(tasks.count(), [&](std::size_t block, unsigned thread) {
    std::vector<double> row(classes);
    for (std::size_t t = tasks.begin(block); t < tasks.end(block); ++t) {
      model.row(t, row);
      const auto who = data.answers.workers_of(TaskId(t));
      const auto labels = data.answers.labels_of(TaskId(t));
      for (std::size_t a = 0; a < who.size(); ++a) {
        const std::size_t at = index(who[a]) * kTallies;
        const double p = row[index(labels[a])];
        sums.add(thread, at + kRight, ProbabilitySums::units(p));
        sums.add(thread, at + kDoubt, ProbabilitySums::units(p * (1 - p)));
        sums.add(thread, at + kAnswers, 1);
        if (gold == nullptr || gold[t] == kNoClass) continue;
        sums.add(thread, at + kGoldAnswers, 1);
        sums.add(thread, at + kGoldRight, gold[t] == labels[a] ? 1 : 0);
      }
    }
  });

  std::vector<double> prior = aggregation.class_prior;
  if (prior.size() != classes) prior.assign(classes, 1.0 / static_cast<double>(std::max<std::size_t>(classes, 1)));
  std::vector<WorkerSummary> summaries(workers);
  const Blocks blocks{workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      WorkerSummary& summary = summaries[w];
      const auto tally = [&](Tally what) { return sums.total(w * kTallies + what); };
      summary.answers = tally(kAnswers);
      summary.accuracy = summary.accuracy_low = summary.accuracy_high = kUnknown;
      if (summary.answers > 0) {
        const auto count = static_cast<double>(summary.answers);
        const double right = static_cast<double>(tally(kRight)) / ProbabilitySums::kUnit;
        const double variance = static_cast<double>(tally(kDoubt)) / ProbabilitySums::kUnit;
        const Interval interval = rate_interval(right, variance, count);
        summary.accuracy = std::min(right / count, 1.0);
        // Equal tails leave out a rate of exactly 0 or 1; an interval should hold its own estimate.
        summary.accuracy_low = std::min(interval.low, summary.accuracy);
        summary.accuracy_high = std::max(interval.high, summary.accuracy);
      }
      summary.informativeness =
          confusion.empty()
              ? kUnknown
              : mutual_information_bits(prior, confusion.subspan(w * classes * classes, classes * classes));
      summary.gold_answers = tally(kGoldAnswers);
      summary.gold_accuracy = summary.gold_accuracy_low = summary.gold_accuracy_high = kUnknown;
      if (summary.gold_answers > 0) {
        const auto count = static_cast<double>(summary.gold_answers);
        const auto right = static_cast<double>(tally(kGoldRight));
        const Interval interval = wilson_interval(right, count);
        summary.gold_accuracy = right / count;
        summary.gold_accuracy_low = interval.low;
        summary.gold_accuracy_high = interval.high;
      }
    }
  });
  return summaries;
}

std::vector<double> worker_confusion(const CategoryData& data, const CategoryFit& aggregation,
                                     const RunContext& context) {
  if (!aggregation.confusion.empty()) return aggregation.confusion;
  const std::size_t workers = data.answers.worker_count();
  const std::size_t classes = data.answers.class_count();
  const std::size_t cells = classes * classes;
  if (workers == 0 || cells == 0 || cells > kMaxEstimatedCells / workers) return {};

  ProbabilitySums counts(workers * cells, context.threads());
  const ModelPosterior model(data, aggregation);
  const Blocks tasks{data.answers.task_count(), kTasksPerBlock};
  context.pool().for_each_block(tasks.count(), [&](std::size_t block, unsigned thread) {
    std::vector<double> row(classes);
    for (std::size_t t = tasks.begin(block); t < tasks.end(block); ++t) {
      model.row(t, row);
      const auto who = data.answers.workers_of(TaskId(t));
      const auto labels = data.answers.labels_of(TaskId(t));
      for (std::size_t a = 0; a < who.size(); ++a) {
        for (std::size_t k = 0; k < classes; ++k) {
          counts.add(thread, index(who[a]) * cells + k * classes + index(labels[a]), ProbabilitySums::units(row[k]));
        }
      }
    }
  });

  WorkerTables tables(workers, classes);
  const Blocks blocks{workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
      const auto table = tables.table(WorkerId(w));
      for (std::size_t c = 0; c < cells; ++c) {
        // Half an answer per row keeps rows of unseen truth uniform and costs the others little.
        table[c] = static_cast<double>(counts.total(w * cells + c)) / ProbabilitySums::kUnit +
                   0.5 / static_cast<double>(classes);
      }
      normalise_rows(table, classes);
    }
  });
  return std::move(tables).release();
}

CategoryResult make_result(CategoryData data, CategoryFit aggregation, RunRecord record, const RunContext& context) {
  CategoryResult result;
  result.worker_confusion = worker_confusion(data, aggregation, context);
  if (result.worker_confusion.empty() && data.answers.worker_count() > 0 && data.answers.class_count() > 0) {
    aggregation.warnings.push_back(
        {"confusion_left_out",
         "Confusion tables of this many workers and classes would take more than 2 GB, so they and "
         "the workers' informativeness are left out.",
         "Use a method that learns tables, or merge rare classes.", Severity::note});
  }
  result.workers = summarise_workers(data, aggregation, result.worker_confusion, context);
  // Gold that is only there to evaluate must not decide who is right.
  result.dependence = aggregation.dependence
                          ? *aggregation.dependence
                          : find_dependence({.answers = data.answers, .trusted = data.trusted}, {}, context);
  for (Warning& warning : dependence_warnings(data, result.dependence)) {
    aggregation.warnings.push_back(std::move(warning));
  }
  record.data_hash = data.answers.content_hash();
  result.data = std::move(data);
  result.aggregation = std::move(aggregation);
  result.record = std::move(record);
  return result;
}

}  // namespace wisecrowd
