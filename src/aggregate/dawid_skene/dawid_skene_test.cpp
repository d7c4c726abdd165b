#include "aggregate/dawid_skene/dawid_skene.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wisecrowd {
namespace {

/// The tiny data of the golden vectors: four tasks, three workers, two classes.
Dataset tiny() {
  AnnotationsBuilder builder({"0", "1"});
  constexpr int kEdges[][3] = {{0, 0, 0}, {0, 1, 0}, {0, 2, 1}, {1, 0, 1}, {1, 1, 1},
                               {2, 0, 1}, {2, 2, 0}, {3, 1, 0}, {3, 2, 0}};
  for (const auto& e : kEdges) builder.add(std::to_string(e[0]), std::to_string(e[1]), std::to_string(e[2]));
  return {builder.build(), {}, {}};
}

TEST(DawidSkene, GoldenVector) {
  dawid_skene::Options options;
  options.pseudo_count = 1;
  options.em.max_iterations = 3;
  options.em.tolerance = 0;
  const auto result = dawid_skene::DawidSkene(options).fit(tiny(), RunContext());
  ASSERT_EQ(result.trace.size(), 3U);
  EXPECT_NEAR(result.trace[0], -14.5666389979, 1e-9);
  EXPECT_NEAR(result.trace[1], -14.3936963528, 1e-9);
  EXPECT_NEAR(result.trace[2], -14.3642644324, 1e-9);
  EXPECT_NEAR(result.log_likelihood, -5.8680401373, 1e-9);
  const double expected[] = {.31860911, .55876044, .51004332, .41511748};
  for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(result.posterior[t * 2 + 1], expected[t], 1e-8);
}

}  // namespace
}  // namespace wisecrowd
