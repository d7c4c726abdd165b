#include "service/tokens.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/digest.hpp"
#include "service/service.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

std::string parse_error(const std::string& text) {
  try {
    (void)parse_tokens(text, "f");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(ServiceTokens, ALineLetsItsSecretIn) {
  const NewToken token = make_token("anna", {"write"}, {"birds", "cats"});
  EXPECT_EQ(token.line.find(token.secret), std::string::npos);
  const auto tokens = parse_tokens("# a comment\n\n" + token.line + "\n", "f");
  ASSERT_EQ(tokens.size(), 1U);
  const Caller& caller = tokens[0].second;
  EXPECT_EQ(caller.name, "anna");
  EXPECT_TRUE(caller.may(Scope::write, "birds"));
  EXPECT_TRUE(caller.may(Scope::read, "cats"));
  EXPECT_FALSE(caller.may(Scope::admin, "birds"));
  EXPECT_FALSE(caller.may(Scope::read, "dogs"));
  EXPECT_TRUE(caller.may(Scope::read, ""));
  EXPECT_FALSE(make_token("b", {"admin"}, {}).line.find(" * ") == std::string::npos);
}

TEST(ServiceTokens, BadLinesAndNamesAreRefused) {
  EXPECT_NE(parse_error("anna write\n").find("line 1"), std::string::npos);
  EXPECT_NE(parse_error("# x\nanna rule * " + std::string(64, '0')).find("line 2"), std::string::npos);
  EXPECT_NE(parse_error("anna read ../x " + std::string(64, '0')).find("names no project"), std::string::npos);
  EXPECT_NE(parse_error("anna read * abc").find("SHA-256"), std::string::npos);
  EXPECT_THROW((void)make_token("a b", {"read"}, {}), Error);
  EXPECT_THROW((void)make_token("a", {"rule"}, {}), Error);
  EXPECT_THROW((void)make_token("a", {}, {}), Error);
  EXPECT_THROW((void)make_token("a", {"read"}, {"../x"}), Error);
}

TEST(ServiceTokens, SecretsComeByBearerOrBasic) {
  EXPECT_EQ(secret_of("Bearer abc"), "abc");
  EXPECT_EQ(secret_of("bearer abc"), "abc");
  EXPECT_EQ(secret_of("Basic " + base64("user:abc:d")), "abc:d");
  for (const char* bad : {"", "abc", "Basic !!!", "Basic dXNlcg==", "Digest x"}) EXPECT_FALSE(secret_of(bad)) << bad;
}

TEST(ServiceTokens, AChangedFileIsReadAgainAndABrokenOneIsNot) {
  const std::string path = (std::filesystem::temp_directory_path() / ("tokens_" + std::to_string(::getpid()))).string();
  const NewToken one = make_token("one", {"read"}, {}), two = make_token("two", {"read"}, {});
  std::ofstream(path) << one.line << "\n";
  ::chmod(path.c_str(), 0600);
  Tokens tokens(path);
  EXPECT_TRUE(tokens.find(one.secret));
  EXPECT_FALSE(tokens.find(one.secret + "x"));
  std::ofstream(path) << two.line << "\n# longer\n";
  EXPECT_EQ(tokens.refresh(), "");
  EXPECT_FALSE(tokens.find(one.secret));
  EXPECT_TRUE(tokens.find(two.secret));
  std::ofstream(path) << "broken\n";
  EXPECT_NE(tokens.refresh(), "");
  EXPECT_TRUE(tokens.find(two.secret));
  ::chmod(path.c_str(), 0666);
  EXPECT_THROW(Tokens{path}, Error);
  std::filesystem::remove(path);
}

TEST(ServiceTokens, ASessionHasACookieAndAProof) {
  Sessions sessions;
  Caller caller;
  caller.name = "anna";
  caller.scope = Scope::read;
  const Sessions::Opened opened = sessions.open(caller);
  EXPECT_NE(opened.cookie, opened.proof);
  const auto found = sessions.find(opened.cookie);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->by_session);
  EXPECT_EQ(found->proof, opened.proof);
  sessions.close(opened.cookie);
  EXPECT_FALSE(sessions.find(opened.cookie));
}

TEST(ServiceLimits, ABucketFillsUpAgain) {
  RateLimit limit(1000, 3);
  int taken = 0;
  for (int i = 0; i < 4; ++i) taken += limit.take("a") ? 1 : 0;
  EXPECT_GE(taken, 3);
  EXPECT_TRUE(limit.take("b"));
  ::usleep(5000);
  EXPECT_TRUE(limit.take("a"));
  RateLimit strict(0.001, 1);
  EXPECT_TRUE(strict.take("a"));
  EXPECT_FALSE(strict.has("a"));
}

}  // namespace
}  // namespace wisecrowd::service
