#include "select/shared/candidate_workers.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace wisecrowd::selecting {
namespace {

/// Typical posteriors, and how many workers are kept for each: enough for a batch in which everybody is asked once.
constexpr std::size_t kTypical = 16;
constexpr std::size_t kSampledTasks = 512;
constexpr std::size_t kRanked = 1024;
/// How many of a ranking are looked at for one task, counting those who can be asked. With 24, the best of them is the
/// best of all in nearly every case (picker_test.cpp measures it).
constexpr std::size_t kLooked = 24;
/// So many pairs are looked at one by one.
constexpr std::size_t kFewPairs = 2'000'000;
/// From so many workers on, a random one is drawn instead of giving each a random key.
constexpr std::size_t kManyWorkers = 256;

double distance(std::span<const double> a, std::span<const double> b) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

bool better(const CandidateWorkers::Best& a, const CandidateWorkers::Best& b) noexcept {
  return a.value > b.value || (a.value == b.value && a.tie_break > b.tie_break);
}

}  // namespace

CandidateWorkers::CandidateWorkers(const PairRule& rule, std::size_t per_worker, const RunContext& context)
    : rule_(rule), crowd_(rule.crowd()), context_(context) {
  const auto& offers = rule.request().offers;
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(per_worker, kUnlimited));
  left_.resize(crowd_.worker_count(), most);
  for (std::size_t j = 0; j < offers.size(); ++j) {
    left_[j] = offers[j].available ? std::min(most, offers[j].capacity) : 0;
  }
  open_count_ = left_.size() - static_cast<std::size_t>(std::count(left_.begin(), left_.end(), 0U));
  if (crowd_.askable || rule.depends_on_task() || open_count_ * crowd_.task_count() <= kFewPairs) return;
  if (open_count_ <= 2 * kLooked) return;
  choose_typical();
  rank_all();
}

/// Farthest points: the first is the mean, each next one is the sampled posterior that is farthest from all before.
void CandidateWorkers::choose_typical() {
  const std::size_t tasks = crowd_.task_count();
  const std::size_t classes = crowd_.class_count;
  if (tasks == 0) return;
  std::vector<TaskId> sample;
  const std::size_t step = std::max<std::size_t>(1, tasks / kSampledTasks);
  for (std::size_t i = 0; i < tasks; i += step) sample.push_back(TaskId(i));
  Ranking mean{std::vector<double>(classes, 0), {}};
  for (const TaskId i : sample) {
    for (std::size_t k = 0; k < classes; ++k) {
      mean.posterior[k] += crowd_.posterior_of(i)[k] / static_cast<double>(sample.size());
    }
  }
  rankings_.push_back(std::move(mean));
  std::vector<double> nearest_so_far(sample.size(), std::numeric_limits<double>::infinity());
  while (rankings_.size() < kTypical) {
    std::size_t farthest = 0;
    for (std::size_t s = 0; s < sample.size(); ++s) {
      nearest_so_far[s] =
          std::min(nearest_so_far[s], distance(crowd_.posterior_of(sample[s]), rankings_.back().posterior));
      if (nearest_so_far[s] > nearest_so_far[farthest]) farthest = s;
    }
    if (nearest_so_far[farthest] < 1e-6) break;
    const auto posterior = crowd_.posterior_of(sample[farthest]);
    rankings_.push_back({{posterior.begin(), posterior.end()}, {}});
  }
}

void CandidateWorkers::rank_all() {
  open_.clear();
  for (std::size_t j = 0; j < left_.size(); ++j) {
    if (left_[j] > 0) open_.push_back(WorkerId(j));
  }
  const std::size_t kept = std::min(kRanked, open_.size());
  context_.pool().for_each_block(rankings_.size(), [&](std::size_t r, unsigned) {
    Ranking& ranking = rankings_[r];
    std::vector<Best> all(open_.size());
    for (std::size_t n = 0; n < open_.size(); ++n) {
      all[n] = {true, open_[n], rule_.value(TaskId{0}, ranking.posterior, open_[n]),
                rule_.tie_break(~r, index(open_[n]))};
    }
    if (kept < all.size())
      std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), better);
    std::sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), better);
    ranking.workers.resize(kept);
    for (std::size_t n = 0; n < kept; ++n) ranking.workers[n] = all[n].worker;
  });
}

