#include "learn/crowd_layer/crowd_layer.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/learner_entry.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::crowd_layer {
namespace {

std::size_t block_size(Layer layer, std::size_t classes) {
  switch (layer) {
    case Layer::matrix: return classes * classes;
    case Layer::weights: return classes;
    case Layer::biases: return classes;
    case Layer::weights_biases: return 2 * classes;
    case Layer::scale: return 1;
  }
  return 0;
}

/// The layer that changes nothing: identity, ones, zeros.
std::vector<double> neutral(const TrainingSet& set, Layer layer) {
  const std::size_t classes = set.class_count, block = block_size(layer, classes);
  std::vector<double> one(block, layer == Layer::weights || layer == Layer::scale ? 1.0 : 0.0);
  if (layer == Layer::weights_biases) std::fill_n(one.begin(), classes, 1.0);
  if (layer == Layer::matrix) {
    for (std::size_t k = 0; k < classes; ++k) one[k * classes + k] = 1;
  }
  std::vector<double> all;
  all.reserve(set.worker_count * block);
  for (std::size_t j = 0; j < set.worker_count; ++j) all.insert(all.end(), one.begin(), one.end());
  return all;
}

/// log(c_j + 1e-4), c_j the worker's table when the votes are taken for the truth.
std::vector<double> from_votes(const TrainingSet& set) {
  constexpr double kBesideNothing = 1e-4;
  std::vector<double> all = tables_from(set, vote_shares(set), 0, 0);
  for (double& cell : all) cell = math::log(cell + kBesideNothing);
  return all;
}

}  // namespace

LayerModel::LayerModel(const TrainingSet& set, const Options& options)
    : set_(&set),
      layer_(options.layer),
      block_(block_size(options.layer, set.class_count)),
      weights_(options.start == Options::Start::votes ? from_votes(set) : neutral(set, options.layer), block_,
               options.worker_learning_rate),
      warm_up_{options.warm_up},
      class_prior_(set.class_count, 0.0) {
  const std::vector<double> votes = vote_shares(set);
  for (std::size_t cell = 0; cell < votes.size(); ++cell) class_prior_[cell % set.class_count] += votes[cell];
  normalise(class_prior_);
}

void LayerModel::forward(std::span<const double> o, WorkerId worker, std::span<double> logits) const {
  const std::size_t classes = set_->class_count;
  const auto w = weights_.of(worker);
  switch (layer_) {
    case Layer::matrix:
      std::fill(logits.begin(), logits.end(), 0.0);
      for (std::size_t k = 0; k < classes; ++k) {
        for (std::size_t l = 0; l < classes; ++l) logits[l] += o[k] * w[k * classes + l];
      }
      break;
    case Layer::weights:
      for (std::size_t k = 0; k < classes; ++k) logits[k] = w[k] * o[k];
      break;
    case Layer::biases:
      for (std::size_t k = 0; k < classes; ++k) logits[k] = o[k] + w[k];
      break;
    case Layer::weights_biases:
      for (std::size_t k = 0; k < classes; ++k) logits[k] = w[k] * o[k] + w[classes + k];
      break;
    case Layer::scale:
      for (std::size_t k = 0; k < classes; ++k) logits[k] = w[0] * o[k];
      break;
  }
}

void LayerModel::step(double pace) {
  ++warm_up_.steps;
  weights_.step(layers_move_ ? pace : 0);
}

double LayerModel::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                        MatrixView<double> output_gradients) {
  const std::size_t classes = set_->class_count;
  std::size_t terms = 0;
  for (const std::uint32_t i : tasks) {
    terms += set_->offset[i + 1] - set_->offset[i] + (set_->gold[i] != kNoClass ? 1 : 0);
  }
  const double weight = terms == 0 ? 0 : 1 / static_cast<double>(terms);
  std::vector<double> o(classes), logits(classes), p(classes);
  double sum = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    const auto at_o = output_gradients.row(b);
    std::fill(at_o.begin(), at_o.end(), 0.0);
    classify(outputs.row(b), o);
    for (std::uint32_t a = set_->offset[tasks[b]]; a < set_->offset[tasks[b] + 1]; ++a) {
      const WorkerId worker = set_->worker[a];
      const ClassId label = set_->label[a];
      forward(o, worker, logits);
      p = logits;
      sum += softmax(p) - logits[index(label)];
      // From here p is the gradient at the worker's logits.
      p[index(label)] -= 1;
      for (double& value : p) value *= weight;
      const auto w = weights_.of(worker);
      const auto at_w = weights_.gradient(worker);
      for (std::size_t k = 0; k < classes; ++k) {
        switch (layer_) {
          case Layer::matrix:
            for (std::size_t l = 0; l < classes; ++l) {
              at_w[k * classes + l] += o[k] * p[l];
              at_o[k] += w[k * classes + l] * p[l];
            }
            break;
          case Layer::weights:
            at_w[k] += o[k] * p[k];
            at_o[k] += w[k] * p[k];
            break;
          case Layer::biases:
            at_w[k] += p[k];
            at_o[k] += p[k];
            break;
          case Layer::weights_biases:
            at_w[k] += o[k] * p[k];
            at_w[classes + k] += p[k];
            at_o[k] += w[k] * p[k];
            break;
          case Layer::scale:
            at_w[0] += o[k] * p[k];
            at_o[k] += w[0] * p[k];
            break;
        }
      }
    }
    // Known truth teaches the network itself.
    if (const ClassId gold = set_->gold[tasks[b]]; gold != kNoClass) {
      const double right = std::max(o[index(gold)], kProbabilityFloor);
      sum -= math::log(right);
      at_o[index(gold)] -= weight / right;
    }
    softmax_backward(o, at_o);
  }
  return sum * weight;
}

