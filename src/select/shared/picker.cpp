#include "select/shared/picker.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "base/math.hpp"
#include "base/parallel.hpp"
#include "select/shared/believable.hpp"
#include "select/shared/candidate_workers.hpp"

namespace wisecrowd::selecting {
namespace {

constexpr std::size_t kTasksPerBlock = 256;
/// A second pair of one task is valued over all outcomes of the first ones; beyond so many, by the first ones alone.
constexpr std::size_t kMostOutcomes = 4096;

/// A worker who is used up may have been the best for thousands of tasks. With more waiting tasks than this, one whose
/// next best pair is worth nearly as much is served at once instead of waiting behind all the others …
constexpr std::size_t kExactTasks = 256;
constexpr double kNearly = 0.98;
/// … and of very many tasks only the first so many per pair take part in a joint choice.
constexpr std::size_t kTasksPerPair = 4;
constexpr std::size_t kLeastTasks = 4096;

/// A task that waits for its turn.
struct Waiting {
  std::size_t turn = 0;  // fewer first, but for Kind::pairs and Kind::lots always 0
  double key = 0;        // more first
  double tie_break = 0;
  TaskId task{};
  WorkerId worker{};  // Kind::pairs: the best one when the key was computed

  bool operator<(const Waiting& other) const noexcept {
    if (turn != other.turn) return turn > other.turn;
    if (key != other.key) return key < other.key;
    if (tie_break != other.tie_break) return tie_break < other.tie_break;
    return task > other.task;
  }
};

/// What this batch has chosen for a task so far.
struct Chosen {
  std::vector<WorkerId> workers;
  std::vector<double> outcomes;  // posteriors after each possible combination of answers …
  std::vector<double> weights;   // … and how likely it is
};

/// How many pairs of this batch one worker may get.
std::size_t most_per_worker(const PairRule& rule, const PickLimits& limits) {
  const CrowdView& crowd = rule.crowd();
  const SelectionRequest& request = rule.request();
  std::size_t most = limits.per_worker == 0 ? kUnlimited : limits.per_worker;
  if (limits.spread <= 0 || crowd.askable) return most;  // a record of who answered what spreads the batch by itself
  std::size_t open = 0;
  for (std::size_t j = 0; j < crowd.worker_count(); ++j) {
    open += request.offers.empty() || (request.offers[j].available && request.offers[j].capacity > 0) ? 1 : 0;
  }
  const auto wanted = static_cast<double>(
      limits.per_task == 0 ? request.pairs : std::min(request.pairs, crowd.task_count() * limits.per_task));
  const double share = std::ceil(limits.spread * wanted / static_cast<double>(std::max<std::size_t>(open, 1)));
  return std::min(most, static_cast<std::size_t>(std::max(share, 1.0)));
}

class Batch {
 public:
  Batch(const PairRule& rule, std::span<const double> posterior, const TaskOrder& order, const PickLimits& limits,
        const RunContext& context)
      : rule_(rule),
        crowd_(rule.crowd()),
        request_(rule.request()),
        posterior_(posterior),
        order_(order),
        limits_(limits),
        context_(context),
        bench_(rule, most_per_worker(rule, limits), context) {
    if (limits.delta > 0 && limits.power == 0) limits_.power = believable_power(crowd_, context);
  }

  Selection make() {
    fill();
    while (!queue_.empty() && selection_.choices.size() < request_.pairs && !context_.cancelled()) {
      const Waiting next = queue_.top();
      queue_.pop();
      serve(next);
    }
    return std::move(selection_);
  }

 private:
  [[nodiscard]] std::span<const double> posterior_of(TaskId task) const {
    return posterior_.subspan(index(task) * crowd_.class_count, crowd_.class_count);
  }
  [[nodiscard]] std::span<const WorkerId> taken(TaskId task) const {
    const auto at = chosen_.find(task);
    return at == chosen_.end() ? std::span<const WorkerId>{} : at->second.workers;
  }

  /// True when a task that this batch has asked `turn` times may not be asked again.
  [[nodiscard]] bool full(TaskId task, std::size_t turn) const {
    if (!order_.rooms.empty()) return turn >= order_.rooms[index(task)];
    return limits_.per_task != 0 && turn >= limits_.per_task;
  }

