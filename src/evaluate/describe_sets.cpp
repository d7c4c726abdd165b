#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "base/rng.hpp"
#include "wisecrowd/evaluate_sets.hpp"

namespace wisecrowd {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
/// Different sets up to which every pair of them is compared; beyond, pairs of answers are drawn.
constexpr std::size_t kMostCompared = 2000;
constexpr std::size_t kPairsDrawn = 2'000'000;

struct SetDistances {
  double jaccard = 0, masi = 0;
};

SetDistances distances(std::span<const ClassId> a, std::span<const ClassId> b) {
  std::size_t both = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++both;
    const bool left = a[i] <= b[j], right = b[j] <= a[i];
    i += left ? 1 : 0;
    j += right ? 1 : 0;
  }
  if (a.size() == both && b.size() == both) return {};
  const double jaccard = static_cast<double>(both) / static_cast<double>(a.size() + b.size() - both);
  const double kind = both == 0 ? 0 : both == std::min(a.size(), b.size()) ? 2.0 / 3 : 1.0 / 3;
  return {1 - jaccard, 1 - jaccard * kind};
}

/// Which set each answer is, by number; equal sets have equal numbers.
struct NumberedSets {
  std::vector<std::uint32_t> of_answer;
  std::vector<AnswerIndex> example;  ///< by number, an answer that is this set

  explicit NumberedSets(const SetAnswers& answers) {
    std::map<std::u16string, std::uint32_t> numbers;
    for (AnswerIndex a = 0; a < answers.answer_count(); ++a) {
      std::u16string key;
      for (const ClassId label : answers.set(a)) key.push_back(static_cast<char16_t>(label));
      const auto [at, added] = numbers.emplace(std::move(key), static_cast<std::uint32_t>(example.size()));
      if (added) example.push_back(a);
      of_answer.push_back(at->second);
    }
  }
};

/// How often each set was said about one task, or about all that have two answers or more.
using SetCounts = std::map<std::uint32_t, double>;

/// Sum of the distances of all ordered pairs of answers.
SetDistances pair_distances(const SetAnswers& answers, const NumberedSets& sets, const SetCounts& counts) {
  SetDistances sum;
  for (auto a = counts.begin(); a != counts.end(); ++a) {
    for (auto b = std::next(a); b != counts.end(); ++b) {
      const SetDistances own = distances(answers.set(sets.example[a->first]), answers.set(sets.example[b->first]));
      sum.jaccard += 2 * a->second * b->second * own.jaccard;
      sum.masi += 2 * a->second * b->second * own.masi;
    }
  }
  return sum;
}

/// The mean distance of two answers to any tasks.
SetDistances expected_distances(const SetAnswers& answers, const NumberedSets& sets,
                                const std::vector<AnswerIndex>& paired, const SetCounts& all) {
  const auto n = static_cast<double>(paired.size());
  if (all.size() <= kMostCompared) {
    const SetDistances sum = pair_distances(answers, sets, all);
    return {sum.jaccard / (n * (n - 1)), sum.masi / (n * (n - 1))};
  }
  Rng rng = Rng(0).fork("pairs of sets");
  SetDistances sum;
  for (std::size_t i = 0; i < kPairsDrawn; ++i) {
    const std::size_t a = rng.below(paired.size());
    const std::size_t b = (a + 1 + rng.below(paired.size() - 1)) % paired.size();
    const SetDistances own = distances(answers.set(paired[a]), answers.set(paired[b]));
    sum.jaccard += own.jaccard;
    sum.masi += own.masi;
  }
  return {sum.jaccard / static_cast<double>(kPairsDrawn), sum.masi / static_cast<double>(kPairsDrawn)};
}

