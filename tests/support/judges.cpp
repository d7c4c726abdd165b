#include "support/judges.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd::testing {
namespace {

std::vector<std::string> numbered(const char* name, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{:05}", name, i));
  return names;
}

/// Another class, any with the same probability.
std::size_t wrong_class(std::size_t truth, std::size_t classes, Rng& rng) {
  return (truth + 1 + rng.below(classes - 1)) % classes;
}

void put_in_order(JudgeData& data) {
  std::stable_sort(data.answers.begin(), data.answers.end(), [](const JudgeAnswer& a, const JudgeAnswer& b) {
    return std::tuple(a.task, a.worker) < std::tuple(b.task, b.worker);
  });
}

void add_people(JudgeData& data, const MixedCrowdPlan& plan, std::size_t task, std::size_t truth, Rng& rng) {
  for (std::size_t w = 0; w < plan.people; ++w) {
    const std::size_t said = rng.bernoulli(plan.person_right) ? truth : wrong_class(truth, plan.classes, rng);
    data.answers.push_back({TaskId(task), WorkerId(w), ClassId(said)});
  }
}

}  // namespace

MixedCrowd mixed_crowd(const MixedCrowdPlan& plan) {
  const Rng base(plan.seed);
  Rng truths = base.fork("truth"), machines = base.fork("machines"), people = base.fork("people");
  MixedCrowd crowd;
  JudgeData& data = crowd.data;
  data.tasks = NameTable(numbered("t", plan.tasks));
  std::vector<std::string> workers = numbered("person", plan.people);
  data.judges.assign(plan.people, {});
  for (std::size_t f = 0; f < plan.families; ++f) {
    for (std::size_t m = 0; m < plan.members; ++m) {
      workers.push_back(fmt::format("z{}-{}", f, m));
      data.judges.push_back({WorkerKind::machine, fmt::format("family {}", f)});
    }
  }
  data.workers = NameTable(workers);
  data.classes = NameTable(numbered("c", plan.classes));
  const double follows = std::sqrt(plan.shared);
  const std::vector<double> shares = plan.shares.empty() ? std::vector<double>(plan.classes, 1.0) : plan.shares;
  for (std::size_t t = 0; t < plan.tasks; ++t) {
    const std::size_t truth = truths.categorical(shares);
    crowd.truth.push_back(ClassId(truth));
    if (people.bernoulli(plan.people_share)) add_people(data, plan, t, truth, people);
    const auto draw = [&](std::size_t family) {
      const double right = plan.machine_right + (family == 0 ? plan.machine_spread : -plan.machine_spread);
      return machines.bernoulli(right) ? truth : wrong_class(truth, plan.classes, machines);
    };
    for (std::size_t f = 0; f < plan.families; ++f) {
      const std::size_t common = draw(f);
      for (std::size_t m = 0; m < plan.members; ++m) {
        const std::size_t own = draw(f);
        const std::size_t said = machines.bernoulli(follows) ? common : own;
        data.answers.push_back({TaskId(t), WorkerId(plan.people + f * plan.members + m), ClassId(said)});
      }
    }
  }
  put_in_order(data);
  return crowd;
}

MixedCrowd with_more_people(const MixedCrowd& crowd, const MixedCrowdPlan& plan, std::size_t tasks,
                            std::uint64_t seed) {
  MixedCrowd more = crowd;
  std::vector<char> seen(plan.tasks, 0);
  for (const JudgeAnswer& answer : crowd.data.answers) {
    if (!crowd.data.is_machine(answer.worker)) seen[index(answer.task)] = 1;
  }
  std::vector<std::size_t> open;
  for (std::size_t t = 0; t < plan.tasks; ++t) {
    if (seen[t] == 0) open.push_back(t);
  }
  Rng rng = Rng(seed).fork("more people");
  rng.shuffle(std::span(open));
  for (std::size_t i = 0; i < std::min(tasks, open.size()); ++i) {
    add_people(more.data, plan, open[i], index(crowd.truth[open[i]]), rng);
  }
  put_in_order(more.data);
  return more;
}

