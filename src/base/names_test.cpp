#include "wisecrowd/names.hpp"

#include <gtest/gtest.h>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using namespace std::string_view_literals;

TEST(Names, OneRule) {
  EXPECT_EQ(name_problem("w"), "");
  EXPECT_EQ(name_problem("Zoë 漢字\twith a\nline"), "");
  EXPECT_EQ(name_problem("\x1b[31mred"), "") << "control characters are data; they are spelled out where shown";
  EXPECT_EQ(name_problem(std::string(kLongestName, 'x')), "");
  EXPECT_NE(name_problem(std::string(kLongestName + 1, 'x')), "");
  EXPECT_NE(name_problem(""), "");
  EXPECT_NE(name_problem("a\0b"sv), "");
  EXPECT_NE(name_problem("caf\xE9"), "");
  EXPECT_NE(name_problem("\xED\xA0\x80"), "") << "a surrogate";
  try {
    require_name("a\0b"sv, "crowd.state: worker");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_EQ(std::string(error.what()),
              "crowd.state: worker 'a\\x00b' holds a NUL character: take it out of the name");
  }
}

TEST(Names, SafeForSpreadsheets) {
  EXPECT_EQ(spreadsheet_safe("=cmd|'/c calc'!A1"), "'=cmd|'/c calc'!A1");
  EXPECT_EQ(spreadsheet_safe("@x"), "'@x");
  EXPECT_EQ(spreadsheet_safe("\t=1"), "'\t=1");
  EXPECT_EQ(spreadsheet_safe("-cat"), "'-cat");
  EXPECT_EQ(spreadsheet_safe("'=1"), "''=1") << "or it would be the same as =1";
  for (const std::string same : {"-1", "+1", "-0.5", "cat", "'cat", "", "a=b"}) EXPECT_EQ(spreadsheet_safe(same), same);
}

TEST(Names, ShownWithoutControlCharacters) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1B[2Jb");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31mb"),
            "a\\u{9B}31mb")
      << "U+009B opens an escape sequence too";
  EXPECT_EQ(printable("\xE2\x80\xAE"), "\\u{202E}") << "writes from right to left";
  EXPECT_EQ(printable("\xE9"), "\\xE9");
  EXPECT_EQ(printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(printable_lines("a\n\x1b"
                            "b"),
            "a\n\\x1B"
            "b");
  EXPECT_EQ(printable("Zoë 漢字"), "Zoë 漢字");
}

}  // namespace
}  // namespace wisecrowd
