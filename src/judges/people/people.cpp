#include <algorithm>
#include <cmath>

#include "base/linear_algebra.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "judges/shared/voices.hpp"
#include "wisecrowd/judges.hpp"

namespace wisecrowd {
namespace {

using judges::Voices;

/// Sweeps of the sampler that are not looked at.
constexpr std::uint64_t kBurnIn = 100;
/// More tasks than this tell nothing more of one judge: a part of them, drawn at random, is looked at.
constexpr std::size_t kMostTasks = 20000;
/// Half an answer per class before any is seen: Jeffreys' prior of the judge's own rows.
constexpr double kFlat = 0.5;

/// What people said of a task of the judge.
struct ReadTask {
  std::size_t truth;  ///< as of now
  bool known;
  std::size_t said;                                             ///< by the judge
  std::vector<std::pair<std::uint32_t, std::uint32_t>> people;  ///< who (a place in the list of people), and what
};

/// Gibbs sampling of the truth of the tasks that people answered, of the people's tables and of the judge's.
class PeopleSampler {
 public:
  PeopleSampler(const JudgeData& data, const MixedCrowdFit& fit, WorkerId judge, Rng rng)
      : data_(data), fit_(fit), voices_(data), classes_(fit.class_count), rng_(rng), unread_(classes_, 0) {
    place_.assign(data.workers.size(), kNobody);
    collect(judge);
  }

  [[nodiscard]] std::size_t tasks() const noexcept { return tasks_.size(); }
  [[nodiscard]] std::uint64_t people_answers() const noexcept { return people_answers_; }

  void sweep() {
    draw_tables();
    std::vector<double> weights(classes_);
    for (ReadTask& task : tasks_) {
      if (task.known) continue;
      for (std::size_t z = 0; z < classes_; ++z) {
        weights[z] = shares_[z] * judge_[z * classes_ + task.said];
        for (const auto& [who, said] : task.people) weights[z] *= people_[(who * classes_ + z) * classes_ + said];
      }
      task.truth = rng_.categorical(weights);
    }
  }

  void record(AgainstPeople& into) {
    double accuracy = 0;
    for (std::size_t z = 0; z < classes_; ++z) accuracy += shares_[z] * judge_[z * classes_ + z];
    into.accuracy.push_back(accuracy);
    into.tables.insert(into.tables.end(), judge_.begin(), judge_.end());
    const std::vector<double> unread = corrected();
    const double read_share = static_cast<double>(all_read_) / static_cast<double>(all_read_ + unread_total_);
    for (std::size_t z = 0; z < classes_; ++z) {
      double share = 0;
      for (const ReadTask& task : tasks_) share += task.truth == z ? 1 : 0;
      share /= static_cast<double>(tasks_.size());
      into.prevalence.push_back(read_share * share + (1 - read_share) * unread[z]);
    }
  }

 private:
  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;

  void collect(WorkerId judge) {
    for (const std::uint32_t v : voices_.of_worker(index(judge))) {
      const judges::Voice& voice = voices_[v];
      ReadTask task{0, false, index(voice.said), {}};
      for (std::size_t other = voices_.begin_of(voice.task); other < voices_.end_of(voice.task); ++other) {
        const std::uint32_t who = voices_[other].worker;
        if (WorkerId(who) == judge || data_.judges[who].kind != WorkerKind::human) continue;
        task.people.emplace_back(who, index(voices_[other].said));
      }
      const ClassId gold = data_.gold_of(TaskId(voice.task));
      task.known = gold != kNoClass;
      if (!task.known && task.people.empty()) {
        ++unread_[task.said];
        ++unread_total_;
        continue;
      }
      const auto q = fit_.posterior_of(TaskId(voice.task));
      task.truth =
          task.known ? index(gold) : static_cast<std::size_t>(std::max_element(q.begin(), q.end()) - q.begin());
      tasks_.push_back(std::move(task));
    }
    all_read_ = tasks_.size();
    if (tasks_.size() > kMostTasks) {
      rng_.shuffle(std::span(tasks_));
      tasks_.resize(kMostTasks);
    }
    for (ReadTask& task : tasks_) {
      people_answers_ += task.people.size();
      for (auto& [who, said] : task.people) {
        if (place_[who] == kNobody) {
          place_[who] = static_cast<std::uint32_t>(who_.size());
          who_.push_back(who);
        }
        who = place_[who];
      }
    }
    find_common_table();
  }

