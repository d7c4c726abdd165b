#include <gtest/gtest.h>

#include <map>

#include "base/rng.hpp"
#include "support/crowds.hpp"
#include "trust/spammer_evidence.hpp"
#include "wisecrowd/trust.hpp"

namespace wisecrowd {
namespace {

/// Judges a crowd by the fit of a method, as everybody does who gives advice.
std::vector<WorkerAssessment> judged_by_fit(const CategoryData& data, const RunContext& context,
                                            std::span<const DependentGroup> copied = {}) {
  const std::string_view method = default_refit_method();
  const CategoryFit fit = aggregate(data, method, Parameters(aggregation_method(method).parameters), context);
  return judge_workers({data.answers, fit.confusion, fit.class_prior, copied}, {}, context);
}

struct Tally {
  double workers = 0;
  std::map<WorkerAdvice, double> advised;
  [[nodiscard]] double share(WorkerAdvice advice) const {
    const auto found = advised.find(advice);
    return found == advised.end() ? 0 : found->second / workers;
  }
  void add(const WorkerAssessment& judged) {
    workers += 1;
    advised[judged.advice] += 1;
  }
};

// 50 workers with 50 answers each, five to a task: half of them guess.
TEST(JudgeWorkers, SpammersAreStoppedAndHammersKept) {
  for (const std::size_t classes : {2U, 3U, 5U}) {
    Tally hammers, spammers;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      RunOptions run;
      run.seed = seed;
      const RunContext context(run);
      const Simulation crowd = simulate("hammer_spammer", {500, 50, classes, 5},
                                        Parameters(simulation_kind("hammer_spammer").parameters), context);
      const auto judged = judged_by_fit({crowd.data.answers, {}, {}}, context);
      for (std::size_t w = 0; w < judged.size(); ++w)
        (crowd.worker_kind[w] == "hammer" ? hammers : spammers).add(judged[w]);
    }
    EXPECT_GE(spammers.share(WorkerAdvice::stop), 0.9) << classes;
    EXPECT_LE(spammers.share(WorkerAdvice::keep), 0.01) << classes;
    EXPECT_LE(hammers.share(WorkerAdvice::stop), 0.01) << classes;
    EXPECT_GE(hammers.share(WorkerAdvice::keep), 0.98) << classes;
  }
}

// Good workers are right in 70 to 95 %, a third guesses; 50 answers each, five to a task.
TEST(JudgeWorkers, GoodWorkersAreNotStopped) {
  for (const int classes : {2, 3, 5}) {
    Tally good, guessers;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      Rng rng(seed);
      std::vector<std::string> names;
      for (int k = 0; k < classes; ++k) names.push_back(std::to_string(k));
      CategoryAnswersBuilder builder(names);
      constexpr int kWorkers = 60, kTasks = 600;
      std::vector<double> accuracy;
      for (int w = 0; w < kWorkers; ++w) {
        builder.add_worker(std::to_string(w));
        accuracy.push_back(w % 3 == 0 ? 1.0 / classes : rng.uniform(0.7, 0.95));
      }
      for (int t = 0; t < kTasks; ++t) {
        const auto first = static_cast<int>(rng.below(kWorkers));
        for (int r = 0; r < 5; ++r) {
          const int w = (first + r * 7) % kWorkers, truth = t % classes;
          const bool right = rng.bernoulli(accuracy[static_cast<std::size_t>(w)]);
          const int wrong =
              (truth + 1 + static_cast<int>(rng.below(static_cast<std::uint64_t>(classes - 1)))) % classes;
          builder.add(std::to_string(t), std::to_string(w), std::to_string(right ? truth : wrong));
        }
      }
      const auto judged = judged_by_fit({builder.build(), {}, {}}, RunContext());
      for (std::size_t w = 0; w < judged.size(); ++w) (w % 3 == 0 ? guessers : good).add(judged[w]);
    }
    EXPECT_LE(good.share(WorkerAdvice::stop), 0.02) << classes;
    EXPECT_GE(good.share(WorkerAdvice::keep), classes == 2 ? 0.85 : 0.95) << classes;
    EXPECT_GE(guessers.share(WorkerAdvice::stop), classes == 2 ? 0.75 : 0.9) << classes;
    EXPECT_LE(guessers.share(WorkerAdvice::keep), 0.02) << classes;
  }
}

