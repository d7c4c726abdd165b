#include <algorithm>
#include <numeric>

#include "base/numeric.hpp"
#include "trust/dependence/search.hpp"

namespace wisecrowd::trust {

void for_each_group_voice(const CrowdSample& sample, const GroupModel& model,
                          const std::function<void(const GroupAtTask&)>& visit) {
  constexpr double kSure = 0.95, kOneVoice = 0.75;
  const Grouping& grouping = model.grouping();
  const std::size_t bins = model.bins();
  std::vector<double> votes(grouping.groups * bins, 0.0), q(bins);
  std::vector<std::uint64_t> present(grouping.groups, 0);
  std::vector<std::uint32_t> here;
  for (std::size_t t = 0; t < sample.tasks; ++t) {
    here.clear();
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const std::uint32_t group = grouping.group[grouping.unit[sample.who[a]]];
      if (group == Grouping::kNone) continue;
      if (std::find(here.begin(), here.end(), group) == here.end()) here.push_back(group);
      present[group] = a;
      votes[group * bins + sample.bin[a]] += 1;
    }
    for (const std::uint32_t group : here) {
      const auto said = std::span(votes).subspan(group * bins, bins);
      const double count = std::accumulate(said.begin(), said.end(), 0.0);
      const auto top = std::max_element(said.begin(), said.end());
      if (count >= 2 && *top >= kOneVoice * count) {
        const double* const message = model.message(sample, present[group]);
        for (std::size_t k = 0; k < bins; ++k) q[k] = model.log_joint(t)[k] - message[k];
        softmax(q);
        const auto others = std::max_element(q.begin(), q.end());
        visit({t, sample.who[present[group]], group, static_cast<std::uint16_t>(top - said.begin()),
               static_cast<std::uint16_t>(others - q.begin()), *others, *others >= kSure});
      }
      std::fill(said.begin(), said.end(), 0.0);
    }
  }
}

std::vector<double> contradictions(const CrowdSample& sample, const GroupModel& model) {
  constexpr double kFewest = 20;  // tasks that others are sure of
  struct Tally {
    double sure = 0, sure_against = 0, all = 0, all_against = 0;
  };
  std::vector<Tally> tallies(model.grouping().groups);
  for_each_group_voice(sample, model, [&](const GroupAtTask& at) {
    Tally& tally = tallies[at.group];
    const double against = at.said != at.others_say ? 1 : 0;
    tally.all += 1;
    tally.all_against += against;
    if (!at.others_sure) return;
    tally.sure += 1;
    tally.sure_against += against;
  });
  std::vector<double> shares;
  for (const Tally& tally : tallies) {
    const bool enough = tally.sure >= kFewest;
    shares.push_back((enough ? tally.sure_against : tally.all_against) /
                     std::max(enough ? tally.sure : tally.all, 1.0));
  }
  return shares;
}

}  // namespace wisecrowd::trust
