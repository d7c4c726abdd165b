#include "learn/doctor_net/doctor_net.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/shared/answer_memory.hpp"
#include "learn/shared/learner_entry.hpp"

namespace wisecrowd::doctor_net {
namespace {

constexpr std::size_t kWeightSteps = 300;
constexpr double kWeightRate = 0.05;

}  // namespace

HeadsModel::HeadsModel(const TrainingSet& set, const Options& options)
    : set_(&set),
      options_(options),
      // From 0: the first step points to what the answers say, however the trunk starts.
      shared_(std::vector<double>(set.class_count * (options.width + 1), 0.0), set.class_count * (options.width + 1),
              options.worker_learning_rate, options.worker_decay),
      parted_(false),
      weights_(set.worker_count, 0.0),
      class_prior_(set.class_count, 0.0) {
  for (const WorkerId worker : set.worker) weights_[index(worker)] += 1;
  for (std::size_t j = 0; j < set.worker_count; ++j) {
    if (weights_[j] > 0) answering_.push_back(WorkerId(j));
    if (options.weights != Weights::answers) weights_[j] = weights_[j] > 0 ? 1 : 0;
  }
  normalise(weights_);
  const std::vector<double> votes = vote_shares(set);
  for (std::size_t cell = 0; cell < votes.size(); ++cell) class_prior_[cell % set.class_count] += votes[cell];
  normalise(class_prior_);
}

void HeadsModel::begin_epoch(const Epoch& epoch) {
  if (!parted_ && epoch.number >= options_.warm_up) part();
}

void HeadsModel::part() {
  std::vector<double> all;
  all.reserve(set_->worker_count * shared_.all().size());
  for (std::size_t j = 0; j < set_->worker_count; ++j) {
    all.insert(all.end(), shared_.all().begin(), shared_.all().end());
  }
  heads_ = BlockAdam(std::move(all), shared_.all().size(), options_.worker_learning_rate, options_.worker_decay);
  parted_ = true;
}

void HeadsModel::predict(std::span<const double> head, std::span<const double> outputs,
                         std::span<double> probabilities) const {
  const std::size_t classes = probabilities.size(), width = options_.width;
  for (std::size_t k = 0; k < classes; ++k) {
    double sum = head[classes * width + k];
    for (std::size_t h = 0; h < width; ++h) sum += head[k * width + h] * outputs[h];
    probabilities[k] = sum;
  }
  softmax(probabilities);
}

double HeadsModel::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                        MatrixView<double> output_gradients) {
  const std::size_t classes = set_->class_count, width = options_.width;
  std::size_t terms = 0;
  for (const std::uint32_t i : tasks) terms += set_->offset[i + 1] - set_->offset[i];
  const double weight = terms == 0 ? 0 : 1 / static_cast<double>(terms);
  BlockAdam& heads = parted_ ? heads_ : shared_;
  std::vector<double> p(classes);
  double sum = 0;
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    const auto t = outputs.row(b);
    const auto at_t = output_gradients.row(b);
    std::fill(at_t.begin(), at_t.end(), 0.0);
    for (std::uint32_t a = set_->offset[tasks[b]]; a < set_->offset[tasks[b] + 1]; ++a) {
      const std::size_t owner = parted_ ? index(set_->worker[a]) : 0;
      const auto head = std::as_const(heads).of(owner);
      predict(head, t, p);
      sum -= math::log(std::max(p[index(set_->label[a])], kProbabilityFloor));
      p[index(set_->label[a])] -= 1;
      const auto at_head = heads.gradient(owner);
      for (std::size_t k = 0; k < classes; ++k) {
        const double slope = weight * p[k];
        at_head[classes * width + k] += slope;
        for (std::size_t h = 0; h < width; ++h) {
          at_head[k * width + h] += slope * t[h];
          at_t[h] += slope * head[k * width + h];
        }
      }
    }
  }
  return sum * weight;
}

void HeadsModel::step(double pace) {
  shared_.step(pace);
  heads_.step(pace);
}

void HeadsModel::classify(std::span<const double> outputs, std::span<double> probabilities) const {
  if (!parted_) return predict(shared_.of(0), outputs, probabilities);
  std::vector<double> p(probabilities.size());
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  for (const WorkerId worker : answering_) {
    predict(heads_.of(worker), outputs, p);
    for (std::size_t k = 0; k < p.size(); ++k) probabilities[k] += weights_[index(worker)] * p[k];
  }
  normalise(probabilities);
}

OutputHead HeadsModel::head() const {
  OutputHead head;
  const std::size_t cells = set_->class_count * options_.width;
  const auto add = [&](double weight, std::span<const double> block) {
    head.weights.push_back(weight);
    head.matrices.insert(head.matrices.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(cells));
    head.biases.insert(head.biases.end(), block.begin() + static_cast<std::ptrdiff_t>(cells), block.end());
  };
  if (!parted_) {
    add(1, shared_.of(0));
    return head;
  }
  for (const WorkerId worker : answering_) add(weights_[index(worker)], heads_.of(worker));
  normalise(head.weights);
  return head;
}

void HeadsModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                           std::span<double> probabilities) const {
  if (!outputs.empty()) return classify(outputs, probabilities);
  // Without features there is nothing but the answers.
  std::fill(probabilities.begin(), probabilities.end(), 0.0);
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    probabilities[index(answers.labels[a])] += weights_[index(answers.workers[a])];
  }
  double sum = 0;
  for (const double value : probabilities) sum += value;
  if (sum <= 0) std::copy(class_prior_.begin(), class_prior_.end(), probabilities.begin());
  normalise(probabilities);
}