/// Counts of a worker with so many answers to each of two classes, of which so many are right.
std::vector<double> counts(double right_0, double wrong_0, double right_1, double wrong_1) {
  return {right_0, wrong_0, wrong_1, right_1};
}

// The table of cases. Ten good workers stand for the crowd.
TEST(JudgeWorkers, EveryCaseSaysWhatDecided) {
  struct Case {
    std::vector<double> counts;
    WorkerAdvice advice;
    AdviceReason reason;
    const char* words;
  };
  const std::vector<Case> cases = {
      {counts(45, 5, 44, 6), WorkerAdvice::keep, AdviceReason::better_than_guessing, "guessing would give 50 %"},
      {counts(25, 25, 26, 24), WorkerAdvice::stop, AdviceReason::guesses, "do not depend on the truth"},
      {counts(50, 0, 0, 50), WorkerAdvice::stop, AdviceReason::guesses, "do not depend on the truth"},
      {counts(560, 440, 570, 430), WorkerAdvice::stop, AdviceReason::tells_little, "hardly better than guessing"},
      {counts(4, 46, 6, 44), WorkerAdvice::recode, AdviceReason::swaps_classes, "read its a as b, b as a"},
      {counts(35, 65, 30, 70), WorkerAdvice::retrain, AdviceReason::reliably_wrong, "reliably wrong"},
      {counts(48, 2, 12, 38), WorkerAdvice::retrain, AdviceReason::takes_one_for_another,
       "says a where the truth is b"},
      {counts(8, 4, 9, 4), WorkerAdvice::unsure, AdviceReason::undecided, "25 answers do not tell whether it guesses"},
      {counts(3, 0, 2, 0), WorkerAdvice::unsure, AdviceReason::few_answers, "5 answers are too few to say"},
      {counts(0, 0, 0, 0), WorkerAdvice::unsure, AdviceReason::no_answers, "it has not answered"},
  };
  std::vector<double> all;
  std::vector<std::uint32_t> answers;
  const auto add = [&](const std::vector<double>& table) {
    all.insert(all.end(), table.begin(), table.end());
    double sum = 0;
    for (const double n : table) sum += n;
    answers.push_back(static_cast<std::uint32_t>(sum));
  };
  for (const Case& one : cases) add(one.counts);
  for (int n = 0; n < 10; ++n) add(counts(40 + n % 5, 10 - n % 5, 41, 9));
  const std::vector<double> shares = {0.5, 0.5};
  const auto judged = judge_workers(all, shares, answers, {}, RunContext());
  const std::vector<std::string> class_names = {"a", "b"};
  const NameTable names{class_names};
  for (std::size_t c = 0; c < cases.size(); ++c) {
    EXPECT_EQ(to_string(judged[c].advice), to_string(cases[c].advice)) << c << ": " << reason_of(judged[c], names);
    EXPECT_EQ(static_cast<int>(judged[c].reason), static_cast<int>(cases[c].reason)) << c;
    EXPECT_NE(reason_of(judged[c], names).find(cases[c].words), std::string::npos) << reason_of(judged[c], names);
  }
}

TEST(JudgeWorkers, CopiesAreNotKeptWithoutARemark) {
  const auto crowd = testing::small_crowd(5, 300, 10, 2, 8);
  std::vector<DependentGroup> groups(1);
  groups[0].workers = {WorkerId{0}, WorkerId{1}, WorkerId{2}};
  const auto judged = judged_by_fit({crowd.data.answers, {}, {}}, RunContext(), groups);
  const auto alone = judged_by_fit({crowd.data.answers, {}, {}}, RunContext());
  const NameTable& names = crowd.data.answers.class_names();
  std::size_t kept = 0;
  for (std::size_t w = 0; w < judged.size(); ++w) {
    if (w >= 3) {
      EXPECT_EQ(reason_of(judged[w], names), reason_of(alone[w], names));
      continue;
    }
    EXPECT_NE(judged[w].advice, WorkerAdvice::keep);
    EXPECT_EQ(reason_of(judged[w], names).find("answers as one with 2 others"), 0U);
    if (alone[w].advice == WorkerAdvice::keep) {
      EXPECT_EQ(judged[w].advice, WorkerAdvice::check);
      ++kept;
    }
  }
  EXPECT_GT(kept, 0U);
}

