#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "plain_array.hpp"

namespace wisecrowd::python {

/// A value as 16 bytes, its length and its hash. Texts of at most 16 bytes are in it whole, so that comparing two is
/// comparing two numbers; for longer ones `low` is the hash, and their characters must be compared as well.
struct Key {
  static constexpr std::size_t kInline = 16;
  std::uint64_t low = 0, high = 0;
  std::uint32_t length = 0;

  [[nodiscard]] bool is_whole() const noexcept { return length <= kInline; }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return is_whole() ? mixed(low ^ 0x9E3779B97F4A7C15U, high ^ 0xD6E8FEB86659FD93U ^ length) : low;
  }
  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    const auto folded = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    return folded ^ (folded >> 29);
  }
};

inline std::uint64_t eight_bytes(const char* from) noexcept {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline std::uint64_t four_bytes(const char* from) noexcept {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Overlapping reads: with the length known, they determine all bytes.
inline Key key_of(std::string_view text) noexcept {
  const char* const p = text.data();
  const std::size_t n = text.size();
  Key key{.length = static_cast<std::uint32_t>(std::min<std::size_t>(n, UINT32_MAX))};
  if (n >= 8 && n <= Key::kInline) {
    key.low = eight_bytes(p);
    key.high = eight_bytes(p + n - 8);
  } else if (n >= 4 && n < 8) {
    key.low = four_bytes(p) | four_bytes(p + n - 4) << 32;
  } else if (n > 0 && n < 4) {
    const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])}; };
    key.low = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
  } else if (n > Key::kInline) {
    std::uint64_t hash = n;
    for (std::size_t i = 0; i + 16 <= n; i += 16) {
      hash = Key::mixed(hash ^ eight_bytes(p + i), eight_bytes(p + i + 8) ^ 0x9E3779B97F4A7C15U);
    }
    key.low = Key::mixed(hash ^ eight_bytes(p + n - 16), eight_bytes(p + n - 8) ^ 0xD6E8FEB86659FD93U);
  }
  return key;
}

/// Which number a key has: open addressing, one cache line per lookup, in huge pages when it is large.
class ValueTable {
 public:
  static constexpr std::uint32_t kAbsent = 0;  ///< numbers in the table count from 1

  struct Slot {
    std::uint64_t low, high;
    std::uint32_t length, number;
  };

  ValueTable() { resize(1024); }

  /// Forgets all keys and keeps the room for them.
  void clear() noexcept {
    std::memset(static_cast<void*>(slots_.data()), 0, slots_.size() * sizeof(Slot));
    used_ = 0;
  }

  void prefetch(std::uint64_t hash) const noexcept { __builtin_prefetch(slots_.data() + (hash & mask_)); }

  /// The slot of the key, or the free one where it belongs. `same(number)` compares texts beyond the key.
  template <class Same>
  [[nodiscard]] Slot& find(const Key& key, std::uint64_t hash, const Same& same) noexcept {
    for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      if (slot.number == kAbsent) return slot;
      if (slot.low == key.low && slot.high == key.high && slot.length == key.length &&
          (key.is_whole() || same(slot.number))) {
        return slot;
      }
    }
  }

  /// Fills a free slot that find gave. Other slots may move.
  void fill(Slot& slot, const Key& key, std::uint32_t number) {
    slot = {key.low, key.high, key.length, number};
    if (++used_ * 8 > (mask_ + 1) * 5) resize((mask_ + 1) * 2);
  }

 private:
  void resize(std::size_t capacity) {
    PlainArray<Slot> grown(capacity);
    std::memset(static_cast<void*>(grown.data()), 0, capacity * sizeof(Slot));
    mask_ = capacity - 1;
    for (const Slot& slot : slots_) {
      if (slot.number == kAbsent) continue;
      std::size_t at = Key{slot.low, slot.high, slot.length}.hash() & mask_;
      while (grown[at].number != kAbsent) at = (at + 1) & mask_;
      grown[at] = slot;
    }
    slots_ = std::move(grown);
  }

  PlainArray<Slot> slots_;
  std::size_t mask_ = 0, used_ = 0;
};

}  // namespace wisecrowd::python
