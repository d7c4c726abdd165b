#include "learn/shared/trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learn/shared/training_run.hpp"
#include "support/learning.hpp"

namespace wisecrowd {
namespace {

/// Pulls every output with the same force and remembers what the network said while it was trained.
class ConstantPull final : public AnswerModel {
 public:
  explicit ConstantPull(double pull) : pull_(pull) {}
  [[nodiscard]] std::size_t outputs() const override { return 2; }
  double loss(std::span<const std::uint32_t>, MatrixView<const double> outputs, MatrixView<double> gradients) override {
    std::fill_n(gradients.data, gradients.rows * gradients.columns, pull_ / static_cast<double>(gradients.rows));
    for (std::size_t b = 0; b < outputs.rows; ++b) said.push_back(outputs(b, 0));
    return 0;
  }
  void posterior(std::span<const double>, const TaskAnswers&, std::span<double> p) const override {
    std::fill(p.begin(), p.end(), 0.5);
  }
  [[nodiscard]] double answer_probability(std::span<const double>, WorkerId, ClassId) const override { return 0.5; }
  [[nodiscard]] std::unique_ptr<AnswerModel> clone() const override { return std::make_unique<ConstantPull>(*this); }

  std::vector<double> said;

 private:
  double pull_;
};

/// One network trained on rows of ones.
struct Trained {
  Features inputs;
  TrainingSet set;
  RunContext context{{.seed = 1, .threads = 1}};
  TrainingOptions options;
  std::vector<float> before;
  std::unique_ptr<TrainingRun> run;

  Trained(std::size_t tasks, std::size_t columns, double pull, const TrainingOptions& how) : options(how) {
    inputs.rows = tasks;
    inputs.shape = {columns};
    inputs.dense.assign(tasks * columns, 1.0F);
    set.worker_count = 1;
    set.class_count = 2;
    set.offset.assign(tasks + 1, 0);
    for (std::size_t t = 0; t < tasks; ++t) set.task.push_back(TaskId(t));
    set.row.resize(tasks);
    std::iota(set.row.begin(), set.row.end(), 0U);
    set.gold.assign(tasks, kNoClass);
    run = std::make_unique<TrainingRun>(
        set, inputs, NetworkSpec{.kind = "linear"}, options,
        [pull](const TrainingSet&, Rng) { return std::make_unique<ConstantPull>(pull); }, "test", context);
    before.assign(run->network().parameters().begin(), run->network().parameters().end());
  }
  void train() {
    for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) (void)run->epoch();
  }
  [[nodiscard]] const std::vector<double>& said() const { return dynamic_cast<const ConstantPull&>(run->model()).said; }
};

TEST(Trainer, DangerOfRoteGrowsWithFeaturesAndFallsWithTasks) {
  EXPECT_EQ(memorisation_risk(512, 1000), 1);
  EXPECT_EQ(memorisation_risk(500, 1000), 1);
  EXPECT_DOUBLE_EQ(memorisation_risk(2, 1000), 0.004);
  EXPECT_DOUBLE_EQ(memorisation_risk(2, 100), 0.04);
  EXPECT_EQ(memorisation_risk(3, 0), 1);
}

/// Where no gradient pulls, every weight is (1 − decoupled_decay)^epochs of what it was, whatever the batch.
TEST(Trainer, WeightsFadePerEpoch) {
  for (const std::size_t batch : {0U, 1U, 3U}) {
    for (const std::size_t tasks : {10U, 100U}) {
      Trained trained(tasks, 5, 0, {.epochs = 3, .batch = batch, .decoupled_decay = 0.2, .average_epochs = 0});
      trained.train();
      const double kept = std::pow(1 - 0.2 * memorisation_risk(5, tasks), 3);
      const auto after = trained.run->network().parameters();
      for (std::size_t p = 0; p < after.size(); ++p) EXPECT_NEAR(after[p], kept * trained.before[p], 1e-5);
    }
  }
}

/// Of many inputs a share is hidden from every step, the rest made larger so that the mean stays; predicting sees all.
TEST(Trainer, InputsAreDroppedWhileTraining) {
  struct Expected {
    std::size_t tasks, columns;
    double dropped;
  };
  for (const auto& [tasks, columns, dropped] : {Expected{20, 60, 0.5}, Expected{240, 60, 0.25}, Expected{20, 40, 0}}) {
    Trained trained(tasks, columns, 0, {.epochs = 30, .decoupled_decay = 0, .input_dropout = 0.5, .average_epochs = 0});
    const auto weights = trained.run->network().parameters();
    std::fill(weights.begin(), weights.end(), 1.0F);
    std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(2 * columns), 2, 0.0F);
    trained.train();
    const double n = static_cast<double>(trained.said().size()), full = static_cast<double>(columns);
    double mean = 0, variance = 0;
    for (const double value : trained.said()) mean += value / n;
    for (const double value : trained.said()) variance += (value - mean) * (value - mean) / n;
    const double expected = full * dropped / (1 - dropped);  // of a sum of independent masks
    EXPECT_NEAR(mean, full, 4 * std::sqrt(expected / n) + 1e-6);
    EXPECT_NEAR(variance, expected, 0.25 * expected + 1e-6) << columns;
    for (const double value : trained.run->outputs(trained.set.row)) EXPECT_NEAR(value, full, 1e-4);
  }
}

