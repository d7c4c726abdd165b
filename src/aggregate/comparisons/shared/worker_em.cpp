#include "aggregate/comparisons/shared/worker_em.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "aggregate/comparisons/shared/plain_scores.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "data/pair_labels.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kPairsPerStep = std::size_t{1} << 12;
constexpr std::size_t kWorkersPerStep = 64;

/// One fit. Names follow METHOD.md of crowd_bt: om reliability, r the probability that an answer was meant.
class WorkerEm {
 public:
  WorkerEm(const ComparisonData& data, WorkerNoise noise, const WorkerEmOptions& options, const ItemGraph& graph,
           const RunContext& context)
      : data_(data),
        answers_(data.answers),
        noise_(noise),
        options_(options),
        context_(context),
        solver_(graph, {.games = options.virtual_games}, context),
        om_(answers_.worker_count(), options.start_reliability),
        left_(answers_.worker_count(), 0.5),
        meant_(answers_.answer_count()),
        first_(answers_.task_count()),
        second_(answers_.task_count()) {
    (void)answers_.worker_offsets();  // made by this thread
  }

  /// Where a worker starts.
  void begin_at(std::size_t worker, double reliability, double left) {
    om_[worker] = reliability;
    left_[worker] = left;
  }

  /// The log posterior at the current parameters; on the way, what every answer probably meant.
  double expect(std::span<const double> scores) {
    const auto offsets = answers_.task_offsets();
    const auto codes = answers_.codes();
    const auto workers = answers_.workers();
    const Blocks blocks{answers_.task_count(), kPairsPerStep};
    std::vector<double> sums(blocks.count());
    context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      double sum = 0;
      for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
        const ItemPair pair = answers_.pairs()[t];
        const double d = scores[index(pair.first)] - scores[index(pair.second)];
        const double p = sigmoid(d), q = sigmoid(-d);
        double first = 0, second = 0;
        for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
          const std::size_t worker = index(workers[a]);
          const Outcome said = ComparisonAnswers::outcome_of(codes[a]);
          const double guess = guess_first(p, worker, codes[a]);
          const double other = noise_ == WorkerNoise::flips ? p : 1 - guess;
          // Of having meant the first item, if that is what was said; and of the second.
          const double one = om_[worker] * p + (1 - om_[worker]) * guess;
          const double two = om_[worker] * q + (1 - om_[worker]) * other;
          const double r_first = one > 0 ? om_[worker] * p / one : 0.5,
                       r_second = two > 0 ? om_[worker] * q / two : 0.5;
          const double said_first = said == Outcome::left ? 1 : said == Outcome::tie ? 0.5 : 0;
          const double said_second = 1 - said_first;
          meant_[a] = static_cast<float>(said_first * r_first + said_second * r_second);
          first += said_first * r_first;
          second += said_second * r_second;
          if (noise_ == WorkerNoise::flips) {  // what was not meant is a win of the other item
            first += said_second * (1 - r_second);
            second += said_first * (1 - r_first);
          }
          if (said_first > 0) sum += said_first * math::log(std::max(one, kProbabilityFloor));
          if (said_second > 0) sum += said_second * math::log(std::max(two, kProbabilityFloor));
        }
        if (const auto known = data_.gold_of(TaskId(t))) {
          const double won = *known == Outcome::left ? 1 : *known == Outcome::tie ? 0.5 : 0;
          first += won;
          second += 1 - won;
          sum += won * log_sigmoid(d) + (1 - won) * log_sigmoid(-d);
        }
        first_[t] = first;
        second_[t] = second;
      }
      sums[b] = sum;
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    log_likelihood_ = total;
    for (const double s : scores) total += options_.virtual_games * (log_sigmoid(s) + log_sigmoid(-s));
    for (std::size_t w = 0; w < om_.size(); ++w) {
      total += (options_.prior_right - 1) * math::log(std::max(om_[w], kProbabilityFloor)) +
               (options_.prior_wrong - 1) * math::log(std::max(1 - om_[w], kProbabilityFloor));
      if (noise_ == WorkerNoise::guesses) {
        total += options_.side_prior * (math::log(std::max(left_[w], kProbabilityFloor)) +
                                        math::log(std::max(1 - left_[w], kProbabilityFloor)));
      }
    }
    return total;
  }

  /// New reliabilities and sides, and a step of the scores. Returns the largest change.
  double maximise(std::vector<double>& scores) {
    const bool sides = noise_ == WorkerNoise::guesses && answers_.sides_known();
    const Blocks blocks{om_.size(), kWorkersPerStep};
    std::vector<double> change(blocks.count(), 0);
    context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      for (std::size_t w = blocks.begin(b); w < blocks.end(b); ++w) {
        double meant = 0, guessed = 0, left = 0;
        const auto own = answers_.answers_of(WorkerId(w));
        for (const AnswerIndex a : own) {
          meant += meant_[a];
          if (!sides) continue;
          const std::uint8_t code = answers_.codes()[a];
          const Outcome said = ComparisonAnswers::outcome_of(code);
          const double guess = 1 - meant_[a];
          guessed += guess;
          left += guess * (said == Outcome::tie ? 0.5 : (said == Outcome::left) != ComparisonAnswers::swapped(code));
        }
        const double weight = static_cast<double>(own.size()) + options_.prior_right + options_.prior_wrong - 2;
        const double om = weight > 0 ? (meant + options_.prior_right - 1) / weight : options_.start_reliability;
        change[b] = std::max(change[b], std::abs(om - om_[w]));
        om_[w] = om;
        if (sides) left_[w] = (left + options_.side_prior) / (guessed + 2 * options_.side_prior);
      }
    });
    solver_.set_weights(first_, second_);
    const std::vector<double> before = scores;
    solver_.improve(scores, 1, 1e-9);
    double largest = 0;
    for (const double own : change) largest = std::max(largest, own);
    for (std::size_t i = 0; i < scores.size(); ++i) largest = std::max(largest, std::abs(scores[i] - before[i]));
    return largest;
  }

  /// Per pair, how much its answers tell of the difference of its items.
  [[nodiscard]] std::vector<double> information(std::span<const double> scores) const {
    std::vector<double> information(answers_.task_count());
    const auto offsets = answers_.task_offsets();
    const Blocks blocks{answers_.task_count(), kPairsPerStep};
    context_.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      for (std::size_t t = blocks.begin(b); t < blocks.end(b); ++t) {
        const ItemPair pair = answers_.pairs()[t];
        const double p = sigmoid(scores[index(pair.first)] - scores[index(pair.second)]);
        double sum = data_.gold_of(TaskId(t)) ? p * (1 - p) : 0;
        for (AnswerIndex a = offsets[t]; a < offsets[t + 1]; ++a) {
          const std::size_t worker = index(answers_.workers()[a]);
          const double om = om_[worker];
          const double guess = guess_first(p, worker, answers_.codes()[a]);
          const double slope = (noise_ == WorkerNoise::flips ? 2 * om - 1 : om) * p * (1 - p);
          const double says = om * p + (1 - om) * guess;
          if (says > 0 && says < 1) sum += slope * slope / (says * (1 - says));
        }
        information[t] = sum;
      }
    });
    const double spread = dispersion(answers_, [&](std::size_t t, AnswerIndex a) {
      const ItemPair pair = answers_.pairs()[t];
      const double p = sigmoid(scores[index(pair.first)] - scores[index(pair.second)]);
      const std::size_t worker = index(answers_.workers()[a]);
      return om_[worker] * p + (1 - om_[worker]) * guess_first(p, worker, answers_.codes()[a]);
    });
    for (double& own : information) own /= spread;
    return information;
  }

  [[nodiscard]] TaskId task_of(AnswerIndex answer) const {
    const auto offsets = answers_.task_offsets();
    return TaskId(std::upper_bound(offsets.begin(), offsets.end(), answer) - offsets.begin() - 1);
  }
  [[nodiscard]] const std::vector<double>& reliability() const { return om_; }
  [[nodiscard]] const std::vector<double>& left() const { return left_; }
  [[nodiscard]] double log_likelihood() const { return log_likelihood_; }

 private:
  /// That it names the first item when it does not say what the scores say, these naming it with probability p.
  [[nodiscard]] double guess_first(double p, std::size_t worker, std::uint8_t code) const {
    if (noise_ == WorkerNoise::flips) return 1 - p;
    return ComparisonAnswers::swapped(code) ? 1 - left_[worker] : left_[worker];
  }

  const ComparisonData& data_;
  const ComparisonAnswers& answers_;
  WorkerNoise noise_;
  const WorkerEmOptions& options_;
  const RunContext& context_;
  ScoreSolver solver_;
  std::vector<double> om_, left_;
  HugeVector<float> meant_;  // per answer, r
  HugeVector<double> first_, second_;
  double log_likelihood_ = 0;
};

