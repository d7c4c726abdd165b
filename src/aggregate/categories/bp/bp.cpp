#include "aggregate/categories/bp/bp.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/bp/network.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/belief_session.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::bp {
namespace {

/// Without a new smallest change for so long, messages are taken to go round in circles.
constexpr std::size_t kPatience = 10;
constexpr double kCalmingDamping = 0.5;

}  // namespace

std::vector<std::size_t> worker_blocks(const CategoryAnswers& answers) {
  constexpr std::size_t kAnswersPerBlock = 4096;
  constexpr std::size_t kWorkersPerBlock = 1024;
  const auto offsets = answers.worker_offsets();
  std::vector<std::size_t> blocks = {0};
  for (std::size_t w = 1; w <= answers.worker_count(); ++w) {
    if (w == answers.worker_count() || offsets[w] - offsets[blocks.back()] >= kAnswersPerBlock ||
        w - blocks.back() >= kWorkersPerBlock) {
      blocks.push_back(w);
    }
  }
  return blocks;
}

HugeVector<double> log_task_priors(const CategoryData& data, const RunContext& context) {
  HugeVector<double> logs(data.task_priors.size());
  const Blocks blocks{logs.size(), 16384};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) logs[i] = math::log(data.task_priors[i]);
  });
  return logs;
}

namespace {

AccuracyPrior prior_of(const Settings& settings) {
  PriorPart first = settings.first, second = settings.second;
  first.share = 1 - second.share;
  switch (settings.prior) {
    case Settings::Prior::mixture: return {first, second};
    case Settings::Prior::two_points: {
      first.is_point = second.is_point = true;
      return {first, second};
    }
    // The guessing accuracy 1/K is filled in when the data are known.
    case Settings::Prior::spammer_hammer: return spammer_hammer_prior(second.share, first.point, 2);
    case Settings::Prior::beta: break;
  }
  return beta_prior(first.right, first.wrong);
}

constexpr auto kModelNames = enum_names<Options::Model>({{Options::Model::one_coin, "one_coin"},
                                                         {Options::Model::two_coin, "two_coin"},
                                                         {Options::Model::tables, "tables"}});
constexpr auto kMessageNames = enum_names<Options::Messages>({{Options::Messages::quadrature, "quadrature"},
                                                              {Options::Messages::recursion, "recursion"},
                                                              {Options::Messages::division, "division"},
                                                              {Options::Messages::particles, "particles"}});
constexpr auto kPriorNames = enum_names<Settings::Prior>({{Settings::Prior::beta, "beta"},
                                                          {Settings::Prior::mixture, "mixture"},
                                                          {Settings::Prior::two_points, "two_points"},
                                                          {Settings::Prior::spammer_hammer, "spammer_hammer"}});
constexpr auto kBpClassPriorNames = enum_names<Options::ClassPrior>(
    {{Options::ClassPrior::uniform, "uniform"}, {Options::ClassPrior::learned, "learned"}});

void parameters(ParameterVisitor& v, Settings& s) {
  Options& o = s.options;
  v.choice("model", o.model, kModelNames,
           "what a worker is: one accuracy; one accuracy per class (two classes only); or a whole "
           "confusion table");
  v.choice("messages", o.messages, kMessageNames,
           "how a worker is integrated out: quadrature, recursion and division are exact (the last "
           "two for checking; they take time in the square of a worker's answers); particles draws "
           "from the prior. Tables always use particles");
  v.choice("prior", s.prior, kPriorNames,
           "one coin: what accuracies are like. Beta(right, wrong); a share of a second Beta; two "
           "values; or some who know and others who guess");
  v.real("right", s.first.right, 1e-3, 1e6, "one coin: Beta(right, wrong) prior of an accuracy; must lean right");
  v.real("wrong", s.first.wrong, 1e-3, 1e6, "see right");
  v.real("second_share", s.second.share, 0, 1,
         "share of workers in the second part of the prior; the guessers in spammer_hammer");
  v.real("second_right", s.second.right, 1e-3, 1e6, "mixture: the second Beta");
  v.real("second_wrong", s.second.wrong, 1e-3, 1e6, "mixture: the second Beta");
  v.real("point", s.first.point, 0, 1, "two_points, spammer_hammer: accuracy of those who know");
  v.real("second_point", s.second.point, 0, 1, "two_points: the other accuracy");
  v.real("diagonal", o.table_prior.diagonal, 1e-3, 1e6,
         "two_coin and tables: pseudo-count of a right answer in each row of a table");
  v.real("off_diagonal", o.table_prior.off_diagonal, 1e-3, 1e6,
         "two_coin and tables: pseudo-count of each wrong answer");
  v.integer("particles", o.particles, 1, 1e6, "draws per worker; the same ones in every iteration");
  v.real("damping", o.damping, 0, 0.99,
         "share of the old message that is kept; raised to 0.5 by itself when messages oscillate");
  v.choice("class_prior", o.class_prior, kBpClassPriorNames, "the probability of each class before any answer");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "give up after this many iterations");
  v.real("tolerance", o.tolerance, 0, 1, "stop when no message, as a probability, changes by more than this");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
  MethodInfo info;
  info.title = "Belief propagation";
  info.summary = "Sum-product messages between tasks and workers, every worker's accuracy integrated out exactly.";
  info.when_to_use =
      "Few answers per worker, or a prior of workers that you trust: uncertainty about workers is kept, where EM and "
      "mean-field settle on one value. Robust to a few tireless spammers. One coin is the wrong model for workers who "
      "favour a class: then model=tables, or hierarchical_dawid_skene.";
  info.reference = "Q. Liu, J. Peng, A. Ihler, Variational inference for crowdsourcing, NIPS 2012";
  info.assumptions =
      "Workers are draws of the given prior and err independently; exact where the graph of tasks and workers has no "
      "loops, good where loops are long or workers have many answers.";
  info.cost = "one coin: time S·sqrt(answers per worker) + N·K, memory 16·S + N·K; tables: time S·K·particles";
  info.uses_gold = true;
  info.uses_task_priors = true;
  info.uses_chance = true;  // particles only; the exact messages draw nothing
  info.uses_start = true;
  info.allows_repeats = false;
  return CategoryMethod::of<BeliefPropagation, parameters>(std::move(info));
}

