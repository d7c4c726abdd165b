#include <algorithm>
#include <cmath>

#include "base/assignment.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "learn/max_mig/max_mig.hpp"
#include "learn/shared/answer_memory.hpp"

namespace wisecrowd::max_mig {
namespace {

constexpr double kCoupledShare = 0.5;  // of the epochs, for start=coupled
constexpr double kPriorAnswers = 1;    // added per class when the prior is inferred
constexpr double kOwnName = 1e-3;      // share of all answers that must speak for another name of a class

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = math::log(std::max(value, kProbabilityFloor));
  return values;
}

/// π at the beginning.
std::vector<double> first_prior(const TrainingSet& set, const Options& options) {
  if (options.class_prior == Options::Prior::known) return options.shares;
  return std::vector<double>(set.class_count, 1 / static_cast<double>(set.class_count));
}

/// Workers who are better than chance but otherwise drawn at random: breaks the symmetry of the classes, no more.
std::vector<double> random_tables(const TrainingSet& set, Rng rng) {
  const std::size_t classes = set.class_count;
  std::vector<double> tables(set.worker_count * classes * classes);
  const std::vector<double> flat(classes, 1.0);
  for (std::size_t row = 0; row < set.worker_count * classes; ++row) {
    const auto values = std::span(tables).subspan(row * classes, classes);
    rng.dirichlet(flat, values);
    std::swap(values[row % classes], *std::max_element(values.begin(), values.end()));
  }
  return tables;
}

std::vector<double> starting_tables(const TrainingSet& set, const Options& options, std::span<const double> labels,
                                    Rng rng) {
  switch (options.start) {
    case Options::Start::random: return random_tables(set, rng);
    case Options::Start::aggregator: return pooled_tables_from(set, labels, options.pooled_answers);
    default: return pooled_tables_from(set, vote_shares(set), options.pooled_answers);
  }
}

}  // namespace

MaxMigModel::MaxMigModel(const TrainingSet& set, const Options& options, std::span<const double> labels, Rng rng)
    : set_(&set),
      options_(options),
      weights_(logarithms(starting_tables(set, options, labels, rng)), set.class_count * set.class_count,
               options.worker_learning_rate),
      bias_(logarithms(first_prior(set, options)), set.class_count, options.worker_learning_rate),
      prior_(first_prior(set, options)),
      tables_(pooled_tables_from(set, labels.empty() ? vote_shares(set) : std::vector(labels.begin(), labels.end()),
                                 options.pooled_answers)) {
  if (options.start == Options::Start::coupled) {
    // Every worker good at first: where a block of copies is the vote, a start from it would take long to unlearn.
    first_.emplace(set, CoupledTables::Options{.start = CoupledTables::Options::Start::identity});
    coupled_epochs_ = std::max<std::size_t>(
        1, static_cast<std::size_t>(kCoupledShare * static_cast<double>(options.training.epochs)));
  }
}

void MaxMigModel::set_weights(std::span<const double> tables) {
  const std::size_t block = set_->class_count * set_->class_count;
  for (std::size_t j = 0; j < set_->worker_count; ++j) {
    const auto target = weights_.of(j);
    for (std::size_t cell = 0; cell < block; ++cell) {
      target[cell] = math::log(std::max(tables[j * block + cell], kProbabilityFloor));
    }
  }
}

void MaxMigModel::begin_epoch(const Epoch& epoch) {
  in_first_ = epoch.number < coupled_epochs_;
  // First the network learns what the start says; an aggregator that follows an ignorant network loses it.
  frozen_ = epoch.number < coupled_epochs_ + options_.warm_up;
}

void MaxMigModel::aggregate(const TaskAnswers& answers, std::span<double> probabilities) const {
  const std::size_t classes = set_->class_count;
  std::copy(bias_.of(0).begin(), bias_.of(0).end(), probabilities.begin());
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    const double* const from = weights_.of(answers.workers[a]).data() + index(answers.labels[a]);
    for (std::size_t k = 0; k < classes; ++k) probabilities[k] += from[k * classes];
  }
  softmax(probabilities);
}

