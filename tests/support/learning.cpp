#include "support/learning.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.hpp"

namespace wisecrowd::testing {
namespace {

NameTable numbered(const char* kind, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < count; ++n) names.push_back(fmt::format("{}{}", kind, n));
  return NameTable(names);
}

/// A two-layer network in double precision with smooth hidden units.
struct TinyNetwork {
  std::size_t inputs, hidden, outputs;
  std::vector<double> weights;  // hidden × inputs, then outputs × hidden

  TinyNetwork(std::size_t in, std::size_t hid, std::size_t out, Rng rng)
      : inputs(in), hidden(hid), outputs(out), weights(hid * in + out * hid) {
    for (double& w : weights) w = rng.normal() * 0.7;
  }
  [[nodiscard]] std::vector<double> activations(const std::vector<double>& x) const {
    std::vector<double> result(hidden);
    for (std::size_t h = 0; h < hidden; ++h) {
      double sum = 0;
      for (std::size_t d = 0; d < inputs; ++d) sum += weights[h * inputs + d] * x[d];
      result[h] = std::tanh(sum);
    }
    return result;
  }
  void forward(const std::vector<double>& x, double* out) const {
    const auto a = activations(x);
    for (std::size_t o = 0; o < outputs; ++o) {
      out[o] = 0;
      for (std::size_t h = 0; h < hidden; ++h) out[o] += weights[hidden * inputs + o * hidden + h] * a[h];
    }
  }
  void backward(const std::vector<double>& x, const double* out_gradient, std::vector<double>& gradient) const {
    const auto a = activations(x);
    for (std::size_t h = 0; h < hidden; ++h) {
      double at_hidden = 0;
      for (std::size_t o = 0; o < outputs; ++o) {
        gradient[hidden * inputs + o * hidden + h] += out_gradient[o] * a[h];
        at_hidden += out_gradient[o] * weights[hidden * inputs + o * hidden + h];
      }
      for (std::size_t d = 0; d < inputs; ++d) gradient[h * inputs + d] += at_hidden * (1 - a[h] * a[h]) * x[d];
    }
  }
};

/// A batch of all tasks with random inputs.
struct CheckBatch {
  std::vector<std::uint32_t> tasks;
  std::vector<std::vector<double>> inputs;
  TinyNetwork network;

  CheckBatch(const BatchModel& model, const TrainingSet& set, std::uint64_t seed)
      : tasks(set.task_count()), network(3, 5, model.outputs(), Rng(seed).fork("network")) {
    std::iota(tasks.begin(), tasks.end(), 0U);
    Rng rng = Rng(seed).fork("inputs");
    for (std::size_t i = 0; i < set.task_count(); ++i) inputs.push_back({rng.normal(), rng.normal(), rng.normal()});
  }
  double loss(BatchModel& model, std::vector<double>* output_gradients = nullptr) const {
    std::vector<double> outputs(tasks.size() * network.outputs), gradients(outputs.size(), 0.0);
    for (std::size_t i = 0; i < tasks.size(); ++i) network.forward(inputs[i], outputs.data() + i * network.outputs);
    const double value = model.loss(tasks, {outputs.data(), tasks.size(), network.outputs},
                                    {gradients.data(), tasks.size(), network.outputs});
    if (output_gradients != nullptr) *output_gradients = gradients;
    return value;
  }
};

/// Differences are judged against the size of the whole gradient too: entries near 0 have no digits of their own.
double relative(double found, double expected, double scale) {
  return std::abs(found - expected) / (1e-3 * scale + std::abs(expected) + 1e-9);
}

constexpr double kChange = 1e-5;

}  // namespace

FeatureCrowd gaussian_crowd(std::uint64_t seed, std::size_t tasks, std::size_t test_rows, std::size_t classes,
                            double separation, const std::vector<PlannedWorker>& workers, double share) {
  const std::size_t columns = std::max<std::size_t>(classes, 2), rows = tasks + test_rows;
  FeatureCrowd crowd;
  crowd.tasks = tasks;
  Rng rng(seed);
  Features& features = crowd.data.features;
  features.rows = rows;
  features.shape = {columns};
  std::vector<CategoryAnswer> answers;
  crowd.test_answers.resize(test_rows);
  std::vector<std::uint32_t> said(workers.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t z = rng.below(classes);
    crowd.truth.push_back(ClassId(z));
    for (std::size_t c = 0; c < columns; ++c) {
      const double mean = classes == 2 ? (c == 0 ? (z == 0 ? -separation : separation) : 0) : (c == z ? separation : 0);
      features.dense.push_back(static_cast<float>(mean + rng.normal()));
    }
    for (std::size_t j = 0; j < workers.size(); ++j) {
      said[j] =
          workers[j].copies >= 0
              ? said[static_cast<std::size_t>(workers[j].copies)]
              : static_cast<std::uint32_t>(rng.categorical(std::span(workers[j].table).subspan(z * classes, classes)));
      if (share < 1 && !rng.bernoulli(share)) continue;
      if (r < tasks) {
        answers.push_back({TaskId(r), WorkerId(j), ClassId(said[j])});
      } else {
        crowd.test_answers[r - tasks].emplace_back(static_cast<std::uint32_t>(j), said[j]);
      }
    }
  }
  crowd.data.crowd.answers =
      make_category_answers(answers, {numbered("t", tasks), numbered("w", workers.size()), numbered("", classes)});
  crowd.data.row_names = numbered("t", rows);
  crowd.data.split.assign(rows, Split::test);
  std::fill_n(crowd.data.split.begin(), tasks, Split::train);
  crowd.data.row_of_task.resize(tasks);
  std::iota(crowd.data.row_of_task.begin(), crowd.data.row_of_task.end(), 0U);
  return crowd;
}

