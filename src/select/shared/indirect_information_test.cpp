#include "select/shared/indirect_information.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/numeric.hpp"
#include "support/open_crowd.hpp"

namespace wisecrowd::selecting {
namespace {

using testing::OpenCrowd;

/// One worker who has answered tasks by `said`, as a view with its own memory.
struct Answered {
  OpenCrowd crowd;
  std::vector<AnswerIndex> offsets;
  std::vector<WorkerId> workers;
  std::vector<ClassId> labels;

  Answered(std::size_t classes, std::vector<double> posterior, std::vector<double> counts, std::vector<unsigned> said)
      : crowd(1, said.size(), 1, classes), offsets{0} {
    crowd.posterior = std::move(posterior);
    crowd.counts = std::move(counts);
    for (const unsigned label : said) {
      workers.push_back(WorkerId{0});
      labels.push_back(ClassId{static_cast<std::uint16_t>(label)});
      offsets.push_back(static_cast<AnswerIndex>(labels.size()));
    }
  }
  [[nodiscard]] CrowdView view() const {
    CrowdView view = crowd.view();
    view.answers = {offsets, workers, labels};
    return view;
  }
};

/// I(z; y), where z is the truth of a task with posterior `q` that the worker answered by `said`, and y its answer to a
/// task whose truth is `asked`: if z is that class too, what was said is one more count of the row that y is drawn
/// from.
double exact(std::span<const double> q, std::span<const double> row, std::size_t said, std::size_t asked) {
  double sum = 0;
  for (const double count : row) sum += count;
  std::vector<double> same(row.size()), other(row.size()), mean(row.size());
  for (std::size_t y = 0; y < row.size(); ++y) {
    same[y] = (row[y] + (y == said ? 1 : 0)) / (sum + 1);
    other[y] = row[y] / sum;
    mean[y] = q[asked] * same[y] + (1 - q[asked]) * other[y];
  }
  return entropy(mean) - q[asked] * entropy(same) - (1 - q[asked]) * entropy(other);
}

TEST(IndirectInformation, IsTheInformationAboutAnAnsweredTask) {
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    const std::size_t classes = 2 + static_cast<std::size_t>(round % 3);
    std::vector<double> q(classes), counts(classes * classes);
    rng.dirichlet(std::vector<double>(classes, 2.0), q);
    for (double& count : counts) count = 20 + 60 * rng.uniform();
    const auto said = static_cast<unsigned>(round) % static_cast<unsigned>(classes);
    const Answered world(classes, q, counts, {said});
    const auto told = indirect_information(world.view(), world.crowd.posterior);
    ASSERT_EQ(told.size(), classes);
    for (std::size_t k = 0; k < classes; ++k) {
      const double truth = exact(q, std::span(counts).subspan(k * classes, classes), said, k);
      EXPECT_NEAR(told[k] / truth, 1, 0.03) << "class " << k << " of " << classes;
    }
  }
}

TEST(IndirectInformation, AddsUpOverTasksAndFallsWithWhatIsKnown) {
  const Answered one(2, {.5, .5}, {6, 2, 2, 6}, {0});
  const Answered three(2, {.5, .5, .5, .5, 1, 0}, {6, 2, 2, 6}, {0, 0, 1});
  const Answered known(2, {.5, .5}, {60, 20, 20, 60}, {0});
  const auto first = indirect_information(one.view(), one.crowd.posterior);
  const auto sum = indirect_information(three.view(), three.crowd.posterior);
  const auto less = indirect_information(known.view(), known.crowd.posterior);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(sum[k], 2 * first[k], 1e-15) << "a settled task has nothing to gain";
    EXPECT_LT(less[k], first[k] / 50);
  }
  EXPECT_GT(first[1], first[0]) << "how often a class is called by another name is what is known least";
}

TEST(IndirectInformation, IsNothingWithoutAnswers) {
  const Answered world(2, {.5, .5}, {6, 2, 2, 6}, {0});
  EXPECT_EQ(indirect_information(world.crowd.view(), world.crowd.posterior), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace wisecrowd::selecting
