#include "aggregate/categories/automatic/pool.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "aggregate/categories/automatic/verdict.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::automatic {
namespace {

constexpr std::string_view kByTask = "minimax_entropy", kWeightedVotes = "wawa", kVotes = "majority_vote";
/// minimax_entropy has a table per task: it weighs (r/5)², r answers per task and class, and no more than 20.
constexpr double kFullyFed = 5, kMostWeight = 20;
/// Below this share of the pool it is left out: it could hardly change a label, and costs more than all others.
constexpr double kLeastShare = 0.05;
/// Where workers err together votes have a say as well.
constexpr double kVotesWeight = 2;
/// A class that nobody chose on a task keeps this share of what a member gives it.
constexpr double kUnchosen = 0.1;
constexpr double kVotesOfRules = 0.8;
constexpr double kVotesAskedFor = 0.25;
constexpr double kMostCells = 1 << 26;
constexpr std::size_t kTasksPerBlock = 4096;

/// Adds rows in which classes that nobody chose count little.
class Sum {
 public:
  Sum(const CategoryData& data, const RunContext& context)
      : data_(data), context_(context), total_(data.answers.task_count() * data.answers.class_count(), 0.0) {}

  void add(std::span<const double> posterior, double weight) {
    weight_ += weight;
    const std::size_t classes = data_.answers.class_count();
    const Blocks blocks{data_.answers.task_count(), kTasksPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      std::vector<double> row(classes);
      std::vector<bool> chosen(classes);
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        std::copy_n(posterior.data() + t * classes, classes, row.data());
        const auto labels = data_.answers.labels_of(TaskId(t));
        chosen.assign(classes, labels.empty());
        for (const ClassId label : labels) chosen[index(label)] = true;
        for (std::size_t k = 0; k < classes; ++k) row[k] *= chosen[k] ? 1 : kUnchosen;
        normalise(row);
        for (std::size_t k = 0; k < classes; ++k) total_[t * classes + k] += weight * row[k];
      }
    });
  }

  [[nodiscard]] double weight() const noexcept { return weight_; }
  [[nodiscard]] std::vector<double> mean() && {
    for (double& p : total_) p /= weight_;
    return std::move(total_);
  }

 private:
  const CategoryData& data_;
  const RunContext& context_;
  std::vector<double> total_;
  double weight_ = 0;
};

double answers_per_cell(const CategoryAnswers& answers) {
  std::size_t answered = 0;
  const auto offsets = answers.task_offsets();
  for (std::size_t t = 0; t < answers.task_count(); ++t) answered += offsets[t] < offsets[t + 1] ? 1 : 0;
  const auto cells = static_cast<double>(std::max<std::size_t>(answered * answers.class_count(), 1));
  return static_cast<double>(answers.answer_count()) / cells;
}

/// A table for each task and each worker.
bool task_tables_fit(const CategoryAnswers& answers) {
  const auto classes = static_cast<double>(answers.class_count());
  return static_cast<double>(answers.task_count() + answers.worker_count()) * classes * classes <= kMostCells;
}

double mean_of_most_probable(std::span<const double> posterior, std::size_t classes) {
  double sum = 0;
  for (std::size_t i = 0; i < posterior.size(); i += classes) {
    sum += *std::max_element(posterior.begin() + static_cast<std::ptrdiff_t>(i),
                             posterior.begin() + static_cast<std::ptrdiff_t>(i + classes));
  }
  return sum * static_cast<double>(classes) / static_cast<double>(std::max<std::size_t>(posterior.size(), 1));
}

struct Pool {
  std::vector<double> posterior;                        // tasks × classes; empty if it was cancelled
  std::vector<std::pair<std::string, double>> members;  // what was averaged, and its weight
  double answers_per_cell = 0;
  double votes = 0;  // share of its members that are votes, plain or weighted
};

