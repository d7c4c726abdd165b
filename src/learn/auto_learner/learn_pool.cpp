#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/auto_learner/auto_learner.hpp"
#include "learn/auto_learner/pool.hpp"
#include "learn/shared/answer_power.hpp"
#include "learn/shared/classifier.hpp"
#include "learn/shared/epochs.hpp"
#include "learn/shared/soft_label_model.hpp"

namespace wisecrowd::auto_learner {
namespace {

/// Answers of an ordinary worker that are added to each worker's own when the tables are counted.
constexpr double kPooledAnswers = 4;
/// Tasks that speak for each member of the pool beforehand.
constexpr double kPriorTasks = 10;

struct Member {
  std::string name;
  Learned learned;

  [[nodiscard]] const RowModel& model() const { return dynamic_cast<const RowModel&>(*learned.classifier); }
};

/// Those that came to an end; `diverged` are those that left the finite numbers.
std::vector<Member> train_members(const LearningData& data, const NetworkSpec& network, const TrainingOptions& training,
                                  const RunContext& context, std::vector<std::string>& diverged) {
  std::vector<Member> trained;
  for (const std::string& name : members()) {
    if (!trained.empty() && context.cancelled()) break;
    try {
      trained.push_back({name, learn(data, name, parameters_of(learning_method(name), training), network, context)});
    } catch (const Diverged&) {
      if (trained.empty() && name == members().back()) throw;
      diverged.push_back(name);
    }
  }
  return trained;
}

/// Without those whose hidden tasks were not judged to the end because the run was stopped on the way.
void keep_comparable(std::vector<Member>& members) {
  const std::size_t judged = members.front().learned.held_out_per_task.size();
  std::erase_if(members, [&](const Member& m) { return m.learned.held_out_per_task.size() != judged; });
}

/// What the members say of each task: the labels of the pool.
class PooledLabels final : public SoftLabelModel {
 public:
  /// `posterior` is the pool's: tasks of the data × classes.
  PooledLabels(const TrainingSet& set, std::span<const double> posterior) : SoftLabelModel(set) {
    std::fill(class_prior_.begin(), class_prior_.end(), 0.0);
    for (std::size_t i = 0; i < set.task_count(); ++i) {
      for (std::size_t k = 0; k < classes(); ++k) {
        labels_[i * classes() + k] = posterior[index(set.task[i]) * classes() + k];
        class_prior_[k] += labels_[i * classes() + k];
      }
    }
    normalise(class_prior_);
    pin_gold();
    tables_ = pooled_tables_from(set, labels_, kPooledAnswers);
  }
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<PooledLabels>(*this); }
};

/// The members with what their pool needs.
struct Pool {
  std::span<const Member> members;
  std::vector<double> weights;
  std::vector<double> posterior;          ///< of all tasks of the data, weighted mean of the members'
  std::optional<HiddenTasks> parts;       ///< the tasks that no member saw at first
  std::vector<double> hidden_logarithms;  ///< of these the classifiers' probabilities, weighted mean of the logarithms
};

Pool make_pool(std::span<const Member> members, const TrainingSet& all, double held_out, const RunContext& context) {
  Pool pool{.members = members,
            .weights = std::vector<double>(members.size(), 1 / static_cast<double>(members.size())),
            .posterior = std::vector<double>(members.front().learned.crowd.posterior.size(), 0.0),
            .parts = hide_tasks(all, held_out, context),
            .hidden_logarithms = {}};
  if (pool.parts) {
    const CrowdJudge judge(all, pool.parts->hidden.task, context);
    std::vector<std::vector<double>> ratios;
    for (const Member& member : members) ratios.push_back(judge.ratios(member.model().held_out_probabilities()));
    pool.weights = mixture_weights(ratios, kPriorTasks);
    pool.hidden_logarithms.assign(members.front().model().held_out_probabilities().size(), 0.0);
  }
  for (std::size_t c = 0; c < members.size(); ++c) {
    const std::vector<double>& own = members[c].learned.crowd.posterior;
    const std::span<const double> hidden = members[c].model().held_out_probabilities();
    for (std::size_t cell = 0; cell < own.size(); ++cell) pool.posterior[cell] += pool.weights[c] * own[cell];
    for (std::size_t cell = 0; cell < pool.hidden_logarithms.size(); ++cell) {
      pool.hidden_logarithms[cell] += pool.weights[c] * math::log(std::max(hidden[cell], kProbabilityFloor));
    }
  }
  return pool;
}

/// The class that each output of a member's network stands for.
std::vector<std::size_t> class_of_outputs(const OutputHead& head, std::size_t classes) {
  std::vector<std::size_t> class_of;
  std::vector<double> one(classes, 0.0), values(classes);
  for (std::size_t k = 0; k < classes; ++k) {
    one[k] = 1;
    head.logits(one, values);
    one[k] = 0;
    class_of.push_back(static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin()));
  }
  return class_of;
}