void HeadsModel::remember(AnswerMemory& memory) const {
  memory.why_none =
      "doctor_net learns what each worker would say of a row, not how answers follow from the truth; take another "
      "learner, for example max_mig";
}

double HeadsModel::answer_probability(std::span<const double> outputs, WorkerId worker, ClassId label) const {
  std::vector<double> p(set_->class_count);
  predict(parted_ ? heads_.of(worker) : shared_.of(0), outputs, p);
  return p[index(label)];
}

double HeadsModel::weight_loss(std::span<const double> logits, std::span<const float> probabilities,
                               std::span<double> gradient) const {
  std::vector<double> w(logits.begin(), logits.end());
  softmax(w);
  std::fill(gradient.begin(), gradient.end(), 0.0);
  const double share = 1 / static_cast<double>(set_->answer_count());
  std::vector<std::size_t> place(set_->worker_count, 0);
  for (std::size_t m = 0; m < answering_.size(); ++m) place[index(answering_[m])] = m;
  double sum = 0;
  for (std::size_t a = 0; a < set_->answer_count(); ++a) {
    const std::size_t self = place[index(set_->worker[a])];
    const float* const p = probabilities.data() + a * w.size();
    double above = 0, below = 0;
    for (std::size_t m = 0; m < w.size(); ++m) {
      above += w[m] * static_cast<double>(p[m]);
      below += w[m];
    }
    above = std::max(above - w[self] * static_cast<double>(p[self]), kProbabilityFloor);
    below = std::max(below - w[self], kProbabilityFloor);
    sum -= share * (math::log(above) - math::log(below));
    for (std::size_t m = 0; m < w.size(); ++m) {
      if (m != self) gradient[m] -= share * (static_cast<double>(p[m]) / above - 1 / below);
    }
  }
  double mean = 0;
  for (std::size_t m = 0; m < w.size(); ++m) mean += w[m] * gradient[m];
  for (std::size_t m = 0; m < w.size(); ++m) gradient[m] = w[m] * (gradient[m] - mean);
  return sum;
}

void HeadsModel::end_training(const Epoch& epoch) {
  if (options_.weights != Weights::learned || !parted_ || answering_.size() < 2) return;
  std::vector<double> outputs(set_->task_count() * options_.width), p(set_->class_count);
  epoch.predict(outputs);
  std::vector<float> said(set_->answer_count() * answering_.size());
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    const auto row = std::span<const double>(outputs).subspan(i * options_.width, options_.width);
    for (std::size_t m = 0; m < answering_.size(); ++m) {
      predict(heads_.of(answering_[m]), row, p);
      for (std::uint32_t a = set_->offset[i]; a < set_->offset[i + 1]; ++a) {
        said[a * answering_.size() + m] = static_cast<float>(p[index(set_->label[a])]);
      }
    }
  }
  BlockAdam logits(std::vector<double>(answering_.size(), 0.0), answering_.size(), kWeightRate);
  for (std::size_t s = 0; s < kWeightSteps; ++s) {
    (void)weight_loss(logits.all(), said, logits.gradient(0));
    logits.step(1);
  }
  std::vector<double> w = logits.all();
  softmax(w);
  for (std::size_t m = 0; m < answering_.size(); ++m) weights_[index(answering_[m])] = w[m];
}

void HeadsModel::describe(Learned& learned, const LearningData&, const OutputsOfTask&) const {
  learned.crowd.skill = weights_;
}

Recipe DoctorNet::recipe(const LearningData& data, const NetworkSpec& network, const RunContext&) const {
  Options options = options_;
  // A linear network has no more directions than columns.
  if (network.kind == "linear")
    options.width = std::min(options.width, std::max<std::size_t>(data.features.columns(), 1));
  return {options.training,
          [options](const TrainingSet& set, Rng) { return std::make_unique<HeadsModel>(set, options); }};
}

namespace {

constexpr auto kWeightNames =
    enum_names<Weights>({{Weights::equal, "equal"}, {Weights::answers, "answers"}, {Weights::learned, "learned"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("weights", o.weights, kWeightNames,
           "how workers are averaged: all alike, by how much they answered, or by weights that "
           "predict each worker's answers from the others' heads (weighted DoctorNet)");
  v.integer("width", o.width, 1, 65536, "numbers of a row that the heads see: the network's outputs");
  v.integer("warm_up", o.warm_up, 0, 1e6,
            "epochs in which all workers share one head; each then starts from it, which helps those "
            "with few answers");
  v.real("worker_learning_rate", o.worker_learning_rate, 0, 100, "size of the steps of the heads");
  v.real("worker_decay", o.worker_decay, 0, 100, "weight decay of the heads");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "DoctorNet: a head per worker";
  info.summary = "Learns to predict what each worker would say, and averages over the workers.";
  info.when_to_use = "Each worker gave many answers and none is far worse than the others; to see what each would say.";
  info.reference =
      "Guan, Gulshan, Dai, Hinton: Who said what: modeling individual labelers improves classification, AAAI 2018";
  info.assumptions = "The average worker is right: it models workers, not the truth.";
  info.cost = "O(S K width) per epoch beside the network, O(M K width) per predicted row; memory O(M K width)";
  return LearnerEntry::of<DoctorNet, parameters>(std::move(info));
}

}  // namespace wisecrowd::doctor_net
