#include "wisecrowd/parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<ParameterSpec> specs() {
  return {ParameterSpec::real("rate", 0.5, 0, 1, "a share"),
          ParameterSpec::real("free", 2, -kInfinity, kInfinity, "any number"),
          ParameterSpec::integer("rounds", 10, 1, kInfinity, "how often"),
          ParameterSpec::choice("mode", "soft", {"soft", "hard"}, "which"),
          ParameterSpec::flag("gold", true, "use gold")};
}

/// The message of the bad_parameter that setting raises; "accepted" if it raises none.
std::string refusal(std::string_view name, std::string_view text) {
  Parameters parameters(specs());
  const auto before = parameters.all();
  try {
    parameters.set(name, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_parameter);
    EXPECT_EQ(parameters.all(), before);  // a refused value changes nothing
    return error.what();
  }
  return "accepted";
}

TEST(Parameters, StartAtTheirDefaults) {
  const Parameters parameters(specs());
  EXPECT_EQ(parameters.real("rate"), 0.5);
  EXPECT_EQ(parameters.integer("rounds"), 10);
  EXPECT_EQ(parameters.choice("mode"), "soft");
  EXPECT_TRUE(parameters.flag("gold"));
  EXPECT_EQ(parameters.all().size(), 5U);
}

TEST(Parameters, AreSetFromText) {
  Parameters parameters(specs());
  parameters.set("rate", "1");
  parameters.set("free", "-2.5e3");
  parameters.set("rounds", "100");
  parameters.set("mode", "hard");
  parameters.set("gold", "false");
  EXPECT_EQ(parameters.real("rate"), 1);
  EXPECT_EQ(parameters.real("free"), -2500);
  EXPECT_EQ(parameters.integer("rounds"), 100);
  EXPECT_EQ(parameters.choice("mode"), "hard");
  EXPECT_FALSE(parameters.flag("gold"));
}

TEST(Parameters, AreSetFromValues) {
  Parameters parameters(specs());
  parameters.set_value("rate", ParameterValue(std::int64_t{1}));  // whole numbers are numbers
  EXPECT_EQ(parameters.real("rate"), 1);
  EXPECT_THROW(parameters.set_value("rounds", ParameterValue(2.5)), Error);
  EXPECT_THROW(parameters.set_value("rounds", ParameterValue(true)), Error);
  EXPECT_THROW(parameters.set_value("mode", ParameterValue(std::string("medium"))), Error);
  EXPECT_THROW(parameters.set_value("rate", ParameterValue(std::nan(""))), Error);
}

TEST(Parameters, RefusalsSayWhatWouldBeRight) {
  EXPECT_EQ(refusal("rate", "1.5"), "parameter 'rate' cannot be '1.5': it takes a number from 0 to 1 (default 0.5)");
  EXPECT_EQ(refusal("rounds", "0"), "parameter 'rounds' cannot be '0': it takes an integer of at least 1 (default 10)");
  EXPECT_NE(refusal("mode", "medium").find("one of soft, hard"), std::string::npos);
  EXPECT_NE(refusal("gold", "yes").find("true or false"), std::string::npos);
  EXPECT_NE(refusal("speed", "1").find("rate, free, rounds, mode, gold"), std::string::npos);
  Parameters none{std::vector<ParameterSpec>{}};
  try {
    none.set("x", "1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("none"), std::string::npos);
  }
}

TEST(Parameters, NumbersAreReadWhole) {
  for (const char* text : {"", " 1", "1 ", "0.5x", "half", "nan", "inf", "-inf", "1e999", "0x1", "1,5", "--1"}) {
    EXPECT_NE(refusal("free", text), "accepted") << text;
  }
  for (const char* text : {"", "2.0", "1e3", "9223372036854775808", "two", "-1", "+2"}) {
    EXPECT_NE(refusal("rounds", text), "accepted") << text;
  }
  EXPECT_EQ(refusal("free", "1e300"), "accepted");
  EXPECT_EQ(refusal("rounds", "9223372036854775807"), "accepted");
}

TEST(Parameters, AskingForTheWrongOneIsADefectNotACrash) {
  const Parameters parameters(specs());
  for (const auto& ask : {+[](const Parameters& p) { static_cast<void>(p.real("speed")); },
                          +[](const Parameters& p) { static_cast<void>(p.integer("rate")); },
                          +[](const Parameters& p) { static_cast<void>(p.flag("mode")); },
                          +[](const Parameters& p) { static_cast<void>(p.choice("gold")); }}) {
    try {
      ask(parameters);
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
    }
  }
}

TEST(Parameters, AChoiceOfSharesStandsForAnyShares) {
  Parameters parameters(std::vector{ParameterSpec::choice("prior", "even", {"even", "0.85,0.15"}, "how frequent")});
  for (const char* const right : {"even", "0.85,0.15", "0.2,0.3,0.5", "0.333,0.333,0.333", "1"}) {
    parameters.set("prior", right);
    EXPECT_EQ(parameters.choice("prior"), right);
  }
  for (const char* const wrong : {"0.5,0.4", "1.5,-0.5", "0,1", "0.5;0.5", "0.5,", ",1", "nan,1", "", "odd"}) {
    try {
      parameters.set("prior", wrong);
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(
          std::string(error.what()),
          std::string("parameter 'prior' cannot be '") + wrong +
              "': it takes one of even, or a positive share per class, in all 1, such as 0.85,0.15 (default even)");
    }
  }
  Parameters plain(specs());
  EXPECT_THROW(plain.set("mode", "0.5,0.5"), Error);
}

TEST(Parameters, RangesInWords) {
  EXPECT_EQ(describe_range(specs()[0]), "a number from 0 to 1");
  EXPECT_EQ(describe_range(specs()[1]), "a number");
  EXPECT_EQ(describe_range(specs()[2]), "an integer of at least 1");
  EXPECT_EQ(describe_range(ParameterSpec::real("x", 0, -kInfinity, 3, "")), "a number of at most 3");
  EXPECT_EQ(to_string(ParameterValue(0.1)), "0.1");
  EXPECT_EQ(to_string(ParameterValue(false)), "false");
}

}  // namespace
}  // namespace wisecrowd
