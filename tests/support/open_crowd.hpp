#pragma once

#include <algorithm>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd::testing {

/// A crowd with random posteriors and tables, for selectors: keeps what a CrowdView looks at.
struct OpenCrowd {
  std::size_t classes;
  std::vector<double> posterior, counts;
  std::vector<std::uint32_t> task_answers, worker_answers;
  std::vector<std::vector<WorkerId>> asked;

  OpenCrowd(std::uint64_t seed, std::size_t tasks, std::size_t workers, std::size_t class_count)
      : classes(class_count), task_answers(tasks, 0), worker_answers(workers, 0), asked(tasks) {
    Rng rng(seed);
    posterior.resize(tasks * classes);
    const std::vector<double> even(classes, 0.7);
    for (std::size_t i = 0; i < tasks; ++i) rng.dirichlet(even, std::span(posterior).subspan(i * classes, classes));
    for (std::size_t j = 0; j < workers; ++j) {
      const double skill = rng.uniform(0.3, 0.98), weight = rng.uniform(5, 80);
      worker_answers[j] = static_cast<std::uint32_t>(weight);
      for (std::size_t k = 0; k < classes; ++k) {
        for (std::size_t l = 0; l < classes; ++l) {
          const double p = k == l ? skill : (1 - skill) / static_cast<double>(classes - 1);
          counts.push_back(weight * p * rng.uniform(0.8, 1.2));
        }
      }
    }
    for (std::size_t i = 0; i < tasks; ++i) {
      for (std::size_t n = rng.below(3); n > 0; --n) {
        asked[i].push_back(WorkerId{static_cast<std::uint32_t>(rng.below(workers))});
      }
      task_answers[i] = static_cast<std::uint32_t>(asked[i].size());
    }
  }

  [[nodiscard]] CrowdView view() const {
    CrowdView view;
    view.class_count = classes;
    view.posterior = posterior;
    view.worker_counts = counts;
    view.task_answers = task_answers;
    view.worker_answers = worker_answers;
    view.asked = [this](TaskId task, WorkerId worker) {
      const auto& list = asked[index(task)];
      return std::find(list.begin(), list.end(), worker) != list.end();
    };
    return view;
  }
  /// The mean table of a worker.
  [[nodiscard]] std::vector<double> table(std::size_t worker) const {
    std::vector<double> mean;
    for (std::size_t k = 0; k < classes; ++k) {
      const double* row = counts.data() + (worker * classes + k) * classes;
      double sum = 0;
      for (std::size_t l = 0; l < classes; ++l) sum += row[l];
      for (std::size_t l = 0; l < classes; ++l) mean.push_back(row[l] / sum);
    }
    return mean;
  }
  [[nodiscard]] std::span<const double> q(std::size_t task) const {
    return std::span(posterior).subspan(task * classes, classes);
  }
};

/// A selector's defaults with some changed: "name", "value", …
inline Parameters changed(std::string_view selector_name, std::vector<std::pair<std::string, std::string>> changes) {
  Parameters parameters(selector(selector_name).parameters);
  for (const auto& [name, value] : changes) parameters.set(name, value);
  return parameters;
}

}  // namespace wisecrowd::testing
