#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

#include "value_table.hpp"

namespace wisecrowd::python {

/// A name in the making of an order: its key, whose order is that of the names as far as it goes, and whose it is.
struct Ranked {
  std::uint64_t key;
  std::uint32_t number;
  std::uint32_t row;
};

/// The eight bytes after the first `common` ones as a number whose order is theirs; zeros where the text is shorter.
inline std::uint64_t sort_key(std::string_view text, std::size_t common) noexcept {
  if (text.size() >= common + 8) return __builtin_bswap64(eight_bytes(text.data() + common));
  std::uint64_t key = 0;
  for (std::size_t i = common; i < common + 8; ++i) {
    key = key << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return key;
}

/// How many bytes both begin with, at most `most`.
inline std::size_t common_beginning(std::string_view a, std::string_view b, std::size_t most) noexcept {
  most = std::min({most, a.size(), b.size()});
  std::size_t same = 0;
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

/// Leaves out of keys the bits in which none differ from the others, which keeps their order: the digits of a number,
/// for example, are four bits each.
class Squeezer {
 public:
  /// `varying` has a one where keys differ.
  explicit Squeezer(std::uint64_t varying = ~std::uint64_t{0}) noexcept
      :
#if defined(__BMI2__)
        mask_(varying),
        bits_(static_cast<unsigned>(std::popcount(varying)))
#else
        mask_(varying == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(varying)),
        bits_(static_cast<unsigned>(64 - std::countl_zero(varying)))
#endif
  {
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t key) const noexcept {
#if defined(__BMI2__)
    return _pext_u64(key, mask_);
#else
    return key & mask_;
#endif
  }
  /// How many bits squeezed keys have.
  [[nodiscard]] unsigned bits() const noexcept { return bits_; }

 private:
  std::uint64_t mask_;
  unsigned bits_;
};

/// Sorts by the lowest `bits` of the keys; equal ones keep their order. `other` is room for as many.
inline void radix_sort(std::span<Ranked> entries, std::span<Ranked> other, unsigned bits) {
  constexpr unsigned kBits = 8;
  constexpr std::uint64_t kMask = (1U << kBits) - 1;
  Ranked *from = entries.data(), *to = other.data();
  const std::size_t count = entries.size();
  for (unsigned shift = 0; shift < bits; shift += kBits) {
    std::array<std::uint32_t, kMask + 1> at{};
    for (std::size_t i = 0; i < count; ++i) ++at[from[i].key >> shift & kMask];
    std::uint32_t sum = 0;
    for (std::uint32_t& a : at) sum += std::exchange(a, sum);
    for (std::size_t i = 0; i < count; ++i) to[at[from[i].key >> shift & kMask]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries.data()) std::copy_n(from, count, entries.data());
}

template <class Text>
void sort_by_text(std::span<Ranked> entries, std::span<Ranked> other, std::size_t known, const Text& text);

/// Sorts by key, of which the lowest `bits` differ, and by text where keys are equal. Keys are made of the texts' bytes
/// before `known`. `text(entry, scratch)` gives a text, which is good until the scratch is used again; all differ.
template <class Text>
void sort_ranked(std::span<Ranked> entries, std::span<Ranked> other, unsigned bits, std::size_t known,
                 const Text& text) {
  radix_sort(entries, other, bits);
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].key == entries[begin].key) ++end;
    if (end - begin > 1) sort_by_text(entries.subspan(begin, end - begin), other, known, text);
    begin = end;
  }
}

/// Sorts by texts that have the same bytes before `known`, as far as they have any: by what tells them apart, eight
/// bytes at a time, or by comparing where few are left.
template <class Text>
void sort_by_text(std::span<Ranked> entries, std::span<Ranked> other, std::size_t known, const Text& text) {
  constexpr std::size_t kFew = 32;
  std::string a_scratch, b_scratch;
  const std::string first(text(entries[0], a_scratch));
  std::size_t common = first.size(), shortest = first.size();
  for (const Ranked& entry : entries) {
    const std::string_view one = text(entry, a_scratch);
    common = common_beginning(first, one, common);
    shortest = std::min(shortest, one.size());
  }
  // Texts may end before `known` only if others have zeros there.
  if (entries.size() <= kFew || shortest < known) {
    std::sort(entries.begin(), entries.end(),
              [&](const Ranked& a, const Ranked& b) { return text(a, a_scratch) < text(b, b_scratch); });
    return;
  }
  std::uint64_t varying = 0;
  for (Ranked& entry : entries) {
    entry.key = sort_key(text(entry, a_scratch), common);
    varying |= entry.key ^ entries[0].key;
  }
  const Squeezer squeezed(varying);
  for (Ranked& entry : entries) entry.key = squeezed(entry.key);
  sort_ranked(entries, other, squeezed.bits(), common + 8, text);
}

}  // namespace wisecrowd::python