void describe_agreement(const SetAnswers& answers, SetDescription& description) {
  const NumberedSets sets(answers);
  const auto offsets = answers.task_offsets();
  SetCounts all;
  std::vector<AnswerIndex> paired;
  SetDistances observed;
  double identical = 0, pairs = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const double size = offsets[t + 1] - offsets[t];
    if (size < 2) continue;
    SetCounts own;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      own[sets.of_answer[a]] += 1;
      all[sets.of_answer[a]] += 1;
      paired.push_back(a);
    }
    const SetDistances sum = pair_distances(answers, sets, own);
    observed.jaccard += sum.jaccard / (size - 1);
    observed.masi += sum.masi / (size - 1);
    for (const auto& [set, count] : own) identical += count * (count - 1);
    pairs += size * (size - 1);
  }
  description.jaccard_alpha = description.masi_alpha = description.identical_share = kUndefined;
  if (paired.empty()) return;
  description.identical_share = identical / pairs;
  const auto n = static_cast<double>(paired.size());
  const SetDistances expected = expected_distances(answers, sets, paired, all);
  if (expected.jaccard > 0) description.jaccard_alpha = 1 - observed.jaccard / n / expected.jaccard;
  if (expected.masi > 0) description.masi_alpha = 1 - observed.masi / n / expected.masi;
}

/// Nominal alpha of naming a class or not, for each class.
void describe_classes(const SetAnswers& answers, SetDescription& description) {
  const std::size_t classes = answers.class_count();
  description.classes.resize(classes);
  for (const ClassId label : answers.members()) ++description.classes[index(label)].named;
  std::vector<double> disagreement(classes), named(classes), here(classes);
  const auto offsets = answers.task_offsets();
  double n = 0;
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const double size = offsets[t + 1] - offsets[t];
    if (size < 2) continue;
    n += size;
    std::vector<std::size_t> touched;
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      for (const ClassId label : answers.set(a)) {
        if (here[index(label)]++ == 0) touched.push_back(index(label));
      }
    }
    for (const std::size_t k : touched) {
      disagreement[k] += 2 * here[k] * (size - here[k]) / (size - 1);
      named[k] += here[k];
      here[k] = 0;
    }
  }
  for (std::size_t k = 0; k < classes; ++k) {
    const double expected = 2 * named[k] * (n - named[k]);
    description.classes[k].alpha = expected > 0 ? 1 - (n - 1) * disagreement[k] / expected : kUndefined;
  }
}

Distribution sizes_of(const SetAnswers& answers) {
  std::vector<double> sizes;
  for (AnswerIndex a = 0; a < answers.answer_count(); ++a) sizes.push_back(static_cast<double>(answers.set(a).size()));
  if (sizes.empty()) return {kUndefined, kUndefined, kUndefined, kUndefined, kUndefined, kUndefined};
  std::sort(sizes.begin(), sizes.end());
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(sizes.size() - 1);
    const auto rank = static_cast<std::size_t>(place);
    const double upper = sizes[std::min(rank + 1, sizes.size() - 1)];
    return sizes[rank] + (place - static_cast<double>(rank)) * (upper - sizes[rank]);
  };
  const double mean = static_cast<double>(answers.members().size()) / static_cast<double>(sizes.size());
  return {sizes.front(), quantile(0.25), quantile(0.5), mean, quantile(0.75), sizes.back()};
}

}  // namespace

SetDescription describe(const SetAnswers& answers) {
  SetDescription description;
  static_cast<GraphDescription&>(description) = describe_graph(answers);
  description.set_sizes = sizes_of(answers);
  for (AnswerIndex a = 0; a < answers.answer_count(); ++a) description.empty_answers += answers.set(a).empty() ? 1 : 0;
  describe_agreement(answers, description);
  describe_classes(answers, description);
  const auto warn = [&](const char* code, std::string message, const char* remedy, Severity severity) {
    description.warnings.push_back({code, std::move(message), remedy, severity});
  };
  if (description.answers == 0) {
    warn("no_answers", "there are no answers, so nothing can be learned.", "Check that the file is the right one.",
         Severity::serious);
    return description;
  }
  if (description.answers_per_task.maximum <= 1) {
    warn("one_answer_per_task", "no task has a second answer, so workers cannot be compared with one another.",
         "Ask for a second answer to some tasks.", Severity::serious);
  }
  if (answers.members().empty()) {
    warn("constant_answers", "every answer is the empty set, so there is nothing to decide.",
         "Check that the right column is read.", Severity::serious);
  } else if (description.set_sizes.minimum == 1 && description.set_sizes.maximum == 1 && description.answers > 1) {
    warn("single_classes", "every answer names exactly one class.",
         "If a task can have one class only, read them with `answers=categories`.", Severity::caution);
  }
  return description;
}

}  // namespace wisecrowd
