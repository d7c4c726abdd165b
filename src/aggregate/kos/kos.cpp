#include "aggregate/kos/kos.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/shared/votes.hpp"
#include "base/huge_vector.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"

namespace wisecrowd::kos {
namespace {

constexpr std::size_t kTasksPerBlock = 4096;
constexpr std::size_t kWorkersPerBlock = 256;

/// From −1 … 1 to 0 … 1; sums of signed and unsigned terms may differ by rounding.
double share_of(double lean) { return std::clamp(0.5 + 0.5 * lean, 0.0, 1.0); }

/// One question of two sides: an answer is +1 or −1.
class TwoSided {
 public:
  TwoSided(const Dataset& data, const RunContext& context, const Options& options)
      : answers_(data.answers), context_(context), options_(options) {}

  /// `sides`: +1 or −1 per answer, in task order. `lean` (per task, −1 … 1), if given, is where tasks start.
  /// Fills share (per task, the weighted share of +1 votes) and skill (per worker).
  std::size_t run(std::span<const std::int8_t> sides, std::span<const double> lean, std::uint64_t question);

  std::vector<double> share;
  std::vector<double> skill;
  bool settled = true;
  bool cancelled = false;

 private:
  std::size_t run_messages(std::span<const std::int8_t> sides, std::span<const double> lean, std::uint64_t question);
  std::size_t run_singular(std::span<const std::int8_t> sides, std::span<const double> lean, std::uint64_t question);
  [[nodiscard]] bool stop(std::size_t done);

  /// Calls work(task, first answer, last answer).
  template <class Work>
  void for_each_task(const Work& work) {
    const auto offsets = answers_.task_offsets();
    const Blocks blocks{answers_.task_count(), kTasksPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) work(t, offsets[t], offsets[t + 1]);
    });
  }
  /// Calls work(worker, its answers, its tasks); the largest of what it returns.
  template <class Work>
  double for_each_worker(const Work& work) {
    const Blocks blocks{answers_.worker_count(), kWorkersPerBlock};
    std::vector<double> largest(blocks.count(), 0.0);
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        const WorkerId id{static_cast<std::uint32_t>(w)};
        largest[block] = std::max<double>(largest[block], work(w, answers_.answers_of(id), answers_.tasks_of(id)));
      }
    });
    return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
  }

  const Annotations& answers_;
  const RunContext& context_;
  const Options& options_;
};

bool TwoSided::stop(std::size_t done) {
  context_.report(
      {.stage = "iterating", .done = static_cast<double>(done), .total = static_cast<double>(options_.max_iterations)});
  cancelled = cancelled || context_.cancelled();
  return cancelled;
}

std::size_t TwoSided::run(std::span<const std::int8_t> sides, std::span<const double> lean, std::uint64_t question) {
  share.assign(answers_.task_count(), 0.5);
  skill.assign(answers_.worker_count(), 0.0);
  return options_.variant == Options::Variant::singular ? run_singular(sides, lean, question)
                                                        : run_messages(sides, lean, question);
}

std::size_t TwoSided::run_messages(std::span<const std::int8_t> sides, std::span<const double> lean,
                                   std::uint64_t question) {
  // One number per answer, times its side: y x_{i→j} after the task's turn, y v_{j→i} after the worker's. Everyone sums
  // such products, so the side is looked up only to write.
  HugeVector<double> message(answers_.answer_count());
  const Rng root = context_.rng("start", question);
  for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
    Rng rng = root.fork("task", t);
    for (AnswerIndex a = first; a < last; ++a) message[a] = sides[a] * (1 + rng.normal());
  });
  std::size_t round = 0;
  double scale = 1;  // only ratios matter, and values grow geometrically
  while (round < options_.max_iterations) {
    if (round == 0 && !lean.empty()) {
      for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
        for (AnswerIndex a = first; a < last; ++a) message[a] = sides[a] * lean[t];
      });
    } else {
      for_each_task([&](std::size_t, AnswerIndex first, AnswerIndex last) {
        double sum = 0;
        for (AnswerIndex a = first; a < last; ++a) sum += message[a];
        for (AnswerIndex a = first; a < last; ++a) message[a] = scale * sides[a] * (sum - message[a]);
      });
    }
    const double largest = for_each_worker([&](std::size_t w, auto own, auto) {
      double sum = 0, top = 0;
      for (const AnswerIndex a : own) sum += message[a];
      for (const AnswerIndex a : own) {
        const double value = sum - message[a];
        message[a] = sides[a] * value;
        top = std::max(top, std::abs(value));
      }
      skill[w] = own.empty() ? 0 : sum / static_cast<double>(own.size());
      return top;
    });
    scale = largest > 0 ? 1 / largest : 1;
    ++round;
    if (stop(round)) break;
  }
  for (double& s : skill) s *= scale;
  for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
    double sum = 0, size = 0;
    for (AnswerIndex a = first; a < last; ++a) {
      sum += message[a];
      size += std::abs(message[a]);
    }
    if (size > 0) {
      share[t] = share_of(sum / size);
    } else if (last > first) {  // its workers answered nothing else, so nothing is known of them: count heads
      for (AnswerIndex a = first; a < last; ++a) sum += sides[a];
      share[t] = share_of(sum / static_cast<double>(last - first));
    }
  });
  return round;
}

