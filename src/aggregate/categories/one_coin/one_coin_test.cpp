#include "aggregate/categories/one_coin/one_coin.hpp"

#include <gtest/gtest.h>

#include "support/crowds.hpp"
#include "support/slow_reference.hpp"

namespace wisecrowd {
namespace {

TEST(OneCoin, AgreesWithTheSlowReference) {
  for (const std::size_t classes : {2U, 3U, 5U}) {
    const auto crowd = testing::small_crowd(11, 40, 6, classes, 4);
    for (const bool learn : {false, true}) {
      one_coin::Options options;
      options.right_pseudo_count = 2;
      options.wrong_pseudo_count = 0.5;
      options.em.class_prior = learn ? EmOptions::ClassPrior::learned : EmOptions::ClassPrior::uniform;
      options.em.max_iterations = 12;
      options.em.tolerance = 0;
      const auto fast = one_coin::OneCoin(options).fit(crowd.data, RunContext());
      const auto slow = testing::slow_em(crowd.data, learn, 0, 12, [&](const testing::Counts& n) {
        testing::Counts tables = n;
        for (std::size_t j = 0; j < n.size(); ++j) {
          double right = 2, all = 2.5;
          for (std::size_t k = 0; k < classes; ++k) {
            right += n[j][k][k];
            for (std::size_t l = 0; l < classes; ++l) all += n[j][k][l];
          }
          for (std::size_t k = 0; k < classes; ++k) {
            for (std::size_t l = 0; l < classes; ++l) {
              tables[j][k][l] = k == l ? right / all : (1 - right / all) / static_cast<double>(classes - 1);
            }
          }
        }
        return tables;
      });
      EXPECT_NEAR(fast.log_likelihood, slow.log_likelihood.back(), 1e-9);
      for (std::size_t t = 0; t < 40; ++t) {
        for (std::size_t k = 0; k < classes; ++k) {
          EXPECT_NEAR(fast.posterior[t * classes + k], slow.posterior[t][k], 1e-9);
        }
      }
      for (std::size_t w = 0; w < 6; ++w) EXPECT_NEAR(fast.skill[w], slow.tables[w][0][0], 1e-9);
    }
  }
}

}  // namespace
}  // namespace wisecrowd
