#include <algorithm>
#include <cmath>
#include <map>

#include "aggregate/categories/bp/network.hpp"
#include "aggregate/categories/bp/node_product.hpp"
#include "base/lanes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::bp {
namespace {

/// One coin per worker: M_{j→i}(y) : M_{j→i}(other) is all that a worker can say, so a message is one log ratio.
class CoinNetwork final : public Network {
 public:
  CoinNetwork(const CategoryData& data, const RunContext& context, const Options& options)
      : data_(data),
        context_(context),
        options_(options),
        prior_(normalised(options.accuracy_prior)),
        log_others_(math::log(static_cast<double>(data.answers.class_count() - 1))),
        edges_(data.answers.answer_count()),
        blocks_(worker_blocks(data.answers)),
        log_task_priors_(log_task_priors(data, context)) {
    std::fill(edges_.begin(), edges_.end(), Edge{0, 0});
    const auto offsets = data.answers.worker_offsets();
    for (std::size_t w = 0; w + 1 < offsets.size(); ++w) {
      const std::size_t n = offsets[w + 1] - offsets[w];
      const std::size_t size = quadrature_size(prior_, n);
      if (n > 0 && !rules_.contains(size)) rules_.emplace(size, quadrature(prior_, n));
    }
    if (options.messages == Options::Messages::particles) {
      Rng rng = context.rng("particles");
      shared_draws_ = draws(prior_, options.particles, rng);
      centre_.resize(data.answers.worker_count());
    }
  }

  TaskSums tell_workers(std::span<const double> log_class_prior, std::span<const double> start) override {
    return sweep_tasks(log_class_prior, start, {});
  }
  void beliefs(std::span<const double> log_class_prior, std::span<double> posterior) override {
    sweep_tasks(log_class_prior, {}, posterior);
  }
  WorkerSums tell_tasks(double damping, std::size_t iteration) override;
  [[nodiscard]] std::vector<double> messages() const override {
    std::vector<double> all(edges_.size());
    for (std::size_t e = 0; e < all.size(); ++e) all[e] = edges_[e].to_task;
    return all;
  }
  void set_messages(std::span<const double> messages) override {
    for (std::size_t e = 0; e < messages.size(); ++e) edges_[e].to_task = messages[e];
  }
  void describe_workers(CategoryFit& result, std::vector<WorkerBelief>* beliefs) override;

 private:
  struct Edge {
    double to_task;    ///< log M_{j→i}(y) − log M_{j→i}(any other class)
    double to_worker;  ///< log m_{i→j}(y) − log(1 − m_{i→j}(y))
  };
  struct Scratch {
    CoinAnswers answers;
    CoinWork work;
    std::vector<double> log_ratio, old;
    NodeSet own_nodes;
  };

  TaskSums sweep_tasks(std::span<const double> log_class_prior, std::span<const double> start,
                       std::span<double> posterior);
  void gather(std::size_t worker, CoinAnswers& answers) const;
  double worker_messages(std::size_t worker, std::size_t iteration, Scratch& scratch);
  void settle(std::span<const AnswerIndex> own, double damping, Scratch& scratch, WorkerSums& sums);
  [[nodiscard]] const NodeSet& rule(std::size_t answers) const { return rules_.at(quadrature_size(prior_, answers)); }

