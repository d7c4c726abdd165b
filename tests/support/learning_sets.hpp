#pragma once

#include <numeric>

#include "learn/shared/coupled_tables.hpp"
#include "support/learning.hpp"

namespace wisecrowd::testing {

/// A few tasks, three classes, three workers: for checks of gradients.
inline TrainingSet three_class_set(bool with_gold = false) {
  auto crowd = gaussian_crowd(3, 12, 0, 3, 1,
                              {{{.7, .2, .1, .1, .8, .1, .2, .2, .6}, -1},
                               {{.5, .3, .2, .3, .4, .3, .1, .1, .8}, -1},
                               {{.9, .05, .05, .1, .8, .1, .0, .1, .9}, -1}},
                              0.7);
  if (with_gold) {
    crowd.data.crowd.gold.assign(12, kNoClass);
    crowd.data.crowd.gold[2] = crowd.truth[2];
    crowd.data.crowd.gold[7] = crowd.truth[7];
  }
  return training_set(crowd.data);
}

/// The largest relative error of the gradient at the logits of the worker tables.
inline double table_gradient_error(const CoupledTables& model, const TrainingSet& set, std::uint64_t seed) {
  const std::size_t block = set.class_count * set.class_count;
  return own_gradient_error(
      model, set, seed, set.worker_count * block,
      [block](AnswerModel& m, std::size_t p, double change) {
        auto& tables = dynamic_cast<CoupledTables&>(m);
        tables.logits().of(p / block)[p % block] += change;
        tables.refresh(WorkerId(p / block));
      },
      [block](AnswerModel& m, std::size_t p) {
        return dynamic_cast<CoupledTables&>(m).logits().gradient(p / block)[p % block];
      });
}

/// A model's loss on all tasks for random outputs, and the gradient at them.
struct Evaluated {
  double loss = 0;
  std::vector<double> outputs, gradients;
};
inline Evaluated evaluate(AnswerModel& model, const TrainingSet& set, std::uint64_t seed) {
  Evaluated result;
  Rng rng(seed);
  std::vector<std::uint32_t> tasks(set.task_count());
  std::iota(tasks.begin(), tasks.end(), 0U);
  result.outputs.resize(tasks.size() * model.outputs());
  for (double& value : result.outputs) value = rng.normal();
  result.gradients.resize(result.outputs.size());
  result.loss = model.loss(tasks, {result.outputs.data(), tasks.size(), model.outputs()},
                           {result.gradients.data(), tasks.size(), model.outputs()});
  return result;
}

/// Many workers with few answers each: tasks × answers_each answers by random workers.
inline TrainingSet sparse_set(std::size_t workers, std::size_t tasks, std::size_t answers_each, std::size_t classes) {
  TrainingSet set;
  set.worker_count = workers;
  set.class_count = classes;
  set.offset.push_back(0);
  Rng rng(17);
  for (std::uint32_t i = 0; i < tasks; ++i) {
    set.task.push_back(TaskId(i));
    set.row.push_back(i);
    set.gold.push_back(kNoClass);
    for (std::size_t a = 0; a < answers_each; ++a) {
      set.answer.push_back(static_cast<std::uint32_t>(set.worker.size()));
      set.worker.push_back(WorkerId(rng.below(workers)));
      set.label.push_back(ClassId(rng.below(classes)));
    }
    set.offset.push_back(static_cast<std::uint32_t>(set.worker.size()));
  }
  return set;
}

/// Processor seconds of a model's steps over the whole set in batches, the least of some rounds.
double seconds_of_steps(AnswerModel& model, const TrainingSet& set, std::size_t batch);

}  // namespace wisecrowd::testing
