#pragma once

#include <functional>

#include "base/parameter_visitor.hpp"
#include "base/rng.hpp"
#include "data/item_graph.hpp"
#include "wisecrowd/comparison_fit.hpp"
#include "wisecrowd/enum_names.hpp"

namespace wisecrowd::comparisons {

/// Where intervals come from.
enum class Intervals { analytic, bootstrap };
inline constexpr auto kIntervalsNames =
    enum_names<Intervals>({{Intervals::analytic, "analytic"}, {Intervals::bootstrap, "bootstrap"}});

/// What is drawn anew.
enum class Resampled { answers, workers };
inline constexpr auto kResampledNames =
    enum_names<Resampled>({{Resampled::answers, "answers"}, {Resampled::workers, "workers"}});

struct IntervalOptions {
  Intervals intervals = Intervals::analytic;
  std::size_t replicates = 1000;
  Resampled resample = Resampled::answers;
};
void interval_parameters(ParameterVisitor& v, IntervalOptions& options);

/// An answer that was drawn: its place, and whom it counts for. A worker who is drawn twice is two workers.
struct DrawnAnswer {
  AnswerIndex answer;
  WorkerId worker;
};
/// As many answers, or workers with all that they said, as there are, with replacement.
[[nodiscard]] std::vector<DrawnAnswer> draw_answers(const ComparisonAnswers& answers, Resampled resampled, Rng& rng);

/// A fit to answers that are drawn by the stream given: its scores.
using Refit = std::function<std::vector<double>(Rng&)>;

/// Deviations and the 95 % intervals of scores and ranks from so many fits to answers drawn anew. Every thread that
/// works makes refits of its own by `make_refit`. False when cancelled.
bool bootstrap_intervals(std::size_t replicates, const std::function<Refit()>& make_refit, const Connectivity& found,
                         ComparisonFit& fit, const RunContext& context);

/// The same for scores of the plain model.
bool bootstrap_ranking(const ComparisonData& data, const ItemGraph& graph, const Connectivity& found,
                       const IntervalOptions& options, double ridge, ComparisonFit& fit, const RunContext& context);

}  // namespace wisecrowd::comparisons
