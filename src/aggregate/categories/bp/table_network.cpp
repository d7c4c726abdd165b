#include <algorithm>
#include <cmath>
#include <map>

#include "aggregate/categories/bp/network.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::bp {
namespace {

/// Confusion tables: a message holds one probability per class.
class TableNetwork final : public Network {
 public:
  TableNetwork(const CategoryData& data, const RunContext& context, const Options& options)
      : data_(data),
        context_(context),
        options_(options),
        classes_(data.answers.class_count()),
        to_task_(data.answers.answer_count() * classes_),
        score_(data.answers.task_count() * classes_),
        blocks_(worker_blocks(data.answers)),
        log_task_priors_(log_task_priors(data, context)) {
    std::fill(to_task_.begin(), to_task_.end(), -math::log(static_cast<double>(classes_)));
    const auto offsets = data.answers.worker_offsets();
    bool importance = false;
    for (std::size_t w = 0; w + 1 < offsets.size(); ++w) {
      const std::size_t n = offsets[w + 1] - offsets[w];
      if (by_grid(n)) {
        const std::size_t size = grid_size(n);
        if (!grids_.contains(size)) grids_.emplace(size, tensor_grid(options.table_prior, n));
      } else {
        importance = importance || n > kFewAnswers;
      }
    }
    Rng rng = context.rng("particles");
    table_draws(options.table_prior, classes_, options.particles, rng, shared_draws_);
    if (importance) centre_.assign(data.answers.worker_count() * classes_ * classes_, 0.0);
  }

  TaskSums tell_workers(std::span<const double> log_class_prior, std::span<const double> start) override;
  WorkerSums tell_tasks(double damping, std::size_t iteration) override;
  void beliefs(std::span<const double> log_class_prior, std::span<double> posterior) override {
    tell_workers(log_class_prior, {});
    for (std::size_t i = 0; i < posterior.size(); ++i) posterior[i] = std::max(score_[i], -1e300);
    for (std::size_t i = 0; i < posterior.size(); i += classes_) softmax(posterior.subspan(i, classes_));
  }
  [[nodiscard]] std::vector<double> messages() const override { return {to_task_.begin(), to_task_.end()}; }
  void set_messages(std::span<const double> messages) override {
    std::copy(messages.begin(), messages.end(), to_task_.begin());
  }
  void describe_workers(CategoryFit& result, std::vector<WorkerBelief>* beliefs) override;

 private:
  struct Scratch {
    TableAnswers answers;
    TableWork work;
    std::vector<double> messages;
    TableNodes own_nodes;
  };

  [[nodiscard]] bool exact() const {
    return options_.model == Options::Model::two_coin && options_.messages != Options::Messages::particles;
  }
  /// The grid serves the recursion too, for the worker's table in the end.
  [[nodiscard]] bool by_grid(std::size_t answers) const { return exact() && answers <= kLongestRecursion; }
  [[nodiscard]] std::size_t grid_size(std::size_t answers) const {
    return quadrature_size(beta_prior(options_.table_prior.diagonal, options_.table_prior.off_diagonal), answers);
  }
  void gather(std::size_t worker, TableAnswers& answers) const;
  const TableNodes& nodes_of(std::size_t worker, std::size_t iteration, Scratch& scratch);

  const CategoryData& data_;
  const RunContext& context_;
  const Options& options_;
  std::size_t classes_;
  HugeVector<double> to_task_;  // answers × classes, log M_{j→i}(k)
  HugeVector<double> score_;    // tasks × classes, log r_ik + Σ_j log M_{j→i}(k)
  std::span<const double> start_;
  std::vector<std::size_t> blocks_;
  HugeVector<double> log_task_priors_;
  std::map<std::size_t, TableNodes> grids_;
  TableNodes shared_draws_;
  std::vector<double> centre_;  // workers × classes × classes, what particles are drawn around
};

TaskSums TableNetwork::tell_workers(std::span<const double> log_class_prior, std::span<const double> start) {
  start_ = start;
  const auto offsets = data_.answers.task_offsets();
  const Blocks blocks{data_.answers.task_count(), kTasksPerBlock};
  std::vector<TaskSums> sums(blocks.count());
  context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    std::vector<double> share(classes_), mass(classes_, 0.0);
    double log_evidence = 0;
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const double* const log_prior =
          log_task_priors_.empty() ? log_class_prior.data() : log_task_priors_.data() + t * classes_;
      double* const score = score_.data() + t * classes_;
      std::copy(log_prior, log_prior + classes_, score);
      for (AnswerIndex e = offsets[t]; e < offsets[t + 1]; ++e) {
        const double* const message = to_task_.data() + std::size_t{e} * classes_;
        for (std::size_t k = 0; k < classes_; ++k) score[k] += message[k];
      }
      const ClassId gold = data_.gold_of(TaskId{static_cast<std::uint32_t>(t)});
      for (std::size_t k = 0; k < classes_ && gold != kNoClass; ++k) {
        score[k] = k == index(gold) ? std::max(score[k], -1e6) : -1e300;
      }
      std::copy(score, score + classes_, share.begin());
      log_evidence += softmax(share);
      if (offsets[t + 1] == offsets[t]) continue;
      for (std::size_t k = 0; k < classes_; ++k) mass[k] += share[k];
    }
    sums[block] = {log_evidence, std::move(mass)};
  });
  TaskSums all{0, std::vector<double>(classes_, 0.0)};
  for (const TaskSums& part : sums) {
    all.log_evidence += part.log_evidence;
    for (std::size_t k = 0; k < classes_; ++k) all.class_mass[k] += part.class_mass[k];
  }
  return all;
}

