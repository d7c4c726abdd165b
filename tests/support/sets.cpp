#include "support/sets.hpp"

#include <algorithm>
#include <cmath>

namespace wisecrowd::testing {

SetSimulation set_crowd(std::uint64_t seed, SetSimulationSize size,
                        const std::vector<std::pair<std::string, std::string>>& settings) {
  Parameters parameters(set_simulation_parameters());
  for (const auto& [name, value] : settings) parameters.set(name, value);
  return simulate_sets(size, parameters, RunContext({.seed = seed, .threads = 1}));
}

SetData answers_alone(const SetData& data) { return {data.answers, {}}; }

SetData only_class(const SetData& data, ClassId label) {
  const SetAnswers& answers = data.answers;
  const ClassId only[] = {ClassId{0}};
  std::vector<SetAnswer> list;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
      const auto set = answers.set(a);
      const bool named = std::find(set.begin(), set.end(), label) != set.end();
      list.push_back({TaskId(t), answers.workers()[a], std::span(only).first(named ? 1 : 0)});
    }
  }
  const std::vector<std::string> classes{"it"};
  SetData out{make_set_answers(list, {answers.task_names(), answers.worker_names(), NameTable(classes)}), {}};
  for (const auto& gold : data.gold) {
    auto& own = out.gold.emplace_back();
    if (!gold) continue;
    own.emplace();
    if (std::find(gold->begin(), gold->end(), label) != gold->end()) own->push_back(ClassId{0});
  }
  return out;
}

std::vector<double> mean_probabilities(const SetFit& fit) {
  std::vector<double> mean(fit.class_count);
  for (std::size_t t = 0; t < fit.task_count; ++t) {
    for (std::size_t c = 0; c < fit.candidates_of(TaskId(t)).size(); ++c) {
      mean[index(fit.candidates_of(TaskId(t))[c])] +=
          fit.probabilities_of(TaskId(t))[c] / static_cast<double>(fit.task_count);
    }
  }
  return mean;
}

double enumerated_sets(const SetData& data, const std::vector<double>& sensitivity,
                       const std::vector<double>& specificity, const std::vector<double>& prior,
                       std::vector<double>& posterior) {
  const SetAnswers& answers = data.answers;
  const std::size_t classes = answers.class_count();
  double log_likelihood = 0;
  posterior.assign(answers.task_count() * classes, 0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    double total = 0;
    std::vector<double> with(classes);
    for (std::size_t truth = 0; truth < (std::size_t{1} << classes); ++truth) {
      double p = 1;
      for (std::size_t k = 0; k < classes; ++k) p *= (truth >> k) % 2 == 1 ? prior[k] : 1 - prior[k];
      for (AnswerIndex a = answers.task_offsets()[t]; a < answers.task_offsets()[t + 1]; ++a) {
        const auto set = answers.set(a);
        for (std::size_t k = 0; k < classes; ++k) {
          const std::size_t cell = index(answers.workers()[a]) * classes + k;
          const bool named = std::find(set.begin(), set.end(), ClassId(k)) != set.end();
          const double says = (truth >> k) % 2 == 1 ? sensitivity[cell] : 1 - specificity[cell];
          p *= named ? says : 1 - says;
        }
      }
      total += p;
      for (std::size_t k = 0; k < classes; ++k) with[k] += (truth >> k) % 2 == 1 ? p : 0;
    }
    log_likelihood += std::log(total);
    for (std::size_t k = 0; k < classes; ++k) posterior[t * classes + k] = with[k] / total;
  }
  return log_likelihood;
}

}  // namespace wisecrowd::testing
