// Every line of selectors.def through the same suite.
#include <gtest/gtest.h>

#include <set>

#include "support/open_crowd.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/select.hpp"

namespace wisecrowd {
namespace {

using testing::changed;
using testing::OpenCrowd;

class EverySelector : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr std::size_t kTasks = 60, kWorkers = 12, kClasses = 3, kPasses = 5;
  OpenCrowd crowd_{7, kTasks, kWorkers, kClasses};
  std::vector<double> passes_;

  void SetUp() override {
    Rng rng(9);
    passes_.resize(kPasses * kTasks * kClasses);
    const std::vector<double> even(kClasses, 1.0);
    for (std::size_t row = 0; row < kPasses * kTasks; ++row) {
      rng.dirichlet(even, std::span(passes_).subspan(row * kClasses, kClasses));
    }
  }
  CrowdView view() const {
    CrowdView view = crowd_.view();
    view.passes = passes_;
    view.pass_count = kPasses;
    view.reliability = [](TaskId task, WorkerId worker) {
      return 0.3 + 0.6 * static_cast<double>((index(task) * 7 + index(worker) * 3) % 11) / 11;
    };
    return view;
  }
  Selection choose(const SelectionRequest& request, unsigned threads = 1, std::uint64_t seed = 5,
                   std::vector<std::pair<std::string, std::string>> changes = {}) const {
    RunOptions options;
    options.threads = threads;
    options.seed = seed;
    return select(view(), request, GetParam(), changed(GetParam(), std::move(changes)), RunContext(options));
  }
  static std::vector<std::pair<std::size_t, std::size_t>> pairs(const Selection& selection) {
    std::vector<std::pair<std::size_t, std::size_t>> list;
    for (const Choice& choice : selection.choices) list.emplace_back(index(choice.task), index(choice.worker));
    return list;
  }
};

TEST_P(EverySelector, NeverAsksTwiceAndKeepsToTheRequest) {
  SelectionRequest request;
  request.pairs = 40;
  const Selection selection = choose(request);
  EXPECT_EQ(selection.choices.size(), 40U);
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const Choice& choice : selection.choices) {
    EXPECT_FALSE(crowd_.view().asked(choice.task, choice.worker));
    EXPECT_TRUE(seen.emplace(index(choice.task), index(choice.worker)).second);
    EXPECT_GE(choice.expected_gain, 0);
    EXPECT_EQ(choice.cost, 1);
  }
}

TEST_P(EverySelector, SameSeedSameChoicesForAnyNumberOfThreads) {
  SelectionRequest request;
  request.pairs = 30;
  EXPECT_EQ(pairs(choose(request, 1)), pairs(choose(request, 4)));
}

TEST_P(EverySelector, RespectsCapacityAvailabilityAndBudget) {
  std::vector<WorkerOffer> offers(kWorkers);
  for (std::size_t j = 0; j < kWorkers; ++j) {
    offers[j].capacity = static_cast<std::uint32_t>(j % 4);
    offers[j].available = j % 5 != 0;
    offers[j].cost = 1 + static_cast<double>(j % 3);
  }
  SelectionRequest request;
  request.offers = offers;
  request.pairs = 1000;
  std::vector<std::size_t> used(kWorkers, 0);
  const Selection all = choose(request);
  for (const Choice& choice : all.choices) ++used[index(choice.worker)];
  for (std::size_t j = 0; j < kWorkers; ++j) {
    EXPECT_EQ(used[j], offers[j].available ? offers[j].capacity : 0) << j;  // all are wanted, so all are used up
  }
  request.budget = 11;
  const Selection some = choose(request);
  EXPECT_LE(some.cost(), 11);
  EXPECT_GT(some.cost(), 8);
}

TEST_P(EverySelector, LeavesSettledAndUnworth_askingTasksAlone) {
  SelectionRequest request;
  request.pairs = 1000;
  const Selection sure = choose(request, 1, 5, {{"delta", "0.3"}});
  std::size_t settled = 0;
  for (std::size_t i = 0; i < kTasks; ++i) {
    settled += *std::max_element(crowd_.q(i).begin(), crowd_.q(i).end()) >= 0.7 ? 1 : 0;
  }
  EXPECT_EQ(sure.settled, settled);
  for (const Choice& choice : sure.choices) {
    const auto q = crowd_.q(index(choice.task));
    EXPECT_LT(*std::max_element(q.begin(), q.end()), 0.7);
  }
  const Selection worth_asking = choose(request, 1, 5, {{"least_gain", "0.2"}});
  for (const Choice& choice : worth_asking.choices) EXPECT_GE(choice.expected_gain, 0.2);
  EXPECT_TRUE(choose(request, 1, 5, {{"least_gain", "50"}}).choices.empty());
}

TEST_P(EverySelector, EmptyCrowdsAreFine) {
  const OpenCrowd no_tasks(1, 0, 4, 2), no_workers(1, 4, 0, 2);
  for (const OpenCrowd* crowd : {&no_tasks, &no_workers}) {
    CrowdView view = crowd->view();
    view.asked = {};
    const std::vector<double> passes(2 * crowd->task_answers.size() * 2, 0.5);
    view.passes = passes;
    view.pass_count = 2;
    view.reliability = [](TaskId, WorkerId) { return 0.5; };
    EXPECT_TRUE(select(view, {}, GetParam(), changed(GetParam(), {}), RunContext()).choices.empty());
  }
}

TEST_P(EverySelector, AsksOnlyWhoCanBeAsked) {
  CrowdView view = this->view();
  std::vector<std::vector<WorkerId>> askable(kTasks);
  for (std::size_t i = 0; i < kTasks; ++i) {
    for (std::size_t j = i % 3; j < kWorkers; j += 4) askable[i].push_back(WorkerId{static_cast<std::uint32_t>(j)});
  }
  view.askable = [&](TaskId task) { return std::span<const WorkerId>(askable[index(task)]); };
  SelectionRequest request;
  request.pairs = 50;
  const Selection selection = select(view, request, GetParam(), changed(GetParam(), {}), RunContext());
  EXPECT_EQ(selection.choices.size(), 50U);
  for (const Choice& choice : selection.choices) {
    const auto& list = askable[index(choice.task)];
    EXPECT_NE(std::find(list.begin(), list.end(), choice.worker), list.end());
  }
}

TEST_P(EverySelector, SaysWhatItNeeds) {
  const SelectorInfo& info = selector(GetParam());
  EXPECT_FALSE(info.title.empty());
  EXPECT_FALSE(info.summary.empty());
  EXPECT_FALSE(info.when_to_use.empty());
  if (info.needs_passes || info.needs_reliability) {
    EXPECT_THROW((void)select(crowd_.view(), {}, GetParam(), changed(GetParam(), {}), RunContext()), Error);
  }
  CrowdView wrong = view();
  wrong.posterior = wrong.posterior.first(3);
  EXPECT_THROW((void)select(wrong, {}, GetParam(), changed(GetParam(), {}), RunContext()), Error);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const SelectorInfo& info : selectors()) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Selectors, EverySelector, ::testing::ValuesIn(all_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(Selectors, NothingIsAskedWhereNothingIsKnown) {
  for (const SelectorInfo& info : selectors()) {
    EXPECT_TRUE(select(CrowdView{}, {.pairs = 3, .budget = 3}, info.name, Parameters(info.parameters), RunContext())
                    .choices.empty())
        << info.name;
  }
}

TEST(Selectors, UnknownNameListsTheCandidates) {
  try {
    (void)selector("entrpy");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("least_confidence"), std::string::npos);
  }
}

}  // namespace
}  // namespace wisecrowd
