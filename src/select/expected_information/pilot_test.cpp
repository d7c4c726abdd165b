#include "select/expected_information/pilot.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "support/open_crowd.hpp"

namespace wisecrowd::expected_information_selector {
namespace {

using testing::changed;
using testing::OpenCrowd;

/// Nobody has answered anything yet.
OpenCrowd fresh(std::size_t tasks, std::size_t workers) {
  OpenCrowd crowd(1, tasks, workers, 2);
  crowd.posterior.assign(tasks * 2, 0.5);
  crowd.task_answers.assign(tasks, 0);
  crowd.worker_answers.assign(workers, 0);
  crowd.asked.assign(tasks, {});
  return crowd;
}

Selection chosen(const OpenCrowd& crowd, std::size_t pairs, std::span<const WorkerOffer> offers = {}) {
  SelectionRequest request;
  request.pairs = pairs;
  request.offers = offers;
  return select(crowd.view(), request, "expected_information", changed("expected_information", {}), RunContext());
}

void answer(OpenCrowd& crowd, const Selection& selection) {
  for (const Choice& choice : selection.choices) {
    ++crowd.task_answers[index(choice.task)];
    ++crowd.worker_answers[index(choice.worker)];
    crowd.asked[index(choice.task)].push_back(choice.worker);
  }
}

std::map<std::size_t, std::set<std::size_t>> by_task(const Selection& selection) {
  std::map<std::size_t, std::set<std::size_t>> asked;
  for (const Choice& choice : selection.choices) {
    EXPECT_TRUE(asked[index(choice.task)].insert(index(choice.worker)).second);
  }
  return asked;
}

TEST(Pilot, AsksFewTasksSeveralTimes) {
  const auto asked = by_task(chosen(fresh(1000, 20), 100));
  EXPECT_EQ(asked.size(), 20U);
  for (const auto& [task, workers] : asked) EXPECT_EQ(workers.size(), 5U);
}

TEST(Pilot, ATenthOfTheTasksAtMost) {
  const auto asked = by_task(chosen(fresh(60, 200), 30));
  EXPECT_EQ(asked.size(), 6U);
}

TEST(Pilot, GoesOnWhereItStopped) {
  OpenCrowd crowd = fresh(1000, 20);
  for (int batch = 0; batch < 14; ++batch) answer(crowd, chosen(crowd, 7));  // 98 of 100
  std::map<std::uint32_t, int> depths;
  for (const std::uint32_t answers : crowd.task_answers) ++depths[answers];
  EXPECT_EQ(depths[5], 19);
  EXPECT_EQ(depths[3], 1);
  const auto asked = by_task(chosen(crowd, 2));
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(crowd.task_answers[asked.begin()->first], 3U);
}

TEST(Pilot, TheRestOfTheBatchGoesToOtherTasks) {
  const std::vector<WorkerOffer> offers(20, WorkerOffer{1, 12, true});
  const Selection selection = chosen(fresh(1000, 20), 220, offers);
  ASSERT_EQ(selection.choices.size(), 220U);
  const auto asked = by_task(selection);
  EXPECT_EQ(asked.size(), 20U + 120U);
  std::vector<std::size_t> used(20, 0);
  for (const Choice& choice : selection.choices) EXPECT_LE(++used[index(choice.worker)], 12U);
}

/// With a stop rule one answer may settle a task: it is not asked again before that answer is known.
TEST(Pilot, WithAStopRuleOneAnswerAtATime) {
  OpenCrowd crowd = fresh(1000, 20);
  Pilot pilot;
  pilot.delta = 0.01;
  SelectionRequest request;
  request.pairs = 500;
  const auto begun = [&] { return plan_pilot(crowd.view(), request, pilot, RunContext()); };
  PilotPlan plan = begun();
  EXPECT_EQ(plan.pairs, 20U);
  for (const std::uint32_t room : plan.rooms) EXPECT_LE(room, 1U);
  for (std::size_t i = 0; i < 20; ++i) {
    crowd.task_answers[i] = 1;
    crowd.worker_answers[i] = 1;
    if (i < 5) crowd.posterior[2 * i] = 1 - (crowd.posterior[2 * i + 1] = 0.005);
  }
  plan = begun();
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(plan.rooms[i], i < 5 ? 0U : 1U);
  EXPECT_EQ(plan.pairs, 15U + 16U);  // 80 answers are lacking: 16 tasks of five
}

TEST(Pilot, EndsWithItsAnswersOrWhenNobodyIsLeft) {
  OpenCrowd crowd = fresh(1000, 20);
  crowd.worker_answers.assign(20, 5);  // on tasks that are not in view
  EXPECT_EQ(plan_pilot(crowd.view(), {}, {}, RunContext()).pairs, 0U);
  EXPECT_EQ(by_task(chosen(crowd, 50)).size(), 50U);
  // Two recorded answers per task: no task can be asked five times, and the pilot still gets its hundred.
  crowd = fresh(1000, 20);
  const std::vector<WorkerId> two = {WorkerId{3}, WorkerId{8}};
  CrowdView view = crowd.view();
  view.askable = [&](TaskId) { return std::span<const WorkerId>(two); };
  SelectionRequest request;
  request.pairs = 1000;
  const PilotPlan plan = plan_pilot(view, request, {}, RunContext());
  EXPECT_EQ(plan.pairs, 100U);
  for (const std::uint32_t room : plan.rooms) EXPECT_LE(room, 2U);
  view.askable = [&](TaskId) { return std::span<const WorkerId>(); };
  EXPECT_TRUE(plan_pilot(view, request, {}, RunContext()).rooms.empty());
}

}  // namespace
}  // namespace wisecrowd::expected_information_selector
