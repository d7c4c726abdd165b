#include "service/webhook_signature.hpp"

#include <gtest/gtest.h>

namespace wisecrowd::service {
namespace {

/// The example that the specification of Standard Webhooks gives for its signature.
TEST(WebhookSignature, IsThatOfTheStandard) {
  const std::string secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const std::string body = R"({"test": 2432232314})";
  EXPECT_EQ(webhook_signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  const auto genuine = [&](std::string_view timestamp, std::string_view signatures, double now) {
    return webhook_is_genuine(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp, body, signatures, now);
  };
  const std::string right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  EXPECT_TRUE(genuine("1614265330", right, 1614265400));
  EXPECT_TRUE(genuine("1614265330", "v1,AAAA " + right, 1614265400));
  EXPECT_FALSE(genuine("1614265330", right, 1614265330 + 301));
  EXPECT_FALSE(genuine("1614265331", right, 1614265331));
  EXPECT_FALSE(genuine("1614265330", "v1,AAAA", 1614265330));
  EXPECT_FALSE(genuine("1614265330", "", 1614265330));
  EXPECT_FALSE(genuine("x", right, 1614265330));
}

}  // namespace
}  // namespace wisecrowd::service