std::vector<PlannedWorker> max_mig_workers(char skill, int which) {
  std::vector<PlannedWorker> workers;
  const auto expert = [&](double dog, double cat) {  // class 0 is the cat
    workers.push_back({{cat, 1 - cat, 1 - dog, dog}, -1});
  };
  if (skill == 'H') {
    expert(.6, .8), expert(.6, .6), expert(.9, .6), expert(.7, .7), expert(.6, .7);
  } else {
    for (int j = 0; j < 10; ++j) expert(.55, .55);
  }
  const int juniors = skill == 'H' ? 5 : (which == 2 ? 15 : 2);
  for (int j = 0; which == 2 && j < juniors; ++j) workers.push_back({{1, 0, 1, 0}, -1});
  for (int j = 0; which == 3 && j < juniors; ++j) {
    const bool copies_first = skill == 'H' ? j < 2 : j < 1;
    workers.push_back({{}, copies_first ? 0 : 2});
  }
  return workers;
}

double test_accuracy(const FeatureCrowd& crowd, const std::vector<double>& row_probabilities) {
  const std::size_t rows = crowd.truth.size(), classes = row_probabilities.size() / rows;
  std::size_t right = 0;
  for (std::size_t r = crowd.tasks; r < rows; ++r) {
    const auto begin = row_probabilities.begin() + static_cast<std::ptrdiff_t>(r * classes);
    const auto best = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes)) - begin;
    if (static_cast<std::size_t>(best) == index(crowd.truth[r])) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(rows - crowd.tasks);
}

double task_accuracy(const FeatureCrowd& crowd, const std::vector<double>& posterior) {
  const std::size_t classes = posterior.size() / crowd.tasks;
  std::size_t right = 0;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    const auto begin = posterior.begin() + static_cast<std::ptrdiff_t>(t * classes);
    const auto best = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes)) - begin;
    if (static_cast<std::size_t>(best) == index(crowd.truth[t])) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(crowd.tasks);
}

Learned run_learner(const LearningData& data, const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& settings, const NetworkSpec& network,
                    std::uint64_t seed, unsigned threads) {
  Parameters parameters(learning_method(name).parameters);
  for (const auto& [key, value] : settings) parameters.set(key, value);
  return learn(data, name, parameters, network, RunContext({.seed = seed, .threads = threads}));
}

double gradient_error(const BatchModel& model, const TrainingSet& set, std::uint64_t seed) {
  CheckBatch batch(model, set, seed);
  std::vector<double> output_gradients;
  batch.loss(*model.copy(), &output_gradients);
  std::vector<double> gradient(batch.network.weights.size(), 0.0);
  for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
    batch.network.backward(batch.inputs[i], output_gradients.data() + i * batch.network.outputs, gradient);
  }
  double scale = 0, worst = 0;
  for (const double g : gradient) scale = std::max(scale, std::abs(g));
  for (std::size_t w = 0; w < gradient.size(); ++w) {
    const double kept = batch.network.weights[w];
    batch.network.weights[w] = kept + kChange;
    const double above = batch.loss(*model.copy());
    batch.network.weights[w] = kept - kChange;
    const double below = batch.loss(*model.copy());
    batch.network.weights[w] = kept;
    worst = std::max(worst, relative(gradient[w], (above - below) / (2 * kChange), scale));
  }
  return worst;
}

double own_gradient_error(const AnswerModel& model, const TrainingSet& set, std::uint64_t seed, std::size_t parameters,
                          const std::function<void(AnswerModel&, std::size_t, double)>& move,
                          const std::function<double(AnswerModel&, std::size_t)>& gradient) {
  const CheckBatch batch(model, set, seed);
  const auto told = model.clone();
  batch.loss(*told);
  double scale = 0, worst = 0;
  for (std::size_t p = 0; p < parameters; ++p) scale = std::max(scale, std::abs(gradient(*told, p)));
  for (std::size_t p = 0; p < parameters; ++p) {
    const auto up = model.clone(), down = model.clone();
    move(*up, p, kChange);
    move(*down, p, -kChange);
    const double expected = (batch.loss(*up) - batch.loss(*down)) / (2 * kChange);
    worst = std::max(worst, relative(gradient(*told, p), expected, scale));
  }
  return worst;
}

}  // namespace wisecrowd::testing