const CandidateWorkers::Ranking& CandidateWorkers::nearest(std::span<const double> posterior) const {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < rankings_.size(); ++r) {
    const double d = distance(posterior, rankings_[r].posterior);
    if (d < least) {
      least = d;
      best = r;
    }
  }
  return rankings_[best];
}

bool CandidateWorkers::allowed(TaskId task, WorkerId worker, std::span<const WorkerId> taken) const {
  if (left_[index(worker)] == 0 || std::find(taken.begin(), taken.end(), worker) != taken.end()) return false;
  return crowd_.askable || !crowd_.asked || !crowd_.asked(task, worker);
}

CandidateWorkers::Best CandidateWorkers::best(TaskId task, std::span<const double> posterior,
                                              std::span<const WorkerId> taken) const {
  Best best;
  const auto look = [&](WorkerId worker) {
    if (!allowed(task, worker, taken)) return false;
    const Best candidate{true, worker, rule_.value(task, posterior, worker), rule_.tie_break(task, worker)};
    if (!best.found || better(candidate, best)) best = candidate;
    return true;
  };
  if (crowd_.askable) {
    for (const WorkerId worker : crowd_.askable(task)) look(worker);
    return best;
  }
  if (!rankings_.empty()) {
    std::size_t looked = 0;
    for (const WorkerId worker : nearest(posterior).workers) {
      if (look(worker) && ++looked == kLooked) break;
    }
    if (best.found) return best;
  }
  for (std::size_t j = 0; j < left_.size(); ++j) look(WorkerId(j));
  return best;
}

CandidateWorkers::Best CandidateWorkers::anyone(TaskId task, std::size_t turn, std::span<const WorkerId> taken) const {
  Best found;
  const auto tie_break = [&](std::size_t number) { return rule_.tie_break(index(task), number + (turn << 33U)); };
  if (!crowd_.askable && open_count_ > kManyWorkers) {
    // Many to choose from: draw until one can be asked.
    for (std::size_t draw = 0; draw < 64; ++draw) {
      const WorkerId worker{
          static_cast<std::uint32_t>(tie_break(left_.size() + draw) * static_cast<double>(left_.size()))};
      if (allowed(task, worker, taken)) return {true, worker, 0, 0};
    }
  }
  const auto look = [&](WorkerId worker) {
    if (!allowed(task, worker, taken)) return;
    const Best candidate{true, worker, 0, tie_break(index(worker))};
    if (!found.found || better(candidate, found)) found = candidate;
  };
  if (crowd_.askable) {
    for (const WorkerId worker : crowd_.askable(task)) look(worker);
  } else {
    for (std::size_t j = 0; j < left_.size(); ++j) look(WorkerId(j));
  }
  return found;
}

std::size_t CandidateWorkers::choices(TaskId task) const {
  if (!crowd_.askable) {
    const std::size_t gone = crowd_.asked ? crowd_.task_answers[index(task)] : 0;
    return open_count_ > gone ? open_count_ - gone : 0;
  }
  std::size_t count = 0;
  for (const WorkerId worker : crowd_.askable(task)) count += left_[index(worker)] > 0 ? 1 : 0;
  return count;
}

bool CandidateWorkers::take(WorkerId worker) {
  if (left_[index(worker)] != kUnlimited) --left_[index(worker)];
  if (left_[index(worker)] > 0) return false;
  --open_count_;
  for (Ranking& ranking : rankings_) std::erase(ranking.workers, worker);
  return true;
}

void CandidateWorkers::refresh() {
  const bool short_one = std::any_of(rankings_.begin(), rankings_.end(),
                                     [](const Ranking& ranking) { return ranking.workers.size() < kLooked; });
  if (short_one && open_count_ >= kLooked) rank_all();  // those who are left may be too few for a full ranking
}

}  // namespace wisecrowd::selecting