  const CategoryData& data_;
  const RunContext& context_;
  const Options& options_;
  AccuracyPrior prior_;
  double log_others_;
  HugeVector<Edge> edges_;
  std::vector<std::size_t> blocks_;
  HugeVector<double> log_task_priors_;
  std::map<std::size_t, NodeSet> rules_;
  NodeSet shared_draws_;
  std::vector<CoinCentre> centre_;  // per worker, for particles
};

TaskSums CoinNetwork::sweep_tasks(std::span<const double> log_class_prior, std::span<const double> start,
                                  std::span<double> posterior) {
  const CategoryAnswers& answers = data_.answers;
  const std::size_t classes = answers.class_count();
  const auto offsets = answers.task_offsets();
  const auto labels = answers.labels();
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  std::vector<TaskSums> sums(blocks.count());
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> score(classes), share(classes), mass(classes, 0.0);
    double log_evidence = 0;
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const double* const log_prior =
          log_task_priors_.empty() ? log_class_prior.data() : log_task_priors_.data() + t * classes;
      const AnswerIndex first = offsets[t], last = offsets[t + 1];
      const ClassId gold = data_.gold_of(TaskId{static_cast<std::uint32_t>(t)});
      if (gold != kNoClass) {
        log_evidence += std::max(log_prior[index(gold)], -kLargestLogRatio);
        for (AnswerIndex e = first; e < last; ++e) {
          const bool right = labels[e] == gold;
          if (right) log_evidence += edges_[e].to_task;
          edges_[e].to_worker = right ? 2 * kLargestLogRatio : -2 * kLargestLogRatio;
        }
        if (last > first) mass[index(gold)] += 1;
        for (std::size_t k = 0; k < classes && !posterior.empty(); ++k) {
          posterior[t * classes + k] = k == index(gold) ? 1 : 0;
        }
        continue;
      }
      std::copy(log_prior, log_prior + classes, score.begin());
      for (AnswerIndex e = first; e < last; ++e) score[index(labels[e])] += edges_[e].to_task;
      std::size_t top = 0;
      for (std::size_t k = 1; k < classes; ++k) top = score[k] > score[top] ? k : top;
      double second = -1e308, total = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        if (k != top) second = std::max(second, score[k]);
        total += share[k] = exp_nonpositive(score[k] - score[top]);
      }
      double rest = 0;  // log Σ over all classes but the top one
      if (classes == 2) {
        rest = second;
      } else {
        for (std::size_t k = 0; k < classes; ++k) rest += k == top ? 0 : exp_nonpositive(score[k] - second);
        rest = second + math::log(rest);
      }
      log_evidence += score[top] + math::log(total);
      if (last > first) {
        for (std::size_t k = 0; k < classes; ++k) mass[k] += share[k] / total;
      }
      if (!posterior.empty()) {
        for (std::size_t k = 0; k < classes; ++k) posterior[t * classes + k] = share[k] / total;
      }
      for (AnswerIndex e = first; e < last; ++e) {
        const std::size_t y = index(labels[e]);
        if (!start.empty()) {
          const double q = start[t * classes + y];
          edges_[e].to_worker = math::log(q) - math::log1p(-q);
          continue;
        }
        // The others are summed without this class, never by taking it away from a sum in which it is the largest.
        const double others = y == top ? rest : score[top] + math::log(total - share[y]);
        edges_[e].to_worker = score[y] - edges_[e].to_task - others;
      }
    }
    sums[block] = {log_evidence, std::move(mass)};
  });
  TaskSums all{0, std::vector<double>(classes, 0.0)};
  for (const TaskSums& part : sums) {
    all.log_evidence += part.log_evidence;
    for (std::size_t k = 0; k < classes; ++k) all.class_mass[k] += part.class_mass[k];
  }
  return all;
}

void CoinNetwork::gather(std::size_t worker, CoinAnswers& answers) const {
  const auto own = data_.answers.answers_of(WorkerId{static_cast<std::uint32_t>(worker)});
  const std::size_t n = own.size();
  answers.if_right.resize(n);
  answers.if_wrong.resize(n);
  const double others = static_cast<double>(data_.answers.class_count() - 1);
  for (std::size_t i = 0; i < n; ++i) answers.if_right[i] = edges_[own[i]].to_worker;
  double* const right = answers.if_right.data();
  double* const wrong = answers.if_wrong.data();
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const double x = right[i];
    const double small = exp_nonpositive(-std::abs(x));
    const double large_share = 1 / (1 + small), small_share = small / (1 + small);
    right[i] = x > 0 ? large_share : small_share;
    wrong[i] = (x > 0 ? small_share : large_share) / others;
  }
}

