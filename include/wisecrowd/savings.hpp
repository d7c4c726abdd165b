#pragma once

#include <string>
#include <vector>

namespace wisecrowd {

/// What a replay of policies found: how many answers would have been enough.
struct Savings {
  struct Curve {
    std::string policy;
    std::vector<double> answers, accuracy, low, high;  ///< low and high may be NaN
  };
  struct Row {
    std::string policy;
    double slack = 0;                     ///< points of accuracy below that of all answers that still count as the same
    bool reached = false;                 ///< if not, nothing is known beyond `needed`
    double needed = 0;                    ///< answers
    double saved = 0, low = 0, high = 0;  ///< share of answers, against the first policy or all
  };
  std::vector<Curve> curves;
  std::vector<Row> rows;
  double accuracy_of_all = 0;
  std::string words;
};

}  // namespace wisecrowd
