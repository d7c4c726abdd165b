#include <gtest/gtest.h>

#include <cmath>

#include "judges/crowd/crowd_model.hpp"
#include "support/judges.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using testing::mixed_crowd;
using testing::MixedCrowdPlan;

/// P(truth | answers) of a task by going through everything that is hidden: the truth, the answer of each family, and
/// which members give that.
std::vector<double> by_enumeration(const judges::CrowdModel& model, const JudgeData& data, TaskId task,
                                   const std::vector<double>& prior, const std::vector<double>& copying,
                                   const std::vector<double>& own, const std::vector<double>& shared,
                                   std::size_t families) {
  const std::size_t classes = data.class_count();
  std::vector<JudgeAnswer> answers;
  for (const JudgeAnswer& answer : data.answers) {
    if (answer.task == task) answers.push_back(answer);
  }
  std::vector<double> posterior(classes, 0.0);
  std::size_t hidden_states = 1;
  for (std::size_t f = 0; f < families; ++f) hidden_states *= classes;
  for (std::size_t z = 0; z < classes; ++z) {
    for (std::size_t state = 0; state < hidden_states; ++state) {
      std::vector<std::size_t> hidden;
      double p = prior[z];
      for (std::size_t f = 0, rest = state; f < families; ++f, rest /= classes) {
        hidden.push_back(rest % classes);
        p *= shared[(f * classes + z) * classes + hidden.back()];
      }
      for (std::size_t flags = 0; flags < (std::size_t{1} << answers.size()); ++flags) {
        double all = p;
        for (std::size_t a = 0; a < answers.size(); ++a) {
          const std::size_t worker = index(answers[a].worker), said = index(answers[a].said);
          const std::uint32_t family = model.family_of(worker);
          const bool copies = ((flags >> a) & 1U) != 0;
          if (family == judges::CrowdModel::kAlone) {
            all *= copies ? 0 : own[(worker * classes + z) * classes + said];
          } else if (copies) {
            all *= copying[worker] * (hidden[family] == said ? 1 : 0);
          } else {
            all *= (1 - copying[worker]) * own[(worker * classes + z) * classes + said];
          }
        }
        posterior[z] += all;
      }
    }
  }
  double sum = 0;
  for (const double value : posterior) sum += value;
  for (double& value : posterior) value /= sum;
  return posterior;
}

TEST(MixedCrowd, PosteriorsAreThoseOfEnumeration) {
  MixedCrowdPlan plan;
  plan.tasks = 60;
  plan.people_share = 0.5;
  const auto crowd = mixed_crowd(plan);
  const MixedCrowdOptions options;
  judges::CrowdModel model(crowd.data, options);
  for (int step = 0; step < 5; ++step) {
    model.expect();
    model.maximise();
  }
  // The tables of now; the posterior of the next E-step is theirs.
  const std::vector<double> prior = model.prior(), own = model.own_tables(), shared = model.family_tables();
  std::vector<double> copying;
  for (std::size_t w = 0; w < crowd.data.workers.size(); ++w) copying.push_back(model.copying(w));
  model.expect();
  for (std::size_t t = 0; t < 20; ++t) {
    const auto expected = by_enumeration(model, crowd.data, TaskId(t), prior, copying, own, shared, plan.families);
    for (std::size_t z = 0; z < plan.classes; ++z) {
      EXPECT_NEAR(model.posterior()[t * plan.classes + z], expected[z], 1e-9) << t;
    }
  }
}

TEST(MixedCrowd, WithoutCommonTablesTheLikelihoodNeverFallsMuch) {
  MixedCrowdPlan plan;
  plan.tasks = 300;
  const auto crowd = mixed_crowd(plan);
  const MixedCrowdFit fit = fit_mixed_crowd(crowd.data, {}, RunContext());
  ASSERT_GT(fit.trace.size(), 5U);
  EXPECT_EQ(fit.status, Status::converged);
  EXPECT_GT(fit.trace.back(), fit.trace.front());
}

TEST(MixedCrowd, RepeatsAreOneVoice) {
  MixedCrowdPlan plan;
  plan.tasks = 100;
  const auto crowd = mixed_crowd(plan);
  JudgeData repeated = crowd.data;
  repeated.answers.clear();
  for (const JudgeAnswer& answer : crowd.data.answers) {
    for (int i = 0; i < (crowd.data.is_machine(answer.worker) ? 4 : 1); ++i) repeated.answers.push_back(answer);
  }
  const MixedCrowdFit once = fit_mixed_crowd(crowd.data, {}, RunContext());
  EXPECT_EQ(fit_mixed_crowd(repeated, {}, RunContext()).posterior, once.posterior);
}

TEST(MixedCrowd, CopiesInAFamilyAddLittle) {
  MixedCrowdPlan plan;
  plan.tasks = 400;
  plan.families = 1;
  plan.members = 1;
  const auto crowd = mixed_crowd(plan);
  // The only machine three times under other names, as one family.
  JudgeData copies = crowd.data;
  copies.workers = NameTable(std::vector<std::string>{"p0", "p1", "p2", "z0", "z1", "z2"});
  copies.judges.resize(6, {WorkerKind::machine, "one"});
  copies.judges[3].family = "one";
  copies.answers.clear();
  for (const JudgeAnswer& answer : crowd.data.answers) {
    copies.answers.push_back(answer);
    if (!crowd.data.is_machine(answer.worker)) continue;
    for (const std::size_t w : {4U, 5U}) {
      copies.answers.push_back(answer);
      copies.answers.back().worker = WorkerId(w);
    }
  }
  const MixedCrowdFit one = fit_mixed_crowd(crowd.data, {}, RunContext());
  const MixedCrowdFit three = fit_mixed_crowd(copies, {}, RunContext());
  MixedCrowdOptions apart;
  apart.families = false;
  const MixedCrowdFit believed = fit_mixed_crowd(copies, apart, RunContext());
  double near = 0, far = 0;
  for (std::size_t i = 0; i < one.posterior.size(); ++i) {
    near = std::max(near, std::abs(one.posterior[i] - three.posterior[i]));
    far = std::max(far, std::abs(one.posterior[i] - believed.posterior[i]));
  }
  EXPECT_GT(three.copying[3], 0.9);
  EXPECT_LT(near, 0.1);
  EXPECT_GT(far, 0.3);
}

TEST(MixedCrowd, GoldIsPinned) {
  auto crowd = mixed_crowd({.tasks = 50});
  crowd.data.gold.assign(50, kNoClass);
  crowd.data.gold[7] = ClassId{2};
  const MixedCrowdFit fit = fit_mixed_crowd(crowd.data, {}, RunContext());
  EXPECT_EQ(fit.posterior_of(TaskId{7})[2], 1);
  EXPECT_EQ(fit.label_of(TaskId{7}), ClassId{2});
}

TEST(MixedCrowd, DataThatDoNotFitAreRefused) {
  auto crowd = mixed_crowd({.tasks = 5});
  std::swap(crowd.data.answers.front(), crowd.data.answers.back());
  EXPECT_THROW((void)fit_mixed_crowd(crowd.data, {}, RunContext()), Error);
  crowd = mixed_crowd({.tasks = 5});
  crowd.data.answers.front().said = ClassId{9};
  EXPECT_THROW((void)fit_mixed_crowd(crowd.data, {}, RunContext()), Error);
  crowd = mixed_crowd({.tasks = 5});
  crowd.data.log_probabilities = {-1, -1, -1};
  EXPECT_THROW((void)fit_mixed_crowd(crowd.data, {}, RunContext()), Error);
}

}  // namespace
}  // namespace wisecrowd
