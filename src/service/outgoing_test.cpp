#include "service/outgoing.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

#include "wisecrowd/error.hpp"

namespace wisecrowd::service {
namespace {

TEST(ServiceOutgoing, UrlsAndAnswers) {
  const Url url = parse_url("http://host:8080/base/");
  EXPECT_EQ(url.host, "host");
  EXPECT_EQ(url.port, 8080);
  EXPECT_EQ(url.path, "/base");
  EXPECT_EQ(parse_url("http://[::1]:99").host, "::1");
  EXPECT_EQ(parse_url("http://h").port, 80);
  EXPECT_FALSE(url.secure);
  EXPECT_TRUE(parse_url("https://h").secure);
  EXPECT_EQ(parse_url("https://h").port, 443);
  EXPECT_EQ(parse_url("https://h:8443/base").port, 8443);
  for (const char* bad : {"", "h", "https://", "ftp://h", "http://", "http://h:0", "http://h:x", "http://u:p@h",
                          "http://h/?q", "http://h b", "http://[::1"}) {
    EXPECT_THROW((void)parse_url(bad), Error) << bad;
  }
  EXPECT_EQ(parse_answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello").body, "he");
  EXPECT_EQ(
      parse_answer("HTTP/1.1 201 x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\n\r\n").body,
      "abcde");
  EXPECT_EQ(parse_answer("HTTP/1.0 404 x\r\n\r\n").status, 404);
  for (const char* bad :
       {"", "HTTP/1.1 200", "HTTP/1.1 xyz OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab"}) {
    EXPECT_THROW((void)parse_answer(bad), Error) << bad;
  }
}

TEST(ServiceOutgoing, AnAnswerThatMayBeCutOffMustSayItsLength) {
  const char* const open_ended = "HTTP/1.1 200 OK\r\n\r\nhello";
  EXPECT_EQ(parse_answer(open_ended).body, "hello");
  EXPECT_THROW((void)parse_answer(open_ended, true), Error);
  EXPECT_EQ(parse_answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true).body, "hello");
}

bool public_address(const char* text) {
  sockaddr_storage room{};
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&room);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&room);
  if (::inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
    room.ss_family = AF_INET;
  } else {
    EXPECT_EQ(::inet_pton(AF_INET6, text, &v6->sin6_addr), 1) << text;
    room.ss_family = AF_INET6;
  }
  return is_public(*reinterpret_cast<const sockaddr*>(&room));
}

TEST(ServiceOutgoing, AddressesOfThisMachineAndItsNetworkAreNotPublic) {
  for (const char* own : {"127.0.0.1",
                          "127.255.0.9",
                          "0.0.0.0",
                          "0.1.2.3",
                          "10.1.2.3",
                          "100.64.0.1",
                          "100.127.255.255",
                          "169.254.169.254",
                          "172.16.0.1",
                          "172.31.255.255",
                          "192.168.1.1",
                          "192.0.2.7",
                          "198.18.0.1",
                          "198.19.255.255",
                          "198.51.100.1",
                          "203.0.113.9",
                          "224.0.0.1",
                          "255.255.255.255",
                          "::",
                          "::1",
                          "fe80::1",
                          "fc00::1",
                          "fdff::1",
                          "ff02::1",
                          "::ffff:127.0.0.1",
                          "::ffff:10.0.0.1",
                          "64:ff9b::10.0.0.1",
                          "64:ff9b:1::1",
                          "2002:7f00:1::",
                          "2001::1",
                          "2001:db8::1",
                          "fec0::1",
                          "100::1",
                          "4000::1"}) {
    EXPECT_FALSE(public_address(own)) << own;
  }
  for (const char* other : {"1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1",
                            "192.167.0.1", "198.17.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111",
                            "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::"}) {
    EXPECT_TRUE(public_address(other)) << other;
  }
}

}  // namespace
}  // namespace wisecrowd::service