Options options_of(const Settings& settings) {
  Options options = settings.options;
  options.accuracy_prior = prior_of(settings);
  options.guess_by_class_count = settings.prior == Settings::Prior::spammer_hammer;
  return options;
}

namespace {

CategoryFit fit_of_one_class(CategoryFit result, const RunContext& context) {
  result.posterior.assign(result.task_count * result.class_count, 1.0);
  result.labels.assign(result.task_count, ClassId{0});
  result.skill.assign(result.worker_count, 1.0);
  result.confusion.assign(result.worker_count * result.class_count, 1.0);
  if (context.cancelled()) result.status = Status::cancelled;
  return result;
}

/// The share of the old message that is kept. It is raised once messages go round in circles.
class Damping {
 public:
  explicit Damping(double first) : value_(first) {}
  [[nodiscard]] double value() const { return value_; }
  void look_at(double change, std::size_t iteration) {
    if (change < smallest_change_) {
      smallest_change_ = change;
      last_progress_ = iteration;
    } else if (iteration - last_progress_ >= kPatience && value_ < kCalmingDamping) {
      value_ = kCalmingDamping;
      last_progress_ = iteration;
    }
  }

 private:
  double value_, smallest_change_ = 2;
  std::size_t last_progress_ = 0;
};

/// Messages until they settle; returns the damping of the last ones.
double exchange_messages(const CategoryData& data, const RunContext& context, const CategoryStart& start,
                         const Options& options, Network& network, std::span<double> log_prior, CategoryFit& result) {
  const bool learns_prior = options.class_prior == Options::ClassPrior::learned;
  Damping damping(options.damping);
  result.objective_name = "Bethe log evidence";
  result.status = Status::iteration_limit;
  network.tell_workers(log_prior, start.posterior);
  for (std::size_t iteration = 0; iteration < options.max_iterations; ++iteration) {
    const WorkerSums said = network.tell_tasks(damping.value(), iteration);
    const TaskSums heard = network.tell_workers(log_prior, {});
    result.trace.push_back(said.log_evidence + heard.log_evidence);
    result.iterations = iteration + 1;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(iteration + 1),
                    .total = static_cast<double>(options.max_iterations),
                    .objective = result.trace.back(),
                    .has_objective = true});
    if (context.cancelled()) {
      result.status = Status::cancelled;
      break;
    }
    if (said.change <= options.tolerance) {
      result.status = Status::converged;
      break;
    }
    damping.look_at(said.change, iteration);
    if (!learns_prior) continue;
    if (data.task_priors.empty()) {
      result.class_prior = heard.class_mass;
      normalise(result.class_prior);
    }
    for (std::size_t k = 0; k < log_prior.size(); ++k) {
      log_prior[k] = math::log(std::max(result.class_prior[k], kProbabilityFloor));
    }
  }
  return damping.value();
}

