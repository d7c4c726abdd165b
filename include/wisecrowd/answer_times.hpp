#pragma once

#include <vector>

namespace wisecrowd {

/// What the order of the answers is known from.
enum class AnswerOrder {
  unknown,  ///< not at all
  rows,     ///< the order of the rows of a file
  numbers,  ///< a time column of numbers
  dates,    ///< a time column of dates
};

/// When the answers were given.
struct AnswerTimes {
  AnswerOrder order = AnswerOrder::unknown;
  std::vector<double> times;  ///< one per answer, in the order of the answers; empty if unknown
};

}  // namespace wisecrowd
