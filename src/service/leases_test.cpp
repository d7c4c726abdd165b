#include "service/leases.hpp"

#include <gtest/gtest.h>

namespace wisecrowd::service {
namespace {

TEST(Leases, ATaskIsKeptForOneWorkerUntilItAnswersOrTheTimeIsOver) {
  Leases leases;
  EXPECT_TRUE(leases.take("t", "anna", 0, 60));
  EXPECT_TRUE(leases.is_taken("t", "ben", 59));
  EXPECT_FALSE(leases.is_taken("t", "anna", 59));  // who asks again gets it again
  EXPECT_FALSE(leases.take("t", "ben", 59, 100));
  EXPECT_TRUE(leases.take("t", "anna", 59, 119));  // and the time begins anew
  EXPECT_TRUE(leases.is_taken("t", "ben", 118));
  EXPECT_FALSE(leases.is_taken("t", "ben", 119));
  EXPECT_TRUE(leases.take("t", "ben", 119, 200));
  leases.give_back("t", "anna");  // not hers any more
  EXPECT_TRUE(leases.is_taken("t", "anna", 150));
  leases.give_back("t", "ben");
  EXPECT_FALSE(leases.is_taken("t", "anna", 150));
  EXPECT_EQ(leases.size(), 0U);
}

TEST(Leases, TheirNumberIsBounded) {
  Leases leases;
  for (int t = 0; t < 100'000; ++t) ASSERT_TRUE(leases.take(std::to_string(t), "w", 0, t < 10 ? 5 : 60));
  EXPECT_FALSE(leases.take("one more", "w", 4, 60));
  EXPECT_TRUE(leases.take("5", "w", 4, 60));         // it is there already
  EXPECT_TRUE(leases.take("one more", "w", 6, 60));  // some have ended
  EXPECT_EQ(leases.size(), 99'992U);
}

}  // namespace
}  // namespace wisecrowd::service