void warn_of_beliefs(const CategoryData& data, const CategoryStart& start, const Options& options, double damping,
                     CategoryFit& result) {
  const bool coin = options.model == Options::Model::one_coin;
  const double guess = 1.0 / static_cast<double>(result.class_count);
  const double lead = coin ? prior_mean(normalised(options.accuracy_prior)) - guess
                           : options.table_prior.diagonal - options.table_prior.off_diagonal;
  if (lead < 1e-9 && start.empty() && data.gold.empty() && data.task_priors.empty()) {
    result.warnings.push_back({"prior_expects_no_skill",
                               "the prior expects workers to be no better than a guess, so nothing tells a class from "
                               "its opposite",
                               "make the prior lean to right answers, or give gold.", Severity::serious});
  }
  if (damping > options.damping) {
    result.warnings.push_back({"oscillating_messages", "messages went round in circles, so they were damped by 0.5",
                               "set damping yourself for more, and look at the status."});
  }
}

/// `messages`, if not null, are where to begin (unless empty), and hold where it ended.
CategoryFit propagate(const CategoryData& data, const RunContext& context, const CategoryStart& start, Options options,
                      std::vector<WorkerBelief>* workers, std::vector<double>* messages = nullptr) {
  CategoryFit result = start_aggregation(data);
  const std::size_t classes = result.class_count;
  result.tie_rule = options.ties;
  result.class_prior.assign(classes, 1.0 / static_cast<double>(std::max<std::size_t>(classes, 1)));
  if (classes < 2) return fit_of_one_class(std::move(result), context);
  if (options.model == Options::Model::two_coin && classes != 2) {
    throw Error(ErrorCode::unsupported, "bp with model=two_coin works for two classes: set model=tables");
  }
  if (options.guess_by_class_count) options.accuracy_prior.back().point = 1.0 / static_cast<double>(classes);

  const auto network = options.model == Options::Model::one_coin ? make_coin_network(data, context, options)
                                                                 : make_table_network(data, context, options);
  std::vector<double> log_prior(classes);
  for (std::size_t k = 0; k < classes; ++k) log_prior[k] = math::log(result.class_prior[k]);
  const auto started = std::chrono::steady_clock::now();
  if (messages != nullptr && !messages->empty()) network->set_messages(*messages);
  const double damping = exchange_messages(data, context, start, options, *network, log_prior, result);
  result.posterior.resize(result.task_count * classes);
  network->beliefs(log_prior, result.posterior);
  pin_gold(data, result.posterior);
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(result.iterations);
  if (!data.task_priors.empty()) result.class_prior = mean_posterior(data.answers, result.posterior);
  network->describe_workers(result, workers);
  if (messages != nullptr) *messages = network->messages();
  result.labels = hard_labels(result.posterior, classes, options.ties, context);
  result.learned.emplace_back("damping", damping);
  result.learned.emplace_back("bethe_log_evidence", result.trace.back());
  warn_of_beliefs(data, start, options, damping, result);
  return result;
}

/// The answers and the last messages.
class Session final : public BeliefSession {
 public:
  Session(CategoryData data, Options options) : data_(std::move(data)), options_(std::move(options)) {}

  CategoryFit infer(std::span<const double> task_priors, const RunContext& context) override {
    data_.task_priors.assign(task_priors.begin(), task_priors.end());
    validate(data_);
    return propagate(data_, context, {}, options_, nullptr, &messages_);
  }
  [[nodiscard]] std::unique_ptr<BeliefSession> clone() const override { return std::make_unique<Session>(*this); }

 private:
  CategoryData data_;
  Options options_;
  std::vector<double> messages_;
};

}  // namespace

CategoryFit BeliefPropagation::fit(const CategoryData& data, const RunContext& context,
                                   const CategoryStart& start) const {
  return propagate(data, context, start, options_, nullptr);
}

CategoryFit BeliefPropagation::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start,
                                   std::vector<WorkerBelief>& workers) const {
  return propagate(data, context, start, options_, &workers);
}

}  // namespace wisecrowd::bp

namespace wisecrowd {

std::unique_ptr<BeliefSession> make_belief_session(const CategoryData& data, const Parameters& parameters) {
  if (data.answers.has_repeats()) {
    throw Error(ErrorCode::unsupported,
                fmt::format("belief propagation cannot use repeated answers of a worker to a task: read the data with "
                            "the duplicate policy {}",
                            to_string(DuplicatePolicy::keep_last)));
  }
  return std::make_unique<bp::Session>(data, bp::options_of(read_parameters(bp::parameters, parameters)));
}

}  // namespace wisecrowd
