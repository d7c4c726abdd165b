#include <algorithm>

#include "base/rng.hpp"
#include "judges/shared/voices.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {

std::vector<NextTask> next_tasks(const JudgeData& data, const MixedCrowdFit& fit, std::uint64_t count,
                                 const RunContext& context) {
  const judges::Voices voices(data);
  std::vector<NextTask> all;
  for (std::size_t t = 0; t < voices.tasks(); ++t) {
    if (data.gold_of(TaskId(t)) != kNoClass) continue;
    NextTask next;
    next.task = TaskId(t);
    next.label = fit.label_of(next.task);
    next.probability = fit.posterior_of(next.task)[index(next.label)];
    double pairs = 0, differ = 0;
    for (std::size_t v = voices.begin_of(t); v < voices.end_of(t); ++v) {
      const bool machine = data.judges[voices[v].worker].kind == WorkerKind::machine;
      ++(machine ? next.machines : next.people);
      for (std::size_t o = voices.begin_of(t); o < v && machine; ++o) {
        if (data.judges[voices[o].worker].kind != WorkerKind::machine) continue;
        pairs += 1;
        differ += voices[o].said == voices[v].said ? 0 : 1;
      }
    }
    next.disagreement = pairs > 0 ? differ / pairs : 0;
    if (next.machines > 0) all.push_back(next);
  }
  // Those with the fewest answers of people, at random within, and each label in turn as often as it is given: tasks
  // chosen because judges disagree would tell how good they are where they disagree, not how good they are.
  context.rng("tasks for people").shuffle(std::span(all));
  std::stable_sort(all.begin(), all.end(), [](const NextTask& a, const NextTask& b) { return a.people < b.people; });
  if (all.empty() || count == 0) return {};
  const std::uint64_t wanted = std::min<std::uint64_t>(count, all.size());
  std::vector<double> share(fit.class_count, 0.0), taken(fit.class_count, 0.0);
  for (const NextTask& next : all) share[index(next.label)] += 1.0 / static_cast<double>(all.size());
  std::vector<NextTask> chosen;
  std::vector<std::size_t> at(fit.class_count, 0);
  while (chosen.size() < wanted) {
    std::size_t best = fit.class_count;
    double lag = -1;
    for (std::size_t k = 0; k < fit.class_count; ++k) {
      while (at[k] < all.size() && index(all[at[k]].label) != k) ++at[k];
      if (at[k] == all.size()) continue;
      const double behind = share[k] * static_cast<double>(chosen.size() + 1) - taken[k];
      if (best == fit.class_count || behind > lag) {
        best = k;
        lag = behind;
      }
    }
    chosen.push_back(all[at[best]++]);
    taken[best] += 1;
  }
  return chosen;
}

}  // namespace wisecrowd
