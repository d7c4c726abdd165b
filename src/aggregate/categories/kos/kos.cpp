#include "aggregate/categories/kos/kos.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "aggregate/method.hpp"
#include "base/huge_vector.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::kos {
namespace {

constexpr std::size_t kTasksPerBlock = 4096;
constexpr std::size_t kWorkersPerBlock = 256;

/// From −1 … 1 to 0 … 1; sums of signed and unsigned terms may differ by rounding.
double share_of(double lean) { return std::clamp(0.5 + 0.5 * lean, 0.0, 1.0); }

/// Some questions of two sides, asked at once: an answer is +1 or −1 to each. They share every access to memory, which
/// is what a round costs. `Lanes` of them, the unused ones with sides of 0, so that their messages stay 0.
template <std::size_t Lanes>
class Questions {
 public:
  using Row = std::array<double, Lanes>;

  /// `side[label]`: what the label says to each question. `lean` (per task, −1 … 1), if not empty, is where tasks
  /// start.
  Questions(const CategoryData& data, const RunContext& context, const Options& options, std::vector<Row> side,
            std::size_t first_question)
      : share(data.answers.task_count()),
        skill(data.answers.worker_count()),
        answers_(data.answers),
        workers_(data.answers.workers()),
        labels_(data.answers.labels()),
        context_(context),
        options_(options),
        side_(std::move(side)) {
    for (Row& row : share) row.fill(0.5);
    for (Row& row : skill) row.fill(0.0);
    for (std::size_t l = 0; l < Lanes; ++l) starts_.push_back(context.rng("start", first_question + l));
  }

  std::size_t run_messages(std::span<const Row> lean);
  std::size_t run_singular(std::span<const Row> lean);

  std::vector<Row> share;  ///< per task, the weighted share of +1 votes
  std::vector<Row> skill;  ///< per worker
  bool settled = true;
  double round_seconds = 0;  ///< of all rounds, without the start and the end

 private:
  [[nodiscard]] const Row& side(std::size_t answer) const { return side_[index(labels_[answer])]; }
  [[nodiscard]] bool stop(std::size_t done) const {
    context_.report({.stage = "iterating",
                     .done = static_cast<double>(done),
                     .total = static_cast<double>(options_.max_iterations)});
    return context_.cancelled();
  }
  void begin_messages(std::span<const Row> lean);
  /// Answers of one task: brings y v in message_[a] and takes y x away.
  void task_turn(AnswerIndex first, AnswerIndex last);
  /// Sums of all workers; returns the largest number of each question.
  Row worker_turns();
  /// What the worker sends back along an answer.
  void reply(AnswerIndex a) {
    const Row& y = side(a);
    const Row& sum = sum_of_[index(workers_[a])];
    for (std::size_t l = 0; l < Lanes; ++l) message_[a][l] = y[l] * (sum[l] - message_[a][l]);
  }
  /// Shares and skills by the last messages.
  void read_messages();
  /// Gives the singular vectors their signs, and reads shares off them.
  void orient(std::span<const Row> mean, std::span<const Row> lead);
  /// Calls work(task, first answer, last answer).
  template <class Work>
  void for_each_task(const Work& work) {
    const auto offsets = answers_.task_offsets();
    const Blocks blocks{answers_.task_count(), kTasksPerBlock};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) work(t, offsets[t], offsets[t + 1]);
    });
  }
  /// Calls work(worker, its answers, its tasks, largest), which may raise `largest`; returns the largest of all.
  template <class Work>
  Row for_each_worker(const Work& work) {
    const Blocks blocks{answers_.worker_count(), kWorkersPerBlock};
    std::vector<Row> largest(blocks.count(), Row{});
    context_.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t w = blocks.begin(block); w < blocks.end(block); ++w) {
        const WorkerId id{static_cast<std::uint32_t>(w)};
        work(w, answers_.answers_of(id), answers_.tasks_of(id), largest[block]);
      }
    });
    return largest_of(largest);
  }
  [[nodiscard]] static Row largest_of(std::span<const Row> rows) {
    Row all{};
    for (const Row& row : rows) {
      for (std::size_t l = 0; l < Lanes; ++l) all[l] = std::max(all[l], row[l]);
    }
    return all;
  }

  const CategoryAnswers& answers_;
  std::span<const WorkerId> workers_;
  std::span<const ClassId> labels_;
  const RunContext& context_;
  const Options& options_;
  std::vector<Row> side_;
  std::vector<Rng> starts_;

  // One number per answer and question: y x_{i→j}, from the task. What the worker sends back follows from it and the
  // worker's sum, y v_{j→i} = y (Σ y x − y x_{i→j}), and is made when the task reads it: so a worker's turn only reads.
  HugeVector<Row> message_;
  std::vector<Row> sum_of_;  // per worker
  Row scale_{};              // only ratios matter, and values grow geometrically
};

