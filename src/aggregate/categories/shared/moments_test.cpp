#include "aggregate/categories/shared/moments.hpp"

#include <gtest/gtest.h>

#include <map>

#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// All answers as (task, worker) → label, with gold as a last worker.
std::map<std::pair<std::size_t, std::size_t>, std::size_t> answer_map(const CategoryData& data) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> map;
  for (std::uint32_t t = 0; t < data.answers.task_count(); ++t) {
    const auto workers = data.answers.workers_of(TaskId{t});
    for (std::size_t a = 0; a < workers.size(); ++a) {
      map[{t, index(workers[a])}] = index(data.answers.labels_of(TaskId{t})[a]);
    }
    if (data.gold_of(TaskId{t}) != kNoClass) map[{t, data.answers.worker_count()}] = index(data.gold_of(TaskId{t}));
  }
  return map;
}

testing::SmallCrowd crowd_with_gold(std::uint64_t seed, std::size_t workers) {
  auto crowd = testing::small_crowd(seed, 150, workers, 3, 5);
  crowd.data.gold.assign(150, kNoClass);
  for (std::size_t t = 0; t < 150; t += 3) crowd.data.gold[t] = crowd.truth[t];
  return crowd;
}

TEST(PairMoments, AgreeWithPlainLoops) {
  const auto crowd = crowd_with_gold(5, 40);
  const auto said = answer_map(crowd.data);
  for (const std::size_t min_common : {1U, 4U}) {
    const PairMoments moments(crowd.data, RunContext({.threads = 2}),
                              {.min_common = min_common, .gold_as_worker = true});
    ASSERT_EQ(moments.worker_count(), 41U);
    std::size_t next = 0;
    for (std::size_t a = 0; a < 41; ++a) {
      for (std::size_t b = a + 1; b < 41; ++b) {
        std::vector<double> joint(9, 0.0);
        double common = 0, agreements = 0;
        for (std::size_t t = 0; t < 150; ++t) {
          const auto one = said.find({t, a}), two = said.find({t, b});
          if (one == said.end() || two == said.end()) continue;
          joint[one->second * 3 + two->second] += 1;
          common += 1;
          agreements += one->second == two->second ? 1 : 0;
        }
        if (common < static_cast<double>(min_common)) continue;
        ASSERT_LT(next, moments.pairs().size());
        const auto& pair = moments.pairs()[next];
        EXPECT_EQ(pair.first, a);
        EXPECT_EQ(pair.second, b);
        EXPECT_EQ(pair.common, common);
        EXPECT_EQ(pair.agreements, agreements);
        const auto cells = moments.joint(next);
        EXPECT_EQ(std::vector<double>(cells.begin(), cells.end()), joint);
        ++next;
      }
    }
    EXPECT_EQ(next, moments.pairs().size());
  }
}