double CoinNetwork::worker_messages(std::size_t worker, std::size_t iteration, Scratch& scratch) {
  using Messages = Options::Messages;
  const std::size_t n = scratch.answers.size();
  scratch.log_ratio.resize(n);
  if (options_.messages == Messages::recursion && n <= kLongestRecursion) {
    return coin_messages_by_recursion(prior_, scratch.answers, scratch.log_ratio);
  }
  if (options_.messages == Messages::division && n <= kLongestDivision) {
    return coin_messages_by_division(prior_, scratch.answers, scratch.log_ratio);
  }
  const NodeSet* nodes = &rule(n);
  if (options_.messages == Messages::particles) {
    nodes = &shared_draws_;
    if (n > kFewAnswers && !has_points(prior_)) {
      if (iteration < kMovingIterations) centre_[worker] = coin_centre(prior_, scratch.answers);
      Rng rng = context_.rng("particles", worker + 1);
      scratch.own_nodes =
          importance_draws(prior_, centre_[worker].right, centre_[worker].wrong, options_.particles, rng);
      nodes = &scratch.own_nodes;
    }
  }
  return coin_messages_by_nodes(*nodes, scratch.answers, scratch.log_ratio, scratch.work);
}

/// New messages from log ratios: damped, compared with the old ones, written back. Takes Σ ln Z_e off the evidence,
/// with messages scaled so that M(other) = 1: Z_e = m(y) e^message + (1 − m(y)).
void CoinNetwork::settle(std::span<const AnswerIndex> own, double damping, Scratch& scratch, WorkerSums& sums) {
  const std::size_t n = own.size();
  scratch.old.resize(n);
  for (std::size_t i = 0; i < n; ++i) scratch.old[i] = edges_[own[i]].to_task;
  double* const old = scratch.old.data();
  const double* const right = scratch.answers.if_right.data();
  const double* const wrong = scratch.answers.if_wrong.data();
  double* const message = scratch.log_ratio.data();
  const double log_others = log_others_, others = math::exp(log_others_);
  const auto probability = [](double x) {
    const double small = exp_nonpositive(-std::abs(x));
    return (x > 0 ? 1 : small) / (1 + small);
  };
  double change = 0;
#pragma omp simd reduction(max : change)
  for (std::size_t i = 0; i < n; ++i) {
    const double fresh = smaller(larger(message[i] + log_others, -kLargestLogRatio), kLargestLogRatio);
    const double now = (1 - damping) * fresh + damping * old[i];
    const double moved = std::abs(probability(now - log_others) - probability(old[i] - log_others));
    change = change > moved ? change : moved;
    const double small = exp_nonpositive(-std::abs(now));
    const double sum = now > 0 ? right[i] + wrong[i] * others * small : right[i] * small + wrong[i] * others;
    message[i] = now;
    old[i] = larger(now, 0) + log_positive(larger(sum, 1e-300));  // from here on: the evidence of this answer
  }
  for (std::size_t i = 0; i < n; ++i) edges_[own[i]].to_task = message[i];
  sums.change = std::max(sums.change, change);
  sums.log_evidence -= lane_sum<double>(n, [&](std::size_t i) { return old[i]; });
}

WorkerSums CoinNetwork::tell_tasks(double damping, std::size_t iteration) {
  const std::size_t block_count = blocks_.size() - 1;
  std::vector<WorkerSums> sums(block_count);
  std::vector<Scratch> scratches(context_.threads());
  context_.pool().for_each_block(block_count, [&](std::size_t block, unsigned thread) {
    Scratch& scratch = scratches[thread];
    for (std::size_t w = blocks_[block]; w < blocks_[block + 1]; ++w) {
      const auto own = data_.answers.answers_of(WorkerId{static_cast<std::uint32_t>(w)});
      if (own.empty()) continue;
      gather(w, scratch.answers);
      sums[block].log_evidence += worker_messages(w, iteration, scratch);
      settle(own, damping, scratch, sums[block]);
    }
  });
  WorkerSums all;
  for (const WorkerSums& part : sums) {
    all.log_evidence += part.log_evidence;
    all.change = std::max(all.change, part.change);
  }
  return all;
}

