#pragma once

#include <cstdint>
#include <vector>

#include "ingest/key_table.hpp"

namespace wisecrowd::ingest {

/// Ids of names that one thread met lately. Workers come again and again: most of them are then known on the spot and
/// need not be dealt to a shard. What is remembered decides only how fast a name is found, never its id.
/// Aligned, so that the counters of two threads never share a cache line or its neighbour.
class alignas(128) RecentNames {
 public:
  static constexpr std::uint32_t kAbsent = KeyTable::kAbsent;

  /// The final id of the name, or kAbsent.
  [[nodiscard]] std::uint32_t find(const KeyEntry& entry) noexcept {
    if (!useful_) return kAbsent;
    ++asked_;
    // Both places are looked at without a branch: which of them has the name cannot be predicted.
    const std::size_t at = entry.tag() & (kSlots - 1);
    const Slot& first = slots_[at];
    const Slot& second = slots_[at ^ 1];
    const std::uint32_t other = differs(second, entry) ? kAbsent : second.id;
    const std::uint32_t id = differs(first, entry) ? other : first.id;
    found_ += id != kAbsent ? 1 : 0;
    return id;
  }
  void remember(const KeyEntry& entry, std::uint32_t id) noexcept {
    if (!useful_ || !entry.is_inline()) return;
    const std::size_t at = entry.tag() & (kSlots - 1);
    const std::size_t place = slots_[at].id != kAbsent && slots_[at ^ 1].id == kAbsent ? at ^ 1 : at;
    slots_[place] = {{entry.words()[0], entry.words()[1]}, check_of(entry), id};
  }
  /// Gives up when there are so many names that most are not met again soon.
  void review() noexcept {
    constexpr std::uint64_t kTrial = 100'000;
    if (useful_ && asked_ > kTrial) {
      useful_ = found_ * 3 > asked_;
      asked_ = found_ = 0;
    }
    if (!useful_) std::vector<Slot>().swap(slots_);
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 14;
  struct Slot {
    std::uint64_t words[2] = {0, 0};
    std::uint32_t check = 0;
    std::uint32_t id = kAbsent;
  };
  /// The size, so that a name is not taken for the same one with zeros after it, and bits of the hash. For a name that
  /// is not inline it matches no slot's, because only inline names are remembered.
  [[nodiscard]] static std::uint32_t check_of(const KeyEntry& entry) noexcept {
    return (entry.tag() & ~std::uint32_t{31}) | entry.size_code();
  }
  [[nodiscard]] static bool differs(const Slot& slot, const KeyEntry& entry) noexcept {
    return ((slot.words[0] ^ entry.words()[0]) | (slot.words[1] ^ entry.words()[1]) | (slot.check ^ check_of(entry))) !=
           0;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
  std::uint64_t asked_ = 0, found_ = 0;
  bool useful_ = true;
};

}  // namespace wisecrowd::ingest
