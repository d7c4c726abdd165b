#include "wisecrowd/messages.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

TEST(Messages, OptionsBecomeFlags) {
  EXPECT_EQ(with_flags("read it with `lenient`, or `gold_columns=TASK,LABEL`"),
            "read it with --lenient, or --gold-columns TASK,LABEL");
  EXPECT_EQ(with_flags("nothing to do"), "nothing to do");
}

TEST(Messages, WhatIsNoOptionStays) {
  EXPECT_EQ(with_flags("column `A b` and `lenient`"), "column `A b` and --lenient");
  EXPECT_EQ(with_flags("a lone ` and ``"), "a lone ` and ``");
  EXPECT_EQ(with_flags("`no end"), "`no end");
}

TEST(Messages, RemedyFollowsTheMessage) {
  EXPECT_EQ(full_text({"c", "It is so.", "Do this."}), "It is so. Do this.");
  EXPECT_EQ(full_text({"c", "it is so", "do this."}), "it is so; do this.");
  EXPECT_EQ(full_text({"c", "it is so", ""}), "it is so");
}

TEST(Messages, SeveritiesHaveNames) {
  for (const Severity severity : {Severity::note, Severity::caution, Severity::serious}) {
    EXPECT_EQ(severity_named(to_string(severity)), severity);
  }
  EXPECT_THROW((void)severity_named("care"), Error);
}

}  // namespace
}  // namespace wisecrowd
