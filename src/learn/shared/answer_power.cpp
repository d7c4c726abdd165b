#include "learn/shared/answer_power.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"

namespace wisecrowd {

double learned_power(const AnswerModel& model, const TrainingSet& hidden, std::span<const double> outputs) {
  constexpr std::array kPowers = {0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95};
  constexpr std::size_t kEnoughTasks = 5000;
  if (!model.can_be_tempered()) return 1;
  const std::size_t classes = hidden.class_count, width = model.outputs();
  const std::size_t tasks = std::min(hidden.task_count(), kEnoughTasks);
  std::vector<double> f(tasks * classes), prior(classes, 0.0), said(classes), neutral(width);
  for (std::size_t i = 0; i < tasks; ++i) {
    model.classify(outputs.subspan(i * width, width), std::span(f).subspan(i * classes, classes));
    for (std::size_t k = 0; k < classes; ++k) prior[k] += f[i * classes + k];
  }
  normalise(prior);
  std::array<double, kPowers.size()> sums{};
  for (std::size_t i = 0; i < tasks; ++i) {
    // What the answers say by themselves: the posterior of a classifier without an opinion. Whatever else the network
    // says of the row stays.
    std::copy_n(outputs.begin() + static_cast<std::ptrdiff_t>(i * width), width, neutral.begin());
    std::fill_n(neutral.begin(), classes, 0.0);
    model.posterior(neutral, {hidden.workers_of(i), hidden.labels_of(i), hidden.task[i], hidden.row[i]}, said);
    for (std::size_t p = 0; p < kPowers.size(); ++p) {
      double together = 0, apart = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const double weight = math::pow(std::max(said[k], kProbabilityFloor), kPowers[p]);
        together += f[i * classes + k] * weight;
        apart += prior[k] * weight;
      }
      sums[p] += math::log(together / apart);
    }
  }
  softmax(sums);
  return std::inner_product(sums.begin(), sums.end(), kPowers.begin(), 0.0);
}

}  // namespace wisecrowd