/// Scores of a fit to answers drawn anew, which starts at what was found with all answers.
std::vector<double> refit_scores(const ComparisonData& data, WorkerNoise noise, const WorkerEmOptions& options,
                                 const ItemGraph& graph, const WorkerEm& found, std::vector<double> scores, Rng& rng) {
  const ComparisonAnswers& answers = data.answers;
  const std::vector<DrawnAnswer> draws = draw_answers(answers, options.intervals.resample, rng);
  std::vector<WorkerId> drawn_worker(answers.worker_count());
  std::vector<ComparisonAnswer> drawn;
  drawn.reserve(draws.size());
  for (const DrawnAnswer& draw : draws) {
    drawn.push_back(answers.answer(found.task_of(draw.answer), draw.answer));
    drawn_worker[index(draw.worker)] = drawn.back().worker;
    drawn.back().worker = draw.worker;
  }
  ComparisonData again = data;
  again.answers = with_answers(answers, drawn);
  const RunContext alone({.threads = 1});
  WorkerEm em(again, noise, options, graph, alone);
  for (std::size_t w = 0; w < drawn_worker.size(); ++w) {
    if (again.answers.answers_of(WorkerId(w)).empty()) continue;
    const std::size_t as = index(drawn_worker[w]);
    em.begin_at(w, found.reliability()[as], found.left()[as]);
  }
  double change = 1;
  for (std::size_t i = 0; i < options.max_iterations && change > options.tolerance; ++i) {
    (void)em.expect(scores);
    change = em.maximise(scores);
  }
  return scores;
}

}  // namespace

