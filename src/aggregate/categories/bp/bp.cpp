#include "aggregate/categories/bp/bp.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/categories/bp/network.hpp"
#include "aggregate/categories/shared/votes.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/belief_session.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::bp {
namespace {

/// Without a new smallest change for so long, messages are taken to go round in circles.
constexpr std::size_t kPatience = 10;
constexpr double kCalmingDamping = 0.5;

AccuracyPrior prior_from(const Parameters& parameters) {
  const std::string& kind = parameters.choice("prior");
  const double share = parameters.real("second_share");
  const PriorPart beta{.right = parameters.real("right"), .wrong = parameters.real("wrong")};
  if (kind == "mixture") {
    PriorPart first = beta;
    first.share = 1 - share;
    return {first,
            {.share = share, .right = parameters.real("second_right"), .wrong = parameters.real("second_wrong")}};
  }
  if (kind == "two_points") {
    return {{.share = 1 - share, .is_point = true, .point = parameters.real("point")},
            {.share = share, .is_point = true, .point = parameters.real("second_point")}};
  }
  // The guessing accuracy 1/K is filled in when the data are known.
  if (kind == "spammer_hammer") return spammer_hammer_prior(share, parameters.real("point"), 2);
  return {beta};
}

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
    for (std::size_t i = blocks.begin(block); i < blocks.end(block); ++i) logs[i] = std::log(data.task_priors[i]);
  });
  return logs;
}

MethodInfo info() {
  const Options defaults;
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
  info.parameters = {
      ParameterSpec::choice("model", "one_coin", {"one_coin", "two_coin", "tables"},
                            "what a worker is: one accuracy; one accuracy per class (two classes only); or a whole "
                            "confusion table"),
      ParameterSpec::choice("messages", "quadrature", {"quadrature", "recursion", "division", "particles"},
                            "how a worker is integrated out: quadrature, recursion and division are exact (the last "
                            "two for checking; they take time in the square of a worker's answers); particles draws "
                            "from the prior. Tables always use particles"),
      ParameterSpec::choice("prior", "beta", {"beta", "mixture", "two_points", "spammer_hammer"},
                            "one coin: what accuracies are like. Beta(right, wrong); a share of a second Beta; two "
                            "values; or some who know and others who guess"),
      ParameterSpec::real("right", 2, 1e-3, 1e6, "one coin: Beta(right, wrong) prior of an accuracy; must lean right"),
      ParameterSpec::real("wrong", 1, 1e-3, 1e6, "see right"),
      ParameterSpec::real("second_share", 0.3, 0, 1,
                          "share of workers in the second part of the prior; the guessers in spammer_hammer"),
      ParameterSpec::real("second_right", 1, 1e-3, 1e6, "mixture: the second Beta"),
      ParameterSpec::real("second_wrong", 1, 1e-3, 1e6, "mixture: the second Beta"),
      ParameterSpec::real("point", 0.9, 0, 1, "two_points, spammer_hammer: accuracy of those who know"),
      ParameterSpec::real("second_point", 0.5, 0, 1, "two_points: the other accuracy"),
      ParameterSpec::real("diagonal", defaults.table_prior.diagonal, 1e-3, 1e6,
                          "two_coin and tables: pseudo-count of a right answer in each row of a table"),
      ParameterSpec::real("off_diagonal", defaults.table_prior.off_diagonal, 1e-3, 1e6,
                          "two_coin and tables: pseudo-count of each wrong answer"),
      ParameterSpec::integer("particles", static_cast<std::int64_t>(defaults.particles), 1, 1e6,
                             "draws per worker; the same ones in every iteration"),
      ParameterSpec::real("damping", defaults.damping, 0, 0.99,
                          "share of the old message that is kept; raised to 0.5 by itself when messages oscillate"),
      ParameterSpec::choice("class_prior", "uniform", {"uniform", "learned"},
                            "the probability of each class before any answer"),
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.max_iterations), 1, 1e9,
                             "give up after this many iterations"),
      ParameterSpec::real("tolerance", defaults.tolerance, 0, 1,
                          "stop when no message, as a probability, changes by more than this"),
      tie_rule_parameter(),
  };
  return info;
}