  /// The first key of every task; joint values in all threads, for they look at workers.
  void fill() {
    const std::size_t tasks = crowd_.task_count();
    std::vector<Waiting> first(tasks);
    std::vector<char> state(tasks, 0);  // 0 waits, 1 settled, 2 nobody to ask, 3 not to be asked now
    const Blocks blocks{tasks, kTasksPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) {
        const auto q = crowd_.posterior_of(TaskId(i));
        if (full(TaskId(i), 0)) {
          state[i] = 3;
        } else if (limits_.delta > 0 && surest(q, limits_.power) >= 1 - limits_.delta) {
          state[i] = 1;
        } else if (!first_key(TaskId(i), first[i])) {
          state[i] = 2;
        }
      }
    });
    std::vector<Waiting> waiting;
    waiting.reserve(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
      if (state[i] == 0) waiting.push_back(first[i]);
      selection_.settled += state[i] == 1 ? 1 : 0;
      selection_.exhausted += state[i] == 2 ? 1 : 0;
    }
    nearly_ = waiting.size() > kExactTasks ? kNearly : 1;
    const std::size_t most = std::max(kLeastTasks, request_.pairs <= tasks ? request_.pairs * kTasksPerPair : tasks);
    if (order_.kind == TaskOrder::Kind::pairs && waiting.size() > most) {
      const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(waiting.begin(), end, waiting.end(), [](const Waiting& a, const Waiting& b) { return b < a; });
      waiting.erase(end, waiting.end());
    }
    queue_ = std::priority_queue<Waiting>(std::less<Waiting>{}, std::move(waiting));
  }

  bool first_key(TaskId task, Waiting& out) {
    out = {0, 0, rule_.tie_break(index(task), ~std::size_t{0} - 1), task, WorkerId{}};
    switch (order_.kind) {
      case TaskOrder::Kind::scores: out.key = order_.scores[index(task)]; return true;
      case TaskOrder::Kind::lots: {
        const std::size_t pairs = bench_.choices(task);
        if (pairs == 0) return false;
        out.key =
            math::log(1 - out.tie_break) / static_cast<double>(pairs);  // the largest of so many even numbers, as a log
        return true;
      }
      case TaskOrder::Kind::pairs: {
        const CandidateWorkers::Best best = bench_.best(task, posterior_of(task), {});
        out.key = best.value;
        out.worker = best.worker;
        return best.found;
      }
    }
    return false;
  }

  void serve(const Waiting& next) {
    const auto already = taken(next.task);
    CandidateWorkers::Best best;
    if (rule_.at_random(next.task, already.size())) {
      best = bench_.anyone(next.task, already.size(), already);
    } else if (order_.kind == TaskOrder::Kind::pairs && bench_.open(next.worker)) {
      best = {true, next.worker, next.key, 0};
    } else {
      best = bench_.best(next.task, posterior_of(next.task), already);
      if (best.found && order_.kind == TaskOrder::Kind::pairs) {
        // The one it waited for is used up: it may have to wait again.
        const Waiting again{next.turn, added_value(next.task, best), next.tie_break, next.task, best.worker};
        if (!queue_.empty() && again.key < nearly_ * queue_.top().key) {
          queue_.push(again);
          return;
        }
      }
    }
    if (!best.found) {
      if (already.empty()) ++selection_.exhausted;
      return;
    }
    const double gain = added_gain(next.task, best.worker);
    const double cost = rule_.cost(best.worker);
    if (gain < limits_.least_gain * cost) {
      if (already.empty()) ++selection_.not_worth_cost;
      return;
    }
    if (spent_ + cost > request_.budget * (1 + 1e-12)) return;  // a cheaper one may still fit
    spent_ += cost;
    selection_.choices.push_back({next.task, best.worker, gain, cost});
    if (bench_.take(best.worker)) bench_.refresh();
    note(next.task, best.worker);
    wait_again(next);
  }

  /// The task's next turn in this batch, if it may have one.
  void wait_again(const Waiting& last) {
    const Chosen& chosen = chosen_[last.task];
    const std::size_t turn = chosen.workers.size();
    if (full(last.task, turn)) return;
    Waiting next = last;
    switch (order_.kind) {
      case TaskOrder::Kind::scores: next.turn = turn; break;
      case TaskOrder::Kind::lots: {
        const std::size_t pairs = bench_.choices(last.task);
        if (pairs <= turn) return;
        next.tie_break = rule_.tie_break(index(last.task), ~std::size_t{0} - 1 - turn);
        next.key += math::log(1 - next.tie_break) / static_cast<double>(pairs - turn);  // the next largest
        break;
      }
      case TaskOrder::Kind::pairs: {
        const CandidateWorkers::Best best = bench_.best(last.task, posterior_of(last.task), chosen.workers);
        if (!best.found) return;
        next.worker = best.worker;
        next.key = added_value(last.task, best);
        break;
      }
    }
    queue_.push(next);
  }