/// The members' networks as one, which gives the weighted mean of their logits. Its curve is that of the member that
/// weighs most.
Learned merge_networks(const Pool& pool, TrainingSet& all, const LearningData& data, const NetworkSpec& network,
                       TrainingOptions training, const RunContext& context) {
  const auto make_model = [&](const TrainingSet& set, Rng) {
    return std::make_unique<PooledLabels>(set, pool.posterior);
  };
  const std::size_t leader =
      static_cast<std::size_t>(std::max_element(pool.weights.begin(), pool.weights.end()) - pool.weights.begin());
  const Learned& first = pool.members[leader].learned;
  Learned learned;
  learned.curve = first.curve;
  learned.epochs = first.epochs;
  learned.chosen_epoch = first.chosen_epoch;
  CategoryFit& crowd = learned.crowd;
  crowd.task_count = first.crowd.task_count;
  crowd.worker_count = first.crowd.worker_count;
  crowd.class_count = first.crowd.class_count;
  crowd.iterations = first.crowd.iterations;
  crowd.seconds_per_iteration = first.crowd.seconds_per_iteration;
  crowd.status = first.crowd.status;
  crowd.objective_name = first.crowd.objective_name;
  crowd.trace = first.crowd.trace;
  crowd.warnings = first.crowd.warnings;

  double power = training.answer_power;
  if (pool.parts) {
    const PooledLabels seen(pool.parts->seen, pool.posterior);
    learned.held_out_per_task = seen.answer_likelihoods(pool.parts->hidden, pool.hidden_logarithms);
    if (power == 0) {
      power = learned_power(seen, pool.parts->hidden, pool.hidden_logarithms);
      crowd.learned.emplace_back("answer_power", power);
    }
  }
  const Scaling scaling = training.standardise ? standardise(data.features, all.row) : Scaling{};
  const Features inputs = scaled(data.features, scaling);
  all.inputs = &inputs;
  std::vector<DensePart> parts;
  for (std::size_t c = 0; c < pool.members.size(); ++c) {
    const RowModel& its = pool.members[c].model();
    parts.push_back({its.weights(), class_of_outputs(its.head(), all.class_count), pool.weights[c]});
  }
  const NetworkSpec wider = wide(network, parts.size());
  training.average_epochs = 0;  // nothing is trained any more
  TrainingRun run(all, inputs, wider, training, make_model, "merging", context);
  run.resume_from(merged(parts, network, inputs.columns(), all.class_count), {});
  conclude(run, nullptr, data, wider, scaling, power == 0 ? 1 : power, learned);
  return learned;
}

Learned pooled_from(std::span<const Member> members, const LearningData& data, const NetworkSpec& network,
                    const TrainingOptions& training, const RunContext& context) {
  TrainingSet all = tasks_to_learn_from(data);
  const Pool pool = make_pool(members, all, training.held_out, context);
  const bool merge = can_merge(network, members.size());
  Learned learned =
      merge ? merge_networks(pool, all, data, network, training, context)
            : train(
                  data, network, training,
                  [&](const TrainingSet& set, Rng) { return std::make_unique<PooledLabels>(set, pool.posterior); },
                  context);
  std::vector<std::string> told;
  for (std::size_t c = 0; c < members.size(); ++c) {
    learned.crowd.learned.emplace_back("weight_of_" + members[c].name, pool.weights[c]);
    told.push_back(fmt::format("{} {:.2f}", members[c].name, pool.weights[c]));
  }
  learned.crowd.explanation = fmt::format(
      "{} of {} learners, weighed by how well they foretold what the crowd says of held-out tasks: {}",
      merge ? "the mean of the networks" : "a network trained on the labels", members.size(), fmt::join(told, ", "));
  return learned;
}

}  // namespace

std::vector<std::string> members() { return {"max_mig", "ccem", "crowd_layer"}; }

Learned learn_pool(const LearningData& data, const NetworkSpec& network, const TrainingOptions& training,
                   const RunContext& context, std::vector<std::string>& diverged) {
  std::vector<Member> trained = train_members(data, network, training, context, diverged);
  keep_comparable(trained);
  if (trained.size() == 1 || context.cancelled()) return std::move(trained.front().learned);
  return pooled_from(trained, data, network, training, context);
}

}  // namespace wisecrowd::auto_learner
