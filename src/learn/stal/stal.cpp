#include "learn/stal/stal.hpp"

#include "learn/shared/answer_memory.hpp"
#include "learn/shared/learner_entry.hpp"
#include "learn/shared/per_worker_logistic.hpp"
#include "learn/stal/mixture.hpp"

namespace wisecrowd::stal {
namespace {

/// The regions and the rows' memberships, kept with the reliability that reads them.
class ByRegion final : public Reliability {
 public:
  struct Found {
    Regions regions;
    Features memberships;
  };
  ByRegion(std::shared_ptr<const Found> found, std::size_t workers, double ridge, ThreadPool& pool)
      : found_(std::move(found)), weights_(found_->memberships, workers, {.ridge = ridge}, pool) {}
  void fit(const TrainingSet& set, std::span<const double> right) override { weights_.fit(set, right); }
  [[nodiscard]] double log_odds(WorkerId worker, std::uint32_t row) const override {
    return weights_.log_odds(worker, row);
  }
  void remember(RowSkill& skill) const override {
    weights_.remember(skill);
    if (skill.width == 1) return;  // nothing was learned of regions
    skill.basis = RowSkill::Basis::regions;
    skill.regions = found_->regions;
  }
  [[nodiscard]] std::unique_ptr<Reliability> clone() const override { return std::make_unique<ByRegion>(*this); }

 private:
  std::shared_ptr<const Found> found_;
  PerWorkerLogistic weights_;
};

}  // namespace

Recipe Stal::recipe(const LearningData&, const NetworkSpec&, const RunContext& context) const {
  const auto found = std::make_shared<std::shared_ptr<const ByRegion::Found>>();  // once, by the run that comes first
  return {options_.training, [this, found, &context](const TrainingSet& set, Rng) {
            if (!*found) {
              Regions regions = find_regions(*set.inputs, set.row, options_.components, options_.mixture_iterations,
                                             options_.variance_floor, context.rng("mixture"), context.pool());
              Features memberships = memberships_of(regions, *set.inputs, context.pool());
              *found = std::make_shared<ByRegion::Found>(ByRegion::Found{std::move(regions), std::move(memberships)});
            }
            return std::make_unique<ReliabilityModel>(
                set, std::make_unique<ByRegion>(*found, set.worker_count, options_.ridge, context.pool()),
                ReliabilityModel::Options{.warm_up = options_.warm_up});
          }};
}

namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("components", o.components, 1, 10000, "how many regions");
  v.integer("mixture_iterations", o.mixture_iterations, 0, 1e6, "iterations of EM that find them");
  v.real("variance_floor", o.variance_floor, 1e-12, 1e12, "no region is narrower than this");
  v.real("ridge", o.ridge, 1e-9, 1e9,
         "pull of a worker's weights towards 0, and of their level towards that of all workers");
  v.integer("warm_up", o.warm_up, 0, 1e6, "epochs in which the answers alone make the labels");
  training_parameters(v, o.training);
}

}  // namespace

LearnerEntry learner() {
  LearnerInfo info;
  info.title = "STAL: reliability by region of the features";
  info.summary =
      "EM with a linear classifier; a mixture of Gaussians cuts the features into regions, each worker knows some "
      "better than others.";
  info.when_to_use = "Workers with special knowledge of kinds of tasks that the features tell apart.";
  info.reference = "Fang, Zhu, Li, Ding, Wu: Self-taught active learning from crowds, ICDM 2012";
  info.uses_gold = true;
  info.linear_only = true;
  info.assumptions = "Given truth and region, workers answer independently; a wrong answer is any wrong class alike.";
  info.cost = "O(N D C) per iteration of the mixture, O(S C) per iteration of the reliability; memory O(M C + N C)";
  return LearnerEntry::of<Stal, parameters>(std::move(info));
}

}  // namespace wisecrowd::stal
