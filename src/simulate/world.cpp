#include "simulate/world.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "simulate/class_prior.hpp"
#include "simulate/crowd.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kTasksPerBlock = 8192;  // part of the definition of a seed: truth is drawn block by block
/// 16 GiB of features.
constexpr std::size_t kMostFeatures = std::size_t{1} << 32;
constexpr double kLargestSeparation = 1e6;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::bad_parameter, message); }

void check_given(const GivenTasks& given, const TaskOptions& options) {
  const std::size_t tasks = given.truth.size();
  const auto same = [&](std::size_t size, const char* what) {
    if (size != tasks) refuse(fmt::format("{} given tasks have {} {}: one per task is needed", tasks, size, what));
  };
  same(given.names.size(), "names");
  if (!given.splits.empty()) same(given.splits.size(), "splits");
  if (!given.rows.empty()) same(given.rows.size(), "rows");
  for (const ClassId truth : given.truth) {
    if (truth != kNoClass && index(truth) >= given.classes.size()) {
      refuse(fmt::format("a given task has truth {}, but there are {} classes", index(truth), given.classes.size()));
    }
  }
  if (options.test_tasks > 0) refuse("test tasks can be drawn only when the truth is: the split of given tasks stands");
  if (!options.class_shares.empty()) refuse("class shares are for drawn truth: given tasks have theirs");
  if (given.feature_columns == 0) return;
  if (options.gaussian_separation) refuse("tasks have either given or Gaussian features: leave one out");
  const std::size_t rows = given.features.size() / given.feature_columns;
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::size_t row = given.rows.empty() ? t : given.rows[t];
    if (row < rows) continue;
    throw Error(ErrorCode::bad_input,
                fmt::format("task '{}' has its features in row {}, but there are {} rows (counted from 0): are these "
                            "the features of these tasks?",
                            given.names[t], row, rows));
  }
}

void check_drawn(const SimulationSize& size, const TaskOptions& options) {
  if (options.test_tasks > 0xFFFFFFFE - std::min<std::size_t>(size.tasks, 0xFFFFFFFE)) {
    throw Error(ErrorCode::unsupported, fmt::format("{} + {} tasks are more than one data set can hold: take fewer",
                                                    size.tasks, options.test_tasks));
  }
  if (options.class_shares.empty()) return;
  if (options.class_shares.size() != size.classes) {
    refuse(fmt::format("{} class shares for {} classes: give one share per class", options.class_shares.size(),
                       size.classes));
  }
  double sum = 0;
  for (const double share : options.class_shares) {
    if (!(share >= 0) || !std::isfinite(share)) refuse(fmt::format("a class share cannot be {}", share));
    sum += share;
  }
  if (!(sum > 0)) refuse("class shares cannot all be 0");
}

void check_gaussian(std::size_t classes, std::size_t tasks, const TaskOptions& options) {
  if (!options.gaussian_separation) return;
  if (!(std::abs(*options.gaussian_separation) <= kLargestSeparation)) {
    refuse(fmt::format("the separation of Gaussian features cannot be {}: it is at most {}",
                       *options.gaussian_separation, kLargestSeparation));
  }
  const std::size_t columns = std::max(options.gaussian_columns, classes);
  if (options.gaussian_columns != 0 && options.gaussian_columns < classes) {
    refuse(fmt::format("Gaussian features of {} classes need at least {} columns, not {}", classes, classes,
                       options.gaussian_columns));
  }
  if (columns > kMostFeatures / tasks) {
    throw Error(ErrorCode::unsupported, fmt::format("{} × {} features are more than the {} allowed: take fewer columns",
                                                    tasks, columns, kMostFeatures));
  }
}

/// Draws block by block with a stream each. False when cancelled.
template <class Draw>
bool for_each_block(const char* purpose, std::size_t tasks, const RunContext& context, Draw draw) {
  const Blocks blocks{tasks, kTasksPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    if (context.cancelled()) return;
    Rng rng = context.rng(purpose, b);
    for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) draw(t, rng);
  });
  return !context.cancelled();
}

bool draw_gaussian(double separation, std::size_t columns, const RunContext& context, World& world) {
  std::vector<float> values(world.tasks * columns);
  const bool done = for_each_block("simulate features", world.tasks, context, [&](std::size_t t, Rng& rng) {
    const auto row = std::span(values).subspan(t * columns, columns);
    for (float& x : row) x = static_cast<float>(rng.normal());
    if (world.truth[t] == kNoClass) return;
    const std::size_t truth = index(world.truth[t]);
    if (world.classes == 2) {
      row[0] += static_cast<float>(truth == 0 ? -separation : separation);
    } else {
      row[truth] += static_cast<float>(separation);
    }
  });
  take_features(world, std::move(values), columns);
  return done;
}

}  // namespace

void take_features(World& world, std::vector<float> values, std::size_t columns) {
  world.drawn_features = std::move(values);
  world.features = world.drawn_features;
  world.feature_columns = columns;
  world.rows = {};
}

std::vector<double> class_shares(const World& world) {
  std::vector<double> shares(world.classes, 0.0);
  for (const ClassId truth : world.truth) {
    if (truth != kNoClass) shares[index(truth)] += 1;
  }
  normalise(shares);
  return shares;
}

World start_world(const SimulationSize& size, const TaskOptions& options) {
  World world;
  world.classes = size.classes;
  if (options.given == nullptr) {
    check_drawn(size, options);
    world.tasks = size.tasks + options.test_tasks;
    world.class_prior = options.class_shares;
    if (!world.class_prior.empty()) normalise(world.class_prior);
  } else {
    check_given(*options.given, options);
    world.given = true;
    world.tasks = options.given->truth.size();
    world.truth = options.given->truth;
    world.features = options.given->features;
    world.feature_columns = options.given->feature_columns;
    world.rows = options.given->rows;
  }
  check_gaussian(world.classes, world.tasks, options);
  for (std::uint32_t t = 0; t < world.tasks; ++t) {
    const bool train = options.given == nullptr
                           ? t < size.tasks
                           : options.given->splits.empty() || options.given->splits[t] == Split::train;
    if (world.given && world.truth[t] == kNoClass) continue;
    (train ? world.train : world.held_out).push_back(t);
  }
  if (world.train.empty()) {
    throw Error(ErrorCode::bad_input,
                "no given task is of split 'train' and has a truth: nobody would answer anything to learn from");
  }
  return world;
}

bool finish_world(const Parameters& parameters, const TaskOptions& options, const RunContext& context, World& world) {
  if (!world.truth.empty()) {
    world.class_prior = class_shares(world);
  } else {
    if (world.class_prior.empty()) {
      world.class_prior = draw_class_prior(world.classes, parameters, context.rng("simulate class prior"));
    }
    world.truth.resize(world.tasks);
    if (!for_each_block("simulate truth", world.tasks, context, [&](std::size_t t, Rng& rng) {
          world.truth[t] = ClassId{static_cast<std::uint16_t>(pick(world.class_prior, rng.uniform()))};
        })) {
      return false;
    }
  }
  if (!options.gaussian_separation) return true;
  if (world.feature_columns > 0) refuse("this kind draws features of its own: leave out the Gaussian ones");
  const std::size_t columns = options.gaussian_columns != 0 ? options.gaussian_columns : world.classes;
  return draw_gaussian(*options.gaussian_separation, columns, context, world);
}

}  // namespace wisecrowd
