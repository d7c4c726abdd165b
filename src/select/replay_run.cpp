#include "select/replay_run.hpp"

#include <algorithm>
#include <numeric>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {

CrowdKnowledge knowledge_of(const CategoryAnswers& answers, const CategoryFit& fit, double prior_strength) {
  const std::size_t classes = answers.class_count();
  CrowdKnowledge known;
  known.tables = expected_counts(answers, fit.posterior);
  known.task_answers.assign(answers.task_count(), 0);
  known.worker_answers.assign(answers.worker_count(), 0);
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    known.task_answers[t] = static_cast<std::uint32_t>(answers.workers_of(TaskId(t)).size());
  }
  for (const WorkerId worker : answers.workers()) ++known.worker_answers[index(worker)];
  if (fit.confusion.empty()) {
    // A method without tables: before a worker has answered, the right answer counts twice as much as any wrong one.
    const double wrong = prior_strength / (1.0 + static_cast<double>(classes));
    const double right = prior_strength * 2 / (1.0 + static_cast<double>(classes));
    std::vector<double> prior(classes * classes, wrong);
    for (std::size_t k = 0; k < classes; ++k) prior[k * (classes + 1)] = right;
    known.tables.add(prior);
    return known;
  }
  for (std::size_t j = 0; j < answers.worker_count(); ++j) {
    const auto learned = fit.confusion_of(WorkerId(j));
    for (std::size_t k = 0; k < classes; ++k) {
      const auto row = known.tables.row(WorkerId(j), k);
      double weight = prior_strength;
      for (const double count : row) weight += count;
      for (std::size_t l = 0; l < classes; ++l) row[l] = weight * std::max(learned[k * classes + l], kProbabilityFloor);
    }
  }
  return known;
}

namespace selecting {
namespace {

/// The world as far as it was asked.
class Oracle {
 public:
  Oracle(const ReplayWorld& world, const RunContext& context)
      : world_(world), answers_(world.answers), truth_rng_(context.rng("replay: answers")) {
    if (world.is_simulated()) {
      asked_.resize(answers_.task_count());
      return;
    }
    const auto offsets = answers_.task_offsets();
    left_begin_.assign(offsets.begin(), offsets.end() - 1);
    workers_.assign(answers_.workers().begin(), answers_.workers().end());
    labels_.assign(answers_.labels().begin(), answers_.labels().end());
  }

  [[nodiscard]] bool asked(TaskId task, WorkerId worker) const {
    const auto& list = asked_[index(task)];
    return std::find(list.begin(), list.end(), worker) != list.end();
  }
  [[nodiscard]] std::span<const WorkerId> left(TaskId task) const {
    const std::size_t begin = left_begin_[index(task)];
    return std::span(workers_).subspan(begin, answers_.task_offsets()[index(task) + 1] - begin);
  }

  void ask(TaskId task, WorkerId worker) {
    if (world_.is_simulated()) {
      const std::size_t classes = answers_.class_count();
      // The answer of a pair does not depend on when it is asked, nor by whom.
      Rng rng = truth_rng_.fork("pair", index(task) * answers_.worker_count() + index(worker));
      const std::size_t row = (index(worker) * classes + index(world_.truth[index(task)])) * classes;
      const auto label = static_cast<std::uint16_t>(rng.categorical(std::span(world_.tables).subspan(row, classes)));
      asked_[index(task)].push_back(worker);
      known_.push_back({task, worker, ClassId{label}});
      return;
    }
    // Revealed answers stand before those that are left.
    std::size_t& begin = left_begin_[index(task)];
    std::size_t at = begin;
    while (workers_[at] != worker) ++at;
    std::swap(workers_[at], workers_[begin]);
    std::swap(labels_[at], labels_[begin]);
    known_.push_back({task, worker, labels_[begin]});
    ++begin;
  }

  [[nodiscard]] const std::vector<CategoryAnswer>& known() const noexcept { return known_; }

 private:
  const ReplayWorld& world_;
  const CategoryAnswers& answers_;
  Rng truth_rng_;
  std::vector<std::vector<WorkerId>> asked_;  // simulated
  std::vector<std::size_t> left_begin_;       // recorded
  std::vector<WorkerId> workers_;
  std::vector<ClassId> labels_;
  std::vector<CategoryAnswer> known_;
};

class Run {
 public:
  Run(const ReplayWorld& world, const Policy& policy, const ReplayOptions& options, const Refit& refit,
      const RunContext& context)
      : world_(world),
        options_(options),
        refit_(refit),
        context_(context),
        selector_(make_selector(policy.selector, policy.parameters)),
        oracle_(world, context),
        offers_(options.offers) {
    const std::size_t classes = world.answers.class_count();
    posterior_.assign(world.answers.task_count() * classes, 1.0 / static_cast<double>(classes));
    known_.task_answers.assign(world.answers.task_count(), 0);
    known_.worker_answers.assign(world.answers.worker_count(), 0);
    const TablePrior prior{.answers = options.prior_strength};
    known_.tables = WorkerTables(world.answers.worker_count(), classes, prior.table(classes));
    note();
  }

  RunTrace play(std::size_t round_size, std::size_t most) {
    if (options_.random_answers_per_task > 0) {
      Parameters spread(selector("random").parameters);
      spread.set_value("per_task", std::int64_t{1});
      const auto one_each = make_selector("random", spread);
      for (std::size_t turn = 0; turn < options_.random_answers_per_task; ++turn) {
        ask(*one_each, std::min(world_.answers.task_count(), most - oracle_.known().size()));
      }
      fit();
      note();
    }
    while (oracle_.known().size() < most && !context_.cancelled()) {
      // Points of all policies stand at the same numbers of answers.
      const std::size_t next = (oracle_.known().size() / round_size + 1) * round_size;
      const std::size_t goal = std::min(next, most);
      // A batch may be smaller than wanted (one pair per task): then it is looked at before more is asked.
      while (oracle_.known().size() < goal && !trace_.stopped && !context_.cancelled()) {
        const std::size_t before = oracle_.known().size();
        ask_in_batches(goal - before);
        trace_.stopped = oracle_.known().size() == before;
        if (!trace_.stopped) fit();
      }
      if (context_.cancelled()) break;
      note();
      if (trace_.stopped) break;
    }
    trace_.finished = !context_.cancelled();
    return std::move(trace_);
  }

