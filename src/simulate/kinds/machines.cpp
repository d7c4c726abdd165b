#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "base/linear_algebra.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "simulate/assignment.hpp"
#include "simulate/crowd.hpp"
#include "wisecrowd/error.hpp"

// Machines as annotators: each worker is a linear classifier trained on the truth of a few tasks. They err where the
// features mislead, and so they err together, as people do.
namespace wisecrowd::machines_crowd {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::size_t kTasksPerBlock = 256;
/// 4 GiB of answers that nobody asked for yet.
constexpr std::size_t kMostAnswers = std::size_t{1} << 31;

/// Mean and inverse standard deviation of every column over the train tasks; a constant column counts for nothing.
struct Scale {
  std::vector<float> mean, inverse;
};

Scale scale_of(const World& world) {
  const std::size_t columns = world.feature_columns;
  const auto count = static_cast<double>(world.train.size());
  std::vector<double> mean(columns, 0.0);
  std::vector<double> square(columns, 0.0);
  for (const std::uint32_t t : world.train) {
    const auto x = world.features_of(t);
    for (std::size_t c = 0; c < columns; ++c) mean[c] += x[c];
  }
  for (double& m : mean) m /= count;
  for (const std::uint32_t t : world.train) {
    const auto x = world.features_of(t);
    for (std::size_t c = 0; c < columns; ++c) square[c] += (x[c] - mean[c]) * (x[c] - mean[c]);
  }
  Scale scale{std::vector<float>(columns), std::vector<float>(columns)};
  for (std::size_t c = 0; c < columns; ++c) {
    if (!std::isfinite(square[c])) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("column {} of the features (counted from 0) holds values that are not finite", c));
    }
    scale.mean[c] = static_cast<float>(mean[c]);
    scale.inverse[c] = square[c] > 0 ? static_cast<float>(1 / std::sqrt(square[c] / count)) : 0.0F;
  }
  return scale;
}

/// All workers side by side: column w·K + k holds what worker w counts for class k.
struct Weights {
  Matrix of_features;  // columns × (workers · K)
  Eigen::RowVectorXf bias;
};

/// Regularised least squares on one-hot targets with an intercept, in the dual: as many unknowns as training tasks.
void train(std::size_t worker, std::span<const std::uint32_t> tasks, double ridge, const World& world,
           const Scale& scale, Weights& weights) {
  const auto columns = static_cast<Eigen::Index>(world.feature_columns);
  const auto classes = static_cast<Eigen::Index>(world.classes);
  const auto count = static_cast<Eigen::Index>(tasks.size());
  Eigen::MatrixXd x(count, columns);
  Eigen::MatrixXd y = Eigen::MatrixXd::Zero(count, classes);
  for (Eigen::Index i = 0; i < count; ++i) {
    const std::uint32_t task = tasks[static_cast<std::size_t>(i)];
    const auto row = world.features_of(task);
    for (Eigen::Index c = 0; c < columns; ++c) {
      const auto at = static_cast<std::size_t>(c);
      x(i, c) = (static_cast<double>(row[at]) - scale.mean[at]) * scale.inverse[at];
    }
    y(i, index(world.truth[task])) = 1;
  }
  // Rows have a squared length of about `columns`; ridge is relative to that.
  Eigen::MatrixXd kernel = x * x.transpose();
  kernel.array() += static_cast<double>(columns);  // the intercept, as strong as all features together
  kernel.diagonal().array() += ridge * static_cast<double>(columns);
  const Eigen::MatrixXd dual = cholesky_solve(kernel, y);
  Eigen::MatrixXd w = x.transpose() * dual;
  Eigen::RowVectorXd bias = static_cast<double>(columns) * dual.colwise().sum();
  // Raw features instead of standardised ones.
  for (Eigen::Index c = 0; c < columns; ++c) {
    const auto at = static_cast<std::size_t>(c);
    w.row(c) *= scale.inverse[at];
    bias -= scale.mean[at] * w.row(c);
  }
  const Eigen::Index first = static_cast<Eigen::Index>(worker) * classes;
  weights.of_features.middleCols(first, classes) = w.cast<float>();
  weights.bias.segment(first, classes) = bias.cast<float>();
}

/// What every worker says of every task with a truth; ties go to the lowest class.
std::vector<std::uint16_t> predict(const Weights& weights, std::size_t workers, const World& world,
                                   const RunContext& context) {
  std::vector<std::uint16_t> answers(world.tasks * workers);
  const auto classes = static_cast<Eigen::Index>(world.classes);
  const Blocks blocks{world.tasks, kTasksPerBlock};
  std::atomic<std::size_t> done{0};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned thread) {
    if (context.cancelled()) return;
    const std::size_t begin = blocks.begin(b);
    Matrix x(blocks.end(b) - begin, world.feature_columns);
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const auto row = world.features_of(begin + static_cast<std::size_t>(i));
      std::copy(row.begin(), row.end(), x.row(i).data());
    }
    Matrix scores(x.rows(), weights.of_features.cols());
    scores.noalias() = x * weights.of_features;
    scores.rowwise() += weights.bias;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      for (std::size_t w = 0; w < workers; ++w) {
        const float* score = scores.row(i).data() + static_cast<Eigen::Index>(w) * classes;
        answers[(begin + static_cast<std::size_t>(i)) * workers + w] =
            static_cast<std::uint16_t>(std::max_element(score, score + classes) - score);
      }
    }
    const auto finished = static_cast<double>(++done);
    if (thread == 0) {
      context.report({.stage = "answering", .done = finished, .total = static_cast<double>(blocks.count())});
    }
  });
  return answers;
}

}  // namespace