namespace {

Options options_from(const Parameters& parameters) {
  Options options;
  const std::string& model = parameters.choice("model");
  const std::string& messages = parameters.choice("messages");
  using Model = Options::Model;
  using Messages = Options::Messages;
  options.model = model == "tables" ? Model::tables : model == "two_coin" ? Model::two_coin : Model::one_coin;
  options.messages = messages == "recursion"   ? Messages::recursion
                     : messages == "division"  ? Messages::division
                     : messages == "particles" ? Messages::particles
                                               : Messages::quadrature;
  options.accuracy_prior = prior_from(parameters);
  options.guess_by_class_count = parameters.choice("prior") == "spammer_hammer";
  options.table_prior = {parameters.real("diagonal"), parameters.real("off_diagonal")};
  options.particles = static_cast<std::size_t>(parameters.integer("particles"));
  options.damping = parameters.real("damping");
  options.class_prior =
      parameters.choice("class_prior") == "learned" ? Options::ClassPrior::learned : Options::ClassPrior::uniform;
  options.max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations"));
  options.tolerance = parameters.real("tolerance");
  options.ties = tie_rule_from(parameters.choice("ties"));
  return options;
}

/// `messages`, if not null, are where to begin (unless empty), and hold where it ended.
CategoryFit propagate(const CategoryData& data, const RunContext& context, const CategoryStart& start, Options options,
                      std::vector<WorkerBelief>* workers, std::vector<double>* messages = nullptr) {
  CategoryFit result = start_aggregation(data);
  const std::size_t classes = result.class_count;
  result.tie_rule = options.ties;
  result.class_prior.assign(classes, 1.0 / static_cast<double>(std::max<std::size_t>(classes, 1)));
  if (classes < 2) {  // nothing to find out
    result.posterior.assign(result.task_count * classes, 1.0);
    result.labels.assign(result.task_count, ClassId{0});
    result.skill.assign(result.worker_count, 1.0);
    result.confusion.assign(result.worker_count * classes, 1.0);
    if (context.cancelled()) result.status = Status::cancelled;
    return result;
  }
  if (options.model == Options::Model::two_coin && classes != 2) {
    throw Error(ErrorCode::unsupported, "bp with model=two_coin works for two classes: set model=tables");
  }
  if (options.guess_by_class_count) options.accuracy_prior.back().point = 1.0 / static_cast<double>(classes);

  const auto network = options.model == Options::Model::one_coin ? make_coin_network(data, context, options)
                                                                 : make_table_network(data, context, options);
  std::vector<double> log_prior(classes);
  const auto take_prior = [&](const TaskSums& sums) {
    if (options.class_prior == Options::ClassPrior::learned && data.task_priors.empty()) {
      result.class_prior = sums.class_mass;
      normalise(result.class_prior);
    }
    for (std::size_t k = 0; k < classes; ++k) {
      log_prior[k] = std::log(std::max(result.class_prior[k], kProbabilityFloor));
    }
  };
  for (std::size_t k = 0; k < classes; ++k) log_prior[k] = std::log(result.class_prior[k]);

  result.objective_name = "Bethe log evidence";
  result.status = Status::iteration_limit;
  double damping = options.damping, smallest_change = 2;
  std::size_t last_progress = 0;
  const auto started = std::chrono::steady_clock::now();
  if (messages != nullptr && !messages->empty()) network->set_messages(*messages);
  network->tell_workers(log_prior, start.posterior);
  for (std::size_t iteration = 0; iteration < options.max_iterations; ++iteration) {
    const WorkerSums said = network->tell_tasks(damping, iteration);
    const TaskSums heard = network->tell_workers(log_prior, {});
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
    if (said.change < smallest_change) {
      smallest_change = said.change;
      last_progress = iteration;
    } else if (iteration - last_progress >= kPatience && damping < kCalmingDamping) {
      damping = kCalmingDamping;
      last_progress = iteration;
    }
    if (options.class_prior == Options::ClassPrior::learned) take_prior(heard);
  }
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
  const bool coin = options.model == Options::Model::one_coin;
  const double lead = coin ? prior_mean(normalised(options.accuracy_prior)) - 1.0 / static_cast<double>(classes)
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

std::unique_ptr<CategoryAggregator> make(const Parameters& parameters) {
  return std::make_unique<BeliefPropagation>(options_from(parameters));
}

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
                "belief propagation cannot use repeated answers of a worker to a task: read the data with the "
                "duplicate policy keep_last");
  }
  return std::make_unique<bp::Session>(data, bp::options_from(parameters));
}

}  // namespace wisecrowd
