#include "data/build.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

NameTable numbered(const char* prefix, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  return NameTable(names);
}

struct Row {
  std::uint32_t task, worker;
  std::uint16_t label;
};

std::vector<AnswerPiece> in_pieces(const std::vector<Row>& rows, std::size_t piece_size) {
  std::vector<AnswerPiece> pieces;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % piece_size == 0) pieces.emplace_back();
    pieces.back().tasks.push_back(rows[i].task);
    pieces.back().workers.push_back(rows[i].worker);
    pieces.back().labels.push_back(rows[i].label);
  }
  return pieces;
}

struct Sizes {
  std::size_t tasks, workers, answers, piece;
};

class BuildAnnotations : public testing::TestWithParam<Sizes> {
 protected:
  void SetUp() override {
    Rng rng(GetParam().answers);
    for (std::size_t i = 0; i < GetParam().answers; ++i) {
      rows_.push_back({static_cast<std::uint32_t>(rng.below(GetParam().tasks)),
                       static_cast<std::uint32_t>(rng.below(GetParam().workers)),
                       static_cast<std::uint16_t>(rng.below(3))});
    }
  }
  [[nodiscard]] CategoryAnswerNames names() const {
    return {numbered("t", GetParam().tasks), numbered("w", GetParam().workers), numbered("c", 3)};
  }
  std::vector<Row> rows_;
};

using Pair = std::pair<std::uint32_t, std::uint32_t>;

void expect_answers(const CategoryAnswers& answers, const std::multimap<Pair, std::uint16_t>& expected) {
  ASSERT_EQ(answers.answer_count(), expected.size());
  auto next = expected.begin();
  for (std::size_t t = 0; t < answers.task_count(); ++t) {
    const auto workers = answers.workers_of(TaskId(t));
    const auto labels = answers.labels_of(TaskId(t));
    for (std::size_t i = 0; i < workers.size(); ++i, ++next) {
      ASSERT_EQ(next->first, Pair(t, index(workers[i])));
      ASSERT_EQ(next->second, index(labels[i]));
    }
  }
  // The other side of the graph holds the same answers.
  std::size_t seen = 0;
  for (std::size_t w = 0; w < answers.worker_count(); ++w) {
    const auto tasks = answers.tasks_of(WorkerId(w));
    const auto places = answers.answers_of(WorkerId(w));
    ASSERT_TRUE(std::is_sorted(tasks.begin(), tasks.end()));
    for (std::size_t i = 0; i < tasks.size(); ++i, ++seen) {
      ASSERT_EQ(index(answers.workers()[places[i]]), w);
      ASSERT_GE(places[i], answers.task_offsets()[index(tasks[i])]);
      ASSERT_LT(places[i], answers.task_offsets()[index(tasks[i]) + 1]);
    }
  }
  ASSERT_EQ(seen, answers.answer_count());
}

TEST_P(BuildAnnotations, KeepLast) {
  std::map<Pair, std::uint16_t> last;
  std::uint64_t dropped = 0, contradicting = 0;
  for (const Row& row : rows_) {
    const auto [at, added] = last.try_emplace({row.task, row.worker}, row.label);
    dropped += added ? 0 : 1;
    contradicting += at->second != row.label ? 1 : 0;
    at->second = row.label;
  }
  for (const unsigned threads : {1U, 3U}) {
    ThreadPool pool(threads);
    BuildReport report;
    const CategoryAnswers answers =
        build_annotations(in_pieces(rows_, GetParam().piece), names(), DuplicatePolicy::keep_last, pool, &report);
    expect_answers(answers, {last.begin(), last.end()});
    EXPECT_EQ(report.duplicates_dropped, dropped);
    EXPECT_EQ(report.duplicates_contradicting, contradicting);
    EXPECT_FALSE(answers.has_repeats());
  }
}

TEST_P(BuildAnnotations, RepeatKeepsAllInTheOrderOfLabels) {
  std::vector<Row> by_label = rows_;
  std::stable_sort(by_label.begin(), by_label.end(), [](const Row& a, const Row& b) { return a.label < b.label; });
  std::multimap<Pair, std::uint16_t> all;
  std::map<Pair, int> times;
  for (const Row& row : by_label) {
    all.insert({{row.task, row.worker}, row.label});  // equal keys stay in order of insertion
    ++times[{row.task, row.worker}];
  }
  ThreadPool pool(2);
  BuildReport report;
  const CategoryAnswers answers =
      build_annotations(in_pieces(rows_, GetParam().piece), names(), DuplicatePolicy::repeat, pool, &report);
  expect_answers(answers, all);
  EXPECT_EQ(report.repeats, rows_.size() - times.size());
  EXPECT_EQ(answers.has_repeats(), rows_.size() != times.size());
}

