#include "support/attacks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/rng.hpp"

namespace wisecrowd::testing {
namespace {

/// What every worker would say of every task: tasks × workers.
class Sayings {
 public:
  Sayings(const CrowdShape& shape, std::uint64_t seed) : shape_(shape), rng_(Rng(seed).fork("attacks")) {
    said_.resize(static_cast<std::size_t>(shape.tasks * shape.workers));
    for (int t = 0; t < shape.tasks; ++t) truth_.push_back(below(shape.classes));
  }

  int& at(int task, int worker) { return said_[static_cast<std::size_t>(task * shape_.workers + worker)]; }
  int truth(int task) const { return truth_[static_cast<std::size_t>(task)]; }
  int wrong(int task) { return (truth(task) + 1 + below(shape_.classes - 1)) % shape_.classes; }
  int below(int n) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(n))); }
  Rng& rng() { return rng_; }

  void make_honest() {
    if (shape_.honest == HonestKind::difficulty || shape_.honest == HonestKind::traps) return make_by_difficulty();
    for (int w = 0; w < shape_.workers; ++w) {
      const std::vector<double> table = honest_table();
      const auto classes = static_cast<std::size_t>(shape_.classes);
      for (int t = 0; t < shape_.tasks; ++t) {
        const auto row = std::span(table).subspan(static_cast<std::size_t>(truth(t)) * classes, classes);
        at(t, w) = static_cast<int>(rng_.categorical(row));
      }
    }
  }

  AttackedCrowd crowd(std::vector<std::uint32_t> voices) {
    const auto workers = static_cast<std::size_t>(shape_.workers);
    CategoryAnswerNames names;
    std::vector<std::string> tasks, who, classes;
    for (int t = 0; t < shape_.tasks; ++t) tasks.push_back(std::to_string(t));
    for (int w = 0; w < shape_.workers; ++w) who.push_back(std::to_string(w));
    for (int k = 0; k < shape_.classes; ++k) classes.push_back(std::to_string(k));
    names.tasks = NameTable(tasks);
    names.workers = NameTable(who);
    names.classes = NameTable(classes);
    std::vector<CategoryAnswer> answers;
    std::vector<int> order(workers);
    std::iota(order.begin(), order.end(), 0);
    AttackedCrowd crowd;
    for (int t = 0; t < shape_.tasks; ++t) {
      rng_.shuffle(std::span(order));
      for (int i = 0; i < std::min(shape_.per_task, shape_.workers); ++i) {
        const int w = order[static_cast<std::size_t>(i)];
        answers.push_back({TaskId(static_cast<std::uint32_t>(t)), WorkerId(static_cast<std::uint32_t>(w)),
                           ClassId(static_cast<std::uint16_t>(at(t, w)))});
      }
      crowd.truth.push_back(ClassId(static_cast<std::uint16_t>(truth(t))));
    }
    crowd.data.answers = make_category_answers(answers, std::move(names));
    std::vector<int> size(workers, 0);
    for (const std::uint32_t voice : voices) ++size[voice];
    for (const std::uint32_t voice : voices) crowd.planted.push_back(size[voice] > 1);
    crowd.voices = std::move(voices);
    return crowd;
  }

 private:
  std::vector<double> honest_table() {
    const auto classes = static_cast<std::size_t>(shape_.classes);
    double accuracy = rng_.uniform(shape_.low, shape_.high);
    const double luck = rng_.uniform();
    if (shape_.honest == HonestKind::hammers) accuracy = luck < 0.4 ? 1 : 1 / static_cast<double>(classes);
    if (shape_.honest == HonestKind::experts && luck < 0.4) accuracy = 0.99;
    if (shape_.honest == HonestKind::all_experts) accuracy = rng_.uniform(0.93, 0.995);
    std::vector<double> table(classes * classes, (1 - accuracy) / static_cast<double>(classes - 1));
    for (std::size_t k = 0; k < classes; ++k) table[k * (classes + 1)] = accuracy;
    if (shape_.honest == HonestKind::tables) {
      for (std::size_t k = 0; k < classes; ++k) {
        const auto row = std::span(table).subspan(k * classes, classes);
        for (double& cell : row) cell = rng_.uniform();
        std::swap(row[k], *std::max_element(row.begin(), row.end()));
        row[k] *= 3;
      }
    }
    if (shape_.honest == HonestKind::biased) {
      const auto favourite = static_cast<std::size_t>(below(shape_.classes));
      const double bias = rng_.uniform(0, 0.5);
      for (std::size_t c = 0; c < table.size(); ++c) {
        table[c] = (1 - bias) * table[c] + (c % classes == favourite ? bias : 0);
      }
    }
    if (shape_.honest == HonestKind::alike) {
      for (std::size_t l = 0; l < classes; ++l) table[l] = 0.6 * table[l] + (l == 1 ? 0.4 : 0);
    }
    return table;
  }

  void make_by_difficulty() {
    std::vector<double> skill(static_cast<std::size_t>(shape_.workers));
    for (double& s : skill) s = std::max(0.0, 1.2 + 0.5 * rng_.normal());
    const double chance = 1.0 / shape_.classes;
    for (int t = 0; t < shape_.tasks; ++t) {
      const double ease = std::exp(rng_.normal());
      const int lure = wrong(t);
      const bool trap = shape_.honest == HonestKind::traps && rng_.bernoulli(0.1);
      for (int w = 0; w < shape_.workers; ++w) {
        const double told = 2 / (1 + std::exp(-skill[static_cast<std::size_t>(w)] * ease)) - 1;
        const bool right = rng_.bernoulli(trap ? 0.3 : chance + (1 - chance) * told);
        at(t, w) = right ? truth(t) : rng_.bernoulli(0.7) ? lure : wrong(t);
      }
    }
  }

  CrowdShape shape_;
  Rng rng_;
  std::vector<int> truth_, said_;
};

