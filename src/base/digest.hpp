#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wisecrowd {

using Sha256 = std::array<std::uint8_t, 32>;

[[nodiscard]] Sha256 sha256(std::string_view bytes);
[[nodiscard]] Sha256 hmac_sha256(std::string_view key, std::string_view message);
[[nodiscard]] std::string_view bytes_of(const Sha256& digest) noexcept;

/// Lower-case hexadecimal digits.
[[nodiscard]] std::string hex(std::string_view bytes);
/// Nothing unless it is an even number of hexadecimal digits.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view text);
[[nodiscard]] std::string base64(std::string_view bytes);
/// With or without padding; nothing when a character does not belong or bits are left over.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

/// Takes the same time wherever the first difference is, so that a secret cannot be guessed byte by byte. Only the
/// lengths may show.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

/// From the system's source of randomness, fit for secrets. Throws io when there is none.
[[nodiscard]] std::string random_bytes(std::size_t count);

}  // namespace wisecrowd