void TableNetwork::gather(std::size_t worker, TableAnswers& answers) const {
  const WorkerId id{static_cast<std::uint32_t>(worker)};
  const auto own = data_.answers.answers_of(id);
  const auto tasks = data_.answers.tasks_of(id);
  answers.classes = classes_;
  answers.labels.resize(own.size());
  answers.incoming.resize(own.size() * classes_);
  for (std::size_t i = 0; i < own.size(); ++i) {
    answers.labels[i] = static_cast<std::uint16_t>(index(data_.answers.labels()[own[i]]));
    const auto row = std::span(answers.incoming).subspan(i * classes_, classes_);
    const std::size_t t = index(tasks[i]);
    if (!start_.empty() && data_.gold_of(tasks[i]) == kNoClass) {
      std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(t * classes_), classes_, row.begin());
      continue;
    }
    for (std::size_t k = 0; k < classes_; ++k) {
      row[k] = score_[t * classes_ + k] - to_task_[std::size_t{own[i]} * classes_ + k];
    }
    softmax(row);
  }
}

const TableNodes& TableNetwork::nodes_of(std::size_t worker, std::size_t iteration, Scratch& scratch) {
  const std::size_t n = scratch.answers.size();
  if (by_grid(n)) return grids_.at(grid_size(n));
  if (n <= kFewAnswers) return shared_draws_;
  const auto counts = std::span(centre_).subspan(worker * classes_ * classes_, classes_ * classes_);
  if (iteration < kMovingIterations) table_centre(options_.table_prior, scratch.answers, counts);
  Rng rng = context_.rng("particles", worker + 1);
  table_importance_draws(options_.table_prior, classes_, counts, options_.particles, rng, scratch.own_nodes);
  return scratch.own_nodes;
}

WorkerSums TableNetwork::tell_tasks(double damping, std::size_t iteration) {
  const std::size_t block_count = blocks_.size() - 1;
  std::vector<WorkerSums> sums(block_count);
  std::vector<Scratch> scratches(context_.threads());
  const bool recursion = exact() && options_.messages != Options::Messages::quadrature;
  context_.pool().for_each_block(block_count, [&](std::size_t block, unsigned thread) {
    Scratch& scratch = scratches[thread];
    for (std::size_t w = blocks_[block]; w < blocks_[block + 1]; ++w) {
      const auto own = data_.answers.answers_of(WorkerId{static_cast<std::uint32_t>(w)});
      if (own.empty()) continue;
      gather(w, scratch.answers);
      scratch.messages.resize(own.size() * classes_);
      sums[block].log_evidence +=
          recursion && by_grid(own.size())
              ? two_coin_messages_by_recursion(options_.table_prior, scratch.answers, scratch.messages)
              : table_messages(nodes_of(w, iteration, scratch), scratch.answers, scratch.messages, scratch.work);
      for (std::size_t i = 0; i < own.size(); ++i) {
        double* const message = to_task_.data() + std::size_t{own[i]} * classes_;
        double agreement = 0;
        for (std::size_t k = 0; k < classes_; ++k) {
          const double fresh = std::max(math::log(scratch.messages[i * classes_ + k]), -kLargestLogRatio);
          const double now = (1 - damping) * fresh + damping * message[k];
          sums[block].change = std::max(sums[block].change, std::abs(math::exp(now) - math::exp(message[k])));
          message[k] = now;
          agreement += scratch.answers.incoming[i * classes_ + k] * math::exp(now);
        }
        sums[block].log_evidence -= math::log(std::max(agreement, 1e-300));
      }
    }
  });
  WorkerSums all;
  for (const WorkerSums& part : sums) {
    all.log_evidence += part.log_evidence;
    all.change = std::max(all.change, part.change);
  }
  return all;
}

void TableNetwork::describe_workers(CategoryFit& result, std::vector<WorkerBelief>*) {
  const std::size_t cells = classes_ * classes_;
  result.confusion.resize(result.worker_count * cells);
  result.skill.assign(result.worker_count, 0.0);
  std::vector<Scratch> scratches(context_.threads());
  const double row_total =
      options_.table_prior.diagonal + static_cast<double>(classes_ - 1) * options_.table_prior.off_diagonal;
  context_.pool().for_each_block(blocks_.size() - 1, [&](std::size_t block, unsigned thread) {
    Scratch& scratch = scratches[thread];
    for (std::size_t w = blocks_[block]; w < blocks_[block + 1]; ++w) {
      gather(w, scratch.answers);
      const auto table = std::span(result.confusion).subspan(w * cells, cells);
      if (scratch.answers.size() == 0) {
        for (std::size_t c = 0; c < cells; ++c) {
          const bool right = c % (classes_ + 1) == 0;
          table[c] = (right ? options_.table_prior.diagonal : options_.table_prior.off_diagonal) / row_total;
        }
      } else {
        scratch.messages.resize(scratch.answers.size() * classes_);
        table_messages(nodes_of(w, kMovingIterations, scratch), scratch.answers, scratch.messages, scratch.work);
        posterior_table(scratch.work, classes_, table);
      }
      for (std::size_t k = 0; k < classes_; ++k) result.skill[w] += result.class_prior[k] * table[k * classes_ + k];
    }
  });
}

}  // namespace

std::unique_ptr<Network> make_table_network(const CategoryData& data, const RunContext& context,
                                            const Options& options) {
  return std::make_unique<TableNetwork>(data, context, options);
}

}  // namespace wisecrowd::bp
