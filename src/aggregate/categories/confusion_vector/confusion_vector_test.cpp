#include "aggregate/categories/confusion_vector/confusion_vector.hpp"

#include <gtest/gtest.h>

#include "support/crowds.hpp"
#include "support/slow_reference.hpp"

namespace wisecrowd {
namespace {

TEST(ConfusionVector, AgreesWithTheSlowReference) {
  for (const std::size_t classes : {3U, 6U}) {
    const auto crowd = testing::small_crowd(5, 60, 7, classes, 4);
    confusion_vector::Options options;
    options.em.max_iterations = 10;
    options.em.tolerance = 0;
    const auto fast = confusion_vector::ConfusionVector(options).fit(crowd.data, RunContext());
    const auto slow = testing::slow_em(crowd.data, true, 0, 10, [&](const testing::Counts& n) {
      testing::Counts tables = n;
      for (std::size_t j = 0; j < n.size(); ++j) {
        for (std::size_t k = 0; k < classes; ++k) {
          double all = 2;
          for (const double count : n[j][k]) all += count;
          const double right = (1 + n[j][k][k]) / all;
          for (std::size_t l = 0; l < classes; ++l) {
            tables[j][k][l] = k == l ? right : (1 - right) / static_cast<double>(classes - 1);
          }
        }
      }
      return tables;
    });
    EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood.back(), 1e-9);
    for (std::size_t e = 0; e < 60 * classes; ++e) {
      EXPECT_NEAR(fast.posterior[e], slow.posterior[e / classes][e % classes], 1e-9);
    }
  }
}

TEST(ConfusionVector, IsTheFullModelForTwoClasses) {
  const auto crowd = testing::small_crowd(8, 80, 9, 2, 5);
  Parameters full(aggregation_method("dawid_skene").parameters);
  full.set("pseudo_count", "1");
  const auto vector = confusion_vector::ConfusionVector().fit(crowd.data, RunContext());
  const auto table = aggregate(crowd.data, "dawid_skene", full, RunContext());
  ASSERT_EQ(vector.posterior.size(), table.posterior.size());
  for (std::size_t e = 0; e < vector.posterior.size(); ++e) EXPECT_NEAR(vector.posterior[e], table.posterior[e], 1e-8);
}

}  // namespace
}  // namespace wisecrowd
