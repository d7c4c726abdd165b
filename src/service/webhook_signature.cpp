#include "service/webhook_signature.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/digest.hpp"

namespace wisecrowd::service {
namespace {

constexpr double kTolerance = 300;  // seconds

}  // namespace

std::string webhook_signature(std::string_view secret, std::string_view id, std::string_view timestamp,
                              std::string_view body) {
  constexpr std::string_view kPrefix = "whsec_";
  std::string key(secret);
  if (secret.starts_with(kPrefix)) key = from_base64(secret.substr(kPrefix.size())).value_or(key);
  const std::string message = std::string(id) + "." + std::string(timestamp) + "." + std::string(body);
  const Sha256 digest = hmac_sha256(key, message);
  return "v1," + base64(bytes_of(digest));
}

bool webhook_is_genuine(std::string_view secret, std::string_view id, std::string_view timestamp, std::string_view body,
                        std::string_view signatures, double now) {
  std::int64_t when = 0;
  const auto read = std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), when);
  if (id.empty() || read.ec != std::errc() || read.ptr != timestamp.data() + timestamp.size()) return false;
  if (std::abs(static_cast<double>(when) - now) > kTolerance) return false;
  const std::string expected = webhook_signature(secret, id, timestamp, body);
  bool genuine = false;
  while (!signatures.empty()) {
    const std::size_t end = signatures.find(' ');
    genuine = equal_in_constant_time(signatures.substr(0, end), expected) || genuine;
    signatures.remove_prefix(end == std::string_view::npos ? signatures.size() : end + 1);
  }
  return genuine;
}

}  // namespace wisecrowd::service