/// Adam under a constant pull moves by the same amount at every step, and a mean with a memory of m steps lags m steps
/// behind: that of a short training must be short.
TEST(Trainer, TheMeanOfWeightsDoesNotLagBehindAShortTraining) {
  struct Expected {
    std::size_t epochs;
    double lag;
  };
  for (const auto& [epochs, lag] : {Expected{120, 5}, Expected{12, 1}}) {
    TrainingOptions options{.epochs = epochs, .batch = 0, .decoupled_decay = 0, .average_epochs = 5};
    options.optimiser.learning_rate = 1e-3;
    Trained trained(10, 5, 1, options);
    trained.train();
    const auto now = trained.run->network().parameters();
    const Snapshot mean = trained.run->snapshot();
    EXPECT_NEAR((mean.parameters[0] - now[0]) / 1e-3, lag, 0.1 * lag + 0.05);
  }
}

double learned_power(const Learned& learned) {
  for (const auto& [name, value] : learned.crowd.learned) {
    if (name == "answer_power") return value;
  }
  return -1;
}

double log_loss(const testing::FeatureCrowd& crowd, const std::vector<double>& posterior) {
  double sum = 0;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    sum -= std::log(std::max(posterior[t * 2 + index(crowd.truth[t])], 1e-12));
  }
  return sum / static_cast<double>(crowd.tasks);
}

/// Three workers who answer for themselves count in full; when each has four copies, an answer counts for a fifth of
/// one, and the posterior is not the overconfident one. For models that read further outputs of the network too.
TEST(Trainer, AnswersOfCopiesCountForLess) {
  const std::vector<testing::PlannedWorker> alone{
      {{.75, .25, .3, .7}, -1}, {{.7, .3, .2, .8}, -1}, {{.8, .2, .3, .7}, -1}};
  std::vector<testing::PlannedWorker> copied = alone;
  for (int j = 0; j < 12; ++j) copied.push_back({{}, j % 3});
  for (const char* method : {"ccem", "conal", "crowd_layer"}) {
    const auto fit = [&](const testing::FeatureCrowd& crowd, const char* power) {
      return testing::run_learner(
          crowd.data, method,
          {{"learning_rate", "0.01"}, {"epochs", "20"}, {"held_out", "0.3"}, {"answer_power", power}},
          {.kind = "linear"}, 1);
    };
    const auto independent = testing::gaussian_crowd(2, 1500, 0, 2, 1.3, alone);
    const auto dependent = testing::gaussian_crowd(2, 1500, 0, 2, 1.3, copied);
    EXPECT_GE(learned_power(fit(independent, "0")), 0.65) << method;
    const Learned learned = fit(dependent, "0"), plain = fit(dependent, "1");
    EXPECT_LE(learned_power(learned), 0.4) << method;
    EXPECT_EQ(learned_power(plain), -1) << "what is given is not learned";
    EXPECT_LT(log_loss(dependent, learned.crowd.posterior), log_loss(dependent, plain.crowd.posterior) - 0.1) << method;
  }
}

}  // namespace
}  // namespace wisecrowd
