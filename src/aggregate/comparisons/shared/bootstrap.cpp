#include "aggregate/comparisons/shared/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "aggregate/comparisons/shared/ranking.hpp"

namespace wisecrowd::comparisons {
namespace {

constexpr std::size_t kReplicatesPerBlock = 8;
/// Keeps replicates finite in which an item happens to win everything.
constexpr double kReplicateRidge = 1e-3;

/// How much of a win something is for the first item of its pair.
double first_share(Outcome outcome) { return outcome == Outcome::left ? 1 : outcome == Outcome::tie ? 0.5 : 0; }

double quantile(std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto rank = static_cast<std::size_t>(place);
  const double upper = sorted[std::min(rank + 1, sorted.size() - 1)];
  return sorted[rank] + (place - static_cast<double>(rank)) * (upper - sorted[rank]);
}

/// Deviations and intervals from replicates × items of scores and ranks.
void take_intervals(std::size_t replicates, const std::vector<double>& scores, const std::vector<double>& ranks,
                    ComparisonFit& fit) {
  const std::size_t items = fit.item_count;
  std::vector<double> values(replicates);
  for (std::size_t i = 0; i < items; ++i) {
    if (!std::isfinite(fit.deviation[i])) continue;
    const auto gather = [&](const std::vector<double>& from) {
      for (std::size_t r = 0; r < replicates; ++r) values[r] = from[r * items + i];
      std::sort(values.begin(), values.end());
    };
    gather(scores);
    double mean = 0, squares = 0;
    for (const double v : values) mean += v / static_cast<double>(replicates);
    for (const double v : values) squares += (v - mean) * (v - mean);
    fit.deviation[i] = replicates > 1 ? std::sqrt(squares / static_cast<double>(replicates - 1)) : 0;
    fit.low[i] = quantile(values, 0.025);
    fit.high[i] = quantile(values, 0.975);
    gather(ranks);
    fit.rank_low[i] = std::floor(quantile(values, 0.025));
    fit.rank_high[i] = std::ceil(quantile(values, 0.975));
  }
}

/// Scores of the plain model by Newton's method.
class PlainRefit {
 public:
  PlainRefit(const ComparisonData& data, const ItemGraph& graph, std::span<const std::uint32_t> pair_of,
             Resampled resampled, double ridge, std::span<const double> start)
      : data_(data),
        pair_of_(pair_of),
        resampled_(resampled),
        start_(start),
        solver_(graph, {.ridge = std::max(ridge, kReplicateRidge)}, alone_),
        first_(data.answers.task_count()),
        second_(first_.size()) {}

  std::vector<double> operator()(Rng& rng) {
    for (std::size_t t = 0; t < first_.size(); ++t) {
      const auto known = data_.gold_of(TaskId(t));
      first_[t] = known ? first_share(*known) : 0;
      second_[t] = known ? 1 - first_[t] : 0;
    }
    const auto codes = data_.answers.codes();
    const auto add = [&](AnswerIndex a) {
      const double won = first_share(ComparisonAnswers::outcome_of(codes[a]));
      first_[pair_of_[a]] += won;
      second_[pair_of_[a]] += 1 - won;
    };
    if (resampled_ == Resampled::answers) {
      for (std::size_t i = 0; i < codes.size(); ++i) add(static_cast<AnswerIndex>(rng.below(codes.size())));
    } else {
      for (const DrawnAnswer& drawn : draw_answers(data_.answers, resampled_, rng)) add(drawn.answer);
    }
    solver_.set_weights(first_, second_);
    std::vector<double> scores(start_.begin(), start_.end());
    solver_.improve(scores, 25, 1e-3);  // the last step of Newton's method leaves far less
    return scores;
  }

 private:
  const ComparisonData& data_;
  std::span<const std::uint32_t> pair_of_;  // per answer
  Resampled resampled_;
  std::span<const double> start_;
  const RunContext alone_{RunOptions{.threads = 1}};
  ScoreSolver solver_;
  std::vector<double> first_, second_;
};

}  // namespace

void interval_parameters(ParameterVisitor& v, IntervalOptions& o) {
  v.choice("intervals", o.intervals, kIntervalsNames,
           "from the information in the answers, or from fits to answers drawn anew");
  v.integer("replicates", o.replicates, 1, 1e6, "fits to answers drawn anew, for bootstrap");
  v.choice("resample", o.resample, kResampledNames,
           "what the bootstrap draws: single answers, or workers with all that they said");
}

std::vector<DrawnAnswer> draw_answers(const ComparisonAnswers& answers, Resampled resampled, Rng& rng) {
  std::vector<DrawnAnswer> drawn;
  drawn.reserve(answers.answer_count());
  if (resampled == Resampled::answers) {
    for (std::size_t i = 0; i < answers.answer_count(); ++i) {
      const auto a = static_cast<AnswerIndex>(rng.below(answers.answer_count()));
      drawn.push_back({a, answers.workers()[a]});
    }
    return drawn;
  }
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    for (const AnswerIndex a : answers.answers_of(WorkerId(rng.below(answers.worker_count())))) {
      drawn.push_back({a, WorkerId(w)});
    }
  }
  return drawn;
}

bool bootstrap_intervals(std::size_t replicates, const std::function<Refit()>& make_refit, const Connectivity& found,
                         ComparisonFit& fit, const RunContext& context) {
  const std::size_t items = fit.item_count;
  const Rng stream = context.rng("bootstrap");
  std::vector<double> scores(replicates * items), ranks(replicates * items);
  const Blocks blocks{replicates, kReplicatesPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    const Refit refit = make_refit();
    for (std::size_t r = blocks.begin(b); r < blocks.end(b) && !context.cancelled(); ++r) {
      Rng rng = stream.fork("replicate", r);
      std::vector<double> own = refit(rng);
      centre_by_component(own, found);
      std::copy(own.begin(), own.end(), scores.begin() + static_cast<std::ptrdiff_t>(r * items));
      const std::vector<double> rank = ranks_of(own);
      std::copy(rank.begin(), rank.end(), ranks.begin() + static_cast<std::ptrdiff_t>(r * items));
    }
  });
  if (context.cancelled()) return false;
  take_intervals(replicates, scores, ranks, fit);
  return true;
}

bool bootstrap_ranking(const ComparisonData& data, const ItemGraph& graph, const Connectivity& found,
                       const IntervalOptions& options, double ridge, ComparisonFit& fit, const RunContext& context) {
  const ComparisonAnswers& answers = data.answers;
  if (answers.answer_count() == 0) return true;
  std::vector<std::uint32_t> pair_of;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) pair_of.resize(answers.task_offsets()[t + 1], t);
  (void)answers.worker_offsets();  // made by this thread
  const std::vector<double> start = fit.score;
  const auto make_refit = [&] {
    const auto own = std::make_shared<PlainRefit>(data, graph, pair_of, options.resample, ridge, start);
    return [own](Rng& rng) { return (*own)(rng); };
  };
  return bootstrap_intervals(options.replicates, make_refit, found, fit, context);
}

}  // namespace wisecrowd::comparisons
