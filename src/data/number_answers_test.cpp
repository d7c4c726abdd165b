#include "wisecrowd/number_answers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "wisecrowd/error.hpp"
#include "wisecrowd/number_data.hpp"
#include "wisecrowd/number_limits.hpp"

namespace wisecrowd {
namespace {

TEST(NumberAnswers, WhatWouldOverflowIsRefused) {
  const auto refusal = [](double value) -> std::string {
    try {
      NumberAnswersBuilder().add("t", "w", value);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(-kLargestNumber), "");
  EXPECT_NE(refusal(1e200).find("worker 'w' on task 't': 1e+200 is beyond ±1e+100"), std::string::npos);
  EXPECT_NE(refusal(std::nan("")).find("not a finite number"), std::string::npos);
  NumberAnswersBuilder builder;
  builder.add("t", "w", 1);
  EXPECT_THROW(validate(NumberData{builder.build(), {1e200}}), Error);
  EXPECT_THROW(validate(NumberData{builder.build(), {std::numeric_limits<double>::infinity()}}), Error);
  EXPECT_NO_THROW(validate(NumberData{builder.build(), {std::nan("")}}));
  const double huge = 1e200;
  const NumberAnswer answer{TaskId{0}, WorkerId{0}, std::span(&huge, 1)};
  const std::vector<std::string> one{"x"};
  EXPECT_THROW((void)make_number_answers(std::span(&answer, 1), {NameTable(one), NameTable(one), NameTable(one)}),
               Error);
}

TEST(NumberAnswers, ARefusedRepeatNamesThePoliciesAsTheyAreCalled) {
  NumberAnswersBuilder builder;
  builder.add("t", "w", 1).add("t", "w", 2);
  try {
    (void)builder.build(DuplicatePolicy::reject);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("policy keep-last or repeat"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace wisecrowd
