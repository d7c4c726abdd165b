#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/math.hpp"
#include "base/parallel.hpp"
#include "simulate/assignment.hpp"
#include "simulate/crowd.hpp"
#include "simulate/tables.hpp"
#include "wisecrowd/error.hpp"

// The generator of DALC: short texts as bags of words x, and workers whose reliability on a text is low-rank,
// eta = sigma(u_j' F x). The truth is what a random teacher says of x. Over given tasks x are their features, brought
// to a common scale, and the mean and deviation of u_j' F x are parameters.
namespace wisecrowd::lftc_crowd {
namespace {

constexpr std::size_t kTasksPerBlock = 1024;
constexpr double kLowest = -0.3;  // u_j and F are uniform on this interval
constexpr double kHighest = 0.6;
constexpr std::size_t kHidden = 20;  // units of the two-layer teacher
/// 4 GiB of features.
constexpr std::size_t kMostFeatures = std::size_t{1} << 30;
/// A worker's table and expertise are means over so many (task, worker) pairs in all, but over 4096 tasks at least.
constexpr std::size_t kPairsToAverage = 200'000'000;
constexpr std::size_t kFewestToAverage = 4096;

std::vector<double> uniform_values(std::size_t count, Rng rng) {
  std::vector<double> values(count);
  for (double& v : values) v = rng.uniform(kLowest, kHighest);
  return values;
}

/// F x of given features. They may have any scale and any mean, so the columns are standardised, the loadings are drawn
/// around 0 (with the mean of those for words, every dimension of an image would be its brightness), and each
/// dimension gets the deviation with which u_j' F x varies by `spread` in all. A last dimension, for which every worker
/// has a 1, holds the level.
std::vector<double> given_tasks(const World& world, std::size_t rank, double level, double spread, Rng rng) {
  const std::size_t columns = world.feature_columns;
  std::vector<double> mean(columns, 0.0), square(columns, 0.0);
  const double share = 1 / static_cast<double>(world.tasks);
  for (std::size_t t = 0; t < world.tasks; ++t) {
    const auto x = world.features_of(t);
    for (std::size_t c = 0; c < columns; ++c) {
      mean[c] += share * x[c];
      square[c] += share * x[c] * x[c];
    }
  }
  std::vector<double> loadings = uniform_values(columns * rank, rng);
  for (std::size_t c = 0; c < columns; ++c) {
    const double variance = square[c] - mean[c] * mean[c];
    const double factor = variance > 1e-12 * square[c] ? 1 / std::sqrt(variance) : 0;
    for (std::size_t d = 0; d < rank; ++d) {
      loadings[c * rank + d] = factor * (loadings[c * rank + d] - (kLowest + kHighest) / 2);
    }
  }
  std::vector<double> result(world.tasks * (rank + 1), 0.0), squares(rank, 0.0);
  for (std::size_t t = 0; t < world.tasks; ++t) {
    const auto x = world.features_of(t);
    double* const to = result.data() + t * (rank + 1);
    for (std::size_t c = 0; c < columns; ++c) {
      const double away = x[c] - mean[c];
      for (std::size_t d = 0; d < rank; ++d) to[d] += away * loadings[c * rank + d];
    }
    for (std::size_t d = 0; d < rank; ++d) squares[d] += share * to[d] * to[d];
    to[rank] = level;
  }
  const double of_u = (kLowest * kLowest + kLowest * kHighest + kHighest * kHighest) / 3;  // mean square
  for (std::size_t d = 0; d < rank; ++d) {
    const double factor = squares[d] > 0 ? spread / std::sqrt(squares[d] * of_u * static_cast<double>(rank)) : 0;
    for (std::size_t t = 0; t < world.tasks; ++t) result[t * (rank + 1) + d] *= factor;
  }
  return result;
}

/// The class with the largest score, which is linear in x or in the outputs of a hidden layer.
class Teacher {
 public:
  Teacher(bool two_layers, std::size_t words, std::size_t classes, const Rng& rng)
      : hidden_(two_layers ? kHidden : 0), words_(words), classes_(classes) {
    Rng first = rng.fork("teacher");
    first_.resize((two_layers ? kHidden : classes) * words);
    for (double& w : first_) w = first.normal();
    Rng second = rng.fork("teacher's second layer");
    second_.resize(hidden_ * classes);
    for (double& w : second_) w = second.normal();
  }

