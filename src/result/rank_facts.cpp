#include "result/rank_facts.hpp"

#include "wisecrowd/ordered_classes.hpp"

namespace wisecrowd {

std::optional<RankScores> rank_facts(const CategoryResult& result, const RunContext& context) {
  if (!is_ordered(result.data.answers) || result.record.gold_use != "evaluation") return std::nullopt;
  const auto labels = delivered_labels(result.aggregation, result.record.abstain_below);
  bool scored = false;
  for (std::size_t t = 0; t < result.data.gold.size(); ++t) {
    scored = scored || (labels[t] != kNoClass && result.data.gold[t] != kNoClass);
  }
  if (!scored) return std::nullopt;
  return evaluate_ranks(labels, result.data.gold, result.aggregation.class_count, context);
}

}  // namespace wisecrowd