std::vector<std::uint32_t> everybody_alone(std::size_t workers) {
  std::vector<std::uint32_t> voices(workers);
  std::iota(voices.begin(), voices.end(), 0U);
  return voices;
}

}  // namespace

std::string_view name_of(HonestKind kind) {
  constexpr std::array<std::string_view, kHonestKinds> kNames = {
      "one coin",    "tables",     "biased", "biased alike", "hammers and spammers", "experts among others",
      "all experts", "difficulty", "traps"};
  return kNames[static_cast<std::size_t>(kind)];
}

double AttackedCrowd::accuracy(std::span<const ClassId> labels) const {
  double right = 0, known = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    if (truth[t] == kNoClass || data.answers.workers_of(TaskId(t)).empty()) continue;
    known += 1;
    right += labels[t] == truth[t] ? 1 : 0;
  }
  return right / std::max(known, 1.0);
}

double AttackedCrowd::accuracy_of_oracle(const RunContext& context) const {
  const std::vector<double> posterior = fit_voices(data, voices, {}, context).posterior;
  const std::size_t classes = data.answers.class_count();
  std::vector<ClassId> labels;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    const auto row = posterior.begin() + static_cast<std::ptrdiff_t>(t * classes);
    labels.push_back(
        ClassId(static_cast<std::uint16_t>(std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row)));
  }
  return accuracy(labels);
}

AttackedCrowd independent_crowd(const CrowdShape& shape, std::uint64_t seed) {
  Sayings sayings(shape, seed);
  sayings.make_honest();
  return sayings.crowd(everybody_alone(static_cast<std::size_t>(shape.workers)));
}

AttackedCrowd crowd_with_colluders(const CrowdShape& shape, const Collusion& collusion, std::uint64_t seed) {
  Sayings sayings(shape, seed);
  sayings.make_honest();
  const int colluders = static_cast<int>(std::lround(shape.workers * collusion.share));
  auto voices = everybody_alone(static_cast<std::size_t>(shape.workers));
  for (int w = 0; w < colluders; ++w) voices[static_cast<std::size_t>(w)] = 0;
  for (int t = 0; t < shape.tasks; ++t) {
    const int plot = sayings.rng().bernoulli(collusion.attacked) ? sayings.wrong(t) : sayings.truth(t);
    for (int w = 0; w < colluders; ++w) {
      sayings.at(t, w) = sayings.rng().bernoulli(collusion.noise) ? sayings.below(shape.classes) : plot;
    }
  }
  return sayings.crowd(std::move(voices));
}

AttackedCrowd crowd_with_copies(const CrowdShape& shape, int pairs, double rate, std::uint64_t seed) {
  Sayings sayings(shape, seed);
  sayings.make_honest();
  auto voices = everybody_alone(static_cast<std::size_t>(shape.workers));
  for (int p = 0; p < pairs; ++p) {
    voices[static_cast<std::size_t>(pairs + p)] = static_cast<std::uint32_t>(p);
    for (int t = 0; t < shape.tasks; ++t) {
      if (sayings.rng().bernoulli(rate)) sayings.at(t, pairs + p) = sayings.at(t, p);
    }
  }
  return sayings.crowd(std::move(voices));
}

