#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "learn/max_mig/max_mig.hpp"

namespace wisecrowd::max_mig {
namespace {

constexpr double kStartSmoothing = 1e-4;  // of the vote's tables, as in the reference
constexpr double kCoupledShare = 0.25;    // of the epochs, for start=coupled
constexpr std::size_t kScoreTasks = 256;  // per part of the score, where all pairs are needed
constexpr double kPriorAnswers = 1;       // added per class when the prior is inferred

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(std::max(value, kProbabilityFloor));
  return values;
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
    default: return tables_from(set, vote_shares(set), kStartSmoothing, 0);
  }
}

}  // namespace

MaxMigModel::MaxMigModel(const TrainingSet& set, const Options& options, std::span<const double> labels, Rng rng)
    : set_(&set),
      options_(options),
      weights_(logarithms(starting_tables(set, options, labels, rng)), set.class_count * set.class_count,
               options.worker_learning_rate),
      bias_(std::vector<double>(set.class_count, -std::log(static_cast<double>(set.class_count))), set.class_count,
            options.worker_learning_rate),
      prior_(set.class_count, 1 / static_cast<double>(set.class_count)),
      tables_(pooled_tables_from(set, labels.empty() ? vote_shares(set) : std::vector(labels.begin(), labels.end()),
                                 options.pooled_answers)) {
  if (options.start == Options::Start::coupled) {
    first_.emplace(set, CoupledTables::Options{});
    coupled_epochs_ = std::max<std::size_t>(
        1, static_cast<std::size_t>(kCoupledShare * static_cast<double>(options.training.epochs)));
  }
}

void MaxMigModel::set_weights(std::span<const double> tables) {
  const std::size_t block = set_->class_count * set_->class_count;
  for (std::size_t j = 0; j < set_->worker_count; ++j) {
    const auto target = weights_.of(j);
    for (std::size_t cell = 0; cell < block; ++cell) {
      target[cell] = std::log(std::max(tables[j * block + cell], kProbabilityFloor));
    }
  }
}

void MaxMigModel::begin_epoch(const Epoch& epoch) {
  in_first_ = coupled(epoch.number);
  if (options_.class_prior == Options::Prior::learned) {
    std::copy(bias_.of(0).begin(), bias_.of(0).end(), prior_.begin());
    softmax(prior_);
  }
}

void MaxMigModel::aggregate(const TaskAnswers& answers, std::span<double> probabilities) const {
  const std::size_t classes = set_->class_count;
  std::copy(bias_.of(0).begin(), bias_.of(0).end(), probabilities.begin());
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    const double* const from = weights_.of(answers.workers[a]).data() + answers.labels[a];
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
      for (std::size_t k = 0; k < classes; ++k) at_worker[k * classes + set_->label[a]] += at_g(b, k);
    }
  }
  return value;
}

void MaxMigModel::step(double pace) {
  if (in_first_) return first_->step(pace);
  weights_.step(pace);
  bias_.step(options_.class_prior == Options::Prior::learned ? pace : 0);
}

std::vector<double> MaxMigModel::forecast(std::span<const double> outputs) const {
  const std::size_t classes = set_->class_count;
  std::vector<double> labels(set_->task_count() * classes, 0.0);
  for (std::size_t i = 0; i < set_->task_count(); ++i) {
    const auto row = std::span(labels).subspan(i * classes, classes);
    if (set_->gold[i] != kNoClass) {
      row[index(set_->gold[i])] = 1;
    } else {
      posterior(outputs.subspan(i * classes, classes), {set_->workers_of(i), set_->labels_of(i)}, row);
    }
  }
  return labels;
}

void MaxMigModel::end_epoch(const Epoch& epoch) {
  const std::size_t classes = set_->class_count;
  std::vector<double> outputs(set_->task_count() * classes);
  epoch.predict(outputs);
  if (in_first_) {
    // What the network says of each task, without the answers: blind to whether workers copy.
    for (std::size_t i = 0; i < set_->task_count(); ++i) softmax(std::span(outputs).subspan(i * classes, classes));
    tables_ = pooled_tables_from(*set_, outputs, options_.pooled_answers);
    set_weights(tables_);
    return;
  }
  const std::vector<double> labels = forecast(outputs);
  tables_ = pooled_tables_from(*set_, labels, options_.pooled_answers);
  if (options_.workers != Options::Workers::inferred || epoch.number + 1 < options_.warm_up) return;
  set_weights(tables_);
  if (options_.class_prior != Options::Prior::learned) return;
  std::fill(prior_.begin(), prior_.end(), kPriorAnswers);
  for (std::size_t cell = 0; cell < labels.size(); ++cell) prior_[cell % classes] += labels[cell];
  normalise(prior_);
  std::transform(prior_.begin(), prior_.end(), bias_.of(0).begin(), [](double p) { return std::log(p); });
}

void MaxMigModel::posterior(std::span<const double> outputs, const TaskAnswers& answers,
                            std::span<double> probabilities) const {
  const std::size_t classes = set_->class_count;
  std::copy(bias_.of(0).begin(), bias_.of(0).end(), probabilities.begin());
  for (std::size_t a = 0; a < answers.workers.size(); ++a) {
    const double* const from = weights_.of(answers.workers[a]).data() + answers.labels[a];
    for (std::size_t k = 0; k < classes; ++k) probabilities[k] += from[k * classes];
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) probabilities[k] += outputs[k] - std::log(prior_[k]);
  softmax(probabilities);
}

double MaxMigModel::answer_probability(std::span<const double> outputs, std::uint32_t worker,
                                       std::uint32_t label) const {
  std::vector<double> f(outputs.size());
  classify(outputs, f);
  return answer_from_tables(f, tables_, worker, label);
}

double MaxMigModel::score(const TrainingSet& hidden, std::span<const double> outputs) const {
  const std::size_t classes = set_->class_count;
  const std::size_t part = options_.divergence == Divergence::js ? kScoreTasks : hidden.task_count();
  std::vector<double> f(outputs.begin(), outputs.end()), g(f.size()), unused_f(f.size()), unused_g(f.size());
  for (std::size_t i = 0; i < hidden.task_count(); ++i) {
    softmax(std::span(f).subspan(i * classes, classes));
    aggregate({hidden.workers_of(i), hidden.labels_of(i)}, std::span(g).subspan(i * classes, classes));
  }
  double sum = 0;
  std::size_t counted = 0;
  for (std::size_t begin = 0; begin < hidden.task_count(); begin += part) {
    const std::size_t rows = std::min(part, hidden.task_count() - begin), at = begin * classes;
    if (rows < 2) break;
    sum -= static_cast<double>(rows) *
           information_loss(options_.divergence, {f.data() + at, rows, classes}, {g.data() + at, rows, classes}, prior_,
                            {unused_f.data() + at, rows, classes}, {unused_g.data() + at, rows, classes});
    counted += rows;
  }
  return counted == 0 ? 0 : sum / static_cast<double>(counted);
}

void MaxMigModel::describe(Learned& learned, const LearningData&, const OutputsOfTask&) const {
  learned.crowd.confusion = tables_;
  learned.crowd.class_prior = prior_;
}

}  // namespace wisecrowd::max_mig