double MaxMigModel::loss(std::span<const std::uint32_t> tasks, MatrixView<const double> outputs,
                         MatrixView<double> output_gradients) {
  if (in_first_) return first_->loss(tasks, outputs, output_gradients);
  const std::size_t classes = set_->class_count, cells = tasks.size() * classes;
  std::fill_n(output_gradients.data, cells, 0.0);
  if (tasks.size() < 2) return 0;  // one task alone has nothing to be told from
  f_.assign(outputs.data, outputs.data + cells);
  for (std::vector<double>* const buffer : {&g_, &f_gradients_, &g_gradients_}) buffer->resize(cells);
  const auto view = [&](std::vector<double>& values) {
    return MatrixView<double>{values.data(), tasks.size(), classes};
  };
  const MatrixView<double> f = view(f_), g = view(g_), at_f = view(f_gradients_), at_g = view(g_gradients_);
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    softmax(f.row(b));
    if (const ClassId gold = set_->gold[tasks[b]]; gold != kNoClass) {
      std::fill(g.row(b).begin(), g.row(b).end(), 0.0);
      g(b, index(gold)) = 1;
    } else {
      aggregate({set_->workers_of(tasks[b]), set_->labels_of(tasks[b])}, g.row(b));
    }
  }
  const double value = information_loss(options_.divergence, {f_.data(), tasks.size(), classes},
                                        {g_.data(), tasks.size(), classes}, prior_, at_f, at_g);
  const auto at_bias = bias_.gradient(0);
  for (std::size_t b = 0; b < tasks.size(); ++b) {
    softmax_backward(f.row(b), at_f.row(b));
    std::copy_n(at_f.row(b).begin(), classes, output_gradients.row(b).begin());
    if (set_->gold[tasks[b]] != kNoClass) continue;
    softmax_backward(g.row(b), at_g.row(b));
    for (std::size_t k = 0; k < classes; ++k) at_bias[k] += at_g(b, k);
    for (std::uint32_t a = set_->offset[tasks[b]]; a < set_->offset[tasks[b] + 1]; ++a) {
      const auto at_worker = weights_.gradient(set_->worker[a]);
      for (std::size_t k = 0; k < classes; ++k) at_worker[k * classes + index(set_->label[a])] += at_g(b, k);
    }
  }
  return value;
}

void MaxMigModel::step(double pace) {
  if (in_first_) return first_->step(pace);
  weights_.step(frozen_ ? 0 : pace);
  bias_.step(!frozen_ && options_.class_prior == Options::Prior::learned ? pace : 0);
}

std::vector<double> MaxMigModel::forecast(std::span<const double> outputs) const {
  const std::size_t classes = set_->class_count;
  std::vector<double> labels(set_->task_count() * classes, 0.0);
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    const auto row = std::span(labels).subspan(i * classes, classes);
    if (set_->gold[i] != kNoClass) {
      row[index(set_->gold[i])] = 1;
    } else {
      forecast(outputs.subspan(i * classes, classes), {set_->workers_of(i), set_->labels_of(i)}, row);
    }
  }
  return labels;
}

void MaxMigModel::end_epoch(const Epoch& epoch) {
  if (in_first_) {
    // Tables that were learned answer by answer: blind to whether workers copy each other.
    tables_ = first_->worker_tables();
    return set_weights(tables_);
  }
  const std::size_t classes = set_->class_count;
  std::vector<double> outputs(set_->task_count() * classes);
  epoch.predict(outputs);
  const std::vector<double> labels = forecast(outputs);
  tables_ = pooled_tables_from(*set_, labels, options_.pooled_answers);
  if (frozen_ || options_.class_prior != Options::Prior::learned) return;
  // The forecast divides by the prior, so a class that was thought too rare is found more often: this settles. The
  // gradient alone would not move it, for f and g make up for a wrong prior between themselves.
  std::vector<double> found(classes, kPriorAnswers);
  for (std::size_t cell = 0; cell < labels.size(); ++cell) found[cell % classes] += labels[cell];
  normalise(found);
  const auto bias = bias_.of(0);
  for (std::size_t k = 0; k < classes; ++k) bias[k] += math::log(found[k] / prior_[k]);
  prior_ = std::move(found);
}

void MaxMigModel::end_training(const Epoch&) {
  const std::size_t classes = set_->class_count;
  class_of_.clear();
  if (std::any_of(set_->gold.begin(), set_->gold.end(), [](ClassId gold) { return gold != kNoClass; })) return;
  // A start that knew too little of two classes may have exchanged them; then those who tell them apart seem to be
  // wrong. The names under which most answers are right are taken.
  std::vector<double> answers(set_->worker_count, 0.0), gain(classes * classes, 0.0);
  for (const WorkerId worker : set_->worker) ++answers[index(worker)];
  for (std::size_t cell = 0; cell < tables_.size(); ++cell) {
    gain[cell % (classes * classes)] += answers[cell / (classes * classes)] * tables_[cell];
  }
  for (std::size_t k = 0; k < classes; ++k) {
    gain[k * classes + k] += kOwnName * static_cast<double>(set_->answer_count());
  }
  std::vector<std::size_t> names = best_assignment(gain, classes);
  if (!std::is_sorted(names.begin(), names.end())) class_of_ = std::move(names);
}