std::size_t TwoSided::run_singular(std::span<const std::int8_t> sides, std::span<const double> lean,
                                   std::uint64_t question) {
  // Each worker's answers minus their mean: who always says the same says nothing.
  std::vector<double> mean(answers_.worker_count(), 0.0);
  for_each_worker([&](std::size_t w, auto own, auto) {
    for (const AnswerIndex a : own) mean[w] += sides[a];
    if (!own.empty()) mean[w] /= static_cast<double>(own.size());
    return 0.0;
  });
  HugeVector<double> side(answers_.task_count());
  const Rng root = context_.rng("start", question);
  const auto workers = answers_.workers();
  // From the votes, a little shaken, so that no start is orthogonal to the answer.
  for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
    double sum = lean.empty() ? 0 : lean[t] * static_cast<double>(last - first);
    for (AnswerIndex a = first; a < last && lean.empty(); ++a) sum += sides[a];
    side[t] = sum + 1e-3 * root.fork("task", t).normal();
  });
  settled = false;
  std::vector<double> before;
  std::size_t round = 0;
  while (round < options_.max_iterations) {
    before = skill;
    for_each_worker([&](std::size_t w, auto own, auto tasks) {
      double sum = 0;
      for (std::size_t i = 0; i < own.size(); ++i) sum += (sides[own[i]] - mean[w]) * side[index(tasks[i])];
      skill[w] = sum;
      return 0.0;
    });
    double square = 0;
    for (const double s : skill) square += s * s;
    if (square > 0) {
      for (double& s : skill) s /= std::sqrt(square);
    }
    for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
      double sum = 0;
      for (AnswerIndex a = first; a < last; ++a) {
        sum += (sides[a] - mean[index(workers[a])]) * skill[index(workers[a])];
      }
      side[t] = sum;
    });
    ++round;
    double moved = 0;
    for (std::size_t w = 0; w < skill.size(); ++w) moved = std::max(moved, std::abs(skill[w] - before[w]));
    if (stop(round)) break;
    if (moved <= options_.tolerance) {
      settled = true;
      break;
    }
  }
  // A singular vector has no sign: most of its mass is said to be of workers who are right.
  double positive = 0, all = 0;
  for (const double s : skill) {
    all += s * s;
    positive += s > 0 ? s * s : 0;
  }
  const double sign = positive >= 0.5 * all ? 1 : -1;
  for (double& s : skill) s *= sign;
  for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
    double size = 0;
    for (AnswerIndex a = first; a < last; ++a) {
      size += std::abs((sides[a] - mean[index(workers[a])]) * skill[index(workers[a])]);
    }
    if (size > 0) share[t] = share_of(sign * side[t] / size);
  });
  return round;
}

}  // namespace