SimulationInfo info() {
  SimulationInfo info;
  info.summary =
      "Machines as annotators: weak linear classifiers, each trained on the truth of a few tasks. They need features, "
      "given or Gaussian.";
  info.parameters = {
      ParameterSpec::integer("training_tasks", 50, 1, 5000,
                             "how many random train tasks a worker learns from; fewer make weaker workers"),
      ParameterSpec::integer("most_training_tasks", 0, 0, 5000,
                             "each worker learns from another number of tasks, from training_tasks up to this, small "
                             "ones as often as large ones (evenly on the logarithm); 0: all from training_tasks"),
      ParameterSpec::real("ridge", 0.1, 1e-9, 1e9,
                          "how much a worker's weights are held back, relative to the length of a feature row")};
  auto assignment = assignment_parameters();
  assignment.front().default_value = std::string("bernoulli");
  info.parameters.insert(info.parameters.end(), assignment.begin(), assignment.end());
  return info;
}

/// A tenth of all labels is kept.
SimulationSize default_size(const Parameters&) {
  return {.tasks = 1000, .workers = 50, .classes = 2, .answers_per_task = 5};
}

void prepare(const CrowdRequest&, World&) {}

/// How many tasks a worker learns from.
std::size_t training_tasks(const Parameters& parameters, Rng rng) {
  const auto least = static_cast<double>(parameters.integer("training_tasks"));
  const auto most = static_cast<double>(parameters.integer("most_training_tasks"));
  if (most == 0) return static_cast<std::size_t>(least);
  return static_cast<std::size_t>(std::lround(math::exp(rng.uniform(math::log(least), math::log(most)))));
}

void check_training_tasks(const Parameters& parameters, std::size_t available) {
  const auto least = parameters.integer("training_tasks"), most = parameters.integer("most_training_tasks");
  if (most != 0 && most < least) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("parameter 'most_training_tasks' is {}: it is 0, or at least training_tasks, which is {}",
                            most, least));
  }
  for (const auto& [name, wanted] : {std::pair("training_tasks", least), std::pair("most_training_tasks", most)}) {
    if (static_cast<std::size_t>(wanted) <= available) continue;
    throw Error(
        ErrorCode::bad_parameter,
        fmt::format("parameter '{}' is {}, but there are only {} train tasks with a truth", name, wanted, available));
  }
}

Crowd draw(const CrowdRequest& request) {
  const World& world = request.world;
  const std::size_t workers = request.size.workers;
  const std::size_t classes = world.classes;
  if (world.feature_columns == 0) {
    throw Error(ErrorCode::bad_parameter,
                "machines learn from features that are numbers: give `gold` and `features` with an array or a table of "
                "numbers, or `gaussian_features`");
  }
  check_training_tasks(request.parameters, world.train.size());
  if (world.tasks > kMostAnswers / workers || world.feature_columns > kMostAnswers / (workers * classes)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} machines for {} classes, {} tasks and {} columns of features do not fit into memory: "
                            "take fewer workers",
                            workers, classes, world.tasks, world.feature_columns));
  }
  const Scale scale = scale_of(world);
  Weights weights{Matrix(world.feature_columns, workers * classes), Eigen::RowVectorXf(workers * classes)};
  request.context.pool().for_each_block(workers, [&](std::size_t w, unsigned) {
    if (request.context.cancelled()) return;
    const std::size_t wanted = training_tasks(request.parameters, request.rng.fork("number of training tasks", w));
    auto tasks = choose_workers(world.train.size(), wanted, request.rng.fork("training tasks", w));
    for (std::uint32_t& t : tasks) t = world.train[t];
    train(w, tasks, request.parameters.real("ridge"), world, scale, weights);
  });
  auto answers = std::make_shared<const std::vector<std::uint16_t>>(predict(weights, workers, world, request.context));

  Crowd crowd;
  crowd.confusion.assign(workers * classes * classes, 0.0);
  crowd.kinds.assign(workers, "machine");
  for (std::size_t t = 0; t < world.tasks; ++t) {
    if (world.truth[t] == kNoClass) continue;
    for (std::size_t w = 0; w < workers; ++w) {
      crowd.confusion[(w * classes + index(world.truth[t])) * classes + (*answers)[t * workers + w]] += 1;
    }
  }
  for (std::size_t row = 0; row < workers * classes; ++row)
    normalise(std::span(crowd.confusion).subspan(row * classes, classes));
  crowd.answer = [answers, workers](std::uint64_t task, std::size_t, std::size_t worker) {
    return static_cast<std::size_t>((*answers)[task * workers + worker]);
  };
  return crowd;
}

}  // namespace wisecrowd::machines_crowd
