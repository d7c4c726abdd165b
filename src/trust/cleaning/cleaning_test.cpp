#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

Simulation drawn(const std::string& kind, const SimulationSize& size,
                 const std::vector<std::pair<const char*, const char*>>& settings, std::uint64_t seed = 1) {
  Parameters parameters(simulation_kind(kind).parameters);
  for (const auto& [name, value] : settings) parameters.set(name, value);
  return simulate(kind, size, parameters, RunContext({.seed = seed}));
}

CategoryData answers_alone(const Simulation& crowd) { return {.answers = crowd.data.answers}; }

std::set<std::string> names_of(const Cleaning& cleaning, const std::string& reason) {
  std::set<std::string> names;
  for (const auto& worker : cleaning.workers) {
    if (worker.reason == reason) names.insert(worker.name);
  }
  return names;
}

double accuracy(const CategoryData& data, const std::vector<ClassId>& truth, const std::string& method) {
  const CategoryFit fit = aggregate(data, method);
  double right = 0;
  for (std::size_t t = 0; t < truth.size(); ++t) right += fit.labels[t] == truth[t] ? 1 : 0;
  return right / static_cast<double>(truth.size());
}

TEST(Cleaning, NamesAreReadAndWritten) {
  EXPECT_FALSE(cleaning_request("").any());
  EXPECT_EQ(to_string(cleaning_request("colluders,spammers")), "spammers,colluders");
  try {
    static_cast<void>(cleaning_request("spamers"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("spammers, copies and colluders"), std::string::npos) << error.what();
  }
}

TEST(Cleaning, NothingAskedNothingChanged) {
  const auto crowd = testing::small_crowd(1, 50, 6, 3, 4);
  const Cleaned same = cleaned(crowd.data, {}, RunContext());
  EXPECT_EQ(same.data.answers.content_hash(), crowd.data.answers.content_hash());
  EXPECT_TRUE(same.cleaning.workers.empty());
}

TEST(Cleaning, SpammersOfADenseAndOfAThinCrowdAreLeftOut) {
  for (const std::size_t per_task : {20U, 4U}) {
    const auto crowd = drawn("hammer_spammer", {600, per_task == 20 ? 30U : 60U, 4, per_task}, {{"gamma", "0.5"}});
    const Cleaned rest = cleaned(answers_alone(crowd), {.spammers = true}, RunContext());
    std::set<std::string> planted;
    for (std::size_t w = 0; w < crowd.worker_kind.size(); ++w) {
      if (crowd.worker_kind[w] == "spammer") planted.insert(std::string(crowd.data.answers.worker_names()[w]));
    }
    EXPECT_EQ(names_of(rest.cleaning, "spammer"), planted) << per_task;
    ASSERT_EQ(rest.cleaning.notes.size(), 1U);
    EXPECT_EQ(rest.cleaning.notes[0].find("covariances of answers") != std::string::npos, per_task == 20)
        << rest.cleaning.notes[0];
    EXPECT_EQ(rest.data.answers.worker_count(), crowd.worker_kind.size()) << "ids stay";
    EXPECT_EQ(rest.data.answers.answer_count() + rest.cleaning.answers, crowd.data.answers.answer_count());
  }
}

TEST(Cleaning, ATaskNeverLosesItsLastAnswer) {
  const auto crowd = drawn("hammer_spammer", {600, 60, 4, 4}, {{"gamma", "0.5"}});
  const Cleaned rest = cleaned(answers_alone(crowd), {.spammers = true}, RunContext());
  std::uint64_t kept = 0;
  for (std::size_t t = 0; t < 600; ++t) {
    const auto who = rest.data.answers.workers_of(TaskId{static_cast<std::uint32_t>(t)});
    ASSERT_FALSE(who.empty());
    if (crowd.worker_kind[index(who[0])] == "spammer") {
      EXPECT_EQ(who.size(), 1U);
      ++kept;
    }
  }
  EXPECT_GT(kept, 15U);  // about .5⁴ of the tasks
  EXPECT_EQ(rest.cleaning.kept, kept);
}

TEST(Cleaning, OfCopiesOneStays) {
  const auto crowd =
      drawn("copies", {800, 20, 3, 10}, {{"copy_share", "0.3"}, {"sources", "1"}, {"rho", "1"}, {"level", "3"}});
  const Cleaned rest = cleaned(answers_alone(crowd), {.copies = true}, RunContext());
  std::set<std::string> block;
  for (std::size_t w = 0; w < 20; ++w) {
    const std::string& kind = crowd.worker_kind[w];
    if (kind.rfind("copy of ", 0) != 0) continue;
    block.insert(std::string(crowd.data.answers.worker_names()[w]));
    block.insert(kind.substr(8));
  }
  const auto left = names_of(rest.cleaning, "copy");
  EXPECT_EQ(left.size(), block.size() - 1);
  EXPECT_TRUE(std::includes(block.begin(), block.end(), left.begin(), left.end()));
  EXPECT_EQ(rest.cleaning.workers.size(), left.size());
}

TEST(Cleaning, ColludersLeaveAndTheVoteIsRightAgain) {
  const auto crowd = drawn("colluders", {1000, 40, 3, 12}, {{"alpha", "0.4"}, {"p_corr", "0.9"}, {"level", "3"}});
  const CategoryData data = answers_alone(crowd);
  const Cleaned rest = cleaned(data, {.colluders = true}, RunContext());
  EXPECT_EQ(rest.cleaning.count_of("colluder"), 16U);
  for (const auto& worker : rest.cleaning.workers) {
    EXPECT_NE(worker.why.find("contradict the others"), std::string::npos);
  }
  EXPECT_LT(accuracy(data, crowd.data.gold, "majority_vote"), .7);
  EXPECT_GT(accuracy(rest.data, crowd.data.gold, "majority_vote"), .95);
}

TEST(Cleaning, TrustedWorkersStay) {
  const auto crowd = drawn("hammer_spammer", {400, 20, 3, 15}, {{"gamma", "0.5"}});
  CategoryData data = answers_alone(crowd);
  const auto spammer = std::find(crowd.worker_kind.begin(), crowd.worker_kind.end(), "spammer");
  const WorkerId trusted{static_cast<std::uint32_t>(spammer - crowd.worker_kind.begin())};
  data.trusted = {trusted};
  const Cleaned rest = cleaned(data, {.spammers = true, .copies = true, .colluders = true}, RunContext());
  EXPECT_FALSE(names_of(rest.cleaning, "spammer").empty());
  EXPECT_FALSE(names_of(rest.cleaning, "spammer").contains(std::string(data.answers.worker_names()[index(trusted)])));
}

TEST(Cleaning, ThoseLeftOutAreDescribedByTheirAnswers) {
  const auto crowd = drawn("hammer_spammer", {400, 20, 2, 15}, {{"gamma", "0.5"}});
  const CategoryData data = answers_alone(crowd);
  const Cleaned rest = cleaned(data, {.spammers = true}, RunContext());
  CategoryFit fit = aggregate(rest.data, "dawid_skene");
  describe_left_out(data, rest.cleaning, fit);
  ASSERT_FALSE(rest.cleaning.workers.empty());
  const auto counts = expected_counts(data.answers, fit.posterior);
  for (std::size_t w = 0; w < 20; ++w) {
    if (crowd.worker_kind[w] != "spammer") continue;
    const WorkerId worker{static_cast<std::uint32_t>(w)};
    const auto n = counts.table(worker);
    EXPECT_NEAR(fit.confusion_of(worker)[0], (n[0] + .25) / (n[0] + n[1] + .5), 1e-12);
  }
  const Warning note = cleaning_note(rest.cleaning, 20);
  EXPECT_EQ(note.severity, Severity::note);
  EXPECT_NE(note.message.find("spammers"), std::string::npos) << note.message;
}

/// The published line: 22 workers pruned, then .852 and .899.
TEST(Cleaning, RealCrowds) {
  const auto root = testing::real_data_folder();
  if (!root) GTEST_SKIP() << "the real data sets are not at hand; set WISECROWD_DATA to their folder";
  const auto read = [&](const std::string& set) {
    const std::string folder = *root + "/aggregate/" + set;
    return read_dataset(folder + "/labels.csv", folder + "/gold.csv", {}, RunContext());
  };
  CategoryData bluebird = read("bluebird");
  const auto truth = std::move(bluebird.gold);
  bluebird.gold.clear();
  const Cleaned birds = cleaned(bluebird, {.spammers = true}, RunContext());
  EXPECT_EQ(birds.cleaning.workers.size(), 22U);
  EXPECT_NEAR(accuracy(birds.data, truth, "majority_vote"), .8519, 1e-4);
  EXPECT_NEAR(accuracy(birds.data, truth, "dawid_skene"), .8981, 1e-4);
  CategoryData dog = read("dog");
  const auto dog_truth = std::move(dog.gold);
  dog.gold.clear();
  const Cleaned dogs = cleaned(dog, {.spammers = true}, RunContext());
  EXPECT_LE(dogs.cleaning.workers.size(), 35U);
  EXPECT_GE(accuracy(dogs.data, dog_truth, "dawid_skene"), .8426 - 1e-4);
}

}  // namespace
}  // namespace wisecrowd