AttackedCrowd crowd_of_groups(int tasks, int classes, std::uint64_t seed) {
  constexpr std::array kSizes = {20, 5, 5, 5, 5};
  Sayings sayings({.tasks = tasks, .workers = 40, .classes = classes, .per_task = 40}, seed);
  std::vector<std::uint32_t> voices;
  int first = 0;
  for (std::size_t g = 0; g < kSizes.size(); ++g) {
    voices.insert(voices.end(), static_cast<std::size_t>(kSizes[g]), static_cast<std::uint32_t>(g));
    for (int t = 0; t < tasks; ++t) {
      const int view = sayings.rng().bernoulli(g == 0 ? 0.55 : 0.8) ? sayings.truth(t) : sayings.below(classes);
      for (int w = first; w < first + kSizes[g]; ++w) {
        sayings.at(t, w) = sayings.rng().bernoulli(0.1) ? sayings.below(classes) : view;
      }
    }
    first += kSizes[g];
  }
  return sayings.crowd(std::move(voices));
}

AttackedCrowd as_it_is(const CategoryData& recorded) {
  AttackedCrowd crowd;
  crowd.data.answers = recorded.answers;
  crowd.truth = recorded.gold;
  crowd.voices = everybody_alone(recorded.answers.worker_count());
  crowd.planted.assign(crowd.voices.size(), false);
  return crowd;
}

AttackedCrowd with_planted_colluders(const CategoryData& recorded, bool replaced, std::uint64_t seed) {
  constexpr double kShare = 0.3, kAttacked = 0.9;
  const CategoryAnswers& old = recorded.answers;
  const std::size_t tasks = old.task_count(), workers = old.worker_count(), classes = old.class_count();
  Rng rng = Rng(seed).fork("planted");
  const auto wanted = static_cast<double>(workers) * (replaced ? kShare : kShare / (1 - kShare));
  const auto count = static_cast<std::size_t>(std::lround(wanted));
  std::vector<std::uint32_t> order = everybody_alone(workers);
  rng.shuffle(std::span(order));
  AttackedCrowd crowd = as_it_is(recorded);
  if (!replaced) crowd.planted.resize(workers + count, true);
  for (std::size_t i = 0; replaced && i < count; ++i) crowd.planted[order[i]] = true;
  const auto leader =
      static_cast<std::uint32_t>(std::find(crowd.planted.begin(), crowd.planted.end(), true) - crowd.planted.begin());
  crowd.voices = everybody_alone(crowd.planted.size());
  for (std::size_t w = 0; w < crowd.planted.size(); ++w) crowd.voices[w] = crowd.planted[w] ? leader : crowd.voices[w];
  const double density =
      static_cast<double>(old.answer_count()) / static_cast<double>(tasks) / static_cast<double>(workers);
  std::vector<CategoryAnswer> answers;
  for (std::uint32_t t = 0; t < tasks; ++t) {
    std::vector<std::size_t> votes(classes, 0);
    for (const ClassId label : old.labels_of(TaskId{t})) ++votes[index(label)];
    const std::size_t truth =
        recorded.gold[t] != kNoClass
            ? index(recorded.gold[t])
            : static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
    const std::size_t plot = rng.bernoulli(kAttacked) ? (truth + 1 + rng.below(classes - 1)) % classes : truth;
    const auto plotted = ClassId(static_cast<std::uint16_t>(plot));
    for (std::size_t a = 0; a < old.workers_of(TaskId{t}).size(); ++a) {
      const WorkerId worker = old.workers_of(TaskId{t})[a];
      answers.push_back({TaskId{t}, worker, crowd.planted[index(worker)] ? plotted : old.labels_of(TaskId{t})[a]});
    }
    for (std::size_t w = workers; w < crowd.planted.size(); ++w) {
      if (rng.bernoulli(density)) answers.push_back({TaskId{t}, WorkerId(static_cast<std::uint32_t>(w)), plotted});
    }
  }
  std::vector<std::string> names;
  for (std::size_t w = 0; w < workers; ++w) names.emplace_back(old.worker_names()[w]);
  for (std::size_t w = workers; w < crowd.planted.size(); ++w) names.push_back("planted " + std::to_string(w));
  crowd.data.answers = make_category_answers(answers, {old.task_names(), NameTable(names), old.class_names()});
  return crowd;
}

}  // namespace wisecrowd::testing
