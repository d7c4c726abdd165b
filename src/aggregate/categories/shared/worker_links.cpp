#include "aggregate/categories/shared/worker_links.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "aggregate/categories/shared/table_model.hpp"
#include "aggregate/categories/shared/votes.hpp"

namespace wisecrowd {
namespace {

/// Union of sets that also knows for each member on which of two sides it stands, and for each set whether that failed.
class TwoColouring {
 public:
  explicit TwoColouring(std::size_t count) : parent_(count), side_(count, 0), odd_(count, 0) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  std::uint32_t find(std::uint32_t a) {
    std::uint32_t root = a;
    std::uint8_t side = 0;
    while (parent_[root] != root) {
      side ^= side_[root];
      root = parent_[root];
    }
    while (parent_[a] != root && a != root) {  // shorten the way, each with its side relative to the root
      const std::uint32_t next = parent_[a];
      const std::uint8_t rest = side ^ side_[a];
      parent_[a] = root;
      side_[a] = side;
      side = rest;
      a = next;
    }
    return root;
  }
  /// a and b stand on opposite sides.
  void oppose(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t ra = find(a), rb = find(b);
    const std::uint8_t sa = ra == a ? 0 : side_[a], sb = rb == b ? 0 : side_[b];
    if (ra == rb) {
      if (sa == sb) odd_[ra] = 1;
      return;
    }
    const std::uint32_t low = std::min(ra, rb), high = std::max(ra, rb);
    parent_[high] = low;
    side_[high] = static_cast<std::uint8_t>(sa ^ sb ^ 1);
    odd_[low] |= odd_[high];
  }
  void mark_odd(std::uint32_t a) { odd_[find(a)] = 1; }
  [[nodiscard]] bool odd(std::uint32_t root) const { return odd_[root] != 0; }

 private:
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint8_t> side_, odd_;
};

}  // namespace

std::vector<double> answer_counts(const CategoryData& data) {
  std::vector<double> counts(data.answers.worker_count() + (data.has_gold() ? 1 : 0), 0.0);
  for (const WorkerId w : data.answers.workers()) counts[index(w)] += 1;
  for (const ClassId k : data.gold) counts.back() += k != kNoClass ? 1 : 0;
  return counts;
}

WorkerLinks link_workers(const CategoryData& data) {
  const CategoryAnswers& answers = data.answers;
  const std::size_t workers = answers.worker_count();
  const std::size_t members = workers + (data.has_gold() ? 1 : 0);
  TwoColouring colouring(members);
  WorkerLinks links;
  links.has_gold = data.has_gold();
  links.linked.assign(members, 0);
  std::vector<std::uint32_t> present;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const TaskId task{static_cast<std::uint32_t>(t)};
    present.clear();
    for (const WorkerId w : answers.workers_of(task)) {
      if (present.empty() || present.back() != index(w)) present.push_back(static_cast<std::uint32_t>(index(w)));
    }
    if (data.gold_of(task) != kNoClass) present.push_back(static_cast<std::uint32_t>(workers));
    if (present.size() < 2) continue;
    for (std::size_t a = 1; a < present.size(); ++a) colouring.oppose(present[0], present[a]);
    if (present.size() > 2) colouring.mark_odd(present[0]);
    for (const std::uint32_t w : present) links.linked[w] = 1;
  }
  if (members > workers) colouring.mark_odd(static_cast<std::uint32_t>(workers));

  const auto counts = answer_counts(data);
  links.part.assign(members, 0);
  links.settled.assign(members, 0);
  std::vector<std::uint32_t> number(members, 0xFFFFFFFFU);
  std::uint32_t parts = 0;
  for (std::uint32_t w = 0; w < members; ++w) {
    const std::uint32_t root = colouring.find(w);
    if (number[root] == 0xFFFFFFFFU) {
      number[root] = parts++;
      links.part_count += links.linked[w];
    }
    links.part[w] = number[root];
    links.settled[w] = colouring.odd(root) ? 1 : 0;
    if (w == workers || counts[w] == 0) continue;
    links.alone += links.linked[w] == 0 ? 1 : 0;
    links.unsettled += links.linked[w] != 0 && links.settled[w] == 0 ? 1 : 0;
  }
  return links;
}

void warn_of_links(const WorkerLinks& links, CategoryFit& result) {
  if (links.alone > 0) {
    result.warnings.push_back(
        {"workers_alone",
         fmt::format("{} of {} workers share no task with anybody; they are taken for average ones.", links.alone,
                     result.worker_count),
         "Ask several workers about each task."});
  }
  if (links.unsettled > 0) {
    result.warnings.push_back(
        {"skills_not_settled",
         fmt::format("{} of {} workers share tasks only in pairs without a third who links both; how skill divides "
                     "between them is a guess.",
                     links.unsettled, result.worker_count),
         "Ask three workers about some tasks, or give gold."});
  }
  if (links.part_count > 1) {
    result.warnings.push_back(
        {"separate_parts",
         fmt::format("workers fall into {} parts that share no task; in each by itself most are taken "
                     "to be better than chance.",
                     links.part_count),
         "Let some workers answer in several parts."});
  }
}

void orient_parts(const WorkerLinks& links, std::span<const double> answers, std::span<double> skill) {
  std::vector<double> balance(links.part.size(), 0.0);
  for (std::size_t w = 0; w < skill.size(); ++w) balance[links.part[w]] += answers[w] * skill[w];
  if (links.has_gold) balance[links.part.back()] = skill.back();
  for (std::size_t w = 0; w < skill.size(); ++w) {
    if (balance[links.part[w]] < 0) skill[w] = -skill[w];
  }
}

void fill_alone(const WorkerLinks& links, std::span<const double> answers, std::span<double> skill, double otherwise) {
  double sum = 0, weight = 0;
  for (std::size_t w = 0; w < skill.size(); ++w) {
    if (links.linked[w] == 0) continue;
    sum += answers[w] * skill[w];
    weight += answers[w];
  }
  const double mean = weight > 0 ? sum / weight : otherwise;
  for (std::size_t w = 0; w < skill.size(); ++w) {
    if (links.linked[w] == 0) skill[w] = mean;
  }
}

void conclude_one_coin(const CategoryData& data, const RunContext& context, std::span<const double> skill, TieRule ties,
                       CategoryFit& result) {
  const std::size_t classes = result.class_count, workers = result.worker_count;
  TableModel model{classes, std::vector<double>(workers * classes * classes, 1.0),
                   std::vector<double>(classes, 1.0 / static_cast<double>(classes))};
  result.skill.assign(skill.begin(), skill.begin() + static_cast<std::ptrdiff_t>(workers));
  if (classes > 1) {
    const auto others = static_cast<double>(classes - 1);
    const double margin =
        std::min(0.25, 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(result.task_count, 1))));
    for (std::size_t w = 0; w < workers; ++w) {
      double& s = result.skill[w];
      s = std::clamp(s, -1 / others + margin, 1 - margin);
      const double accuracy = (s * others + 1) / (others + 1);
      const auto table = model.table(w);
      std::fill(table.begin(), table.end(), (1 - accuracy) / others);
      for (std::size_t k = 0; k < classes; ++k) table[k * classes + k] = accuracy;
    }
  }
  conclude(data, context, model, ties, result);
  result.class_prior = mean_posterior(data.answers, result.posterior);
}

}  // namespace wisecrowd
