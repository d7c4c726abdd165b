#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/data_defects.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kLevels = 33;  ///< of difficulty, from −8 to 8 times its scale
constexpr double kReach = 8;
constexpr double kTailShare = 0.2, kTailWidth = 3;  ///< a fifth of the difficulties is three times as spread
constexpr double kTailVariance = 1 - kTailShare + kTailShare * kTailWidth * kTailWidth;
constexpr double kLeastScale = 0.3, kMostScale = 4;
constexpr double kFirstSkill = 1.5;
/// Gold is wrong at a rate that is worth a hundred gold labels, one of them wrong, before any was seen.
constexpr double kPriorGold = 100, kPriorWrong = 1, kMostWrong = 0.1;
constexpr double kLeaningVariance = 0.25;
constexpr double kLeastWeight = 1e-9;  ///< of a truth and a difficulty, to count for skills
constexpr std::size_t kRounds = 30;
constexpr double kSuspect = 0.8;
constexpr std::uint32_t kLeastVoices = 3;

using Levels = std::array<double, kLevels>;

double level(std::size_t b) { return -kReach + 2 * kReach * static_cast<double>(b) / static_cast<double>(kLevels - 1); }

/// What a task's truth may be: its gold and the classes that were said.
struct Candidate {
  ClassId truth{};
  std::uint32_t answers = 0;  ///< that say so
};

struct GoldTask {
  TaskId task{};
  ClassId gold{};
  std::vector<Candidate> candidates;  ///< the gold first
  std::vector<Levels> posterior;      ///< of truth and difficulty together, per candidate
};

class GoldModel {
 public:
  explicit GoldModel(const CategoryData& data)
      : answers_(data.answers),
        classes_(data.answers.class_count()),
        skill_(data.answers.worker_count(), kFirstSkill),
        leaning_(data.answers.worker_count() * data.answers.class_count(), 0) {
    for (std::size_t t = 0; t < answers_.task_count() && !data.gold.empty(); ++t) {
      if (data.gold[t] == kNoClass || answers_.labels_of(TaskId(t)).empty()) continue;
      GoldTask task{TaskId(t), data.gold[t], {{data.gold[t], 0}}, {}};
      for (const ClassId label : answers_.labels_of(TaskId(t))) {
        auto at = std::find_if(task.candidates.begin(), task.candidates.end(),
                               [&](const Candidate& c) { return c.truth == label; });
        if (at == task.candidates.end()) at = task.candidates.insert(at, {label, 0});
        ++at->answers;
      }
      // At first gold is believed, and every task is as difficult as any other.
      task.posterior.assign(task.candidates.size(), Levels{});
      task.posterior[0].fill(1.0 / kLevels);
      tasks_.push_back(std::move(task));
    }
    double sum = 0;
    for (std::size_t b = 0; b < kLevels; ++b) {
      const double x = level(b), far = x / kTailWidth;
      prior_[b] = (1 - kTailShare) * math::exp(-x * x / 2) + kTailShare / kTailWidth * math::exp(-far * far / 2);
      sum += prior_[b];
    }
    for (double& p : prior_) p = math::log(p / sum);
  }

  [[nodiscard]] const std::vector<GoldTask>& tasks() const noexcept { return tasks_; }

  void learn(const RunContext& context) {
    for (std::size_t round = 0; round < kRounds && !tasks_.empty() && !context.cancelled(); ++round) {
      learn_mistakes();
      for (GoldTask& task : tasks_) judge(task);
      learn_rates();
      learn_skills();
    }
  }

  /// P(truth = candidate c).
  static double probability(const GoldTask& task, std::size_t c) {
    double sum = 0;
    for (const double p : task.posterior[c]) sum += p;
    return sum;
  }

 private:
  /// mistakes_[k][l]: which class a wrong answer is, when the truth is k.
  void learn_mistakes() {
    mistakes_.assign(classes_ * classes_, 1);
    for (const GoldTask& task : tasks_) {
      for (std::size_t c = 0; c < task.candidates.size(); ++c) {
        const double weight = probability(task, c);
        for (const Candidate& said : task.candidates) {
          mistakes_[index(task.candidates[c].truth) * classes_ + index(said.truth)] += weight * said.answers;
        }
      }
    }
    for (std::size_t k = 0; k < classes_; ++k) {
      const auto row = std::span(mistakes_).subspan(k * classes_, classes_);
      row[k] = 0;
      if (classes_ > 1) normalise(row);
    }
  }

  /// ln P(which classes the wrong answers are): a Pólya urn of one ball, so that they may fall together.
  [[nodiscard]] double log_mistakes(const GoldTask& task, std::size_t c) const {
    if (classes_ < 3) return 0;
    double wrong = 0, sum = 0;
    for (std::size_t other = 0; other < task.candidates.size(); ++other) {
      if (other == c) continue;
      const double count = task.candidates[other].answers;
      const double share = mistakes_[index(task.candidates[c].truth) * classes_ + index(task.candidates[other].truth)];
      wrong += count;
      sum += log_gamma(count + share) - log_gamma(share);
    }
    return sum + log_gamma(1.0) - log_gamma(wrong + 1);
  }

  /// Skill of a worker where the truth is k.
  [[nodiscard]] double skill(WorkerId worker, ClassId k) const {
    return skill_[index(worker)] + leaning_[index(worker) * classes_ + index(k)];
  }

