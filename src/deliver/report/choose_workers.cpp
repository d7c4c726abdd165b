#include <fmt/core.h>

#include <numeric>

#include "base/permutation.hpp"
#include "deliver/report/sections.hpp"

namespace wisecrowd::report {
namespace {

constexpr std::size_t kMostWorkers = 1000;
constexpr std::size_t kMostAnswers = 350, kWorst = 200, kBest = 100, kAdvised = 200;

/// What trust found, or what can be found quickly.
AdviceFacts advice_on(const Source& source) {
  if (!source.options.trust) return advise(source.result, source.worker_order, source.context);
  const TrustStudy& study = *source.options.trust;
  const std::size_t workers = study.workers.size();
  return {study.workers, std::vector<std::uint8_t>(workers, 1), workers, study.drift};
}

}  // namespace

void choose_workers(Source& source) {
  const auto& workers = source.result.workers;
  Order all(workers.size());
  std::iota(all.begin(), all.end(), 0U);
  const auto more_answers = [&](std::uint32_t a, std::uint32_t b) { return workers[a].answers > workers[b].answers; };
  if (workers.size() <= kMostWorkers) {
    source.worker_order = first_by(all, all.size(), more_answers);
    source.workers_chosen_by = "all workers";
    source.advice = advice_on(source);
    return;
  }
  Order spoke;
  for (const std::uint32_t w : all) {
    if (workers[w].answers > 0) spoke.push_back(w);
  }
  std::vector<Order> groups = {
      first_by(spoke, kMostAnswers, more_answers),
      first_by(spoke, kWorst,
               [&](std::uint32_t a, std::uint32_t b) { return workers[a].accuracy_high < workers[b].accuracy_high; }),
      first_by(spoke, kBest,
               [&](std::uint32_t a, std::uint32_t b) { return workers[a].accuracy_low > workers[b].accuracy_low; })};
  Order sample;
  const Permutation shuffled(all.size(), source.context.rng("report workers"));
  for (std::size_t i = 0; i < kMostWorkers; ++i) sample.push_back(static_cast<std::uint32_t>(shuffled(i)));
  groups.push_back(std::move(sample));
  source.worker_order = in_turn(groups, workers.size(), kMostWorkers);
  source.advice = advice_on(source);
  const bool all_judged = source.advice.judged_count == workers.size();
  if (all_judged) {
    Order advised;
    for (const std::uint32_t w : all) {
      const WorkerAdvice what = source.advice.workers[w].advice;
      if (what == WorkerAdvice::stop || what == WorkerAdvice::retrain || what == WorkerAdvice::recode ||
          what == WorkerAdvice::check) {
        advised.push_back(w);
      }
    }
    groups.insert(groups.begin() + 1, first_by(advised, kAdvised, more_answers));
    source.worker_order = in_turn(groups, workers.size(), kMostWorkers);
  }
  source.workers_chosen_by = fmt::format("those with most answers, {}the worst, the best, and some at random",
                                         all_judged ? "those to stop, to check or to retrain who answered most, " : "");
}

}  // namespace wisecrowd::report