  /// Values are rates of gain; a later pair of a task is worth less by as much as it tells less.
  double added_value(TaskId task, const CandidateWorkers::Best& best) const {
    const auto at = chosen_.find(task);
    if (at == chosen_.end() || at->second.weights.empty()) return best.value;
    const double alone = rule_.gain(task, posterior_of(task), best.worker);
    return alone > 0 ? best.value * added_gain(task, best.worker) / alone : 0;
  }

  double added_gain(TaskId task, WorkerId worker) const {
    const auto at = chosen_.find(task);
    if (at == chosen_.end() || at->second.weights.empty()) return rule_.gain(task, posterior_of(task), worker);
    const Chosen& chosen = at->second;
    double gain = 0;
    for (std::size_t o = 0; o < chosen.weights.size(); ++o) {
      const auto posterior = std::span(chosen.outcomes).subspan(o * crowd_.class_count, crowd_.class_count);
      gain += chosen.weights[o] * rule_.gain(task, posterior, worker);
    }
    return gain;
  }

  void note(TaskId task, WorkerId worker) {
    Chosen& chosen = chosen_[task];
    chosen.workers.push_back(worker);
    if (limits_.per_task == 1) return;
    const std::size_t classes = crowd_.class_count;
    if (chosen.weights.empty()) {
      chosen.weights = {1};
      const auto q = posterior_of(task);
      chosen.outcomes.assign(q.begin(), q.end());
    }
    if (chosen.weights.size() * classes > kMostOutcomes) return;
    std::vector<double> outcomes, weights;
    for (std::size_t o = 0; o < chosen.weights.size(); ++o) {
      for (std::size_t l = 0; l < classes; ++l) {
        double p = 0;
        for (std::size_t k = 0; k < classes; ++k) {
          outcomes.push_back(chosen.outcomes[o * classes + k] *
                             rule_.answer_probability(task, worker, ClassId(k), ClassId(l)));
          p += outcomes.back();
        }
        if (p <= 0) {
          outcomes.resize(outcomes.size() - classes);
          continue;
        }
        for (std::size_t k = 0; k < classes; ++k) outcomes[outcomes.size() - 1 - k] /= p;
        weights.push_back(chosen.weights[o] * p);
      }
    }
    chosen.outcomes = std::move(outcomes);
    chosen.weights = std::move(weights);
  }

  const PairRule& rule_;
  const CrowdView& crowd_;
  const SelectionRequest& request_;
  std::span<const double> posterior_;
  const TaskOrder& order_;
  PickLimits limits_;
  const RunContext& context_;
  CandidateWorkers bench_;
  std::priority_queue<Waiting> queue_;
  std::map<TaskId, Chosen> chosen_;
  double spent_ = 0;
  double nearly_ = 1;
  Selection selection_;
};

}  // namespace

void limit_parameters(ParameterVisitor& v, PickLimits& limits) {
  v.real("delta", limits.delta, 0, 1,
         "leave a task alone when its likeliest class has at least 1 - delta, posteriors taken only as far as they "
         "predict the answers at hand; 0: never");
  v.real("least_gain", limits.least_gain, 0, 100,
         "leave a task alone when the best answer to it tells less than this for its price, in nats "
         "per unit of cost");
  v.integer("per_task", limits.per_task, 0, 1e9, "at most so many pairs of one batch for one task; 0: any number");
  v.integer("per_worker", limits.per_worker, 0, 1e9,
            "at most so many pairs of one batch for one worker; 0: any number");
  v.real("spread", limits.spread, 0, 1e9,
         "where everybody can be asked everything: at most so many times the even share of a batch for "
         "one worker, so that one who looks good by luck does not answer everything; 0: any number");
}

Selection pick(const PairRule& rule, std::span<const double> posterior, const TaskOrder& order,
               const PickLimits& limits, const RunContext& context) {
  return Batch(rule, posterior, order, limits, context).make();
}

}  // namespace wisecrowd::selecting