MethodInfo info() {
  const Options defaults;
  MethodInfo info;
  info.title = "KOS message passing";
  info.summary = "Tasks and workers exchange weighted votes a few times; no prior, no model of errors.";
  info.when_to_use =
      "Two classes in even shares and many short-lived workers assigned at random, for which it is order-optimal. Real "
      "crowds are rarely like that: a class-biased crowd can turn it upside down, so compare with majority_vote.";
  info.reference = "D. Karger, S. Oh, D. Shah, Budget-optimal task allocation for reliable crowdsourcing, 2014";
  info.assumptions =
      "Workers err alike on both classes, assignment is random and sparse, and the average worker is better than a "
      "coin.";
  info.cost = "time S per round (times K, or K-1 with thresholds, beyond two classes); memory 8·S";
  info.uses_chance = true;
  info.uses_start = true;
  info.allows_repeats = false;
  info.parameters = {
      ParameterSpec::choice("variant", "messages", {"messages", "singular"},
                            "messages: the message passing itself; singular: its limit on dense data, the leading "
                            "singular vector of the answers, each worker's own mean taken off"),
      ParameterSpec::choice("many_classes", "one_vs_rest", {"one_vs_rest", "thresholds"},
                            "beyond two classes: one question per class (is it this one?), or for ordered classes one "
                            "per step (is it above this one?)"),
      ParameterSpec::integer("max_iterations", static_cast<std::int64_t>(defaults.max_iterations), 1, 1e9,
                             "rounds of messages; 10 to 100 are usual"),
      ParameterSpec::real("tolerance", defaults.tolerance, 0, 1,
                          "singular: stop when no worker's weight moves by more than this"),
      tie_rule_parameter(),
  };
  return info;
}

std::unique_ptr<Aggregator> make(const Parameters& parameters) {
  using Variant = Options::Variant;
  using ManyClasses = Options::ManyClasses;
  return std::make_unique<Kos>(
      Options{.variant = parameters.choice("variant") == "singular" ? Variant::singular : Variant::messages,
              .many_classes = parameters.choice("many_classes") == "thresholds" ? ManyClasses::thresholds
                                                                                : ManyClasses::one_vs_rest,
              .max_iterations = static_cast<std::size_t>(parameters.integer("max_iterations")),
              .tolerance = parameters.real("tolerance"),
              .ties = tie_rule_from(parameters.choice("ties"))});
}

Aggregation Kos::fit(const Dataset& data, const RunContext& context, const Start& start) const {
  Aggregation result = start_aggregation(data);
  const std::size_t classes = result.class_count, tasks = result.task_count;
  result.tie_rule = options_.ties;
  result.skill.assign(result.worker_count, 0.0);
  const bool ordered = options_.many_classes == Options::ManyClasses::thresholds;
  // Two classes are one question: is it the second?
  const std::size_t questions = classes < 2 ? 0 : classes == 2 || ordered ? classes - 1 : classes;
  const bool steps = classes == 2 || ordered;
  // Rows of zeros (nothing asked) become even in the end.
  result.posterior.assign(tasks * classes, 0.0);
  TwoSided two_sided(data, context, options_);
  std::vector<std::int8_t> sides(data.answers.answer_count());
  std::vector<double> lean, above(tasks, 1.0);
  bool settled = true;
  const auto started = std::chrono::steady_clock::now();
  for (std::size_t q = 0; q < questions && !two_sided.cancelled; ++q) {
    const auto is_yes = [&](std::size_t k) { return steps ? k > q : k == q; };
    for (std::size_t a = 0; a < sides.size(); ++a) sides[a] = is_yes(index(data.answers.labels()[a])) ? 1 : -1;
    if (!start.empty()) {
      lean.assign(tasks, -1.0);
      for (std::size_t t = 0; t < tasks; ++t) {
        for (std::size_t k = 0; k < classes; ++k) lean[t] += is_yes(k) ? 2 * start.posterior[t * classes + k] : 0;
      }
    }
    result.iterations = std::max(result.iterations, two_sided.run(sides, lean, q));
    settled = settled && two_sided.settled;
    for (std::size_t w = 0; w < result.worker_count; ++w) {
      result.skill[w] += two_sided.skill[w] / static_cast<double>(questions);
    }
    for (std::size_t t = 0; t < tasks; ++t) {
      double* const row = result.posterior.data() + t * classes;
      if (steps) {
        // P(above q) must not rise with q; what is lost from step to step is P(q).
        const double now = std::min(above[t], two_sided.share[t]);
        row[q] = above[t] - now;
        row[classes - 1] = above[t] = now;
      } else {
        row[q] = two_sided.share[t];
      }
    }
  }
  for (std::size_t t = 0; t < tasks; ++t) normalise(std::span(result.posterior).subspan(t * classes, classes));
  result.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() /
                                 static_cast<double>(std::max<std::size_t>(result.iterations, 1));
  result.labels = hard_labels(result.posterior, classes, options_.ties, context);
  result.class_prior = mean_posterior(data.answers, result.posterior);
  const bool cancelled = context.cancelled();
  result.status = cancelled ? Status::cancelled : settled ? Status::converged : Status::iteration_limit;
  return result;
}

}  // namespace wisecrowd::kos
