#include "wisecrowd/asking.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <set>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Ten tasks, of which "alice" answered all, "bob" the even ones and "carol" the first; bob contradicts on every
/// fourth.
CategoryAnswers some_answers() {
  CategoryAnswersBuilder builder({"no", "yes"});
  for (int t = 0; t < 10; ++t) {
    const std::string task = "task" + std::to_string(t);
    builder.add(task, "alice", "yes");
    if (t % 2 == 0) builder.add(task, "bob", t % 4 == 0 ? "no" : "yes");
  }
  builder.add("task0", "carol", "yes");
  return builder.build();
}

struct Way {
  std::string name = "expected_information";
  Parameters parameters{selector("expected_information").parameters};
};

class Asking : public testing::Test {
 protected:
  Asking()
      : path_(std::filesystem::temp_directory_path() / ("asking_test_" + std::to_string(::getpid()) + ".state")),
        state_(make()) {}
  ~Asking() override {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path_.string() + end);
  }
  CrowdState make() {
    std::filesystem::remove(path_);
    return CrowdState::create(path_.string(), {.answers = answers_}, {}, context_);
  }
  NamedSelection from_state(const AskRequest& request) {
    return select_from_state(state_, request, policy_.name, policy_.parameters, context_);
  }
  NamedSelection from_fit(const AskRequest& request) {
    return select_from_fit(answers_, fit_, request, policy_.name, policy_.parameters, context_);
  }

  RunContext context_;
  Way policy_;
  CategoryAnswers answers_ = some_answers();
  CategoryFit fit_ = aggregate({.answers = answers_}, default_refit_method(),
                               Parameters(aggregation_method(default_refit_method()).parameters), context_);
  std::filesystem::path path_;
  CrowdState state_;
};

std::set<std::pair<std::string, std::string>> pairs_of(const NamedSelection& chosen) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const Choice& choice : chosen.selection.choices) {
    pairs.emplace(chosen.tasks[index(choice.task)], chosen.workers[index(choice.worker)]);
  }
  return pairs;
}

TEST(OffersFor, GivesOneOfferPerNameAndTheStrangers) {
  const NamedOffers given{{"new", "b", "other"}, {{.cost = 3}, {.cost = 2, .capacity = 5}, {.cost = 4}}};
  std::vector<std::size_t> unknown_workers;
  const auto offers = offers_for(given, {"a", "b"}, unknown_workers);
  ASSERT_EQ(offers.size(), 2U);
  EXPECT_FALSE(offers[0].available);
  EXPECT_TRUE(offers[1].available);
  EXPECT_EQ(offers[1].cost, 2);
  EXPECT_EQ(offers[1].capacity, 5U);
  EXPECT_EQ(unknown_workers, (std::vector<std::size_t>{0, 2}));
}

TEST_F(Asking, AsksOncePerTaskWhereSomebodyIsLeftWithinTheBudget) {
  for (const bool of_state : {true, false}) {
    const NamedSelection all = of_state ? from_state({.budget = 1000}) : from_fit({.budget = 1000});
    const auto pairs = pairs_of(all);
    EXPECT_EQ(pairs.size(), 9U);  // the first task has the answers of all three
    EXPECT_EQ(all.selection.choices.size(), 9U);
    EXPECT_EQ(all.selection.exhausted, 1U);
    for (const auto& [task, worker] : pairs) EXPECT_NE(worker, "alice");
    for (const auto& [task, worker] : pairs) EXPECT_FALSE(worker == "bob" && (task.back() - '0') % 2 == 0) << task;
    EXPECT_FALSE(pairs.contains({"task0", "carol"}));
    const NamedSelection few = of_state ? from_state({.budget = 3.5}) : from_fit({.budget = 3.5});
    EXPECT_EQ(few.selection.choices.size(), 3U);
  }
}

TEST_F(Asking, StrangersAreTakenForAverageAndHaveTheirTerms) {
  AskRequest request{.budget = 6};
  request.offers = NamedOffers{{"dave", "alice"}, {{.cost = 1.5, .capacity = 3}, {.cost = 1}}};
  for (const bool of_state : {true, false}) {
    const NamedSelection chosen = of_state ? from_state(request) : from_fit(request);
    ASSERT_EQ(chosen.selection.choices.size(), 3U);
    EXPECT_EQ(chosen.selection.cost(), 4.5);
    for (const auto& [task, worker] : pairs_of(chosen)) EXPECT_EQ(worker, "dave");
    EXPECT_GT(chosen.selection.choices.front().expected_gain, 0);
  }
}

TEST_F(Asking, LooksAtAsManyTasksAsItIsTold) {
  EXPECT_EQ(from_state({.budget = 5}).candidates, 10U);
  const NamedSelection two = from_state({.budget = 50, .candidates = 2});
  EXPECT_EQ(two.candidates, 2U);
  std::set<std::string> tasks;
  for (const auto& [task, worker] : pairs_of(two)) tasks.insert(task);
  EXPECT_LE(tasks.size(), 2U);
}

TEST_F(Asking, RefusesBudgetsThatAreNone) {
  for (const double budget : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)from_state({.budget = budget}), Error);
    EXPECT_THROW((void)from_fit({.budget = budget}), Error);
  }
}

TEST_F(Asking, AdviceShowsTheMostRewardingTasksFirst) {
  const Advice advice = advise(answers_, fit_, std::nullopt, policy_.name, policy_.parameters, context_);
  ASSERT_EQ(advice.tasks.choices.size(), 9U);  // one per task, as far as somebody is left to ask
  for (std::size_t n = 1; n < advice.tasks.choices.size(); ++n) {
    EXPECT_GE(advice.tasks.choices[n - 1].expected_gain, advice.tasks.choices[n].expected_gain);
  }
  ASSERT_EQ(advice.workers.size(), 3U);
  EXPECT_EQ(reason_of(advice.workers[2], answers_.class_names()), "1 answer is too few to say");
  WorkerAssessment judged;
  judged.reason = AdviceReason::takes_one_for_another;
  judged.truth = ClassId(0);
  judged.said = ClassId(1);
  EXPECT_EQ(reason_of(judged, answers_.class_names()), "as a rule it says yes where the truth is no");
}

TEST(RefitsUnasked, WhenItIsDueAndQuick) {
  StateSummary summary;
  summary.answers = 1000;
  EXPECT_FALSE(should_auto_refit(summary));
  summary.staleness.classes_since = 1;
  summary.staleness.answers_since = 1;
  EXPECT_TRUE(should_auto_refit(summary));
  summary.answers = 300'000;
  EXPECT_FALSE(should_auto_refit(summary));
}

}  // namespace
}  // namespace wisecrowd
