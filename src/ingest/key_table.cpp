#include "ingest/key_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr std::size_t kRowsPerBlock = std::size_t{1} << 16;
// Names are looked up in batches: while one is compared, the records of the next and the slots of the one after are
// fetched, because in a large table each is a cache miss.
constexpr std::size_t kBatch = 16;

constexpr std::uint64_t pack(std::uint32_t id, std::uint32_t size) noexcept { return (std::uint64_t{size} << 32) | id; }
constexpr std::uint32_t id_of(std::uint64_t head) noexcept { return static_cast<std::uint32_t>(head); }
constexpr std::uint32_t size_of(std::uint64_t head) noexcept { return static_cast<std::uint32_t>(head >> 32); }
constexpr std::size_t words_of(std::uint32_t size) noexcept { return 1 + (std::size_t{size} + 7) / 8; }

/// Sizes are equal already.
bool same_name(const std::uint64_t* record, const KeyEntry& entry) noexcept {
  if (!entry.is_inline()) return std::memcmp(record + 1, entry.data(), entry.size()) == 0;
  return record[1] == entry.words()[0] && (entry.size() <= 8 || record[2] == entry.words()[1]);
}

}  // namespace

void KeyTable::grow(Shard& shard) {
  const std::size_t count = std::max(kFirstSlots, shard.slots.size() * 2);
  HugeVector<Slot> larger(count);
  std::fill(larger.begin(), larger.end(), Slot{0, 0});
  const std::size_t mask = count - 1;
  for (const Slot& slot : shard.slots) {
    if (slot.record == 0) continue;
    std::size_t at = slot.tag & mask;
    while (larger[at].record != 0) at = (at + 1) & mask;
    larger[at] = slot;
  }
  shard.slots = std::move(larger);
}

std::uint32_t KeyTable::add(Shard& shard, const KeyEntry& entry, std::uint32_t id) {
  const std::size_t place = shard.records.size();
  if (place + words_of(entry.size()) >= 0xFFFFFFFFU) {
    throw Error(ErrorCode::unsupported, "the names of tasks or workers are too long in all: shorten them");
  }
  shard.records.resize(place + words_of(entry.size()));
  shard.records[place] = pack(id, entry.size());
  if (entry.size() > 0) {
    shard.records.back() = 0;
    std::memcpy(shard.records.data() + place + 1, entry.data(), entry.size());
  }
  ++shard.names;
  return static_cast<std::uint32_t>(place + 1);
}

void KeyTable::resolve(Shard& shard, const KeyEntry& entry, std::uint32_t first_row, std::uint32_t* out) {
  const std::size_t mask = shard.slots.size() - 1;
  for (std::size_t at = entry.tag() & mask;; at = (at + 1) & mask) {
    Slot& slot = shard.slots[at];
    if (slot.record == 0) {
      const std::uint32_t id = kProvisional | (first_row + entry.row());
      slot = {entry.tag(), add(shard, entry, id)};
      out[entry.row()] = id;
      return;
    }
    if (slot.tag != entry.tag()) continue;
    const std::uint64_t* const record = &shard.records[slot.record - 1];
    if (size_of(*record) == entry.size() && same_name(record, entry)) {
      out[entry.row()] = id_of(*record);
      return;
    }
  }
}

void KeyTable::intern_shard(std::size_t shard_index, std::span<const Chunk> chunks, std::span<std::uint32_t> ids) {
  Shard& shard = shards_[shard_index];
  for (const Chunk& chunk : chunks) {
    const auto entries = (*chunk.keys)[shard_index];
    std::uint32_t* const out = ids.data() + chunk.first_row;
    const auto batch = [&](std::size_t b) {
      const std::size_t begin = std::min(b * kBatch, entries.size());
      return entries.subspan(begin, std::min(kBatch, entries.size() - begin));
    };
    const auto fetch_slots = [&](std::size_t b) {
      const std::size_t mask = shard.slots.size() - 1;
      for (const auto& entry : batch(b)) {
        __builtin_prefetch(&shard.slots[entry.tag() & mask]);
      }
    };
    const auto fetch_records = [&](std::size_t b) {
      const std::size_t mask = shard.slots.size() - 1;
      for (const auto& entry : batch(b)) {
        const Slot& slot = shard.slots[entry.tag() & mask];
        if (slot.record != 0) __builtin_prefetch(&shard.records[slot.record - 1]);
      }
    };
    if (entries.empty()) continue;
    if (shard.slots.empty()) grow(shard);
    fetch_slots(0);
    fetch_slots(1);
    fetch_records(0);
    const std::size_t batches = (entries.size() + kBatch - 1) / kBatch;
    for (std::size_t b = 0; b < batches; ++b) {
      while ((shard.names + kBatch) * 5 > shard.slots.size() * 3) grow(shard);
      fetch_slots(b + 2);
      fetch_records(b + 1);
      for (const auto& entry : batch(b)) resolve(shard, entry, chunk.first_row, out);
    }
  }
}

