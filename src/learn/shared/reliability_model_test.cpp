#include "learn/shared/reliability_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/learning.hpp"

namespace wisecrowd {
namespace {

using testing::gaussian_crowd;

/// Notes which rows it was asked about.
class Noting final : public Reliability {
 public:
  explicit Noting(std::set<std::uint32_t>& rows) : rows_(&rows) {}
  void fit(const TrainingSet&, std::span<const double>) override {}
  [[nodiscard]] double log_odds(WorkerId, std::uint32_t row) const override {
    rows_->insert(row);
    return 1;
  }
  [[nodiscard]] std::unique_ptr<Reliability> clone() const override { return std::make_unique<Noting>(*this); }

 private:
  std::set<std::uint32_t>* rows_;
};

testing::FeatureCrowd small_crowd() {
  return gaussian_crowd(3, 20, 0, 2, 1.5, {{{.8, .2, .2, .8}, -1}, {{.7, .3, .3, .7}, -1}});
}

TEST(ReliabilityModel, LabelsAreInferredAtTheRowsOfTheTasks) {
  auto crowd = small_crowd();
  // Tasks and rows are numbered differently.
  std::reverse(crowd.data.row_of_task.begin(), crowd.data.row_of_task.end());
  const TrainingSet set = training_set(crowd.data);
  std::set<std::uint32_t> asked;
  ReliabilityModel model(set, std::make_unique<Noting>(asked), {.warm_up = 5});
  AnswerModel::Epoch epoch;
  epoch.number = 1;
  model.begin_epoch(epoch);
  EXPECT_EQ(asked, std::set<std::uint32_t>(set.row.begin(), set.row.end()));
}

TEST(ReliabilityModel, DrawsThatNeverDifferAreWarnedOf) {
  const auto crowd = small_crowd();
  const TrainingSet set = training_set(crowd.data);
  for (const bool drops : {false, true}) {
    std::set<std::uint32_t> asked;
    ReliabilityModel model(set, std::make_unique<Noting>(asked), {.samples = 3, .warm_up = 0});
    double draws = 0;
    AnswerModel::Epoch epoch;
    epoch.number = 1;
    epoch.sample = [&](std::span<double> out) {
      std::fill(out.begin(), out.end(), 0.0);
      out[0] = drops ? ++draws : 1;
    };
    model.begin_epoch(epoch);
    Learned learned;
    model.describe(learned, crowd.data, [](std::size_t, std::span<double>) { return false; });
    EXPECT_EQ(learned.crowd.warnings.size(), drops ? 0U : 1U);
    if (!drops) EXPECT_EQ(learned.crowd.warnings.at(0).code, "identical_draws");
  }
}

}  // namespace
}  // namespace wisecrowd