TEST(PairMoments, SumToOneAreSymmetricAndHaveTheMarginals) {
  const auto crowd = testing::small_crowd(8, 4000, 8, 4, 8);  // complete: marginals are exact
  const PairMoments moments(crowd.data, RunContext(), {});
  ASSERT_EQ(moments.pairs().size(), 28U);
  std::vector<double> here(16), there(16);
  for (std::size_t w = 0; w < 8; ++w) {
    ASSERT_EQ(moments.partners(w).size(), 7U);
    std::uint32_t previous = 0;
    for (const auto& partner : moments.partners(w)) {
      EXPECT_GE(partner.worker, previous);
      previous = partner.worker;
      moments.joint_shares(w, partner, here);
      moments.joint_shares(partner.worker, {static_cast<std::uint32_t>(w), partner.pair}, there);
      double sum = 0;
      for (std::size_t l = 0; l < 4; ++l) {
        double row = 0;
        for (std::size_t m = 0; m < 4; ++m) {
          EXPECT_EQ(here[l * 4 + m], there[m * 4 + l]);
          row += here[l * 4 + m];
        }
        sum += row;
        EXPECT_NEAR(row, moments.label_counts(w)[l] / moments.answers(w), 1e-12);
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(PairMoments, SameBitsForAnyNumberOfThreads) {
  const auto crowd = crowd_with_gold(3, 60);
  const PairOptions options{.min_common = 1, .gold_as_worker = true};
  const PairMoments one(crowd.data, RunContext({.threads = 1}), options);
  for (const unsigned threads : {2U, 3U}) {
    const PairMoments many(crowd.data, RunContext({.threads = threads}), options);
    ASSERT_EQ(one.pairs().size(), many.pairs().size());
    for (std::size_t p = 0; p < one.pairs().size(); ++p) {
      EXPECT_EQ(one.pairs()[p].first, many.pairs()[p].first);
      EXPECT_EQ(one.pairs()[p].second, many.pairs()[p].second);
      EXPECT_TRUE(std::equal(one.joint(p).begin(), one.joint(p).end(), many.joint(p).begin()));
    }
  }
}

TEST(PairMoments, AgreementsAloneAreTheSameNumbers) {
  const auto crowd = crowd_with_gold(4, 30);
  const PairMoments full(crowd.data, RunContext(), {.min_common = 2});
  const PairMoments lean(crowd.data, RunContext(), {.detail = PairDetail::agreements, .min_common = 2});
  EXPECT_FALSE(lean.has_joint());
  ASSERT_EQ(full.pairs().size(), lean.pairs().size());
  for (std::size_t p = 0; p < full.pairs().size(); ++p) {
    EXPECT_EQ(full.pairs()[p].agreements, lean.pairs()[p].agreements);
    EXPECT_EQ(full.pairs()[p].common, lean.pairs()[p].common);
  }
}

TEST(PairMoments, RefusesPolitelyWhatDoesNotFit) {
  const auto crowd = testing::small_crowd(4, 200, 30, 3, 5);
  try {
    const PairMoments moments(crowd.data, RunContext(), {.min_common = 1, .memory_limit = 1000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("min_common"), std::string::npos);
  }
}

TEST(PairMoments, RepeatedAnswersCountAndNobodyIsHisOwnPartner) {
  CategoryAnswersBuilder builder({"a", "b"});
  builder.add("t", "v", "a").add("t", "v", "b").add("t", "w", "a");
  const CategoryData data{builder.build(DuplicatePolicy::repeat), {}, {}};
  const PairMoments moments(data, RunContext(), {.min_common = 1});
  ASSERT_EQ(moments.pairs().size(), 1U);
  EXPECT_EQ(moments.pairs()[0].common, 2);
  EXPECT_EQ(moments.pairs()[0].agreements, 1);
}

TEST(PairMoments, NobodyAtAll) {
  const PairMoments moments(CategoryData{}, RunContext(), {});
  EXPECT_EQ(moments.worker_count(), 0U);
  EXPECT_TRUE(moments.pairs().empty());
}

TEST(TripleMoments, AgreeWithPlainLoops) {
  const auto crowd = crowd_with_gold(6, 9);
  const auto said = answer_map(crowd.data);
  const PairMoments pairs(crowd.data, RunContext(), {.min_common = 1, .gold_as_worker = true});
  const auto wanted = select_triples(pairs, 100);
  EXPECT_EQ(wanted.size(), 120U);  // all of C(10, 3)
  const TripleMoments triples(crowd.data, RunContext({.threads = 2}), wanted, 3);
  std::size_t next = 0;
  for (std::size_t a = 0; a < 10; ++a) {
    for (std::size_t b = a + 1; b < 10; ++b) {
      for (std::size_t c = b + 1; c < 10; ++c) {
        std::vector<double> joint(27, 0.0);
        double common = 0;
        for (std::size_t t = 0; t < 150; ++t) {
          const auto one = said.find({t, a}), two = said.find({t, b}), three = said.find({t, c});
          if (one == said.end() || two == said.end() || three == said.end()) continue;
          joint[(one->second * 3 + two->second) * 3 + three->second] += 1;
          common += 1;
        }
        if (common < 3) continue;
        ASSERT_LT(next, triples.triples().size());
        EXPECT_EQ(triples.triples()[next].workers[0], a);
        EXPECT_EQ(triples.triples()[next].workers[1], b);
        EXPECT_EQ(triples.triples()[next].workers[2], c);
        EXPECT_EQ(triples.triples()[next].common, common);
        const auto cells = triples.joint(next);
        EXPECT_EQ(std::vector<double>(cells.begin(), cells.end()), joint);
        ++next;
      }
    }
  }
  EXPECT_EQ(next, triples.triples().size());
}

TEST(TripleMoments, SelectionKeepsTheThickestOfEveryWorker) {
  const auto crowd = testing::small_crowd(9, 400, 30, 3, 5);
  const PairMoments pairs(crowd.data, RunContext(), {.min_common = 1});
  const auto few = select_triples(pairs, 4);
  EXPECT_LE(few.size(), 120U);
  std::vector<std::size_t> covered(30, 0);
  for (const auto& triple : few) {
    for (const auto w : triple.workers) ++covered[w];
  }
  for (const std::size_t count : covered) EXPECT_GE(count, 4U);
}

}  // namespace
}  // namespace wisecrowd