Pool pool_of(const PoolRequest& request, std::span<const double> chosen, TieRule ties, const RunContext& context,
             const CategoryStart& start) {
  const CategoryData& data = request.data;
  Pool pool;
  pool.answers_per_cell = answers_per_cell(data.answers);
  Sum sum(data, context);
  const auto add = [&](std::string_view name, double weight, std::span<const double> posterior) {
    sum.add(posterior, weight);
    pool.members.emplace_back(name, weight);
  };
  add(kBase, 1, request.by_base);
  std::vector<std::pair<std::string_view, double>> others = {{"mace", 1}, {"worker_clusters", 1}};
  if (data.task_priors.empty()) others.emplace_back(kWeightedVotes, 1);  // it knows no priors
  const bool dependent = !request.chosen.empty();
  const double fed = pool.answers_per_cell / kFullyFed;
  const double by_task = std::min(kMostWeight, fed * fed);
  const double all =
      1 + static_cast<double>(others.size()) + by_task + (dependent ? request.chosen_weight + kVotesWeight : 0);
  if (by_task >= kLeastShare * all && task_tables_fit(data.answers)) others.emplace_back(kByTask, by_task);
  for (const auto& [name, weight] : others) {
    if (context.cancelled()) return pool;
    add(name, weight, aggregate(data, name, with_ties(name, ties), context, start).posterior);
  }
  if (dependent) {
    add(kVotes, kVotesWeight, vote_fractions(data, context));
    add(request.chosen, request.chosen_weight, chosen);
  }
  for (const auto& [name, weight] : pool.members) {
    pool.votes += name == kWeightedVotes || name == kVotes ? weight / sum.weight() : 0;
  }
  if (!context.cancelled()) pool.posterior = std::move(sum).mean();
  return pool;
}

}  // namespace

double share_of_pool(const CategoryData& data, const TemperingFit& tempering) {
  return data.answers.answer_count() > kMostPooledAnswers ? 0 : tempering.misfit * tempering.misfit;
}

void blend(const PoolRequest& request, TieRule ties, const RunContext& context, const CategoryStart& start,
           CategoryFit& result, TemperingFit& tempering) {
  const Pool pool = pool_of(request, result.posterior, ties, context, start);
  if (pool.posterior.empty()) return;
  const double surer = mean_of_most_probable(result.posterior, result.class_count);
  for (std::size_t i = 0; i < pool.posterior.size(); ++i) {
    result.posterior[i] += request.share * (pool.posterior[i] - result.posterior[i]);
  }
  if (request.share < 1) {
    tempering.may_be_surer = std::max(0.0, surer - mean_of_most_probable(result.posterior, result.class_count));
  }
  Tempering& calibration = tempering.chosen;
  double votes = kVotesInPool + kVotesAskedFor * calibration.vote_share;
  // Where the pool has votes of its own beyond the weighted ones of every pool, they count.
  if (!request.chosen.empty()) votes = std::max(0.0, (votes - pool.votes) / (1 - pool.votes));
  calibration.vote_share += request.share * (votes - calibration.vote_share);
  result.learned.emplace_back("answers_per_task_and_class", pool.answers_per_cell);
  result.learned.emplace_back("pool_share", request.share);
  std::string words;
  for (const auto& [name, weight] : pool.members) {
    result.learned.emplace_back("pool_" + name, weight);
    words += fmt::format("{}{} {:.3g}", words.empty() ? "" : ", ", name, weight);
  }
  result.explanation += fmt::format(
      " Answers are not as one model says that they should be, so {} a pool of several: {}.",
      request.share < 1 ? fmt::format("{:.0f} % of the result are", 100 * request.share) : "the result is", words);
}

void pool_of_rules(const CategoryData& data, TieRule ties, const RunContext& context, CategoryFit& result) {
  Parameters even = with_ties(kBase, ties);
  even.set("class_prior", "uniform");
  result = aggregate(data, kBase, even, context);
  Sum sum(data, context);
  sum.add(result.posterior, 1 - kVotesOfRules);
  sum.add(vote_fractions(data, context), kVotesOfRules);
  result.posterior = std::move(sum).mean();
  pin_gold(data, result.posterior);
  result.tie_rule = ties;
  result.labels = hard_labels(result.posterior, result.class_count, ties, context);
  result.confusion.clear();  // what the model says of a rule is not what became of it
}

}  // namespace wisecrowd::automatic
