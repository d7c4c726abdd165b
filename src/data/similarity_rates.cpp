#include "data/similarity_rates.hpp"

#include <algorithm>
#include <cmath>

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
  return kWrong * (std::log(false_different) + std::log(false_same)) +
         kRight * (std::log1p(-false_different) + std::log1p(-false_same));
}

double log_answer(bool said_same, double same, double false_different, double false_same) noexcept {
  constexpr double kLeast = 1e-6;
  const double s = std::clamp(same, kLeast, 1 - kLeast);
  const double p = (1 - false_different) * s + false_same * (1 - s);
  return std::log(said_same ? p : 1 - p);
}

}  // namespace wisecrowd::similarities