// A group that contradicts the rest on some tasks is no reason not to ask those of its members who are mostly right.
TEST(JudgeWorkers, ContradictionOnMostTasksStopsAndOnFewerIsChecked) {
  const auto crowd = testing::small_crowd(5, 300, 10, 2, 8);
  const auto alone = judged_by_fit({crowd.data.answers, {}, {}}, RunContext());
  const NameTable& names = crowd.data.answers.class_names();
  std::vector<DependentGroup> groups(1);
  groups[0].workers = {WorkerId{0}, WorkerId{1}, WorkerId{2}};
  groups[0].acted_on = true;
  std::size_t checked = 0;
  for (const double contradicts : {0.25, 0.6}) {
    groups[0].contradicts = contradicts;
    const auto judged = judged_by_fit({crowd.data.answers, {}, {}}, RunContext(), groups);
    for (std::size_t w = 0; w < 3; ++w) {
      if (contradicts > 0.5) {
        EXPECT_EQ(judged[w].advice, WorkerAdvice::stop);
      } else if (alone[w].advice == WorkerAdvice::keep) {
        EXPECT_EQ(judged[w].advice, WorkerAdvice::check);
        EXPECT_EQ(reason_of(judged[w], names).find("with 2 others it contradicts, as one,"), 0U);
        ++checked;
      } else {
        EXPECT_NE(judged[w].advice, WorkerAdvice::keep);
      }
    }
  }
  EXPECT_GT(checked, 0U);
}

// A worker's own answers say nothing of how good it is: one who always answered alone is as unknown as a new one.
TEST(JudgeWorkers, OnlyOthersCount) {
  CategoryAnswersBuilder builder({"a", "b"});
  Rng rng(1);
  for (int t = 0; t < 200; ++t) {
    for (int w = 0; w < 5; ++w) {
      builder.add("t" + std::to_string(t), std::to_string(w), (t % 2 == 0) == rng.bernoulli(0.9) ? "a" : "b");
    }
    builder.add("alone" + std::to_string(t), "hermit", t % 2 == 0 ? "a" : "b");
  }
  const auto judged = judged_by_fit({builder.build(), {}, {}}, RunContext());
  EXPECT_NE(judged[5].advice, WorkerAdvice::keep);
  for (std::size_t w = 0; w < 5; ++w) EXPECT_EQ(judged[w].advice, WorkerAdvice::keep);
}

// It may be too low, because honest workers come in many kinds, but it never accuses more than it should.
TEST(JudgeWorkers, SpammerProbabilityIsNotExaggerated) {
  Rng rng(4);
  std::vector<double> all;
  std::vector<bool> guesses;
  for (int w = 0; w < 2000; ++w) {
    const bool guesser = rng.bernoulli(0.3);
    const double accuracy = guesser ? 0.5 : rng.beta(9, 3);
    std::vector<double> table(4, 0.0);
    for (int n = 0; n < 60; ++n) {
      const std::size_t truth = rng.below(2);
      table[truth * 2 + (rng.bernoulli(accuracy) ? truth : 1 - truth)] += 1;
    }
    all.insert(all.end(), table.begin(), table.end());
    guesses.push_back(guesser);
  }
  const auto evidence = trust::spammer_evidence(all, 2, RunContext());
  double expected = 0, found = 0, workers = 0;
  for (std::size_t w = 0; w < guesses.size(); ++w) {
    if (evidence.spammer[w] < 0.4) continue;
    workers += 1;
    expected += evidence.spammer[w];
    found += guesses[w] ? 1 : 0;
  }
  ASSERT_GT(workers, 50);
  EXPECT_GT(found / workers, expected / workers - 0.05);
}

}  // namespace
}  // namespace wisecrowd