  void judge(GoldTask& task) const {
    const auto workers = answers_.workers_of(task.task);
    const auto labels = answers_.labels_of(task.task);
    const double others = static_cast<double>(std::max<std::size_t>(classes_, 2) - 1);
    double top = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < task.candidates.size(); ++c) {
      const ClassId truth = task.candidates[c].truth;
      const double known = math::log(c == 0 ? 1 - wrong_rate_ : wrong_rate_ / others) + log_mistakes(task, c);
      for (std::size_t b = 0; b < kLevels; ++b) {
        double sum = known + prior_[b];
        for (std::size_t a = 0; a < workers.size(); ++a) {
          const double ease = skill(workers[a], truth) - scale_ * level(b);
          sum -= log_one_plus_exp(labels[a] == truth ? -ease : ease);
        }
        task.posterior[c][b] = sum;
        top = std::max(top, sum);
      }
    }
    double sum = 0;
    for (Levels& row : task.posterior) {
      for (double& p : row) sum += p = math::exp(p - top);
    }
    for (Levels& row : task.posterior) {
      for (double& p : row) p /= sum;
    }
  }

  static double log_one_plus_exp(double x) { return x > 30 ? x : math::log1p(math::exp(x)); }

  void learn_rates() {
    double wrong = kPriorWrong, squares = 0;
    for (const GoldTask& task : tasks_) {
      wrong += 1 - probability(task, 0);
      for (const Levels& row : task.posterior) {
        for (std::size_t b = 0; b < kLevels; ++b) squares += row[b] * level(b) * level(b);
      }
    }
    const auto tasks = static_cast<double>(tasks_.size());
    wrong_rate_ = std::min(kMostWrong, wrong / (tasks + kPriorGold));
    scale_ = std::clamp(scale_ * std::sqrt(squares / tasks / kTailVariance), kLeastScale, kMostScale);
  }

  /// Adds what the answers say of the skill of every worker where the truth is k: slope and bend of ln P.
  void add_slopes(std::vector<double>& slope, std::vector<double>& bend) const {
    for (const GoldTask& task : tasks_) {
      const auto workers = answers_.workers_of(task.task);
      const auto labels = answers_.labels_of(task.task);
      for (std::size_t c = 0; c < task.candidates.size(); ++c) {
        const ClassId truth = task.candidates[c].truth;
        for (std::size_t a = 0; a < workers.size(); ++a) {
          const std::size_t cell = index(workers[a]) * classes_ + index(truth);
          const double own = skill(workers[a], truth);
          for (std::size_t b = 0; b < kLevels; ++b) {
            const double weight = task.posterior[c][b];
            if (weight < kLeastWeight) continue;
            const double right = 1 / (1 + math::exp(scale_ * level(b) - own));
            slope[cell] += weight * ((labels[a] == truth ? 1 : 0) - right);
            bend[cell] += weight * right * (1 - right);
          }
        }
      }
    }
  }

  /// One Newton step: skills vary by 1 around their mean, leanings of a worker to a class by ½ around those of all.
  void learn_skills() {
    std::vector<double> slope(leaning_.size(), 0), bend(leaning_.size(), 0);
    add_slopes(slope, bend);
    double mean = 0, seen = 0;
    std::vector<double> mean_leaning(classes_, 0);
    for (std::size_t cell = 0; cell < leaning_.size(); ++cell) {
      if (bend[cell] == 0) continue;
      mean += skill_[cell / classes_] * bend[cell];
      mean_leaning[cell % classes_] += leaning_[cell] * bend[cell];
      seen += bend[cell];
    }
    if (seen == 0) return;
    mean /= seen;
    for (std::size_t j = 0; j < skill_.size(); ++j) {
      double up = mean - skill_[j], stiff = 1;
      for (std::size_t k = 0; k < classes_; ++k) {
        up += slope[j * classes_ + k];
        stiff += bend[j * classes_ + k];
      }
      const double step = up / stiff;
      skill_[j] += step;
      for (std::size_t k = 0; k < classes_; ++k) {
        // What the step in skill has done already is not done twice.
        const std::size_t cell = j * classes_ + k;
        const double left = slope[cell] - bend[cell] * step;
        const double pull = mean_leaning[k] / seen - leaning_[cell];
        leaning_[cell] += (left + pull / kLeaningVariance) / (bend[cell] + 1 / kLeaningVariance);
      }
    }
  }

  const CategoryAnswers& answers_;
  std::size_t classes_;
  std::vector<GoldTask> tasks_;
  std::vector<double> skill_;     // per worker
  std::vector<double> leaning_;   // worker × truth: what is added to the skill
  std::vector<double> mistakes_;  // truth × label
  Levels prior_{};                // of the difficulty, logarithms
  double scale_ = 1, wrong_rate_ = kPriorWrong / kPriorGold;
};

}  // namespace

GoldCheck check_gold(const CategoryData& data, const RunContext& context) {
  GoldModel model(data);
  model.learn(context);
  GoldCheck check;
  check.tasks = model.tasks().size();
  for (const GoldTask& task : model.tasks()) {
    SuspectGold suspect{task.task, task.gold, task.gold, std::max(0.0, 1 - GoldModel::probability(task, 0)), 0, 0, 0};
    check.expected_wrong += suspect.wrong;
    double best = -1;
    for (std::size_t c = 0; c < task.candidates.size(); ++c) {
      suspect.answers += task.candidates[c].answers;
      if (c == 0 || GoldModel::probability(task, c) <= best) continue;
      best = GoldModel::probability(task, c);
      suspect.crowd = task.candidates[c].truth;
      suspect.for_crowd = task.candidates[c].answers;
    }
    suspect.for_gold = task.candidates[0].answers;
    if (suspect.wrong >= kSuspect && suspect.for_crowd >= kLeastVoices && suspect.for_crowd > suspect.for_gold) {
      check.suspects.push_back(suspect);
    }
  }
  std::stable_sort(check.suspects.begin(), check.suspects.end(),
                   [](const SuspectGold& a, const SuspectGold& b) { return a.wrong > b.wrong; });
  return check;
}

}  // namespace wisecrowd