JudgeData leaning_judge(const LeaningPlan& plan) {
  constexpr double kQuality = 1.2;
  Rng rng = Rng(plan.seed).fork("leaning");
  JudgeData data;
  data.kind = JudgedKind::comparisons;
  data.tasks = NameTable(numbered("q", plan.questions));
  std::vector<std::string> workers = numbered("person", plan.people);
  workers.push_back("zmodel");
  data.workers = NameTable(workers);
  data.judges.assign(plan.people, {});
  data.judges.push_back({WorkerKind::machine, "own"});
  data.classes = NameTable(std::vector<std::string>{"left", "right", "tie"});
  const std::size_t items = 12;
  data.items = NameTable(numbered("item", items));
  for (std::size_t i = 0; i < items; ++i) data.item_family.push_back(i % 3 == 0 ? "own" : "other");
  data.length_is_ratio = true;
  data.asked.assign(plan.questions, "");
  for (std::size_t t = 0; t < plan.questions; ++t) {
    std::size_t first = rng.below(items), second = rng.below(items - 1);
    second += second >= first ? 1 : 0;
    if (second < first) std::swap(first, second);
    data.pairs.push_back({ItemId(first), ItemId(second)});
    const double length = rng.normal();
    data.length.push_back(length);
    const bool truth = rng.bernoulli(sigmoid(plan.longer_is_better ? 1.0 * length : 0));
    if (rng.bernoulli(plan.people_share)) {
      for (std::size_t w = 0; w < plan.people; ++w) {
        const bool says = rng.bernoulli(plan.person_right) ? truth : !truth;
        data.answers.push_back({TaskId(t), WorkerId(w), ClassId(says ? 0 : 1), JudgeAnswer::kHard, rng.bernoulli(0.5)});
      }
    }
    const double own = (first % 3 == 0 ? 1.0 : 0.0) - (second % 3 == 0 ? 1.0 : 0.0);
    const bool swapped = rng.bernoulli(0.5);
    for (const bool order : plan.both_orders ? std::vector<bool>{swapped, !swapped} : std::vector<bool>{swapped}) {
      const double odds = kQuality * (truth ? 1 : -1) + plan.position * (order ? -1 : 1) + plan.length * length +
                          plan.self_preference * own;
      const bool says = rng.bernoulli(sigmoid(odds));
      data.answers.push_back({TaskId(t), WorkerId(plan.people), ClassId(says ? 0 : 1), JudgeAnswer::kHard, order});
    }
  }
  put_in_order(data);
  return data;
}

SoftCrowd soft_crowd(const SoftPlan& plan) {
  Rng rng = Rng(plan.seed).fork("soft");
  SoftCrowd crowd;
  JudgeData& data = crowd.data;
  data.tasks = NameTable(numbered("t", plan.tasks));
  data.classes = NameTable(numbered("c", plan.classes));
  data.workers = NameTable(std::vector<std::string>{"a1", "a2", "zmodel"});
  data.judges.assign(2, {});
  data.judges.push_back({WorkerKind::machine});
  for (std::size_t t = 0; t < plan.tasks; ++t) {
    std::vector<double> logits(plan.classes), sharp(plan.classes);
    for (double& value : logits) value = 1.5 * rng.normal();
    for (std::size_t k = 0; k < plan.classes; ++k) sharp[k] = plan.sharpening * logits[k];
    softmax(logits);
    const std::size_t truth = rng.categorical(logits);
    crowd.truth.push_back(ClassId(truth));
    crowd.right.insert(crowd.right.end(), logits.begin(), logits.end());
    if (rng.bernoulli(plan.people_share)) {
      for (std::size_t w = 0; w < 2; ++w) {
        const std::size_t said = rng.bernoulli(plan.person_right) ? truth : wrong_class(truth, plan.classes, rng);
        data.answers.push_back({TaskId(t), WorkerId(w), ClassId(said)});
      }
    }
    const double sum = log_sum_exp(sharp);
    const auto top = static_cast<std::size_t>(std::max_element(sharp.begin(), sharp.end()) - sharp.begin());
    for (const double value : sharp) data.log_probabilities.push_back(value - sum);
    data.answers.push_back({TaskId(t), WorkerId(2), ClassId(top), static_cast<std::uint32_t>(t)});
  }
  put_in_order(data);
  return crowd;
}

}  // namespace wisecrowd::testing
