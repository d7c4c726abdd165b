#include "support/slow_reference.hpp"

#include <cmath>

namespace wisecrowd::testing {

SlowFit slow_em(const CategoryData& data, bool learn_prior, double class_pseudo_count, std::size_t iterations,
                const TableUpdate& update) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t tasks = answers.task_count(), workers = answers.worker_count(), classes = answers.class_count();
  const auto task = [](std::size_t t) { return TaskId{static_cast<std::uint32_t>(t)}; };
  SlowFit fit;
  fit.posterior.assign(tasks, std::vector<double>(classes, 0.0));
  for (std::size_t t = 0; t < tasks; ++t) {
    const auto labels = answers.labels_of(task(t));
    for (const ClassId l : labels) fit.posterior[t][index(l)] += 1.0 / static_cast<double>(labels.size());
  }
  const auto pin = [&](std::size_t t) {
    if (data.gold_of(task(t)) == kNoClass) return false;
    fit.posterior[t].assign(classes, 0.0);
    fit.posterior[t][index(data.gold_of(task(t)))] = 1;
    return true;
  };
  for (std::size_t t = 0; t < tasks; ++t) pin(t);
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    Counts counts(workers, std::vector<std::vector<double>>(classes, std::vector<double>(classes, 0.0)));
    std::vector<double> mass(classes, class_pseudo_count);
    for (std::size_t t = 0; t < tasks; ++t) {
      const auto who = answers.workers_of(task(t));
      const auto what = answers.labels_of(task(t));
      for (std::size_t a = 0; a < who.size(); ++a) {
        for (std::size_t k = 0; k < classes; ++k) counts[index(who[a])][k][index(what[a])] += fit.posterior[t][k];
      }
      if (!who.empty()) {
        for (std::size_t k = 0; k < classes; ++k) mass[k] += fit.posterior[t][k];
      }
    }
    fit.tables = update(counts);
    double total = 0;
    for (const double m : mass) total += m;
    fit.class_prior.assign(classes, 1.0 / static_cast<double>(classes));
    if (learn_prior) {
      for (std::size_t k = 0; k < classes; ++k) fit.class_prior[k] = mass[k] / total;
    }
    double log_likelihood = 0;
    for (std::size_t t = 0; t < tasks; ++t) {
      const auto who = answers.workers_of(task(t));
      const auto what = answers.labels_of(task(t));
      std::vector<double> joint(classes);
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        joint[k] = data.task_priors.empty() ? fit.class_prior[k] : data.task_priors[t * classes + k];
        for (std::size_t a = 0; a < who.size(); ++a) joint[k] *= fit.tables[index(who[a])][k][index(what[a])];
        sum += joint[k];
      }
      if (data.gold_of(task(t)) != kNoClass) sum = joint[index(data.gold_of(task(t)))];
      if (!who.empty()) log_likelihood += std::log(sum);
      if (!pin(t)) {
        for (std::size_t k = 0; k < classes; ++k) fit.posterior[t][k] = joint[k] / sum;
      }
    }
    fit.log_likelihood.push_back(log_likelihood);
  }
  return fit;
}

double enumerated_log_likelihood(const CategoryAnswers& answers, const std::vector<double>& class_prior,
                                 const std::vector<double>& confusion) {
  const std::size_t tasks = answers.task_count(), classes = answers.class_count();
  std::vector<std::size_t> truth(tasks, 0);
  double total = 0;
  for (;;) {
    double probability = 1;
    for (std::size_t t = 0; t < tasks; ++t) {
      probability *= class_prior[truth[t]];
      const auto who = answers.workers_of(TaskId{static_cast<std::uint32_t>(t)});
      const auto what = answers.labels_of(TaskId{static_cast<std::uint32_t>(t)});
      for (std::size_t a = 0; a < who.size(); ++a) {
        probability *= confusion[(index(who[a]) * classes + truth[t]) * classes + index(what[a])];
      }
    }
    total += probability;
    std::size_t t = 0;
    while (t < tasks && ++truth[t] == classes) truth[t++] = 0;
    if (t == tasks) return std::log(total);
  }
}

}  // namespace wisecrowd::testing