void KeyTable::number_new(std::span<std::uint32_t> ids, ThreadPool& pool) {
  const std::uint64_t names = std::accumulate(shards_.begin(), shards_.end(), std::uint64_t{0},
                                              [](std::uint64_t sum, const Shard& s) { return sum + s.names; });
  if (names == size_) return;
  if (names >= kMaxNames) {
    throw Error(ErrorCode::unsupported,
                fmt::format("more than {} different tasks or workers: split the data", kMaxNames));
  }
  if (final_of_row_.size() < ids.size()) final_of_row_.resize(ids.size());
  // The row that is its own provisional id is the one where a name appears first.
  const Blocks blocks{ids.size(), kRowsPerBlock};
  std::vector<std::uint64_t> first_id(blocks.count() + 1, 0);
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    std::uint64_t found = 0;
    for (std::size_t row = blocks.begin(b); row < blocks.end(b); ++row) {
      found += ids[row] == (kProvisional | static_cast<std::uint32_t>(row)) ? 1 : 0;
    }
    first_id[b + 1] = found;
  });
  first_id[0] = size_;
  std::partial_sum(first_id.begin(), first_id.end(), first_id.begin());
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    auto next = static_cast<std::uint32_t>(first_id[b]);
    for (std::size_t row = blocks.begin(b); row < blocks.end(b); ++row) {
      if (ids[row] == (kProvisional | static_cast<std::uint32_t>(row))) final_of_row_[row] = next++;
    }
  });
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t row = blocks.begin(b); row < blocks.end(b); ++row) {
      if ((ids[row] & kProvisional) != 0) ids[row] = final_of_row_[ids[row] & ~kProvisional];
    }
  });
  pool.for_each_block(kShards, [&](std::size_t s, unsigned) {
    Shard& shard = shards_[s];
    while (shard.numbered < shard.records.size()) {
      std::uint64_t& head = shard.records[shard.numbered];
      head = pack(final_of_row_[id_of(head) & ~kProvisional], size_of(head));
      shard.numbered += words_of(size_of(head));
    }
  });
  size_ = names;
}

std::uint32_t KeyTable::find(std::string_view name) const noexcept {
  const std::uint64_t h = hash(name);
  const KeyEntry entry(name, h, 0);
  const Shard& shard = shards_[h >> (64 - kShardBits)];
  if (shard.slots.empty()) return kAbsent;
  const std::size_t mask = shard.slots.size() - 1;
  for (std::size_t at = entry.tag() & mask;; at = (at + 1) & mask) {
    const Slot& slot = shard.slots[at];
    if (slot.record == 0) return kAbsent;
    const std::uint64_t* const record = &shard.records[slot.record - 1];
    if (slot.tag == entry.tag() && size_of(*record) == entry.size() && same_name(record, entry)) return id_of(*record);
  }
}

NameTable KeyTable::release(ThreadPool& pool) {
  std::vector<std::uint64_t> offsets(size_ + 1, 0);
  const auto for_each_record = [&](std::size_t s, const auto& visit) {
    const auto& records = shards_[s].records;
    for (std::size_t at = 0; at < records.size(); at += words_of(size_of(records[at]))) {
      visit(id_of(records[at]), reinterpret_cast<const char*>(&records[at] + 1), size_of(records[at]));
    }
  };
  pool.for_each_block(kShards, [&](std::size_t s, unsigned) {
    shards_[s].slots = {};
    for_each_record(s, [&](std::uint32_t id, const char*, std::uint32_t size) { offsets[id + 1] = size; });
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::string characters(offsets.back(), '\0');
  pool.for_each_block(kShards, [&](std::size_t s, unsigned) {
    for_each_record(s, [&](std::uint32_t id, const char* name, std::uint32_t size) {
      if (size > 0) std::memcpy(characters.data() + offsets[id], name, size);
    });
    shards_[s] = Shard{};
  });
  size_ = 0;
  return {std::move(characters), std::move(offsets)};
}

}  // namespace wisecrowd::ingest
