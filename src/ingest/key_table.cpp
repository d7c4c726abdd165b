#include "ingest/key_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kFirstSlots = 64;  // per shard
constexpr std::size_t kRowsPerBlock = std::size_t{1} << 17;
// Names are looked up in batches: while one is compared, the slots of the next are fetched, because in a large table
// each is a cache miss.
constexpr std::size_t kBatch = 32;
constexpr std::size_t kNoEnd = ~std::size_t{0};

/// The slots to try for a tag. Two share a cache line, and two lines are often fetched together: so the first pair
/// comes first, then the other pair of its four, then the fours that follow.
class Probe {
 public:
  static constexpr std::size_t kStepsPerLine = 2;

  Probe(std::uint32_t tag, std::size_t mask, std::size_t step = 0) noexcept
      : mask_(mask), first_(tag & mask & ~std::size_t{1}), step_(step) {}
  [[nodiscard]] std::size_t at() const noexcept { return ((first_ + (step_ & ~std::size_t{3})) & mask_) ^ (step_ & 3); }
  [[nodiscard]] std::size_t step() const noexcept { return step_; }
  void next() noexcept { ++step_; }

 private:
  std::size_t mask_, first_, step_;
};

/// The empty statement keeps the compiler from dropping a loop that does nothing but fetch.
void fetch_line(const void* place) noexcept {
  __builtin_prefetch(place);
  asm volatile("" : : "r"(place));
}

}  // namespace

bool KeyTable::needs_room() const noexcept {
  return std::any_of(shards_.begin(), shards_.end(), [](const Shard& shard) { return shard.full; });
}

void KeyTable::grow(ThreadPool& pool) {
  const std::size_t before = slots_per_shard_;
  const std::size_t count = std::max(kFirstSlots, before * 2);
  const std::size_t mask = count - 1;
  HugeVector<Slot> larger(count * kShards);
  pool.for_each_block(kShards, [&](std::size_t s, unsigned) {
    Shard& shard = shards_[s];
    Slot* const slots = larger.data() + s * count;
    std::fill_n(slots, count, Slot{});
    shard.unnumbered.clear();
    for (const Slot& slot : all_slots_of(s)) {
      if (slot.used == 0) continue;
      Probe probe(slot.tag, mask);
      while (slots[probe.at()].used != 0) probe.next();
      slots[probe.at()] = slot;
      if ((slot.id & kProvisional) != 0) shard.unnumbered.push_back(static_cast<std::uint32_t>(probe.at()));
    }
    shard.full = false;
  });
  slots_ = std::move(larger);
  slots_per_shard_ = count;
}

std::string_view KeyTable::name_of(const Slot& slot) noexcept {
  const char* const data = slot.size <= KeyEntry::kInline
                               ? reinterpret_cast<const char*>(slot.words)
                               : reinterpret_cast<const char*>(static_cast<std::uintptr_t>(slot.words[0]));
  return {data, slot.size};
}

/// Does the slot hold the name of the entry? The bytes decide.
inline bool KeyTable::holds(const Slot& slot, const KeyEntry& entry) noexcept {
  if (slot.tag != entry.tag() || slot.size != entry.size()) return false;
  if (!entry.is_inline()) return std::memcmp(name_of(slot).data(), entry.data(), entry.size()) == 0;
  return ((slot.words[0] ^ entry.words()[0]) | (slot.words[1] ^ entry.words()[1])) == 0;
}

bool KeyTable::resolve(Shard& shard, Slot* slots, std::size_t mask, std::size_t first_step, std::size_t end_step,
                       const KeyEntry& entry, std::uint32_t first_row, std::uint32_t* out) {
  for (Probe probe(entry.tag(), mask, first_step); probe.step() < end_step; probe.next()) {
    Slot& slot = slots[probe.at()];
    if (slot.used != 0) {
      if (!holds(slot, entry)) continue;
      out[entry.row()] = slot.id;
      return true;
    }
    slot.tag = entry.tag();
    slot.id = kProvisional | (first_row + entry.row());
    slot.size = entry.size();
    slot.used = 1;
    slot.words[0] = entry.words()[0];
    slot.words[1] = entry.words()[1];
    if (!entry.is_inline()) {
      slot.words[0] = reinterpret_cast<std::uintptr_t>(shard.text.copy({entry.data(), entry.size()}).data());
    }
    shard.unnumbered.push_back(static_cast<std::uint32_t>(probe.at()));
    ++shard.names;
    out[entry.row()] = slot.id;
    return true;
  }
  return false;
}

void KeyTable::settle_shard(std::size_t shard_index) {
  Shard& shard = shards_[shard_index];
  if (!shard.numbered) return;
  for (const std::uint32_t at : shard.unnumbered) {
    Slot& slot = slots_of(shard_index)[at];
    slot.id = final_of_row_[slot.id & ~kProvisional];
  }
  shard.unnumbered.clear();
  shard.numbered = false;
}

void KeyTable::settle(ThreadPool& pool) {
  pool.for_each_block(kShards, [&](std::size_t s, unsigned) { settle_shard(s); });
}

