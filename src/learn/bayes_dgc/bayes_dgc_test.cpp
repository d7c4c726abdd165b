#include "learn/bayes_dgc/bayes_dgc.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "support/learning.hpp"

namespace wisecrowd::bayes_dgc {
namespace {

using testing::gaussian_crowd;
using testing::max_mig_workers;
using Prior = Options::Prior;

struct Batch {
  std::vector<std::uint32_t> tasks;
  std::vector<double> outputs, gradients;
  explicit Batch(const TrainingSet& set) : tasks(set.task_count()), outputs(set.task_count() * 2), gradients(outputs) {
    std::iota(tasks.begin(), tasks.end(), 0U);
    Rng rng(4);
    for (double& a : outputs) a = rng.normal();
  }
  void whole_step(BayesDgcModel& model) {
    model.loss(tasks, {outputs.data(), tasks.size(), 2}, {gradients.data(), tasks.size(), 2});
    model.step(1);
  }
};

Options whole_steps(Prior prior) {
  Options options;
  options.prior = prior;
  options.forgetting = 0;
  return options;
}

TEST(BayesDgc, GradientsThroughATwoLayerNetwork) {
  auto crowd = gaussian_crowd(3, 20, 0, 2, 1, max_mig_workers('H', 1), 0.5);
  crowd.data.crowd.gold.assign(20, kNoClass);
  crowd.data.crowd.gold[1] = ClassId(1);
  const TrainingSet set = training_set(crowd.data);
  for (const Prior prior : {Prior::network, Prior::product, Prior::divide}) {
    EXPECT_LT(testing::gradient_error(BayesDgcModel(set, whole_steps(prior)), set, 2), 1e-5);
  }
}

/// All tasks at once, whole steps, outputs fixed: coordinate ascent, and the bound never falls.
TEST(BayesDgc, BoundRisesAndStaysBelowTheEvidence) {
  const TrainingSet set = training_set(gaussian_crowd(3, 9, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  Batch batch(set);
  for (const Prior prior : {Prior::network, Prior::product}) {
    BayesDgcModel model(set, whole_steps(prior));
    double before = -1e300;
    for (int step = 0; step < 200; ++step) {
      batch.whole_step(model);
      const double bound = model.bound(batch.outputs);
      EXPECT_GE(bound, before - 1e-9 * std::abs(before));
      before = bound;
    }
    // Exact evidence by summing over all 2^N truths, workers integrated out in closed form.
    std::vector<double> terms;
    for (std::size_t truth = 0; truth < (1U << set.task_count()); ++truth) {
      double term = 0;
      std::vector<double> counts(set.worker_count * 4, 0.0), classes(2, 0.0);
      for (std::size_t i = 0; i < set.task_count(); ++i) {
        const std::size_t z = truth >> i & 1U;
        term += batch.outputs[2 * i + z] - log_sum_exp(std::span(batch.outputs).subspan(2 * i, 2));
        classes[z] += 1;
        for (std::size_t a = 0; a < set.workers_of(i).size(); ++a) {
          counts[index(set.workers_of(i)[a]) * 4 + z * 2 + index(set.labels_of(i)[a])] += 1;
        }
      }
      for (std::size_t row = 0; row < counts.size() / 2; ++row) {
        std::vector<double> b0{row % 2 == 0 ? 5.0 : 2.0, row % 2 == 0 ? 2.0 : 5.0}, b(b0);
        b[0] += counts[2 * row];
        b[1] += counts[2 * row + 1];
        term += log_beta(b) - log_beta(b0);
      }
      if (prior == Prior::product) {
        const std::vector<double> a0(2, 1.1), a{1.1 + classes[0], 1.1 + classes[1]};
        term += log_beta(a) - log_beta(a0);
      }
      terms.push_back(term);
    }
    const double evidence = log_sum_exp(terms);
    EXPECT_LT(before, evidence);
    EXPECT_GT(before, evidence - 2);
  }
}

/// Whole steps on all tasks are variational Bayes without features, with the network's probabilities as task priors.
TEST(BayesDgc, WholeStepsAreVariationalBayes) {
  const TrainingSet set = training_set(gaussian_crowd(3, 60, 0, 2, 1, max_mig_workers('H', 1), 0.5).data);
  Batch batch(set);
  BayesDgcModel model(set, whole_steps(Prior::network));
  for (int step = 0; step < 2000; ++step) batch.whole_step(model);
  Parameters parameters(aggregation_method("ibcc").parameters);
  parameters.set("diagonal_prior", "5");
  parameters.set("off_diagonal_prior", "2");
  parameters.set_value("tolerance", 1e-14);
  parameters.set_value("max_iterations", std::int64_t{2000});
  CategoryData data = as_dataset(set);
  data.task_priors = batch.outputs;
  for (std::size_t i = 0; i < set.task_count(); ++i) softmax(std::span(data.task_priors).subspan(2 * i, 2));
  const CategoryFit ibcc = aggregate(data, "ibcc", parameters, RunContext());
  for (std::size_t c = 0; c < ibcc.confusion.size(); ++c)
    EXPECT_NEAR(model.worker_tables()[c], ibcc.confusion[c], 1e-6);
  std::vector<double> q(2);
  for (std::size_t i = 0; i < set.task_count(); ++i) {
    model.posterior(std::span(batch.outputs).subspan(2 * i, 2), {set.workers_of(i), set.labels_of(i)}, q);
    EXPECT_NEAR(q[0], ibcc.posterior[2 * i], 1e-6);
  }
}

/// Steps on small batches end near where whole steps do.
/// A worker who has not answered is right with right/(right + wrong), whatever the number of classes.
TEST(BayesDgc, StrangersAreAsGoodForAnyNumberOfClasses) {
  for (const std::size_t classes : {2U, 3U, 10U}) {
    std::vector<double> perfect(classes * classes, 0.0);
    for (std::size_t k = 0; k < classes; ++k) perfect[k * (classes + 1)] = 1;
    TrainingSet set = training_set(gaussian_crowd(3, 40, 0, classes, 2, {{perfect, -1}}).data);
    ++set.worker_count;  // somebody without answers
    Options options;
    options.tables = {.right = 5, .wrong = 2};
    const std::vector<double> tables = BayesDgcModel(set, options).worker_tables();
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t l = 0; l < classes; ++l) {
        const double expected = k == l ? 5.0 / 7 : 2.0 / 7 / static_cast<double>(classes - 1);
        EXPECT_NEAR(tables[(classes + k) * classes + l], expected, 1e-12);
      }
    }
  }
}

/// The share of a rare class is the mean label, and labels lean on the network: it is found once the network is trained
/// far enough, and looks even while the network hardly knows anything.
TEST(BayesDgc, ARareClassIsFoundOnceTheNetworkHasLearned) {
  const std::vector<testing::PlannedWorker> workers(4, {{.85, .15, .15, .85}, -1});
  auto crowd = gaussian_crowd(4, 2400, 0, 2, 1.3, workers, 0.5);
  std::size_t ones = 0, kept_ones = 0, kept = 0;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    const bool one = index(crowd.truth[t]) == 1;
    if (one && ones++ % 19 != 0) {
      crowd.data.split[t] = Split::test;
      continue;
    }
    kept_ones += one ? 1 : 0;
    ++kept;
  }
  const double share = static_cast<double>(kept_ones) / static_cast<double>(kept);
  const auto found = [&](const std::string& learning_rate) {
    const Learned learned = testing::run_learner(
        crowd.data, "bayes_dgc", {{"learning_rate", learning_rate}, {"epochs", "40"}}, {.kind = "linear"}, 1);
    double sum = 0;
    for (std::size_t t = 0; t < crowd.tasks; ++t) {
      if (crowd.data.split[t] == Split::train) sum += learned.crowd.posterior[t * 2 + 1];
    }
    return sum / static_cast<double>(kept);
  };
  EXPECT_NEAR(found("0.03"), share, 0.02);
  EXPECT_GT(found("0.0003"), share + 0.05);
}

TEST(BayesDgc, SmallBatchesComeToTheSamePlace) {
  const TrainingSet set = training_set(gaussian_crowd(3, 600, 0, 2, 1, max_mig_workers('H', 1), 0.8).data);
  Batch batch(set);
  BayesDgcModel whole(set, whole_steps(Prior::network)), small(set, {});
  for (int step = 0; step < 300; ++step) batch.whole_step(whole);
  Rng rng(1);
  for (int epoch = 0; epoch < 200; ++epoch) {
    rng.shuffle(std::span(batch.tasks));
    for (std::size_t begin = 0; begin + 60 <= batch.tasks.size(); begin += 60) {
      std::vector<double> outputs;
      for (std::size_t b = begin; b < begin + 60; ++b) {
        outputs.push_back(batch.outputs[2 * batch.tasks[b]]);
        outputs.push_back(batch.outputs[2 * batch.tasks[b] + 1]);
      }
      small.loss(std::span(batch.tasks).subspan(begin, 60), {outputs.data(), 60, 2}, {batch.gradients.data(), 60, 2});
      small.step(1);
    }
  }
  const auto expected = whole.worker_tables(), found = small.worker_tables();
  for (std::size_t c = 0; c < expected.size(); ++c) EXPECT_NEAR(found[c], expected[c], 0.03);
}

/// Few answers on unbalanced classes: the published prior loses the rare class and says so, the default does not.
TEST(BayesDgc, ProductPriorLosesTheRareClass) {
  std::vector<testing::PlannedWorker> workers;
  Rng rng(6);
  for (int j = 0; j < 9; ++j) {
    const double sensitivity = rng.uniform(.6, .9), specificity = rng.uniform(.7, .95);
    workers.push_back({{specificity, 1 - specificity, 1 - sensitivity, sensitivity}, -1});
  }
  auto crowd = gaussian_crowd(2, 3000, 0, 2, 1, workers, 0.1);
  // Seven in eight tasks of class 1 are left out.
  std::vector<CategoryAnswer> kept;
  const CategoryAnswers& all = crowd.data.crowd.answers;
  std::size_t ones = 0, tasks = 0;
  for (std::size_t t = 0; t < crowd.tasks; ++t) {
    const bool one = crowd.truth[t] == ClassId(1);
    if (one && t % 8 != 0) continue;
    ones += one ? 1 : 0;
    ++tasks;
    for (std::size_t a = 0; a < all.workers_of(TaskId(t)).size(); ++a) {
      kept.push_back({TaskId(t), all.workers_of(TaskId(t))[a], all.labels_of(TaskId(t))[a]});
    }
  }
  crowd.data.crowd.answers = make_category_answers(kept, {all.task_names(), all.worker_names(), all.class_names()});
  const auto share = [&](const char* prior, bool& warned) {
    const Learned learned = testing::run_learner(crowd.data, "bayes_dgc",
                                                 {{"prior", prior},
                                                  {"decoupled_decay", "0"},
                                                  {"average_epochs", "0"},
                                                  {"batch", "64"},

                                                  {"epochs", "30"},
                                                  {"learning_rate", "0.02"},
                                                  {"held_out", "0"}},
                                                 {.kind = "linear"}, 1);
    warned = false;
    for (const Warning& warning : learned.crowd.warnings) warned = warned || warning.code == "class_vanished";
    double mass = 0, count = 0;
    for (std::size_t t = 0; t < crowd.tasks; ++t) {
      if (crowd.data.crowd.answers.workers_of(TaskId(t)).empty()) continue;
      mass += learned.crowd.posterior[2 * t + 1];
      ++count;
    }
    return mass / count;
  };
  bool warned = false;
  const double rate = static_cast<double>(ones) / static_cast<double>(tasks);
  EXPECT_NEAR(share("network", warned), rate, 0.06);
  EXPECT_FALSE(warned);
  EXPECT_LT(share("product", warned), 0.01);
  EXPECT_TRUE(warned);
}

TEST(BayesDgc, IndependentAndNaiveWorkers) {
  for (const int which : {1, 2}) {
    const auto crowd = gaussian_crowd(1, 3000, 5000, 2, 1.3, max_mig_workers('H', which));
    const Learned learned = testing::run_learner(crowd.data, "bayes_dgc", {{"learning_rate", "0.01"}, {"epochs", "20"}},
                                                 {.kind = "linear"}, 1);
    EXPECT_GT(testing::test_accuracy(crowd, learned.final_row_probabilities), 0.892) << which;
  }
}

}  // namespace
}  // namespace wisecrowd::bayes_dgc