template <std::size_t Lanes>
void Questions<Lanes>::task_turn(AnswerIndex first, AnswerIndex last) {
  Row sum{};
  for (AnswerIndex a = first; a < last; ++a) {
    for (std::size_t l = 0; l < Lanes; ++l) sum[l] += message_[a][l];
  }
  for (AnswerIndex a = first; a < last; ++a) {
    const Row& y = side(a);
    for (std::size_t l = 0; l < Lanes; ++l) message_[a][l] = scale_[l] * y[l] * (sum[l] - message_[a][l]);
  }
}

template <std::size_t Lanes>
auto Questions<Lanes>::worker_turns() -> Row {
  return for_each_worker([&](std::size_t w, auto own, auto, Row& top) {
    Row sum{}, size = top;
    for (const AnswerIndex a : own) {
      const Row& x = message_[a];
      for (std::size_t l = 0; l < Lanes; ++l) {
        const double weight = std::abs(x[l]);
        sum[l] += x[l];
        size[l] = size[l] > weight ? size[l] : weight;
      }
    }
    sum_of_[w] = sum;
    for (std::size_t l = 0; l < Lanes; ++l) top[l] = std::max(size[l], std::abs(sum[l]));
  });
}

template <std::size_t Lanes>
void Questions<Lanes>::begin_messages(std::span<const Row> lean) {
  message_.resize(answers_.answer_count());
  sum_of_.resize(answers_.worker_count());
  (void)answers_.worker_offsets();  // made on first use: not part of a round
  scale_.fill(1);
  const bool random = options_.start == Options::FirstMessages::random;
  for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
    if (!lean.empty()) {
      for (AnswerIndex a = first; a < last; ++a) {
        for (std::size_t l = 0; l < Lanes; ++l) message_[a][l] = side(a)[l] * lean[t][l];
      }
      return;
    }
    for (std::size_t l = 0; l < Lanes; ++l) {
      Rng rng = starts_[l].fork("task", t);
      for (AnswerIndex a = first; a < last; ++a) message_[a][l] = side(a)[l] * (random ? 1 + rng.normal() : 1);
    }
    task_turn(first, last);
  });
}

template <std::size_t Lanes>
std::size_t Questions<Lanes>::run_messages(std::span<const Row> lean) {
  begin_messages(lean);
  const auto started = std::chrono::steady_clock::now();
  std::size_t round = 0;
  for (;;) {
    const Row largest = worker_turns();
    ++round;
    if (stop(round) || round == options_.max_iterations) break;
    for (std::size_t l = 0; l < Lanes; ++l) scale_[l] = largest[l] > 0 ? 1 / largest[l] : 1;
    for_each_task([&](std::size_t, AnswerIndex first, AnswerIndex last) {
      for (AnswerIndex a = first; a < last; ++a) reply(a);
      task_turn(first, last);
    });
  }
  round_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  read_messages();
  return round;
}

template <std::size_t Lanes>
void Questions<Lanes>::read_messages() {
  // Skills as shares of the largest message.
  std::vector<Row> tops(Blocks{answers_.task_count(), kTasksPerBlock}.count(), Row{});
  for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
    Row& top = tops[t / kTasksPerBlock];
    for (AnswerIndex a = first; a < last; ++a) reply(a);
    for (std::size_t l = 0; l < Lanes; ++l) {
      double sum = 0, size = 0;
      for (AnswerIndex a = first; a < last; ++a) {
        sum += message_[a][l];
        size += std::abs(message_[a][l]);
        top[l] = std::max(top[l], std::abs(message_[a][l]));
      }
      if (size > 0) {
        share[t][l] = share_of(sum / size);
      } else if (last > first) {  // its workers answered nothing else, so nothing is known of them: count heads
        for (AnswerIndex a = first; a < last; ++a) sum += side(a)[l];
        share[t][l] = share_of(sum / static_cast<double>(last - first));
      }
    }
  });
  const Row largest = largest_of(tops);
  for (std::size_t w = 0; w < skill.size(); ++w) {
    const double count = static_cast<double>(answers_.answers_of(WorkerId{static_cast<std::uint32_t>(w)}).size());
    for (std::size_t l = 0; l < Lanes; ++l) {
      skill[w][l] = count > 0 ? sum_of_[w][l] / count / (largest[l] > 0 ? largest[l] : 1) : 0;
    }
  }
}

