#include "base/parameter_visitor.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

enum class Mode { soft, very_hard };
constexpr auto kModeNames = enum_names<Mode>({{Mode::soft, "soft"}, {Mode::very_hard, "very-hard"}});

struct Inner {
  double rate = 0.25;
};
struct Options {
  Inner inner{.rate = 0.5};
  std::size_t rounds = 10;
  std::int64_t trim = -1;
  bool gold = true;
  Mode mode = Mode::very_hard;
  std::string method = "vote";
  double decay = 0.1;
};

void inner_parameters(ParameterVisitor& v, Inner& o) { v.real("rate", o.rate, 0, 1, "a share"); }

void parameters(ParameterVisitor& v, Options& o) {
  v.integer("rounds", o.rounds, 1, 1e9, "how often");
  v.integer("trim", o.trim, -1, 5, "how many");
  v.flag("gold", o.gold, "use gold");
  v.choice("mode", o.mode, kModeNames, "which");
  v.choice_formerly("gentle", "soft");
  v.choice("method", o.method, {"vote", "em"}, "who");
  v.real("decay", o.decay, 0, 1, "how fast");
  v.formerly("fading");
  v.formerly("loss");
  inner_parameters(v, o.inner);
}

TEST(ParameterVisitor, DeclaresInOrderWithTheDefaultsOfTheOptions) {
  const auto specs = declare_parameters(parameters);
  std::string shown;
  for (const ParameterSpec& spec : specs) shown += spec.name + "=" + to_string(spec.default_value) + " ";
  EXPECT_EQ(shown, "rounds=10 trim=-1 gold=true mode=very-hard method=vote decay=0.1 rate=0.5 ");
  EXPECT_EQ(describe_range(specs[1]), "an integer from -1 to 5");
  EXPECT_EQ(describe_range(specs[3]), "one of soft, very-hard");
  EXPECT_EQ(specs[6].help, "a share");
  EXPECT_EQ(specs[5].former_names, (std::vector<std::string>{"fading", "loss"}));
  EXPECT_EQ(declare_parameters(inner_parameters, {.rate = 0.75})[0].default_value, ParameterValue(0.75));
}

TEST(ParameterVisitor, ReadsWhatWasSetAndLeavesTheRest) {
  Parameters values(declare_parameters(parameters));
  const Options same = read_parameters(parameters, values);
  EXPECT_EQ(same.inner.rate, 0.5);
  EXPECT_EQ(same.trim, -1);
  EXPECT_EQ(same.mode, Mode::very_hard);
  for (const auto& [name, text] :
       {std::pair{"rounds", "3"}, {"gold", "false"}, {"mode", "soft"}, {"method", "em"}, {"rate", "1"}}) {
    values.set(name, text);
  }
  const Options read = read_parameters(parameters, values);
  EXPECT_EQ(read.rounds, 3U);
  EXPECT_FALSE(read.gold);
  EXPECT_EQ(read.mode, Mode::soft);
  EXPECT_EQ(read.method, "em");
  EXPECT_EQ(read.inner.rate, 1);
  EXPECT_EQ(read.decay, 0.1);
}

TEST(ParameterVisitor, FormerNamesAreUnderstoodAndNoted) {
  Parameters values(declare_parameters(parameters));
  EXPECT_TRUE(values.notes().empty());
  values.set("fading", "0.5");
  values.set_value("fading", 0.75);
  EXPECT_EQ(read_parameters(parameters, values).decay, 0.75);
  EXPECT_EQ(values.all().count("fading"), 0U);  // records speak of today's name
  EXPECT_EQ(values.notes(), std::vector<std::string>{"fading is now called decay"});
  EXPECT_THROW(values.set("loss", "2"), Error);
  values.set("mode", "gentle");
  EXPECT_EQ(values.choice("mode"), "soft");
  EXPECT_EQ(values.notes().back(), "mode=gentle is now called soft");
}

TEST(EnumNames, OneTableNamesFindsAndRefuses) {
  EXPECT_EQ(name_in(kModeNames, Mode::very_hard), "very-hard");
  EXPECT_EQ(find_in(kModeNames, "very_hard"), Mode::very_hard);  // dashes and underscores are alike
  EXPECT_EQ(find_in(kModeNames, "veryhard"), std::nullopt);
  try {
    (void)value_in(kModeNames, "mode", "medium");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_parameter);
    EXPECT_STREQ(error.what(), "there is no mode 'medium': choose soft or very-hard");
  }
}

}  // namespace
}  // namespace wisecrowd
