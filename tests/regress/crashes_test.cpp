#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/checks.hpp"
#include "support/crowds.hpp"

namespace wisecrowd {
namespace {

class FuzzInputs : public ::testing::TestWithParam<std::string> {};

TEST_P(FuzzInputs, PassTheirCheck) {
  const auto& check = fuzz::checks().at(GetParam());
  const std::filesystem::path tests = testing::source_folder() + "/tests";
  std::size_t found = 0;
  for (const auto& folder : {tests / "fuzz/corpus" / GetParam(), tests / "regress/crashes" / GetParam()}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), {}};
      EXPECT_NO_THROW(check(bytes)) << entry.path();
      ++found;
    }
  }
  EXPECT_GT(found, 0U);
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const auto& [name, check] : fuzz::checks()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzInputs, ::testing::ValuesIn(target_names()),
                         [](const auto& target) { return target.param; });

}  // namespace
}  // namespace wisecrowd
