#pragma once

#include "learn/dalc/low_rank.hpp"
#include "learn/shared/trainer.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd::dalc {

struct Options {
  enum class Kind { low_rank, per_worker_logistic, one_coin };

  TrainingOptions training;
  Kind reliability = Kind::low_rank;
  LowRank::Options low_rank;
  double own_ridge = 1;      ///< of the other two kinds
  bool pooled_level = true;  ///< of the other two kinds
  std::size_t samples = 20;  ///< draws of MC-dropout
  std::size_t warm_up = 3;   ///< epochs before the network has a say
};

[[nodiscard]] Options options_from(const Parameters& parameters);
[[nodiscard]] std::unique_ptr<Reliability> make_reliability(const Options& options, const TrainingSet& set, Rng rng,
                                                            const RunContext& context);

/// Labels from network and answers where how far a worker is right depends on the task: what many workers with few
/// answers each have in common is learned from all of them.
class Dalc final : public GradientLearner {
 public:
  explicit Dalc(Options options = {}) : options_(std::move(options)) {}
  [[nodiscard]] Recipe recipe(const LearningData& data, const NetworkSpec& network,
                              const RunContext& context) const override;

 private:
  Options options_;
};

}  // namespace wisecrowd::dalc
