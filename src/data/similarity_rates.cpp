#include "data/similarity_rates.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"

namespace wisecrowd::similarities {

void estimate_rates(const AnswerCounts& counts, double& false_different, double& false_same) noexcept {
  constexpr double kRight = kPriorAnswers * kPriorRight, kWrong = kPriorAnswers - kRight;
  const double same_same = counts.same_said_same + kRight, same_different = counts.same_said_different + kWrong;
  const double different_same = counts.different_said_same + kWrong;
  const double different_different = counts.different_said_different + kRight;
  false_different = same_different / (same_same + same_different);
  false_same = different_same / (different_same + different_different);
  if (false_different + false_same <= 1) return;
  const double says_same =
      (same_same + different_same) / (same_same + same_different + different_same + different_different);
  false_different = 1 - says_same;
  false_same = says_same;
}

double log_prior(double false_different, double false_same) noexcept {
  constexpr double kRight = kPriorAnswers * kPriorRight, kWrong = kPriorAnswers - kRight;
  return kWrong * (math::log(false_different) + math::log(false_same)) +
         kRight * (math::log1p(-false_different) + math::log1p(-false_same));
}

double log_answer(bool said_same, double same, double false_different, double false_same) noexcept {
  constexpr double kLeast = 1e-6;
  const double s = std::clamp(same, kLeast, 1 - kLeast);
  const double p = (1 - false_different) * s + false_same * (1 - s);
  return math::log(said_same ? p : 1 - p);
}

void estimate_rates(const SimilarityAnswers& answers, std::span<const double> same,
                    std::span<const std::uint8_t> hidden, ErrorRates& rates) {
  std::vector<AnswerCounts> counts(answers.worker_count());
  const auto offsets = answers.task_offsets();
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    if (!hidden.empty() && hidden[p] != 0) continue;
    for (AnswerIndex a = offsets[p]; a < offsets[p + 1]; ++a) {
      counts[index(answers.workers()[a])].add(answers.same()[a] != 0, same[p]);
    }
  }
  for (std::size_t w = 0; w < counts.size(); ++w) {
    estimate_rates(counts[w], rates.false_different[w], rates.false_same[w]);
  }
}

void weigh_pairs(const SimilarityAnswers& answers, const ErrorRates& rates, std::span<const std::uint8_t> hidden,
                 std::span<double> weights) {
  const std::size_t workers = answers.worker_count();
  std::vector<double> said(2 * workers);  // different, same
  for (std::size_t w = 0; w < workers; ++w) {
    said[2 * w] = math::log(rates.false_different[w]) - math::log1p(-rates.false_same[w]);
    said[2 * w + 1] = math::log1p(-rates.false_different[w]) - math::log(rates.false_same[w]);
  }
  const auto offsets = answers.task_offsets();
  for (std::size_t p = 0; p < answers.task_count(); ++p) {
    double weight = 0;
    const bool seen = hidden.empty() || hidden[p] == 0;
    for (AnswerIndex a = offsets[p]; seen && a < offsets[p + 1]; ++a) {
      weight += said[2 * index(answers.workers()[a]) + (answers.same()[a] != 0 ? 1 : 0)];
    }
    weights[p] = weight;
  }
}

}  // namespace wisecrowd::similarities
