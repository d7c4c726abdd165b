#include "aggregate/categories/one_coin/without_tables.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/accuracy_tables.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::one_coin {
namespace {

constexpr std::size_t kTasksPerBlock = 4096;
constexpr std::size_t kWorkersPerBlock = 256;

class Run {
 public:
  Run(const CategoryData& data, const RunContext& context, const Options& options)
      : data_(data),
        context_(context),
        options_(options),
        classes_(data.answers.class_count()),
        right_(data.answers.answer_count()),
        logs_(data.answers.worker_count()),
        prior_(classes_),
        log_prior_(classes_) {}

  /// What a posterior says of each answer.
  void start(std::span<const double> posterior) {
    const auto offsets = data_.answers.task_offsets();
    const auto labels = data_.answers.labels();
    sweep([&](std::size_t t, Sums& sums) {
      const double weight = weight_of(t);
      for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
        right_[a] = is_gold(t) ? (labels[a] == data_.gold[t] ? weight : 0) : posterior[t * classes_ + index(labels[a])];
      }
      if (is_gold(t)) {
        sums.mass[index(data_.gold[t])] += weight;
        return;
      }
      for (std::size_t k = 0; k < classes_; ++k) sums.mass[k] += posterior[t * classes_ + k];
    });
  }

  /// The M-step, then the E-step. Returns the objective.
  double iterate() {
    double objective = set_accuracies();
    const double of_prior = estimate_class_prior(sums_, options_.em, prior_, log_prior_);
    if (data_.task_priors.empty()) objective += of_prior;
    for (double& p : prior_) p = std::max(p, kProbabilityFloor);
    sweep([&](std::size_t t, Sums& sums) { expect(t, sums); });
    return objective + sums_.log_likelihood;
  }