void MaxMigModel::rename(std::span<double> per_class) const {
  if (class_of_.empty()) return;
  const std::vector<double> before(per_class.begin(), per_class.end());
  for (std::size_t k = 0; k < before.size(); ++k) per_class[class_of_[k]] = before[k];
}

void MaxMigModel::classify(std::span<const double> outputs, std::span<double> probabilities) const {
  AnswerModel::classify(outputs, probabilities);
  rename(probabilities);
}

OutputHead MaxMigModel::head() const {
  if (class_of_.empty()) return {};
  const std::size_t classes = set_->class_count;
  OutputHead head{.weights = {1.0}, .matrices = std::vector<double>(classes * classes, 0.0), .biases = {}};
  for (std::size_t k = 0; k < classes; ++k) head.matrices[class_of_[k] * classes + k] = 1;
  return head;
}

void MaxMigModel::forecast(std::span<const double> outputs, const TaskAnswers& answers,
                           std::span<double> probabilities) const {
  const std::size_t classes = set_->class_count;
  std::copy(bias_.of(0).begin(), bias_.of(0).end(), probabilities.begin());
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    const double* const from = weights_.of(answers.workers[a]).data() + index(answers.labels[a]);
    for (std::size_t k = 0; k < classes; ++k) probabilities[k] += from[k * classes];
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) probabilities[k] += outputs[k] - math::log(prior_[k]);
  softmax(probabilities);
}

void MaxMigModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                            std::span<double> probabilities) const {
  forecast(outputs, answers, probabilities);
  rename(probabilities);
}

double MaxMigModel::answer_probability(std::span<const double> outputs, WorkerId worker, ClassId label) const {
  std::vector<double> f(outputs.size());
  AnswerModel::classify(outputs, f);
  return answer_from_tables(f, tables_, worker, label);
}

std::vector<double> MaxMigModel::named(std::vector<double> tables) const {
  if (class_of_.empty()) return tables;
  const std::size_t classes = set_->class_count, block = classes * classes;
  std::vector<double> named(tables.size());
  for (std::size_t cell = 0; cell < tables.size(); ++cell) {
    const std::size_t truth = cell % block / classes;
    named[cell + (class_of_[truth] * classes - truth * classes)] = tables[cell];
  }
  return named;
}

std::vector<double> MaxMigModel::worker_tables() const { return named(tables_); }

std::vector<double> MaxMigModel::net_weights() const {
  const std::size_t classes = set_->class_count;
  const std::vector<double> weights = named(weights_.all());
  std::vector<double> net(set_->worker_count, 0.0);
  if (classes < 2) return net;
  const double others = static_cast<double>(classes - 1);
  std::vector<double> given(net.size() * classes, 0.0), in_all(net.size(), 0.0);
  for (std::size_t a = 0; a < set_->answer_count(); ++a) {
    given[index(set_->worker[a]) * classes + index(set_->label[a])] += 1;
    in_all[index(set_->worker[a])] += 1;
  }
  for (std::size_t j = 0; j < net.size(); ++j) {
    for (std::size_t k = 0; k < classes; ++k) {
      const double* const row = weights.data() + (j * classes + k) * classes;
      // What all answers of this worker have in common tells nothing: a label that it never gives counts as that.
      double common = 0;
      for (std::size_t l = 0; l < classes; ++l)
        common += in_all[j] > 0 ? row[l] * given[j * classes + l] / in_all[j] : 0;
      for (std::size_t label = 0; label < classes; ++label) {
        const double weight = (in_all[j] > 0 && given[j * classes + label] == 0 ? common : row[label]) - common;
        net[j] += (k == label ? weight : -weight / others) / static_cast<double>(classes);
      }
    }
  }
  return net;
}

void MaxMigModel::remember(AnswerMemory& memory) const {
  memory.tables = worker_tables();
  memory.log_weights = named(weights_.all());
  memory.bias.resize(set_->class_count);
  for (std::size_t k = 0; k < memory.bias.size(); ++k) memory.bias[k] = bias_.of(0)[k] - math::log(prior_[k]);
  rename(memory.bias);
}

void MaxMigModel::describe(Learned& learned, const LearningData&, const OutputsOfTask&) const {
  learned.crowd.confusion = worker_tables();
  learned.crowd.skill = net_weights();
  learned.crowd.class_prior = prior_;
  rename(learned.crowd.class_prior);
}

}  // namespace wisecrowd::max_mig
