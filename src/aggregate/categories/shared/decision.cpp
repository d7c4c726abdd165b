#include "aggregate/categories/shared/decision.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/votes.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Half of that of hard_labels: for two classes, P is within it of one half if both are within 1e-9 of each other.
constexpr double kHalfTie = 0.5e-9;

struct Candidates {
  std::size_t low, high;
};

/// The lowest and the highest median; they differ where exactly half of the probability lies below.
Candidates medians(std::span<const double> row) {
  double below = 0;
  for (std::size_t k = 0; k + 1 < row.size(); ++k) {
    below += row[k];
    if (below > 0.5 + kHalfTie) return {k, k};
    if (below < 0.5 - kHalfTie) continue;
    std::size_t next = k + 1;
    while (next + 1 < row.size() && row[next] <= kHalfTie) ++next;
    return {k, next};
  }
  return {row.size() - 1, row.size() - 1};
}

Candidates nearest_to_mean(std::span<const double> row) {
  double mean = 0;
  for (std::size_t k = 0; k < row.size(); ++k) mean += static_cast<double>(k) * row[k];
  const double floor = std::floor(mean);
  const double rest = mean - floor;
  const auto low = std::min(static_cast<std::size_t>(floor), row.size() - 1);
  const std::size_t high = std::min(low + 1, row.size() - 1);
  if (rest > 0.5 + kHalfTie) return {high, high};
  if (rest < 0.5 - kHalfTie) return {low, low};
  return {low, high};
}

}  // namespace

void decision_parameter(ParameterVisitor& v, Decision& decision) {
  v.choice("decision", decision, kDecisionNames,
           "which class becomes the label: the most probable one (mode), or the one with the least expected rank error "
           "(median) or squared rank error (mean)");
}

void refuse_unordered(std::string_view method) {
  throw Error(
      ErrorCode::unsupported,
      fmt::format("{} uses the order of classes, and these have none: read the data with `ordered`, and list the "
                  "classes from the lowest to the highest with `classes` unless they are numbers",
                  method));
}

std::vector<ClassId> decided_labels(std::span<const double> posterior, std::size_t class_count, Decision decision,
                                    TieRule rule, const RunContext& context) {
  if (decision == Decision::mode || class_count == 0) return hard_labels(posterior, class_count, rule, context);
  std::vector<ClassId> labels(posterior.size() / class_count);
  const Blocks blocks{labels.size(), 4096};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const auto row = posterior.subspan(t * class_count, class_count);
      const Candidates best = decision == Decision::median ? medians(row) : nearest_to_mean(row);
      bool high = rule == TieRule::highest;
      if (rule == TieRule::random && best.low != best.high) high = context.rng("ties", t).below(2) == 1;
      labels[t] = ClassId(high ? best.high : best.low);
    }
  });
  return labels;
}

}  // namespace wisecrowd
