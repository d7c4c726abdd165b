#include <fmt/core.h>

#include "simulate/one_coin_workers.hpp"
#include "simulate/tables.hpp"
#include "wisecrowd/error.hpp"

// The crowd on which deepMF and deepBP were measured: one-coin workers with few answers each on a regular graph, and
// extreme spammers on top, who answer everything by chance.
namespace wisecrowd::deep_bp_crowd {
namespace {

constexpr std::int64_t kMostSpammers = 1'000'000;

}  // namespace

SimulationInfo info() {
  SimulationInfo info;
  info.summary =
      "The protocol of deepBP: one-coin workers with accuracy Beta(a, b), 3 answers per task and 4 per worker, and "
      "spammers who answer every task by chance.";
  info.parameters = beta_parameters();
  info.parameters.push_back(
      ParameterSpec::integer("spammers", 0, 0, static_cast<double>(kMostSpammers),
                             "how many more workers there are who answer every task, each time any class alike"));
  info.parameters.push_back(ParameterSpec::choice(
      "assignment", "regular", {"regular", "nearly_regular"},
      "every worker has the same number of tasks, or, where that cannot be divided, some have one less"));
  return info;
}

SimulationSize default_size(const Parameters&) {
  return {.tasks = 1000, .workers = 750, .classes = 2, .answers_per_task = 3};
}

void prepare(const CrowdRequest&, World&) {}

Crowd draw(const CrowdRequest& request) {
  Crowd crowd = one_coin_workers(request);
  const std::size_t classes = request.size.classes;
  crowd.everywhere = static_cast<std::size_t>(request.parameters.integer("spammers"));
  std::vector<double> chance(classes * classes);
  tables::one_coin(chance, classes, 1 / static_cast<double>(classes));
  for (std::size_t s = 0; s < crowd.everywhere; ++s) {
    crowd.confusion.insert(crowd.confusion.end(), chance.begin(), chance.end());
    crowd.kinds.emplace_back("extreme spammer");
  }
  return crowd;
}

}  // namespace wisecrowd::deep_bp_crowd
