#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/crowds.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/simulate.hpp"

// Experts over real tasks: truth and splits of the sets that come with gold alone.
namespace wisecrowd {
namespace {

GivenTasks given_tasks(const std::string& folder) {
  const RunContext context;
  GivenTasks given;
  LabelTable gold = read_label_table(folder + "/gold.csv", {}, context);
  ReadOptions by_split;
  by_split.label_column = "split";
  const LabelTable splits = read_label_table(folder + "/tasks.csv", by_split, context);
  std::map<std::string_view, bool> is_train;
  for (std::size_t t = 0; t < splits.tasks.size(); ++t) {
    is_train[splits.tasks[t]] = splits.classes[index(splits.labels[t])] == "train";
  }
  for (std::size_t t = 0; t < gold.tasks.size(); ++t) {
    given.splits.push_back(is_train.at(gold.tasks[t]) ? Split::train : Split::test);
  }
  given.names = std::move(gold.tasks);
  given.classes = std::move(gold.classes);
  given.truth = std::move(gold.labels);
  return given;
}

Simulation experts_over(const GivenTasks& given, const char* experts) {
  Parameters parameters(simulation_kind("max_mig").parameters);
  parameters.set("experts", experts);
  return simulate("max_mig", default_simulation_size("max_mig", parameters), parameters, RunContext({.seed = 1}),
                  {.given = &given});
}

/// Share of answered tasks whose truth is the class that explains the answers best; -1 if any has another number of
/// answers than there are workers.
double best_guesses(const Simulation& s, const CategoryAnswers& answers, std::size_t& answered) {
  const std::size_t classes = answers.class_count();
  double right = 0;
  answered = 0;
  for (std::uint32_t t = 0; t < answers.task_count(); ++t) {
    const auto labels = answers.labels_of(TaskId{t});
    if (labels.empty()) continue;
    ++answered;
    if (labels.size() != answers.worker_count()) return -1;
    std::vector<double> joint = s.class_prior;
    for (std::size_t w = 0; w < labels.size(); ++w) {
      for (std::size_t k = 0; k < classes; ++k) joint[k] *= s.confusion[(w * classes + k) * classes + index(labels[w])];
    }
    const auto best = static_cast<std::size_t>(std::max_element(joint.begin(), joint.end()) - joint.begin());
    right += best == index(s.data.gold[t]) ? 1 : 0;
  }
  return right / static_cast<double>(answered);
}

TEST(RealTasks, ExpertsKnowCatsAndDogsAsPublished) {
  const auto folder = testing::real_data_folder();
  if (!folder) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const GivenTasks given = given_tasks(*folder + "/learn/catdog");
  const Simulation s = experts_over(given, "cats_dogs");
  std::size_t answered = 0;
  EXPECT_NEAR(best_guesses(s, s.data.answers, answered), .8212, .016);
  EXPECT_EQ(answered, 10000U);
  EXPECT_NEAR(best_guesses(s, s.held_out, answered), .8212, .035);
  EXPECT_EQ(answered, 2000U);
  EXPECT_EQ(s.data.gold, given.truth);
}

TEST(RealTasks, AnswersOfAllExpertsTellTenClassesApart) {
  const auto folder = testing::real_data_folder();
  if (!folder) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  for (const auto& [set, experts, train] :
       {std::tuple("fashion", "fashion", 20000U), std::tuple("cifar10n", "cifar10", 10000U)}) {
    const GivenTasks given = given_tasks(*folder + "/learn/" + set);
    const Simulation s = experts_over(given, experts);
    std::size_t answered = 0;
    EXPECT_EQ(best_guesses(s, s.data.answers, answered), 1);
    EXPECT_EQ(answered, train);
    EXPECT_EQ(best_guesses(s, s.held_out, answered), 1);
  }
}

}  // namespace
}  // namespace wisecrowd