TEST_P(BuildAnnotations, RejectListsRepeatsInFileOrder) {
  std::map<Pair, std::uint64_t> seen;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto [at, added] = seen.try_emplace({rows_[i].task, rows_[i].worker}, i);
    if (!added) expected.emplace_back(at->second, i);
    at->second = i;
  }
  ThreadPool pool(2);
  BuildReport report;
  std::vector<RepeatedPair> repeated;
  (void)build_annotations(in_pieces(rows_, GetParam().piece), names(), DuplicatePolicy::reject, pool, &report,
                          &repeated);
  EXPECT_EQ(report.repeats, expected.size());
  ASSERT_GE(repeated.size(), std::min<std::size_t>(expected.size(), 20));
  for (std::size_t i = 0; i < std::min<std::size_t>(expected.size(), 20); ++i) {
    EXPECT_EQ(repeated[i].earlier, expected[i].first);
    EXPECT_EQ(repeated[i].later, expected[i].second);
    EXPECT_EQ(repeated[i].task, rows_[expected[i].second].task);
    EXPECT_EQ(repeated[i].worker, rows_[expected[i].second].worker);
  }
  if (expected.empty()) return;
  EXPECT_THROW(
      (void)build_annotations(in_pieces(rows_, GetParam().piece), names(), DuplicatePolicy::reject, pool, nullptr),
      Error);
}

TEST(PutInOrder, AnswersKeepTheirNames) {
  const std::vector<std::string> tasks{"t10", "t9", "t1"}, workers{"b", "c", "a"}, classes{"yes", "no"};
  CategoryAnswerNames names{NameTable(tasks), NameTable(workers), NameTable(classes)};
  auto pieces = in_pieces({{0, 0, 0}, {1, 1, 1}, {2, 2, 0}, {0, 2, 1}}, 3);
  ThreadPool pool(2);
  const NewIds ids = put_in_order(names, pieces, pool);
  EXPECT_EQ(ids.tasks, (std::vector<std::uint32_t>{2, 1, 0}));
  EXPECT_EQ(ids.workers, (std::vector<std::uint32_t>{1, 2, 0}));
  const CategoryAnswers answers =
      build_annotations(std::move(pieces), std::move(names), DuplicatePolicy::keep_last, pool, nullptr);
  expect_answers(answers, {{{0, 0}, 0}, {{1, 2}, 1}, {{2, 0}, 1}, {{2, 1}, 0}});
  EXPECT_EQ(answers.task_names()[2], "t10");
  EXPECT_EQ(answers.worker_names()[0], "a");
}

TEST(ContentHash, IsThatOfTheNamesWhateverTheirIds) {
  const std::vector<std::string> classes{"yes", "no"};
  const auto hash = [&](const std::vector<std::string>& tasks, const std::vector<std::string>& workers,
                        const std::vector<Row>& rows) {
    ThreadPool pool(1);
    return build_annotations(in_pieces(rows, 2), {NameTable(tasks), NameTable(workers), NameTable(classes)},
                             DuplicatePolicy::repeat, pool, nullptr)
        .content_hash();
  };
  const auto expected = hash({"1", "2"}, {"v", "w"}, {{0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}});
  EXPECT_EQ(hash({"2", "1"}, {"w", "v"}, {{0, 0, 1}, {1, 1, 0}, {0, 0, 0}, {1, 0, 1}}), expected);
  EXPECT_NE(hash({"2", "1"}, {"w", "v"}, {{0, 0, 1}, {1, 1, 0}, {0, 0, 0}, {1, 0, 0}}), expected);
}

INSTANTIATE_TEST_SUITE_P(Sizes, BuildAnnotations,
                         testing::Values(Sizes{1, 1, 0, 1}, Sizes{1, 1, 5, 2}, Sizes{10, 4, 30, 7},
                                         Sizes{3, 400, 500, 1000},            // many answers per task: the other sort
                                         Sizes{5000, 20, 20'000, 999},        // two buckets
                                         Sizes{300'000, 1000, 50'000, 4096},  // most tasks without an answer
                                         Sizes{70'000, 3, 150'000, 150'000}));

}  // namespace
}  // namespace wisecrowd
