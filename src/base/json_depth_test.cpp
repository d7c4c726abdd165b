#include "base/json_depth.hpp"

#include <gtest/gtest.h>

#include <string>

namespace wisecrowd {
namespace {

TEST(JsonDepth, CountsBracketsOutsideOfStrings) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_FALSE(nests_too_deep(nested(kDeepestJson)));
  EXPECT_TRUE(nests_too_deep(nested(kDeepestJson + 1)));
  EXPECT_TRUE(nests_too_deep(std::string(1000, '{'))) << "not closed";
  std::string flat;
  for (int i = 0; i < 1000; ++i) flat += "[{}],";
  EXPECT_FALSE(nests_too_deep(flat));
  EXPECT_FALSE(nests_too_deep("{\"a\\\"" + std::string(1000, '[') + "\": 1}")) << "inside a name with a quote";
  EXPECT_TRUE(nests_too_deep("{\"a\\\\\": " + std::string(1000, '[') + "}")) << "after a name that ends in a backslash";
  EXPECT_FALSE(nests_too_deep(""));
}

}  // namespace
}  // namespace wisecrowd