/// Mean, deviation and central 95% by a fine grid: the rule for messages has too few nodes for quantiles.
WorkerBelief worker_belief(const AccuracyPrior& prior, const CoinAnswers& answers, CoinWork& work,
                           std::vector<double>& log_ratio) {
  const auto n = static_cast<double>(answers.size());
  const auto cells = static_cast<std::size_t>(400 + 16 * std::sqrt(n));
  NodeSet grid;
  for (const PriorPart& part : prior) {
    if (part.is_point) grid.add(part.point, 1 - part.point, math::log(part.share));
  }
  for (std::size_t s = 0; s < cells && !(has_points(prior) && grid.size() == prior.size()); ++s) {
    const double turns = (static_cast<double>(s) + 0.5) / (4 * static_cast<double>(cells));
    const double sine = math::sin_turns(turns), cosine = math::cos_turns(turns);
    const double w = sine * sine, v = cosine * cosine;
    grid.add(w, v, log_density(prior, w, v) + 0.5 * math::log(w * v) + math::log(M_PI / static_cast<double>(cells)));
  }
  log_ratio.resize(answers.size());
  coin_messages_by_nodes(grid, answers, log_ratio, work);
  std::vector<std::pair<double, double>> mass;
  double total = 0, mean = 0, square = 0;
  for (std::size_t s = 0; s < work.weight.size(); ++s) {
    mass.emplace_back(work.accuracy[s], work.weight[s]);
    total += work.weight[s];
    mean += work.weight[s] * work.accuracy[s];
  }
  mean /= total;
  std::sort(mass.begin(), mass.end());
  WorkerBelief belief{mean, 0, mass.front().first, mass.back().first};
  double below = 0;
  for (const auto& [w, weight] : mass) {
    square += weight * (w - mean) * (w - mean);
    if (below < 0.025 * total) belief.low = w;
    if (below < 0.975 * total) belief.high = w;
    below += weight;
  }
  belief.deviation = std::sqrt(square / total);
  return belief;
}

void CoinNetwork::describe_workers(CategoryFit& result, std::vector<WorkerBelief>* beliefs) {
  const std::size_t classes = result.class_count;
  result.skill.assign(result.worker_count, prior_mean(prior_));
  if (beliefs != nullptr) beliefs->assign(result.worker_count, {});
  std::vector<Scratch> scratches(context_.threads());
  context_.pool().for_each_block(blocks_.size() - 1, [&](std::size_t block, unsigned thread) {
    Scratch& scratch = scratches[thread];
    for (std::size_t w = blocks_[block]; w < blocks_[block + 1]; ++w) {
      gather(w, scratch.answers);
      if (scratch.answers.size() > 0) {
        scratch.log_ratio.resize(scratch.answers.size());
        coin_messages_by_nodes(rule(scratch.answers.size()), scratch.answers, scratch.log_ratio, scratch.work);
        result.skill[w] = posterior_mean(scratch.work);
      }
      if (beliefs != nullptr) {
        (*beliefs)[w] = worker_belief(prior_, scratch.answers, scratch.work, scratch.log_ratio);
        (*beliefs)[w].mean = result.skill[w];
      }
    }
  });
  result.confusion.resize(result.worker_count * classes * classes);
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    const double wrong = (1 - result.skill[w]) / static_cast<double>(classes - 1);
    double* const table = result.confusion.data() + w * classes * classes;
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) table[k * classes + l] = k == l ? result.skill[w] : wrong;
    }
  }
}

}  // namespace

std::unique_ptr<Network> make_coin_network(const CategoryData& data, const RunContext& context,
                                           const Options& options) {
  return std::make_unique<CoinNetwork>(data, context, options);
}

}  // namespace wisecrowd::bp