  [[nodiscard]] double log_likelihood() const noexcept { return sums_.log_likelihood; }
  [[nodiscard]] const std::vector<double>& class_prior() const noexcept { return prior_; }
  [[nodiscard]] std::vector<double> skill() const {
    std::vector<double> skill;
    for (const AccuracyLogs& logs : logs_) skill.push_back(math::exp(logs.right));
    return skill;
  }
  void write_posterior(std::span<double> posterior) const {
    const Blocks blocks{data_.answers.task_count(), kTasksPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        const auto row = posterior.subspan(t * classes_, classes_);
        if (is_gold(t)) {
          std::fill(row.begin(), row.end(), 0.0);
          row[index(data_.gold[t])] = 1;
          continue;
        }
        Scores& scores = scores_of(t);
        const double* const prior = prior_of(t);
        for (std::size_t k = 0; k < classes_; ++k) row[k] = prior[k] * math::exp(scores.score[k] - scores.top);
        normalise(row);
        scores.clear();
      }
    });
  }

 private:
  /// ln P(answers | k) up to a constant, which is 0 for classes that nobody said.
  struct Scores {
    std::vector<double> score;  // all 0 between tasks
    std::vector<std::size_t> said;
    double all_wrong = 0;  // ln P(answers | none of the labels is right)
    double top = 0;
    void clear() {
      for (const std::size_t l : said) score[l] = 0;
      said.clear();
    }
  };
  struct Sums {
    std::vector<double> mass;  // by class
    double prior_share = 0;    // tasks' masses that are spread as the class prior is
    double log_likelihood = 0;
    double answered = 0;
  };

  [[nodiscard]] bool is_gold(std::size_t t) const noexcept { return data_.has_gold() && data_.gold[t] != kNoClass; }
  [[nodiscard]] double weight_of(std::size_t t) const noexcept { return is_gold(t) ? options_.em.gold_weight : 1.0; }
  [[nodiscard]] const double* prior_of(std::size_t t) const noexcept {
    return data_.task_priors.empty() ? prior_.data() : data_.task_priors.data() + t * classes_;
  }

  Scores& scores_of(std::size_t t) const {
    thread_local Scores scores;
    scores.score.resize(classes_, 0.0);
    scores.all_wrong = 0;
    const auto workers = data_.answers.workers_of(TaskId(t));
    const auto labels = data_.answers.labels_of(TaskId(t));
    for (std::size_t a = 0; a < workers.size(); ++a) {
      const AccuracyLogs& logs = logs_[index(workers[a])];
      double& score = scores.score[index(labels[a])];
      if (score == 0) scores.said.push_back(index(labels[a]));
      score += logs.right - logs.each_wrong;
      scores.all_wrong += logs.each_wrong;
    }
    // Scores that met at 0 were noted twice.
    std::sort(scores.said.begin(), scores.said.end());
    scores.said.erase(std::unique(scores.said.begin(), scores.said.end()), scores.said.end());
    scores.top = 0;
    for (const std::size_t l : scores.said) scores.top = std::max(scores.top, scores.score[l]);
    return scores;
  }

  /// The posterior of one task, as far as its answers and the class masses need it.
  void expect(std::size_t t, Sums& sums) {
    const auto offsets = data_.answers.task_offsets();
    const auto labels = data_.answers.labels();
    Scores& scores = scores_of(t);
    const double* const prior = prior_of(t);
    if (is_gold(t)) {
      const std::size_t truth = index(data_.gold[t]);
      const double weight = weight_of(t);
      sums.log_likelihood +=
          weight * (math::log(std::max(prior[truth], kProbabilityFloor)) + scores.all_wrong + scores.score[truth]);
      sums.mass[truth] += weight;
      scores.clear();
      return;
    }
    double above = 0, said_prior = 0;
    for (const std::size_t l : scores.said) {
      above += prior[l] * math::exp(scores.score[l] - scores.top);
      said_prior += prior[l];
    }
    const double unsaid = math::exp(-scores.top);
    const double total = above + std::max(1 - said_prior, 0.0) * unsaid;
    sums.log_likelihood += scores.all_wrong + scores.top + math::log(total);
    const double share = unsaid / total;  // of its prior, for a class that nobody said
    for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
      const std::size_t l = index(labels[a]);
      right_[a] = prior[l] * math::exp(scores.score[l] - scores.top) / total;
    }
    for (const std::size_t l : scores.said) {
      sums.mass[l] += prior[l] * (math::exp(scores.score[l] - scores.top) / total - share);
    }
    if (data_.task_priors.empty()) {
      sums.prior_share += share;
    } else {
      for (std::size_t k = 0; k < classes_; ++k) sums.mass[k] += prior[k] * share;
    }
    scores.clear();
  }

  /// Visits the answered tasks; sums over blocks are added in order.
  template <class Visit>
  void sweep(const Visit& visit) {
    const auto offsets = data_.answers.task_offsets();
    const Blocks blocks{data_.answers.task_count(), kTasksPerBlock};
    std::vector<Sums> parts(blocks.count());
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      Sums& sums = parts[block];
      sums.mass.assign(classes_, 0.0);
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
        if (offsets[t] == offsets[t + 1]) continue;
        sums.answered += weight_of(t);
        visit(t, sums);
      }
    });
    sums_ = {};
    sums_.class_mass.assign(classes_, 0.0);
    double prior_share = 0;
    for (const Sums& part : parts) {
      sums_.log_likelihood += part.log_likelihood;
      sums_.answered_tasks += part.answered;
      prior_share += part.prior_share;
      for (std::size_t k = 0; k < classes_; ++k) sums_.class_mass[k] += part.mass[k];
    }
    for (std::size_t k = 0; k < classes_; ++k) {
      sums_.class_mass[k] = std::max(sums_.class_mass[k] + prior_share * prior_[k], 0.0);
    }
  }

  double set_accuracies() {
    const Blocks blocks{logs_.size(), kWorkersPerBlock};
    std::vector<double> parts(blocks.count(), 0.0);
    (void)data_.answers.worker_offsets();  // built by one thread
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        const auto answers = data_.answers.answers_of(WorkerId(w));
        const auto tasks = data_.answers.tasks_of(WorkerId(w));
        double right = 0, all = 0;
        for (std::size_t a = 0; a < answers.size(); ++a) {
          right += right_[answers[a]];
          all += weight_of(index(tasks[a]));
        }
        logs_[w] =
            accuracy_logs(right, all - right, options_.right_pseudo_count, options_.wrong_pseudo_count, classes_);
        parts[block] += logs_[w].objective;
      }
    });
    double objective = 0;
    for (const double part : parts) objective += part;
    return objective;
  }

  const CategoryData& data_;
  const RunContext& context_;
  const Options& options_;
  std::size_t classes_;
  std::vector<double> right_;  // per answer: the probability that it is right, times the weight of its task
  std::vector<AccuracyLogs> logs_;
  std::vector<double> prior_, log_prior_;
  ConfusionPass::Sums sums_;
};

}  // namespace

CategoryFit fit_without_tables(const CategoryData& data, const RunContext& context, const Options& options,
                               const CategoryStart& start) {
  CategoryFit result = start_aggregation(data);
  result.tie_rule = options.em.ties;
  result.objective_name = "log posterior";
  result.objective_is_monotone = true;
  result.has_log_likelihood = true;
  std::size_t iterations = 0;
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t restart = 0; restart <= options.em.restarts; ++restart) {
    if (restart > 0 && context.cancelled()) break;
    Run run(data, context, options);
    if (restart == 0 && !start.empty()) {
      run.start(start.posterior);
    } else {
      const auto from = restart == 0 ? options.em.start : EmOptions::Start::random;
      run.start(start_posterior(data, from, restart, context));
    }
    std::vector<double> trace;
    const Status status = climb_to_rest(options.em, context, trace, [&](std::size_t) { return EmStep{run.iterate()}; });
    iterations += trace.size();
    if (restart > 0 && trace.back() <= result.trace.back()) continue;
    result.trace = std::move(trace);
    result.status = status;
    result.class_prior = run.class_prior();
    result.log_likelihood = run.log_likelihood();
    result.skill = run.skill();
    result.posterior.resize(result.task_count * result.class_count);
    run.write_posterior(result.posterior);
  }
  normalise(result.class_prior);
  result.iterations = result.trace.size();
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(std::max<std::size_t>(iterations, 1));
  result.labels = hard_labels(result.posterior, result.class_count, options.em.ties, context);
  if (result.status == Status::iteration_limit) result.warnings.push_back(not_converged_warning(result.iterations));
  return result;
}

}  // namespace wisecrowd::one_coin
