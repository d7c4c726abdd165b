#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wisecrowd/comparison_result.hpp"

// Preferences for alignment: what the comparisons say of pairs, as training data, and losses that know of wrong ones.

namespace wisecrowd {

// Losses of one pair, as functions of the margin m = β (log π/π_ref(chosen) − log π/π_ref(rejected)). `flip` is the
// probability that chosen and rejected stand the wrong way round, below ½ (for a worker of reliability om, 1 − om).

/// − log σ(m).
[[nodiscard]] double dpo_loss(double margin) noexcept;
/// −(1 − e) log σ(m) − e log σ(−m): the loss expected if a share e of the pairs were turned round.
[[nodiscard]] double conservative_dpo_loss(double margin, double flip);
/// (−(1 − e) log σ(m) + e log σ(−m)) / (1 − 2 e): over answers of which a share e is wrong, its mean is the loss of the
/// right ones.
[[nodiscard]] double robust_dpo_loss(double margin, double flip);

/// A pair for training.
struct Preference {
  ItemId chosen, rejected;
  double probability = 0;  ///< that the chosen item is the better one, ties left aside
  double weight = 0;       ///< 2 probability − 1: 0 where nothing is known, 1 where all is
};
/// All pairs of a result that are no ties, in the order of pairs.
[[nodiscard]] std::vector<Preference> preferences(const ComparisonAnswers& answers, const ComparisonFit& fit);

/// What an item stands for: the prompt, and the answer to it.
struct ItemText {
  std::string prompt, text;
};

/// JSON Lines as TRL reads them: prompt, chosen, rejected, and further keys weight and probability. Without texts,
/// items are their names and prompts are empty.
[[nodiscard]] std::string preferences_jsonl(const ComparisonResult& result, const std::vector<ItemText>& texts = {});

/// The same into a file, which appears whole or not at all; an existing one is replaced.
void write_preferences(const ComparisonResult& result, const std::vector<ItemText>& texts, const std::string& path);

}  // namespace wisecrowd