  [[nodiscard]] std::size_t operator()(std::span<const float> x) const {
    const std::size_t outputs = hidden_ > 0 ? hidden_ : classes_;
    std::vector<double> score(outputs, 0.0);
    for (std::size_t v = 0; v < words_; ++v) {
      if (x[v] == 0) continue;  // nearly all
      for (std::size_t o = 0; o < outputs; ++o) score[o] += first_[v * outputs + o] * x[v];
    }
    if (hidden_ > 0) {
      std::vector<double> last(classes_, 0.0);
      for (std::size_t k = 0; k < classes_; ++k) {
        for (std::size_t h = 0; h < hidden_; ++h) last[k] += second_[k * hidden_ + h] * math::tanh(score[h]);
      }
      score.swap(last);
    }
    return static_cast<std::size_t>(std::max_element(score.begin(), score.end()) - score.begin());
  }

 private:
  std::size_t hidden_, words_, classes_;
  std::vector<double> first_, second_;
};

/// Reliability of every worker on every task.
struct Reliability {
  std::size_t rank;
  std::vector<double> workers;  // u_j
  std::vector<double> tasks;    // F x_i
  bool certain;                 // right whenever eta > 1/2

  [[nodiscard]] double operator()(std::size_t task, std::size_t worker) const {
    double sum = 0;
    for (std::size_t d = 0; d < rank; ++d) sum += workers[worker * rank + d] * tasks[task * rank + d];
    return 1 / (1 + math::exp(-sum));
  }
  /// The probability that the answer is right.
  [[nodiscard]] double right(double eta) const { return certain ? (eta > .5 ? 1.0 : 0.0) : eta; }
};

/// Means over tasks: of being right, by truth, and of eta.
void average(const Reliability& reliability, const World& world, const RunContext& context, Crowd& crowd) {
  const std::size_t classes = world.classes;
  const std::size_t workers = crowd.kinds.size();
  const std::size_t tasks = std::min(world.tasks, std::max(kFewestToAverage, kPairsToAverage / workers));
  const Blocks blocks{workers, 16};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    if (context.cancelled()) return;
    std::vector<double> right(classes);
    std::vector<double> count(classes);
    for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) {
      std::fill(right.begin(), right.end(), 0.0);
      std::fill(count.begin(), count.end(), 0.0);
      double sum = 0;
      for (std::size_t t = 0; t < tasks; ++t) {
        const double eta = reliability(t, w);
        sum += eta;
        right[index(world.truth[t])] += reliability.right(eta);
        count[index(world.truth[t])] += 1;
      }
      crowd.expertise[w] = sum / static_cast<double>(tasks);
      for (std::size_t k = 0; k < classes; ++k) right[k] = count[k] > 0 ? right[k] / count[k] : crowd.expertise[w];
      tables::coin_per_class(std::span(crowd.confusion).subspan(w * classes * classes, classes * classes), classes,
                             right);
    }
  });
}

}  // namespace

SimulationInfo info() {
  SimulationInfo info;
  info.summary =
      "The generator of DALC: short texts as bags of words (features.npy), workers whose reliability depends on the "
      "words (reliability.csv), and a truth that a random teacher knows. Over given tasks the reliability depends on "
      "their features.";
  info.parameters = {
      ParameterSpec::integer("vocabulary", 300, 2, 1e6, "number of words, the columns of the features"),
      ParameterSpec::integer("most_words", 5, 1, 1e6, "a text has 1 to so many words"),
      ParameterSpec::integer("rank", 10, 1, 1e4, "length of a worker's vector u: reliability is sigma(u' F x)"),
      ParameterSpec::choice("teacher", "linear", {"linear", "two_layer"}, "what the truth is of a text"),
      ParameterSpec::choice("answers", "deterministic", {"deterministic", "bernoulli"},
                            "right exactly when the reliability is above 1/2, or right with that probability"),
      ParameterSpec::real("level", 0.62, -20, 20,
                          "over given features: mean of the log odds of being right; 0.62 is 65 %"),
      ParameterSpec::real("spread", 0.56, 0, 20,
                          "over given features: how far the log odds deviate from it, by task and worker")};
  auto assignment = assignment_parameters();
  assignment.front().default_value = std::string("bernoulli");
  info.parameters.insert(info.parameters.end(), assignment.begin(), assignment.end());
  // The truth follows from the words.
  info.parameters.push_back(ParameterSpec::choice("class_prior", "teacher", {"teacher"}, "fixed by this kind"));
  return info;
}