ComparisonFit fit_worker_em(const ComparisonData& data, WorkerNoise noise, const WorkerEmOptions& options,
                            const ComparisonStart& start, const RunContext& context) {
  ComparisonFit fit = start_comparison_fit(data);
  const ItemGraph graph(data.answers.pairs(), data.answers.item_count());
  const PairWins wins = count_wins(data, context);
  const Connectivity found = connectivity(graph, wins);
  warn_of_connectivity(found, true, 0, fit);
  if (start.empty()) {
    ScoreSolver plain(graph, {.games = options.virtual_games}, context);
    plain.set_weights(wins.first, wins.second);
    plain.improve(fit.score, 10, 1e-3);
  } else {
    fit.score.assign(start.score.begin(), start.score.end());
  }
  fit.objective_name = "log posterior";
  fit.objective_is_monotone = true;
  fit.status = Status::iteration_limit;
  WorkerEm em(data, noise, options, graph, context);
  const auto began = std::chrono::steady_clock::now();
  while (fit.iterations < options.max_iterations) {
    fit.trace.push_back(em.expect(fit.score));
    if (context.cancelled()) break;
    const double change = em.maximise(fit.score);
    ++fit.iterations;
    context.report({.stage = "iterating",
                    .done = static_cast<double>(fit.iterations),
                    .objective = fit.trace.back(),
                    .has_objective = true});
    if (change <= options.tolerance) {
      fit.status = Status::converged;
      break;
    }
  }
  if (context.cancelled()) fit.status = Status::cancelled;
  fit.trace.push_back(em.expect(fit.score));
  fit.seconds_per_iteration = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() /
                              static_cast<double>(std::max<std::size_t>(fit.iterations, 1));
  fit.log_likelihood = em.log_likelihood();
  fit.has_log_likelihood = true;
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    if (data.answers.answers_of(WorkerId(w)).empty()) continue;
    fit.reliability[w] = em.reliability()[w];
    if (noise == WorkerNoise::guesses && data.answers.sides_known()) fit.side_bias[w] = em.left()[w];
  }
  const std::vector<double> by_pair = em.information(fit.score), start_of_refits = fit.score;
  std::vector<double> by_edge(graph.edges()), own(fit.item_count);
  for (std::size_t e = 0; e < by_edge.size(); ++e) by_edge[e] = by_pair[graph.pair[e]];
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double p = sigmoid(fit.score[i]);
    own[i] = 2 * options.virtual_games * p * (1 - p);
  }
  centre_by_component(fit.score, found);
  rank_items(graph, by_edge, own, found, fit);
  if (options.intervals.intervals == Intervals::bootstrap && data.answers.answer_count() > 0 && !context.cancelled()) {
    const auto refit = [&](Rng& rng) { return refit_scores(data, noise, options, graph, em, start_of_refits, rng); };
    if (!bootstrap_intervals(
            options.intervals.replicates, [&] { return Refit(refit); }, found, fit, context)) {
      fit.status = Status::cancelled;
    }
  }
  label_pairs(data, fit, context);
  return fit;
}

std::vector<double> worker_log_predictive(const ComparisonFit& fit, WorkerNoise noise, const ComparisonAnswers& seen,
                                          std::span<const ComparisonAnswer> answers) {
  double mean = 0, count = 0;
  for (const double om : fit.reliability) {
    if (!std::isfinite(om)) continue;
    mean += om;
    count += 1;
  }
  mean = count > 0 ? mean / count : 0.5;
  return log_answers(seen, answers, [&](const ComparisonAnswer& a) {
    const double left = fit.deviation[index(a.left)], right = fit.deviation[index(a.right)];
    const double variance = std::isfinite(left) && std::isfinite(right) ? left * left + right * right : 0;
    const double p = moderated_sigmoid(fit.score[index(a.left)] - fit.score[index(a.right)], variance);
    const double known = fit.reliability[index(a.worker)], om = std::isfinite(known) ? known : mean;
    const double side = fit.side_bias[index(a.worker)];
    const double guess = noise == WorkerNoise::flips ? 1 - p : std::isfinite(side) ? side : 0.5;
    return om * p + (1 - om) * guess;
  });
}

}  // namespace wisecrowd::comparisons
