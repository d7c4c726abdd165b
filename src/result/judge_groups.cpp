#include "wisecrowd/judge_groups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "wisecrowd/dependence.hpp"

namespace wisecrowd {

CategoryData category_view(const JudgeData& data) {
  CategoryAnswersBuilder builder;
  for (std::size_t a = 0; a < data.answers.size(); ++a) {
    const JudgeAnswer& answer = data.answers[a];
    const bool last = a + 1 == data.answers.size() || data.answers[a + 1].task != answer.task ||
                      data.answers[a + 1].worker != answer.worker;
    // Tasks by number: those of comparisons may have one name.
    if (last) {
      builder.add(fmt::format("{}", index(answer.task)), data.workers[index(answer.worker)],
                  data.classes[index(answer.said)]);
    }
  }
  return {builder.build()};
}

std::size_t find_judge_families(JudgeData& data, const RunContext& context) {
  std::size_t machines = 0;
  for (const JudgeInfo& info : data.judges) {
    if (info.kind != WorkerKind::machine) continue;
    ++machines;
    if (!info.family.empty()) return 0;
  }
  if (machines < 2) return 0;
  std::unordered_map<std::string_view, std::size_t> place;
  for (std::size_t w = 0; w < data.workers.size(); ++w) place[data.workers[w]] = w;
  const CategoryData view = category_view(data);
  std::size_t found = 0;
  for (const DependentGroup& group : find_dependence(view, {}, context).groups) {
    std::vector<std::size_t> members;
    for (const WorkerId worker : group.workers) {
      const std::size_t w = place.at(view.answers.worker_names()[index(worker)]);
      if (data.judges[w].kind == WorkerKind::machine) members.push_back(w);
    }
    if (members.size() < 2) continue;
    ++found;
    for (const std::size_t w : members) {
      data.judges[w].family = fmt::format("found {}", found);
      data.judges[w].family_found = true;
    }
  }
  return found;
}

}  // namespace wisecrowd
