#pragma once

#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/tempering.hpp"

namespace wisecrowd::automatic {

struct Options {
  bool pool = true;              ///< average families of methods where the model alone is not to be relied on
  bool calibrate = true;         ///< temper the probabilities as far as held-out answers call for it
  double evidence = 3;           ///< z-score by which subtypes must predict better to be used
  std::size_t folds = 5;         ///< in which answers are hidden, each once; 0: neither test nor calibration
  std::size_t tested = 100'000;  ///< answers that are looked at for that, at most
  bool find_groups = true;       ///< look for workers who do not answer independently
  TieRule ties = TieRule::lowest;
};

/// What `aggregate` does unless told otherwise: hierarchical Dawid–Skene where answers that were hidden from it are as
/// it says, and else a pool of several families; a model in which a group of workers who do not answer independently
/// is one voice, where such a group contradicts the rest; EBCC's subtypes of tasks where hidden answers show that
/// workers err together; and probabilities that admit what models do not know.
class Automatic final : public CategoryAggregator {
 public:
  explicit Automatic(Options options = {}) : options_(options) {}
  [[nodiscard]] CategoryFit fit(const CategoryData& data, const RunContext& context,
                                const CategoryStart& start = {}) const override;

 private:
  /// The crowd without those who are set aside; `everybody` is who may be dependent. The posterior is not yet tempered.
  [[nodiscard]] CategoryFit fit_people(const CategoryData& everybody, const CategoryData& data,
                                       const RunContext& context, const CategoryStart& start,
                                       TemperingFit& tempering) const;
  /// `result` is the fit of the base; what else is found out about it, or another fit that replaces it.
  void choose_for_single_workers(const CategoryData& everybody, const CategoryData& data, const RunContext& context,
                                 const CategoryStart& start, bool workers_repeat, CategoryFit& result,
                                 TemperingFit& tempering) const;
  Options options_;
};

}  // namespace wisecrowd::automatic
