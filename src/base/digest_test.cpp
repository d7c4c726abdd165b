#include "base/digest.hpp"

#include <gtest/gtest.h>

namespace wisecrowd {
namespace {

TEST(Digest, Sha256OfPublishedVectors) {
  EXPECT_EQ(hex(bytes_of(sha256(""))), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(bytes_of(sha256("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(bytes_of(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(bytes_of(sha256(std::string(1'000'000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, HmacOfRfc4231) {
  EXPECT_EQ(hex(bytes_of(hmac_sha256("Jefe", "what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hex(bytes_of(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"))),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, Base64ThereAndBack) {
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  for (std::size_t length = 0; length < 70; ++length) {
    const std::string bytes = random_bytes(length);
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
    EXPECT_EQ(from_hex(hex(bytes)), bytes);
  }
  for (const char* bad : {"Zm9v!", "Z", "Zh==x", "Zg=a"}) EXPECT_FALSE(from_base64(bad)) << bad;
  EXPECT_FALSE(from_base64("Zh"));  // bits that belong to no byte
  EXPECT_FALSE(from_hex("abc"));
  EXPECT_FALSE(from_hex("zz"));
}

TEST(Digest, ComparesAll) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secreT"));
  EXPECT_FALSE(equal_in_constant_time("secret", "secre"));
  EXPECT_NE(random_bytes(32), random_bytes(32));
}

}  // namespace
}  // namespace wisecrowd
