#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/huge_vector.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/annotations.hpp"

namespace wisecrowd::ingest {

inline constexpr unsigned kShardBits = 6;
inline constexpr std::size_t kShards = std::size_t{1} << kShardBits;

/// One occurrence of a name. `row` counts from the start of its chunk.
struct KeyEntry {
  const char* data;
  std::uint32_t size;
  std::uint32_t row;
  std::uint64_t hash;
};

/// The names of one column of one chunk in row order, dealt out by hash.
using ShardedKeys = std::array<std::vector<KeyEntry>, kShards>;

inline void deal(ShardedKeys& keys, std::string_view name, std::uint64_t hash, std::uint32_t row) {
  keys[hash >> (64 - kShardBits)].push_back({name.data(), static_cast<std::uint32_t>(name.size()), row, hash});
}

/// Gives dense ids to names in order of first appearance in the file, whatever the number of threads.
///
/// Names are dealt out to shards by hash. A shard is worked on by one thread at a time and visits the chunks in file
/// order, so it needs no lock and meets each name first where the file has it first. Names new to a window get the row
/// of that meeting as a provisional id; once all shards are done, those rows are numbered in order.
class KeyTable {
 public:
  /// Largest number of names: one bit of an id marks it as provisional.
  static constexpr std::uint64_t kMaxNames = std::uint64_t{1} << 31;

  explicit KeyTable(std::uint64_t hash_seed) : seed_(hash_seed) {}

  [[nodiscard]] std::uint64_t hash(std::string_view name) const noexcept { return hash_bytes(name, seed_); }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// One chunk's names; `first_row` is the chunk's place in the window.
  struct Chunk {
    const ShardedKeys* keys;
    std::uint32_t first_row;
  };
  /// Looks up one shard's names of a window, adding those that are new, and writes an id for each row.
  void intern_shard(std::size_t shard, std::span<const Chunk> chunks, std::span<std::uint32_t> ids);
  /// After all shards: replaces the provisional ids. Call once per window. Throws when there are too many names.
  void number_new(std::span<std::uint32_t> ids, ThreadPool& pool);

  /// The id of a name, or kAbsent.
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  [[nodiscard]] std::uint32_t find(std::string_view name) const noexcept;

  /// The names in order of their ids; the table is left empty.
  [[nodiscard]] NameTable release(ThreadPool& pool);

 private:
  static constexpr std::uint32_t kProvisional = 0x80000000U;

  struct Slot {
    std::uint32_t tag;
    std::uint32_t record;  // place in `records` plus one, in words; 0: empty
  };
  /// Records lie one after the other: a word with id and size, then the name, filled up to whole words.
  struct Shard {
    HugeVector<Slot> slots;
    HugeVector<std::uint64_t> records;
    std::uint32_t names = 0;
    std::size_t numbered = 0;  // records before this have their final id
  };

  static void grow(Shard& shard);
  static std::uint32_t add(Shard& shard, const KeyEntry& entry, std::uint32_t id);

  std::uint64_t seed_;
  std::uint64_t size_ = 0;
  std::array<Shard, kShards> shards_;
  HugeVector<std::uint32_t> final_of_row_;
};

}  // namespace wisecrowd::ingest
