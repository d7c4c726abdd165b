#pragma once

#include <memory>
#include <string>

#include "aggregate/sets/shared/relevance.hpp"

namespace wisecrowd::best_relevance {

struct Options {
  double evidence = 2;    ///< z-score by which another method must predict better to be taken
  std::size_t folds = 2;  ///< in which answers are hidden; 0: nothing is tried, shared_relevance is taken
  std::size_t most_profiles = 16;
  std::size_t most_answers = 20000;  ///< that the choice is made on
  sets::SetOptions sets;
};

/// What `aggregate` does with sets unless told otherwise: shared_relevance, or what predicts hidden answers better:
/// separate tables (binary_relevance) or classes that occur together (profile_relevance).
class BestRelevance final : public SetAggregator {
 public:
  explicit BestRelevance(Options options = {}) : options_(options) {}
  [[nodiscard]] SetFit fit(const SetData& data, const RunContext& context, const SetStart& start = {}) const override;
  /// By the method that is chosen for the data.
  [[nodiscard]] std::vector<double> log_predictive(const SetData& data, std::span<const SetAnswer> answers,
                                                   const RunContext& context) const override;

 private:
  struct Choice {
    std::unique_ptr<SetAggregator> method;
    std::string explanation;
    double profiles = 1;
  };
  [[nodiscard]] Choice choose(const SetData& data, const RunContext& context) const;
  [[nodiscard]] std::unique_ptr<SetAggregator> make(const std::string& name, std::size_t profiles, bool to_judge) const;
  Options options_;
};

}  // namespace wisecrowd::best_relevance