template <std::size_t Lanes>
std::size_t Questions<Lanes>::run_singular(std::span<const Row> lean) {
  // Each worker's answers minus their mean: who always says the same says nothing.
  std::vector<Row> mean(answers_.worker_count(), Row{});
  for_each_worker([&](std::size_t w, auto own, auto, Row&) {
    for (const AnswerIndex a : own) {
      for (std::size_t l = 0; l < Lanes; ++l) mean[w][l] += side(a)[l];
    }
    for (double& m : mean[w]) m /= static_cast<double>(std::max<std::size_t>(own.size(), 1));
  });
  HugeVector<Row> lead(answers_.task_count());
  // From the votes, a little shaken, so that no start is orthogonal to the answer.
  for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
    for (std::size_t l = 0; l < Lanes; ++l) {
      double sum = lean.empty() ? 0 : lean[t][l] * static_cast<double>(last - first);
      for (AnswerIndex a = first; a < last && lean.empty(); ++a) sum += side(a)[l];
      lead[t][l] = sum + 1e-3 * starts_[l].fork("task", t).normal();
    }
  });
  settled = false;
  const auto started = std::chrono::steady_clock::now();
  std::size_t round = 0;
  while (round < options_.max_iterations) {
    const std::vector<Row> before = skill;
    for_each_worker([&](std::size_t w, auto own, auto tasks, Row&) {
      Row sum{};
      for (std::size_t i = 0; i < own.size(); ++i) {
        const Row& y = side(own[i]);
        for (std::size_t l = 0; l < Lanes; ++l) sum[l] += (y[l] - mean[w][l]) * lead[index(tasks[i])][l];
      }
      skill[w] = sum;
    });
    double moved = 0;
    for (std::size_t l = 0; l < Lanes; ++l) {
      double square = 0;
      for (const Row& row : skill) square += row[l] * row[l];
      const double scale = square > 0 ? 1 / std::sqrt(square) : 0;
      for (std::size_t w = 0; w < skill.size(); ++w) {
        skill[w][l] *= scale;
        moved = std::max(moved, std::abs(skill[w][l] - before[w][l]));
      }
    }
    for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
      Row sum{};
      for (AnswerIndex a = first; a < last; ++a) {
        const std::size_t w = index(workers_[a]);
        for (std::size_t l = 0; l < Lanes; ++l) sum[l] += (side(a)[l] - mean[w][l]) * skill[w][l];
      }
      lead[t] = sum;
    });
    ++round;
    if (stop(round)) break;
    if (moved <= options_.tolerance) {
      settled = true;
      break;
    }
  }
  round_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  orient(mean, lead);
  return round;
}

template <std::size_t Lanes>
void Questions<Lanes>::orient(std::span<const Row> mean, std::span<const Row> lead) {
  for (std::size_t l = 0; l < Lanes; ++l) {
    // A singular vector has no sign: most of its mass is said to be of workers who are right.
    double positive = 0, all = 0;
    for (const Row& row : skill) {
      all += row[l] * row[l];
      positive += row[l] > 0 ? row[l] * row[l] : 0;
    }
    const double sign = positive >= 0.5 * all ? 1 : -1;
    for (Row& row : skill) row[l] *= sign;
    for_each_task([&](std::size_t t, AnswerIndex first, AnswerIndex last) {
      double size = 0;
      for (AnswerIndex a = first; a < last; ++a) {
        const std::size_t w = index(workers_[a]);
        size += std::abs((side(a)[l] - mean[w][l]) * skill[w][l]);
      }
      if (size > 0) share[t][l] = share_of(sign * lead[t][l] / size);
    });
  }
}

/// Asks questions [first, first + Lanes) of `questions` and writes what they say of each class.
template <std::size_t Lanes>
void ask(const CategoryData& data, const RunContext& context, const Options& options, const CategoryStart& start,
         bool steps, std::size_t first, std::size_t questions, std::vector<double>& above, bool& settled,
         CategoryFit& result) {
  using Row = typename Questions<Lanes>::Row;
  const std::size_t classes = result.class_count, tasks = result.task_count;
  const std::size_t used = std::min(Lanes, questions - first);
  const auto is_yes = [&](std::size_t k, std::size_t q) { return steps ? k > q : k == q; };
  std::vector<Row> side(classes, Row{}), lean;
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t l = 0; l < used; ++l) side[k][l] = is_yes(k, first + l) ? 1 : -1;
  }
  if (!start.empty()) {
    lean.resize(tasks);
    for (std::size_t t = 0; t < tasks; ++t) {
      lean[t].fill(-1);
      for (std::size_t k = 0; k < classes; ++k) {
        for (std::size_t l = 0; l < used; ++l) {
          lean[t][l] += is_yes(k, first + l) ? 2 * start.posterior[t * classes + k] : 0;
        }
      }
    }
  }
  Questions<Lanes> asked(data, context, options, std::move(side), first);
  const bool singular = options.variant == Options::Variant::singular;
  result.iterations = std::max(result.iterations, singular ? asked.run_singular(lean) : asked.run_messages(lean));
  settled = settled && asked.settled;
  result.seconds_per_iteration +=
      asked.round_seconds / static_cast<double>(std::max<std::size_t>(result.iterations, 1));
  for (std::size_t w = 0; w < result.worker_count; ++w) {
    for (std::size_t l = 0; l < used; ++l) result.skill[w] += asked.skill[w][l] / static_cast<double>(questions);
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    double* const row = result.posterior.data() + t * classes;
    for (std::size_t l = 0; l < used; ++l) {
      if (steps) {
        // P(above q) must not rise with q; what is lost from step to step is P(q).
        const double now = std::min(above[t], asked.share[t][l]);
        row[first + l] = above[t] - now;
        row[classes - 1] = above[t] = now;
      } else {
        row[first + l] = asked.share[t][l];
      }
    }
  }
}