void KeyTable::intern_shard(std::size_t shard_index, std::span<const Chunk> chunks, std::span<std::uint32_t> ids) {
  settle_shard(shard_index);
  Shard& shard = shards_[shard_index];
  Slot* const slots = slots_of(shard_index);
  const std::size_t mask = slots_per_shard_ - 1;
  const std::size_t most_names = slots_per_shard_ / 8 * 5;
  for (; shard.next_chunk < chunks.size(); ++shard.next_chunk, shard.next_entry = 0) {
    const auto entries = (*chunks[shard.next_chunk].keys)[shard_index];
    const std::uint32_t first_row = chunks[shard.next_chunk].first_row;
    const auto batch = [&](std::size_t begin) {
      begin = std::min(begin, entries.size());
      return entries.subspan(begin, std::min(kBatch, entries.size() - begin));
    };
    const auto fetch = [&](std::size_t begin) {
      for (const auto& entry : batch(begin)) fetch_line(slots + Probe(entry.tag(), mask).at());
    };
    if (slots_per_shard_ > 0) fetch(shard.next_entry);
    for (; shard.next_entry < entries.size(); shard.next_entry += kBatch) {
      if (shard.names + kBatch > most_names) {
        shard.full = true;
        return;
      }
      fetch(shard.next_entry + kBatch);
      // Where the first line is full of others the rest waits until its next line is there. No name is overtaken by
      // itself: once its first line is full, each of its entries waits, in order.
      std::array<const KeyEntry*, kBatch> waiting;
      std::size_t wait = 0;
      std::uint32_t* const out = ids.data() + first_row;
      constexpr std::size_t kLine = Probe::kStepsPerLine;
      for (const auto& entry : batch(shard.next_entry)) {
        if (resolve(shard, slots, mask, 0, kLine, entry, first_row, out)) continue;
        fetch_line(slots + Probe(entry.tag(), mask, kLine).at());
        waiting[wait++] = &entry;
      }
      for (std::size_t i = 0; i < wait; ++i) resolve(shard, slots, mask, kLine, kNoEnd, *waiting[i], first_row, out);
    }
  }
}

void KeyTable::number_new(std::span<std::uint32_t> ids, ThreadPool& pool) {
  const std::uint64_t names = std::accumulate(shards_.begin(), shards_.end(), std::uint64_t{0},
                                              [](std::uint64_t sum, const Shard& s) { return sum + s.names; });
  for (Shard& shard : shards_) shard.next_chunk = shard.next_entry = 0;
  if (names == size_) return;
  if (names >= kMaxNames) {
    throw Error(ErrorCode::unsupported,
                fmt::format("more than {} different tasks or workers: split the data", kMaxNames));
  }
  if (final_of_row_.size() < ids.size()) final_of_row_.resize(ids.size());
  for (Shard& shard : shards_) shard.numbered = true;
  // The row that is its own provisional id is the one where a name appears first.
  const Blocks blocks{ids.size(), kRowsPerBlock};
  std::vector<std::uint64_t> first_id(blocks.count() + 1, 0);
  first_id[0] = size_;
  size_ = names;
  if (blocks.count() > 1) {
    pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
      std::uint64_t found = 0;
      for (std::size_t row = blocks.begin(b); row < blocks.end(b); ++row) {
        found += ids[row] == (kProvisional | static_cast<std::uint32_t>(row)) ? 1 : 0;
      }
      first_id[b + 1] = found;
    });
    std::partial_sum(first_id.begin(), first_id.end(), first_id.begin());
  }
  // Names that appear first in the same block get their ids at once, without branches, for new and known ones are
  // mixed.
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    auto next = static_cast<std::uint32_t>(first_id[b]);
    const std::uint32_t first_here = kProvisional | static_cast<std::uint32_t>(blocks.begin(b));
    for (std::size_t row = blocks.begin(b); row < blocks.end(b); ++row) {
      const std::uint32_t id = ids[row];
      final_of_row_[row] = next;
      next += id == (kProvisional | static_cast<std::uint32_t>(row)) ? 1 : 0;
      const bool here = id >= first_here;
      const std::uint32_t number = final_of_row_[here ? id & ~kProvisional : row];
      ids[row] = here ? number : id;
    }
  });
  if (blocks.count() == 1) return;
  const Blocks pieces{ids.size(), kRowsPerBlock / 16};
  pool.for_each_block(pieces.count(), [&](std::size_t b, unsigned) {
    for (std::size_t row = pieces.begin(b); row < pieces.end(b); ++row) {
      if ((ids[row] & kProvisional) != 0) ids[row] = final_of_row_[ids[row] & ~kProvisional];
    }
  });
}

std::uint32_t KeyTable::find(std::string_view name) const noexcept {
  const std::uint64_t h = hash(name);
  const KeyEntry entry(name, h, 0);
  if (slots_per_shard_ == 0) return kAbsent;
  const auto slots = all_slots_of(h >> (64 - kShardBits));
  const std::size_t mask = slots_per_shard_ - 1;
  for (Probe probe(entry.tag(), mask);; probe.next()) {
    const Slot& slot = slots[probe.at()];
    if (slot.used == 0) return kAbsent;
    if (holds(slot, entry)) return slot.id;
  }
}

NameTable KeyTable::release(ThreadPool& pool) {
  settle(pool);
  std::vector<std::uint64_t> offsets(size_ + 1, 0);
  pool.for_each_block(kShards, [&](std::size_t s, unsigned) {
    for (const Slot& slot : all_slots_of(s)) {
      if (slot.used != 0) offsets[slot.id + 1] = slot.size;
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::string characters(offsets.back(), '\0');
  pool.for_each_block(kShards, [&](std::size_t s, unsigned) {
    for (const Slot& slot : all_slots_of(s)) {
      if (slot.used != 0) std::memcpy(characters.data() + offsets[slot.id], name_of(slot).data(), slot.size);
    }
    shards_[s] = Shard{};
  });
  HugeVector<Slot>().swap(slots_);  // the sort that follows takes this memory over
  slots_per_shard_ = 0;
  size_ = 0;
  return {std::move(characters), std::move(offsets)};
}

}  // namespace wisecrowd::ingest