  /// The mean table of people by the fit, which is the prior of each.
  void find_common_table() {
    const std::size_t cells = classes_ * classes_;
    common_.assign(cells, 0.0);
    for (const std::uint32_t who : who_) {
      const auto table = fit_.table(WorkerId(who));
      const auto answers = static_cast<double>(voices_.of_worker(who).size());
      for (std::size_t c = 0; c < cells; ++c) common_[c] += answers * table[c];
    }
    for (std::size_t z = 0; z < classes_; ++z) normalise(std::span(common_).subspan(z * classes_, classes_));
  }

  void draw_rows(std::vector<double>& counts) {
    for (std::size_t row = 0; row < counts.size(); row += classes_) {
      const std::span cells(counts.data() + row, classes_);
      const std::vector<double> alpha(cells.begin(), cells.end());
      rng_.dirichlet(alpha, cells);
    }
  }

  void draw_tables() {
    constexpr double kCommonAnswers = 4;
    const std::size_t cells = classes_ * classes_;
    shares_.assign(classes_, kFlat);
    judge_.assign(cells, kFlat);
    people_.resize(who_.size() * cells);
    for (std::size_t c = 0; c < people_.size(); ++c) people_[c] = kCommonAnswers * common_[c % cells] + 1e-3;
    for (const ReadTask& task : tasks_) {
      shares_[task.truth] += 1;
      judge_[task.truth * classes_ + task.said] += 1;
      for (const auto& [who, said] : task.people) people_[(who * classes_ + task.truth) * classes_ + said] += 1;
    }
    draw_rows(shares_);
    draw_rows(judge_);
    draw_rows(people_);
  }

  /// Rogan and Gladen: the shares of the truth from which the judge's table makes what it says of the tasks that no
  /// person saw.
  std::vector<double> corrected() {
    std::vector<double> said(classes_), truth(classes_, 1.0 / static_cast<double>(classes_));
    if (unread_total_ == 0) return truth;
    std::vector<double> alpha(classes_);
    for (std::size_t k = 0; k < classes_; ++k) alpha[k] = kFlat + static_cast<double>(unread_[k]);
    rng_.dirichlet(alpha, said);
    const auto n = static_cast<Eigen::Index>(classes_);
    RowMatrix transposed(n, n);
    Eigen::MatrixXd right(n, 1);
    for (std::size_t k = 0; k < classes_; ++k) {
      right(static_cast<Eigen::Index>(k), 0) = said[k];
      for (std::size_t z = 0; z < classes_; ++z) {
        transposed(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(z)) = judge_[z * classes_ + k];
      }
    }
    const auto solved = solve_if_regular(transposed, right, 1e-6);
    if (!solved) {  // its answers tell nothing of the truth
      rng_.dirichlet(std::vector<double>(classes_, 1.0), truth);
      return truth;
    }
    for (std::size_t z = 0; z < classes_; ++z) truth[z] = (*solved)(static_cast<Eigen::Index>(z), 0);
    project_to_simplex(truth);
    return truth;
  }

  const JudgeData& data_;
  const MixedCrowdFit& fit_;
  Voices voices_;
  std::size_t classes_;
  Rng rng_;
  std::vector<ReadTask> tasks_;
  std::vector<std::uint32_t> place_, who_;
  std::vector<std::uint64_t> unread_;
  std::uint64_t unread_total_ = 0, all_read_ = 0, people_answers_ = 0;
  std::vector<double> common_, shares_, judge_, people_;
};

}  // namespace

AgainstPeople judge_against_people(const JudgeData& data, const MixedCrowdFit& fit, WorkerId judge, std::uint64_t draws,
                                   const RunContext& context) {
  PeopleSampler sampler(data, fit, judge, context.rng("judge against people", index(judge)));
  AgainstPeople found;
  found.tasks = sampler.tasks();
  found.people_answers = sampler.people_answers();
  if (found.tasks == 0) return found;
  for (std::uint64_t sweep = 0; sweep < kBurnIn + draws && !context.cancelled(); ++sweep) {
    sampler.sweep();
    if (sweep >= kBurnIn) sampler.record(found);
  }
  return found;
}

std::uint64_t tasks_until(double half_width, std::uint64_t tasks, double target) {
  const double wanted = static_cast<double>(tasks) * half_width * half_width / (target * target);
  return wanted <= static_cast<double>(tasks) ? 0 : static_cast<std::uint64_t>(std::ceil(wanted)) - tasks;
}

}  // namespace wisecrowd