constexpr auto kVariantNames =
    enum_names<Options::Variant>({{Options::Variant::messages, "messages"}, {Options::Variant::singular, "singular"}});
constexpr auto kManyClassesNames = enum_names<Options::ManyClasses>({{Options::ManyClasses::one_vs_rest, "one_vs_rest"},
                                                                     {Options::ManyClasses::thresholds, "thresholds"},
                                                                     {Options::ManyClasses::refuse, "refuse"}});
constexpr auto kFirstMessagesNames = enum_names<Options::FirstMessages>(
    {{Options::FirstMessages::votes, "votes"}, {Options::FirstMessages::random, "random"}});

void parameters(ParameterVisitor& v, Options& o) {
  v.choice("variant", o.variant, kVariantNames,
           "messages: the message passing itself; singular: its limit on dense data, the leading "
           "singular vector of the answers, each worker's own mean taken off");
  v.choice("many_classes", o.many_classes, kManyClassesNames,
           "beyond two classes: one question per class (is it this one?), or for ordered classes one "
           "per step (is it above this one?); refuse takes two classes only, as in the paper");
  v.choice("start", o.start, kFirstMessagesNames,
           "first messages: all workers alike, so that the first round counts votes, or drawn from "
           "N(1, 1) as in the paper");
  v.integer("max_iterations", o.max_iterations, 1, 1e9, "rounds of messages; 10 to 100 are usual");
  v.real("tolerance", o.tolerance, 0, 1, "singular: stop when no worker's weight moves by more than this");
  tie_rule_parameter(v, o.ties);
}

}  // namespace

CategoryMethod method() {
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
  return CategoryMethod::of<Kos, parameters>(std::move(info));
}

CategoryFit Kos::fit(const CategoryData& data, const RunContext& context, const CategoryStart& start) const {
  CategoryFit result = start_aggregation(data);
  const std::size_t classes = result.class_count, tasks = result.task_count;
  if (classes > 2 && options_.many_classes == Options::ManyClasses::refuse) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("KOS is for two classes, and there are {}: set many_classes to one_vs_rest (one question per "
                    "class) or, where classes are ordered, to thresholds; or take another method",
                    classes));
  }
  result.tie_rule = options_.ties;
  result.skill.assign(result.worker_count, 0.0);
  const bool ordered = options_.many_classes == Options::ManyClasses::thresholds;
  // Two classes are one question: is it the second?
  const std::size_t questions = classes < 2 ? 0 : classes == 2 || ordered ? classes - 1 : classes;
  const bool steps = classes == 2 || ordered;
  // Rows of zeros (nothing asked) become even in the end.
  result.posterior.assign(tasks * classes, 0.0);
  std::vector<double> above(tasks, 1.0);
  bool settled = true;
  if (questions == 1) {
    ask<1>(data, context, options_, start, steps, 0, 1, above, settled, result);
  } else {
    constexpr std::size_t kAtOnce = 4;
    for (std::size_t q = 0; q < questions && (q == 0 || !context.cancelled()); q += kAtOnce) {
      ask<kAtOnce>(data, context, options_, start, steps, q, questions, above, settled, result);
    }
  }
  for (std::size_t t = 0; t < tasks; ++t) normalise(std::span(result.posterior).subspan(t * classes, classes));
  result.labels = hard_labels(result.posterior, classes, options_.ties, context);
  result.class_prior = mean_posterior(data.answers, result.posterior);
  const bool cancelled = context.cancelled();
  result.status = cancelled ? Status::cancelled : settled ? Status::converged : Status::iteration_limit;
  return result;
}

}  // namespace wisecrowd::kos