 private:
  /// What is asked between two fits, in batches of a part of the tasks: a policy that had to choose more at once could
  /// hardly choose among tasks. Answers of a batch are seen before the next one, as far as tables that are known tell.
  void ask_in_batches(std::size_t pairs) {
    const auto part =
        static_cast<std::size_t>(options_.largest_batch * static_cast<double>(world_.answers.task_count()));
    const std::size_t most = has_tables_ ? std::max<std::size_t>(part, 1) : pairs;
    for (std::size_t left = pairs; left > 0 && !context_.cancelled();) {
      const std::size_t before = oracle_.known().size(), wanted = std::min(most, left);
      ask(*selector_, wanted);
      const std::size_t came = oracle_.known().size() - before;
      if (came < wanted) return;
      left -= came;
      if (left > 0) absorb(before);
    }
  }

  /// Bayes' rule for the answers since `from`, by the tables of the last fit.
  void absorb(std::size_t from) {
    const std::size_t classes = world_.answers.class_count();
    for (const CategoryAnswer& answer : std::span(oracle_.known()).subspan(from)) {
      const auto row = std::span(posterior_).subspan(index(answer.task) * classes, classes);
      for (std::size_t k = 0; k < classes; ++k) {
        const auto counts = known_.tables.row(answer.worker, k);
        const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
        row[k] = std::max(row[k], kProbabilityFloor) * counts[index(answer.label)] / sum;
      }
      normalise(row);
      ++known_.task_answers[index(answer.task)];
      ++known_.worker_answers[index(answer.worker)];
    }
  }

  void ask(const Selector& who, std::size_t pairs) {
    CrowdView view;
    view.class_count = world_.answers.class_count();
    view.posterior = posterior_;
    view.posterior_is_averaged = averaged_;
    view.worker_counts = known_.tables.cells();
    view.task_answers = known_.task_answers;
    view.worker_answers = known_.worker_answers;
    if (fitted_) view.answers = {answers_.task_offsets(), answers_.workers(), answers_.labels()};
    if (world_.is_simulated()) {
      view.asked = [&](TaskId task, WorkerId worker) { return oracle_.asked(task, worker); };
    } else {
      view.askable = [&](TaskId task) { return oracle_.left(task); };
    }
    SelectionRequest request;
    request.pairs = pairs;
    request.offers = offers_;
    request.round = round_++;
    const Selection selection = who.choose(view, request, context_);
    for (const Choice& choice : selection.choices) {
      oracle_.ask(choice.task, choice.worker);
      cost_ += choice.cost;
      if (!offers_.empty() && offers_[index(choice.worker)].capacity != kUnlimited) {
        --offers_[index(choice.worker)].capacity;
      }
    }
  }

  void fit() {
    CategoryData data;
    data.answers = make_category_answers(
        oracle_.known(), {world_.answers.task_names(), world_.answers.worker_names(), world_.answers.class_names()});
    const CategoryFit fit =
        refit_(data, options_.warm_start && fitted_ ? CategoryStart{posterior_} : CategoryStart{}, context_);
    posterior_ = fit.posterior;
    averaged_ = fit.posterior_is_averaged;
    known_ = knowledge_of(data.answers, fit, options_.prior_strength);
    has_tables_ = !fit.confusion.empty();
    answers_ = std::move(data.answers);
    fitted_ = true;
  }

  void note() {
    trace_.answers.push_back(static_cast<double>(oracle_.known().size()));
    trace_.cost.push_back(cost_);
    trace_.accuracy.push_back(accuracy_of(posterior_, world_.truth, world_.answers.class_count()));
  }

  const ReplayWorld& world_;
  const ReplayOptions& options_;
  const Refit& refit_;
  const RunContext& context_;
  std::unique_ptr<Selector> selector_;
  Oracle oracle_;
  std::vector<WorkerOffer> offers_;
  std::vector<double> posterior_;
  bool averaged_ = false;
  bool has_tables_ = false;  // of the last fit
  CrowdKnowledge known_;
  CategoryAnswers answers_;  // those of the last fit
  bool fitted_ = false;
  double cost_ = 0;
  std::uint64_t round_ = 0;
  RunTrace trace_;
};

}  // namespace

double accuracy_of(std::span<const double> posterior, std::span<const ClassId> truth, std::size_t classes) {
  double right = 0;
  std::size_t scored = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == kNoClass) continue;
    ++scored;
    const auto q = posterior.subspan(i * classes, classes);
    const double top = *std::max_element(q.begin(), q.end()) - 1e-9;
    if (q[index(truth[i])] < top) continue;
    right += 1.0 / static_cast<double>(std::count_if(q.begin(), q.end(), [&](double p) { return p >= top; }));
  }
  return scored == 0 ? 0 : right / static_cast<double>(scored);
}

RunTrace run_policy(const ReplayWorld& world, const Policy& policy, const ReplayOptions& options,
                    std::size_t round_size, std::size_t most_answers, const Refit& refit, const RunContext& context) {
  return Run(world, policy, options, refit, context).play(round_size, most_answers);
}

}  // namespace selecting
}  // namespace wisecrowd
