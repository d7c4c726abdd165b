#include "aggregate/categories/shared/constant_workers.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd {
namespace {

constexpr std::uint64_t kFewestAnswers = 5;
constexpr double kByChance = 1e-3;
/// Every crowd of people that was looked at has .6 or more, a crowd of rules 0.
constexpr double kDiversityOfPeople = 0.1;
/// Share of the answers from which on there are rules alone, and not people among workers who do not look.
constexpr double kNearlyAll = 0.95;

/// What each worker said how often, workers × classes.
std::vector<std::uint32_t> counts_by_worker(const CategoryAnswers& answers) {
  const std::size_t classes = answers.class_count();
  std::vector<std::uint32_t> counts(answers.worker_count() * classes, 0);
  const auto workers = answers.workers();
  const auto labels = answers.labels();
  for (std::size_t a = 0; a < workers.size(); ++a) ++counts[index(workers[a]) * classes + index(labels[a])];
  return counts;
}

}  // namespace

Constancy constancy_of(const CategoryData& data) {
  const std::size_t classes = data.answers.class_count(), workers = data.answers.worker_count();
  Constancy found;
  found.is_constant.assign(workers, false);
  if (classes < 2 || data.answers.answer_count() == 0) return found;
  const std::vector<std::uint32_t> counts = counts_by_worker(data.answers);
  std::vector<double> share(classes, 0.0);
  for (std::size_t c = 0; c < counts.size(); ++c) share[c % classes] += counts[c];
  double alike = 0;  // two answers of anybody
  for (double& s : share) {
    s /= static_cast<double>(data.answers.answer_count());
    alike += s * s;
  }
  double own_alike = 0, weight = 0, of_constant = 0;
  for (std::size_t w = 0; w < workers; ++w) {
    const auto said = std::span(counts).subspan(w * classes, classes);
    const std::size_t most = static_cast<std::size_t>(std::max_element(said.begin(), said.end()) - said.begin());
    double given = 0, pairs = 0;
    for (const double n : said) {
      given += n;
      pairs += n * (n - 1);
    }
    if (given < 2) continue;
    weight += given;
    own_alike += pairs / (given - 1);
    const bool constant = said[most] == given && given >= kFewestAnswers && math::pow(share[most], given) < kByChance;
    found.is_constant[w] = constant;
    of_constant += constant ? given : 0;
  }
  if (weight > 0 && alike < 1) found.diversity = (1 - own_alike / weight) / (1 - alike);
  found.rules = found.diversity < kDiversityOfPeople &&
                of_constant > kNearlyAll * static_cast<double>(data.answers.answer_count());
  for (const WorkerId worker : data.trusted) found.is_constant[index(worker)] = false;
  found.constant = static_cast<std::size_t>(std::count(found.is_constant.begin(), found.is_constant.end(), true));
  return found;
}

CategoryData without_answers_of(const CategoryData& data, const std::vector<bool>& left_out) {
  const CategoryAnswers& answers = data.answers;
  std::vector<CategoryAnswer> kept;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId{t});
    const auto labels = answers.labels_of(TaskId{t});
    for (std::size_t a = 0; a < workers.size(); ++a) {
      if (!left_out[index(workers[a])]) kept.push_back({TaskId{t}, workers[a], labels[a]});
    }
  }
  CategoryData rest = data;
  rest.answers = inherited(
      answers, make_category_answers(kept, {answers.task_names(), answers.worker_names(), answers.class_names()},
                                     DuplicatePolicy::repeat));
  return rest;
}

}  // namespace wisecrowd
