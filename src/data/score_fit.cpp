#include "data/score_fit.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace wisecrowd::comparisons {

ComparisonFit start_comparison_fit(const ComparisonData& data) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const ComparisonAnswers& answers = data.answers;
  ComparisonFit fit;
  fit.item_count = answers.item_count();
  fit.worker_count = answers.worker_count();
  fit.pair_count = answers.task_count();
  fit.score.assign(fit.item_count, 0);
  fit.reliability.assign(fit.worker_count, kUnknown);
  fit.side_bias.assign(fit.worker_count, kUnknown);
  std::vector<double> ties(fit.worker_count, 0), all(fit.worker_count, 0);
  for (AnswerIndex a = 0; a < answers.answer_count(); ++a) {
    const std::size_t worker = index(answers.workers()[a]);
    ties[worker] += ComparisonAnswers::outcome_of(answers.codes()[a]) == Outcome::tie ? 1 : 0;
    all[worker] += 1;
  }
  for (std::size_t w = 0; w < fit.worker_count; ++w) {
    fit.tie_rate.push_back(all[w] > 0 ? ties[w] / all[w] : kUnknown);
  }
  if (answers.answer_count() == 0) {
    fit.warnings.push_back({"no_answers", "there are no answers, so nothing can be learned.",
                            "Check that the file is the right one.", Severity::serious});
  }
  return fit;
}

std::vector<double> ranks_of(std::span<const double> scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  std::vector<double> ranks(scores.size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    const bool same = r > 0 && scores[order[r]] == scores[order[r - 1]];
    ranks[order[r]] = same ? ranks[order[r - 1]] : static_cast<double>(r + 1);
  }
  return ranks;
}

}  // namespace wisecrowd::comparisons