SimulationSize default_size(const Parameters&) {
  return {.tasks = 5000, .workers = 5000, .classes = 2, .answers_per_task = 5};
}

void prepare(const CrowdRequest& request, World& world) {
  if (world.given) {
    if (world.feature_columns > 0) return;
    throw Error(ErrorCode::bad_parameter,
                "the workers of kind lftc look at features: give the features of these tasks as numbers");
  }
  if (!world.class_prior.empty()) {
    throw Error(ErrorCode::bad_parameter,
                "the kind lftc draws texts, and the truth follows from them: leave out class shares");
  }
  const auto words = static_cast<std::size_t>(request.parameters.integer("vocabulary"));
  const auto most = static_cast<std::uint64_t>(request.parameters.integer("most_words"));
  if (words > kMostFeatures / world.tasks) {
    throw Error(ErrorCode::unsupported, fmt::format("{} tasks × {} words are more than the {} features allowed: take "
                                                    "fewer",
                                                    world.tasks, words, kMostFeatures));
  }
  const Teacher teacher(request.parameters.choice("teacher") == "two_layer", words, world.classes, request.rng);
  std::vector<float> features(world.tasks * words, 0.0F);
  world.truth.resize(world.tasks);
  const Blocks blocks{world.tasks, kTasksPerBlock};
  request.context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    if (request.context.cancelled()) return;
    Rng rng = request.context.rng("simulate texts", b);
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
      const auto x = std::span(features).subspan(t * words, words);
      const std::uint64_t length = 1 + rng.below(most);
      for (std::uint64_t i = 0; i < length; ++i) x[rng.below(words)] += 1;
      world.truth[t] = ClassId{static_cast<std::uint16_t>(teacher(x))};
    }
  });
  take_features(world, std::move(features), words);
}

Crowd draw(const CrowdRequest& request) {
  const World& world = request.world;
  const std::size_t words = world.feature_columns;
  const std::size_t classes = world.classes;
  const std::size_t workers = request.size.workers;
  const auto rank = static_cast<std::size_t>(request.parameters.integer("rank"));
  auto state = std::make_shared<Reliability>();
  state->rank = rank;
  state->certain = request.parameters.choice("answers") == "deterministic";
  state->workers = uniform_values(workers * rank, request.rng.fork("workers"));
  if (world.given) {
    state->tasks = given_tasks(world, rank, request.parameters.real("level"), request.parameters.real("spread"),
                               request.rng.fork("words"));
    std::vector<double> with_level(workers * (rank + 1), 1.0);
    for (std::size_t w = 0; w < workers; ++w) {
      std::copy_n(state->workers.data() + w * rank, rank, with_level.data() + w * (rank + 1));
    }
    state->workers = std::move(with_level);
    state->rank = rank + 1;
  } else {
    state->tasks.assign(world.tasks * rank, 0.0);
    const std::vector<double> loadings = uniform_values(words * rank, request.rng.fork("words"));
    const Blocks blocks{world.tasks, kTasksPerBlock};
    request.context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
        const auto x = world.features_of(t);
        for (std::size_t v = 0; v < words; ++v) {
          if (x[v] == 0) continue;
          for (std::size_t d = 0; d < rank; ++d) state->tasks[t * rank + d] += loadings[v * rank + d] * x[v];
        }
      }
    });
  }

  Crowd crowd;
  crowd.confusion.resize(workers * classes * classes);
  crowd.kinds.assign(workers, "low rank");
  crowd.expertise.resize(workers);
  average(*state, world, request.context, crowd);
  const std::shared_ptr<const Reliability> reliability = std::move(state);
  crowd.reliability = [reliability](std::uint64_t task, std::size_t worker) { return (*reliability)(task, worker); };
  crowd.answer = [reliability, classes, rights = PairDraws(request.rng.fork("answers")),
                  wrongs = PairDraws(request.rng.fork("wrong answers"))](std::uint64_t task, std::size_t truth,
                                                                         std::size_t worker) {
    const double eta = (*reliability)(task, worker);
    if (reliability->certain ? eta > .5 : rights(task, worker) < eta) return truth;
    const auto shift = static_cast<std::size_t>(wrongs(task, worker) * static_cast<double>(classes - 1));
    return (truth + 1 + shift) % classes;
  };
  return crowd;
}

}  // namespace wisecrowd::lftc_crowd