std::vector<double> LayerModel::worker_tables() const {
  const std::size_t classes = set_->class_count;
  std::vector<double> tables(set_->worker_count * classes * classes), sure(classes, 0.0);
  for (std::size_t j = 0; j < set_->worker_count; ++j) {
    for (std::size_t k = 0; k < classes; ++k) {
      const auto row = std::span(tables).subspan((j * classes + k) * classes, classes);
      sure[k] = 1;
      forward(sure, WorkerId(j), row);
      sure[k] = 0;
      softmax(row);
    }
  }
  return tables;
}

void LayerModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                           std::span<double> probabilities) const {
  const std::size_t classes = set_->class_count;
  if (outputs.empty()) {
    std::transform(class_prior_.begin(), class_prior_.end(), probabilities.begin(),
                   [](double p) { return math::log(std::max(p, kProbabilityFloor)); });
  } else {
    std::copy(outputs.begin(), outputs.end(), probabilities.begin());
  }
  std::vector<double> sure(classes, 0.0), logits(classes);
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    for (std::size_t k = 0; k < classes; ++k) {
      sure[k] = 1;
      forward(sure, answers.workers[a], logits);
      sure[k] = 0;
      probabilities[k] += logits[index(answers.labels[a])] - log_sum_exp(logits);
    }
  }
  softmax(probabilities);
}

void LayerModel::remember(AnswerMemory& memory) const {
  memory.tables = worker_tables();
  memory.log_weights.resize(memory.tables.size());
  const std::size_t classes = set_->class_count;
  std::vector<double> sure(classes, 0.0);
  for (std::size_t j = 0; j < set_->worker_count; ++j) {
    for (std::size_t k = 0; k < classes; ++k) {
      const auto row = std::span(memory.log_weights).subspan((j * classes + k) * classes, classes);
      sure[k] = 1;
      forward(sure, WorkerId(j), row);
      sure[k] = 0;
      const double total = log_sum_exp(row);
      for (double& value : row) value -= total;
    }
  }
}

double LayerModel::answer_probability(std::span<const double> outputs, WorkerId worker, ClassId label) const {
  std::vector<double> o(outputs.size()), p(outputs.size());
  classify(outputs, o);
  forward(o, worker, p);
  softmax(p);
  return p[index(label)];
}

Recipe CrowdLayer::recipe(const LearningData&, const NetworkSpec&, const RunContext&) const {
  if (options_.start == Options::Start::votes && options_.layer != Layer::matrix) {
    throw Error(ErrorCode::bad_parameter, "start=votes makes matrices: take layer=MW, or start=identity");
  }
  return {options_.training,
          [this](const TrainingSet& set, Rng) { return std::make_unique<LayerModel>(set, options_); }};
}

namespace {

constexpr auto kLayerNames = enum_names<Layer>({{Layer::matrix, "MW"},
                                                {Layer::weights, "VW"},
                                                {Layer::biases, "VB"},
                                                {Layer::weights_biases, "VW+B"},
                                                {Layer::scale, "SW"}});

constexpr auto kStartNames =
    enum_names<Options::Start>({{Options::Start::identity, "identity"}, {Options::Start::votes, "votes"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("layer", o.layer, kLayerNames,
           "what each worker has: a matrix, a weight per class, a bias per class, both, or one scale");
  v.choice("start", o.start, kStartNames,
           "the layers before training: such that they change nothing (as published), or, of MW, logarithms of the "
           "workers' tables when the votes are taken for the truth (as in the comparison of Max-MIG)");
  v.real("worker_learning_rate", o.worker_learning_rate, 0, 100, "size of the steps of the layers");
  v.integer("warm_up", o.warm_up, 0, 1e6,
            "epochs in which the layers change nothing, so that the network carries the signal first");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "Crowd layer";
  info.summary = "Trains the network through a small layer per worker, which is taken away afterwards.";
  info.when_to_use = "Most workers are decent and each has a bias of its own; the classic to compare with.";
  info.reference = "Rodrigues, Pereira: Deep learning from crowds, AAAI 2018";
  info.uses_gold = true;
  info.assumptions = "Most answers are right: where naive workers are the majority the network learns them.";
  info.cost = "O(S K²) per epoch beside the network (O(S K) but for MW); memory O(M K²) or less";
  return LearnerEntry::of<CrowdLayer, parameters>(std::move(info));
}

}  // namespace wisecrowd::crowd_layer
