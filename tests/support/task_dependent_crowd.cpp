#include "support/task_dependent_crowd.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::testing {
namespace {

NameTable numbered(const std::string& kind, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < count; ++n) names.push_back(kind + std::to_string(n));
  return NameTable(names);
}

/// Each worker's mean of a number per answer, over the workers who answered.
std::vector<double> by_worker(const CategoryAnswers& answers, const std::vector<double>& per_answer) {
  std::vector<double> sum(answers.worker_count(), 0.0), count(answers.worker_count(), 0.0), result;
  for (std::size_t a = 0; a < per_answer.size(); ++a) {
    sum[index(answers.workers()[a])] += per_answer[a];
    count[index(answers.workers()[a])] += 1;
  }
  for (std::size_t j = 0; j < sum.size(); ++j) {
    if (count[j] > 0) result.push_back(sum[j] / count[j]);
  }
  return result;
}

}  // namespace

TaskDependentCrowd task_dependent_crowd(std::uint64_t seed, const TaskDependentPlan& plan) {
  Rng rng(seed);
  std::vector<double> teacher(plan.words), shared(plan.rank * plan.words), workers(plan.workers * plan.rank);
  for (double& w : teacher) w = rng.normal();
  for (double& f : shared) f = rng.uniform(-0.3, 0.6);
  for (double& u : workers) u = rng.uniform(-0.3, 0.6);

  TaskDependentCrowd result;
  FeatureCrowd& crowd = result.crowd;
  crowd.tasks = plan.tasks;
  Features& features = crowd.data.features;
  features.rows = plan.tasks;
  features.shape = {plan.words};
  features.offsets = {0};
  std::vector<CategoryAnswer> answers;
  std::vector<double> projection(plan.rank);
  result.expertise.assign(plan.workers, 0.0);
  for (std::size_t i = 0; i < plan.tasks; ++i) {
    std::map<std::uint32_t, float> counts;
    for (std::size_t n = 1 + rng.below(5); n > 0; --n) counts[static_cast<std::uint32_t>(rng.below(plan.words))] += 1;
    double score = 0;
    std::fill(projection.begin(), projection.end(), 0.0);
    for (const auto& [word, count] : counts) {
      features.indices.push_back(word);
      features.values.push_back(count);
      score += count * teacher[word];
      for (std::size_t r = 0; r < plan.rank; ++r) projection[r] += count * shared[r * plan.words + word];
    }
    features.offsets.push_back(features.indices.size());
    const std::size_t truth = score > 0 ? 1 : 0;
    crowd.truth.push_back(ClassId(truth));
    const auto reliability = [&](std::size_t j) {
      double odds = 0;
      for (std::size_t r = 0; r < plan.rank; ++r) odds += workers[j * plan.rank + r] * projection[r];
      return sigmoid(odds);
    };
    for (std::size_t j = 0; j < plan.workers; ++j) {
      result.expertise[j] += reliability(j) / static_cast<double>(plan.tasks);
    }
    std::set<std::size_t> who;
    // Each pair is kept with the same small probability, so counts are nearly Poisson; some tasks get no answer.
    std::size_t count = 0;
    for (double left = rng.uniform(); left > std::exp(-plan.answers_per_task); left *= rng.uniform()) ++count;
    while (who.size() < std::min(count, plan.workers)) who.insert(rng.below(plan.workers));
    for (const std::size_t j : who) {
      const double eta = reliability(j);
      const bool right = plan.deterministic ? eta > 0.5 : rng.bernoulli(eta);
      answers.push_back({TaskId(i), WorkerId(j), ClassId(right ? truth : 1 - truth)});
      result.reliability.push_back(eta);
    }
  }
  crowd.data.crowd.answers =
      make_category_answers(answers, {numbered("t", plan.tasks), numbered("w", plan.workers), numbered("", 2)});
  crowd.data.row_names = numbered("t", plan.tasks);
  crowd.data.split.assign(plan.tasks, Split::train);
  crowd.data.row_of_task.resize(plan.tasks);
  std::iota(crowd.data.row_of_task.begin(), crowd.data.row_of_task.end(), 0U);
  return result;
}

TrustFound find_trust(const TaskDependentCrowd& made, const std::string& reliability) {
  const LearningData& data = made.crowd.data;
  const CategoryAnswers& answers = data.crowd.answers;
  const Learned learned = run_learner(data, "dalc",
                                      {{"reliability", reliability},
                                       {"epochs", "30"},
                                       {"learning_rate", "0.02"},
                                       {"held_out", "0"},
                                       {"input_dropout", "0"}},
                                      {.kind = "linear"}, 1);
  std::vector<double> right;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (const ClassId label : answers.labels_of(TaskId(t))) right.push_back(label == made.crowd.truth[t] ? 1 : 0);
  }
  const std::vector<double> eta(learned.answer_reliability.begin(), learned.answer_reliability.end());
  TrustFound found;
  for (const double r : right) found.right += r / static_cast<double>(right.size());
  found.vote = task_accuracy(made.crowd, aggregate(data.crowd, "majority_vote").posterior);
  found.labels = task_accuracy(made.crowd, learned.crowd.posterior);
  found.eta = correlation(made.reliability, eta);
  found.expertise = correlation(by_worker(answers, right), by_worker(answers, eta));
  found.expertise_everywhere = correlation(made.expertise, learned.crowd.skill);
  return found;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sa += a[i];
    sb += b[i];
    saa += a[i] * a[i];
    sbb += b[i] * b[i];
    sab += a[i] * b[i];
  }
  return (sab / n - sa * sb / n / n) / std::sqrt((saa / n - sa * sa / n / n) * (sbb / n - sb * sb / n / n));
}

}  // namespace wisecrowd::testing
