#include <algorithm>
#include <cmath>
#include <map>

#include "base/intervals.hpp"
#include "judges/shared/estimates.hpp"
#include "judges/shared/voices.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace {

using judges::Voices;

std::map<std::string, std::vector<WorkerId>> members_by_family(const JudgeData& data) {
  std::map<std::string, std::vector<WorkerId>> families;
  for (std::size_t w = 0; w < data.workers.size(); ++w) {
    if (data.judges[w].family.empty() || data.judges[w].kind != WorkerKind::machine) continue;
    families[data.judges[w].family].push_back(WorkerId(w));
  }
  return families;
}

/// How often two members are wrong, and both, as far as the truth is known.
struct Errors {
  double tasks = 0, first = 0, second = 0, both = 0;
  [[nodiscard]] double correlation() const {
    const double a = first / tasks, b = second / tasks;
    const double spread = std::sqrt(a * (1 - a) * b * (1 - b));
    return spread > 0 ? (both / tasks - a * b) / spread : 0;
  }
};

/// The mean over pairs of members, with an interval by leaving tasks out in turn, in groups of them.
void measure_errors(const Voices& voices, const MixedCrowdFit& fit, FamilySummary& family) {
  constexpr std::size_t kGroups = 20;
  const std::size_t n = family.members.size();
  std::vector<Errors> all(n * n);
  std::vector<std::vector<Errors>> part(kGroups, std::vector<Errors>(n * n));
  struct Wrong {
    std::size_t member;
    ClassId said;
    double probability;
  };
  std::map<std::uint32_t, std::vector<Wrong>> wrong;  // by task
  for (std::size_t m = 0; m < n; ++m) {
    for (const std::uint32_t v : voices.of_worker(index(family.members[m]))) {
      const double q = fit.posterior_of(TaskId(voices[v].task))[index(voices[v].said)];
      wrong[voices[v].task].push_back({m, voices[v].said, 1 - q});
    }
  }
  std::size_t counter = 0;
  for (const auto& [task, list] : wrong) {
    if (list.size() < 2) continue;
    const std::size_t group = counter++ % kGroups;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = i + 1; j < list.size(); ++j) {
        const double one = list[i].probability, other = list[j].probability;
        // Those who say the same are wrong together; of two who do not, one at most is right.
        const double both = list[i].said == list[j].said ? one : std::max(one + other - 1, 0.0);
        const std::size_t pair = list[i].member * n + list[j].member;
        for (Errors* errors : {&all[pair], &part[group][pair]}) {
          errors->tasks += 1;
          errors->first += one;
          errors->second += other;
          errors->both += both;
        }
      }
    }
  }
  family.common_tasks = counter;
  const auto mean_correlation = [&](const std::vector<Errors>* left_out) {
    double sum = 0, pairs = 0;
    for (std::size_t p = 0; p < all.size(); ++p) {
      Errors errors = all[p];
      if (left_out != nullptr) {
        errors.tasks -= (*left_out)[p].tasks;
        errors.first -= (*left_out)[p].first;
        errors.second -= (*left_out)[p].second;
        errors.both -= (*left_out)[p].both;
      }
      if (errors.tasks < 2) continue;
      sum += errors.correlation();
      pairs += 1;
    }
    return pairs > 0 ? sum / pairs : 0;
  };
  family.error_correlation = judges::nothing_known();
  family.effective_voices = static_cast<double>(n);
  if (counter < 2 * kGroups) return;
  const double value = mean_correlation(nullptr);
  double mean = 0, square = 0;
  for (const auto& left_out : part) {
    const double without = mean_correlation(&left_out);
    mean += without / kGroups;
    square += without * without / kGroups;
  }
  const double half = student_quantile(kGroups - 1) * std::sqrt(std::max(square - mean * mean, 0.0) * (kGroups - 1));
  family.error_correlation = {value, std::max(-1.0, value - half), std::min(1.0, value + half)};
  const double rho = std::clamp(value, 0.0, 1.0);
  family.effective_voices = static_cast<double>(n) / (1 + static_cast<double>(n - 1) * rho);
}

}  // namespace

std::vector<FamilySummary> judge_families(const JudgeData& data, const MixedCrowdFit& fit) {
  const Voices voices(data);
  std::vector<FamilySummary> found;
  for (auto& [name, members] : members_by_family(data)) {
    FamilySummary family;
    family.name = name;
    family.members = std::move(members);
    family.found = data.judges[index(family.members.front())].family_found;
    if (family.members.size() > 1) measure_errors(voices, fit, family);
    if (family.members.size() == 1) {
      family.error_correlation = judges::nothing_known();
      family.effective_voices = 1;
    }
    found.push_back(std::move(family));
  }
  return found;
}

std::vector<VersionChange> version_changes(const JudgeData& data) {
  const Voices voices(data);
  std::vector<VersionChange> found;
  for (auto& [name, members] : members_by_family(data)) {
    std::erase_if(members, [&](WorkerId w) { return data.judges[index(w)].version.empty(); });
    std::stable_sort(members.begin(), members.end(), [&](WorkerId a, WorkerId b) {
      return data.judges[index(a)].version < data.judges[index(b)].version;
    });
    for (std::size_t m = 1; m < members.size(); ++m) {
      const WorkerId earlier = members[m - 1], later = members[m];
      if (data.judges[index(earlier)].version == data.judges[index(later)].version) continue;
      std::map<std::uint32_t, ClassId> before;
      for (const std::uint32_t v : voices.of_worker(index(earlier))) before[voices[v].task] = voices[v].said;
      std::vector<double> differences, weights;
      double alike = 0;
      for (const std::uint32_t v : voices.of_worker(index(later))) {
        const auto at = before.find(voices[v].task);
        if (at == before.end()) continue;
        double gain = 0, people = 0;
        const ClassId gold = data.gold_of(TaskId(voices[v].task));
        const auto compare = [&](ClassId truth) {
          gain += (voices[v].said == truth ? 1 : 0) - (at->second == truth ? 1 : 0);
          people += 1;
        };
        if (gold != kNoClass) compare(gold);
        for (std::size_t o = voices.begin_of(voices[v].task); o < voices.end_of(voices[v].task); ++o) {
          if (gold == kNoClass && data.judges[voices[o].worker].kind == WorkerKind::human) compare(voices[o].said);
        }
        if (people == 0) continue;
        differences.push_back(gain / people);
        weights.push_back(1);
        alike += voices[v].said == at->second ? 1 : 0;
      }
      if (differences.empty()) continue;
      found.push_back({name, earlier, later, differences.size(), judges::mean_of(differences, weights, -1, 1),
                       alike / static_cast<double>(differences.size())});
    }
  }
  return found;
}

}  // namespace wisecrowd
