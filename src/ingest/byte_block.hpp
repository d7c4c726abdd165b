#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512BW__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace wisecrowd::ingest {

/// How many bytes may be read past the end of any text that is scanned in blocks.
inline constexpr std::size_t kScanPadding = 64;

/// 64 bytes of text, compared with one character at a time: bit i of the answer is byte i.
class ByteBlock {
 public:
#if defined(__AVX512BW__)
  explicit ByteBlock(const char* text) noexcept : bytes_(_mm512_loadu_si512(text)) {}
  [[nodiscard]] std::uint64_t equal(char c) const noexcept {
    return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8(c));
  }

 private:
  __m512i bytes_;
#elif defined(__AVX2__)
  explicit ByteBlock(const char* text) noexcept
      : low_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(text))),
        high_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + 32))) {}
  [[nodiscard]] std::uint64_t equal(char c) const noexcept {
    const __m256i wanted = _mm256_set1_epi8(c);
    const auto low = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low_, wanted)));
    const auto high = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high_, wanted)));
    return low | (std::uint64_t{high} << 32);
  }

 private:
  __m256i low_, high_;
#elif defined(__SSE2__)
  explicit ByteBlock(const char* text) noexcept {
    for (int i = 0; i < 4; ++i) parts_[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * i));
  }
  [[nodiscard]] std::uint64_t equal(char c) const noexcept {
    const __m128i wanted = _mm_set1_epi8(c);
    std::uint64_t bits = 0;
    for (int i = 0; i < 4; ++i) {
      const auto part = static_cast<std::uint16_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(parts_[i], wanted)));
      bits |= std::uint64_t{part} << (16 * i);
    }
    return bits;
  }

 private:
  __m128i parts_[4];
#else
  explicit ByteBlock(const char* text) noexcept { std::memcpy(bytes_, text, sizeof bytes_); }
  [[nodiscard]] std::uint64_t equal(char c) const noexcept {
    std::uint64_t bits = 0;
    for (int i = 0; i < 64; ++i) bits |= std::uint64_t{bytes_[i] == c} << i;
    return bits;
  }

 private:
  char bytes_[64];
#endif
};

}  // namespace wisecrowd::ingest
