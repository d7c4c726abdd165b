#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/huge_vector.hpp"
#include "base/parallel.hpp"
#include "ingest/arena.hpp"
#include "wisecrowd/category_answers.hpp"
#include "wisecrowd/names.hpp"

namespace wisecrowd::ingest {

inline constexpr unsigned kShardBits = 6;
inline constexpr std::size_t kShards = std::size_t{1} << kShardBits;

/// A name of up to 16 bytes as two words, filled up with zeros. Never reads outside the name: the last word overlaps
/// the first and is shifted into place.
struct PackedName {
  static constexpr std::size_t kMostBytes = 16;
  std::uint64_t words[2] = {0, 0};

  PackedName() = default;
  explicit PackedName(std::string_view name) noexcept {
    static_assert(std::endian::native == std::endian::little, "names are packed for little-endian machines");
    const char* const data = name.data();
    const std::size_t size = name.size();
    if (size > 8) [[likely]] {
      words[0] = load<std::uint64_t>(data);
      words[1] = load<std::uint64_t>(data + size - 8) >> (8 * (16 - size));
    } else if (size >= 4) {
      words[0] =
          load<std::uint32_t>(data) | ((std::uint64_t{load<std::uint32_t>(data + size - 4)} >> (8 * (8 - size))) << 32);
    } else {
      for (std::size_t i = 0; i < size; ++i) words[0] |= std::uint64_t{static_cast<unsigned char>(data[i])} << (8 * i);
    }
  }

 private:
  template <class Word>
  static Word load(const char* from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
};

/// One occurrence of a name in 24 bytes. Names of up to 16 bytes, as most ids are, travel inside: the lookup then never
/// goes back to the text, which by that time has left the cache. `row` counts from the start of its chunk.
class KeyEntry {
 public:
  static constexpr std::size_t kInline = PackedName::kMostBytes;

  KeyEntry() = default;
  KeyEntry(std::string_view name, std::uint64_t hash, std::uint32_t row) noexcept : tag_(tag_of(hash)) {
    if (name.size() <= kInline) [[likely]] {
      const PackedName packed(name);
      words_[0] = packed.words[0];
      words_[1] = packed.words[1];
      row_and_size_ = (row << kSizeBits) | static_cast<std::uint32_t>(name.size());
    } else {
      words_[0] = reinterpret_cast<std::uintptr_t>(name.data());
      words_[1] = name.size();
      row_and_size_ = (row << kSizeBits) | kLong;
    }
  }

  [[nodiscard]] bool is_inline() const noexcept { return (row_and_size_ & kLong) != kLong; }
  /// The size of an inline name, and a number that no such size has for others.
  [[nodiscard]] std::uint32_t size_code() const noexcept { return row_and_size_ & kLong; }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return is_inline() ? row_and_size_ & kLong : static_cast<std::uint32_t>(words_[1]);
  }
  /// The characters, filled up with zeros; only if is_inline().
  [[nodiscard]] const std::uint64_t* words() const noexcept { return words_; }
  [[nodiscard]] const char* data() const noexcept {
    return is_inline() ? reinterpret_cast<const char*>(words_)
                       : reinterpret_cast<const char*>(static_cast<std::uintptr_t>(words_[0]));
  }
  /// What the shard tells names apart by before it compares them; the upper bits of the hash chose the shard.
  [[nodiscard]] std::uint32_t tag() const noexcept { return tag_; }
  [[nodiscard]] std::uint32_t row() const noexcept { return row_and_size_ >> kSizeBits; }

  [[nodiscard]] static constexpr std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> (32 - kShardBits));
  }

 private:
  // The other 27 bits are the row: a chunk ends with its first row beyond the limit of a row's size, and two bytes at
  // least make an entry.
  static constexpr unsigned kSizeBits = 5;
  static constexpr std::uint32_t kLong = (1U << kSizeBits) - 1;

  std::uint64_t words_[2];
  std::uint32_t tag_;
  std::uint32_t row_and_size_;
};

/// The names of one column of one chunk in row order, dealt out by hash.
class ShardedKeys {
 public:
  ShardedKeys() = default;
  ShardedKeys(const ShardedKeys&) = delete;
  ShardedKeys& operator=(const ShardedKeys&) = delete;

  void clear() noexcept {
    for (auto& list : lists_) list.next = list.entries.data();
  }
  /// Inlined, so that the entry is made where it stays: one that is copied right after it was written, by other widths,
  /// has to wait until the writes have left the processor.
  [[gnu::always_inline]] void add(std::string_view name, std::uint64_t hash, std::uint32_t row) {
    ::new (static_cast<void*>(place_for(hash))) KeyEntry(name, hash, row);
  }
  [[nodiscard]] std::span<const KeyEntry> operator[](std::size_t shard) const noexcept {
    return {lists_[shard].entries.data(), lists_[shard].next};
  }

 private:
  struct List {
    HugeVector<KeyEntry> entries;  // room for them; `next` is the end of those in use
    KeyEntry* next = nullptr;
    KeyEntry* end = nullptr;

    [[gnu::noinline]] void grow() {
      const auto used = static_cast<std::size_t>(next - entries.data());
      entries.resize(std::max<std::size_t>(64, 2 * used));
      next = entries.data() + used;
      end = entries.data() + entries.size();
    }
  };
  [[nodiscard, gnu::always_inline]] KeyEntry* place_for(std::uint64_t hash) {
    List& list = lists_[hash >> (64 - kShardBits)];
    if (list.next == list.end) [[unlikely]]
      list.grow();
    return list.next++;
  }
  std::array<List, kShards> lists_;
};

/// Gives dense ids to names in order of first appearance in the file, whatever the number of threads.
///
/// Names are dealt out to shards by hash. A shard is worked on by one thread at a time and visits the chunks in file
/// order, so it needs no lock and meets each name first where the file has it first. Names new to a window get the row
/// of that meeting as a provisional id; once all shards are done, those rows are numbered in order.
class KeyTable {
 public:
  /// Largest number of names: one bit of an id marks it as provisional.
  static constexpr std::uint64_t kMaxNames = std::uint64_t{1} << 31;
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  explicit KeyTable(std::uint64_t hash_seed) : seed_(hash_seed), second_seed_(hash_bytes("second", hash_seed)) {}

  /// Seeded, so that nobody can craft names that collide. Short names are mixed from their two words: this and nothing
  /// else is done for every field, and the general hash takes four times as long.
  [[nodiscard, gnu::always_inline]] std::uint64_t hash(std::string_view name) const noexcept {
    if (name.size() > PackedName::kMostBytes) return hash_bytes(name, seed_);
    const PackedName packed(name);
    const std::uint64_t first = folded_product(packed.words[0] ^ seed_, packed.words[1] ^ second_seed_);
    return folded_product(first ^ name.size(), second_seed_ | 1);
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// One chunk's names; `first_row` is the chunk's place in the window.
  struct Chunk {
    const ShardedKeys* keys;
    std::uint32_t first_row;
  };
  // A window is taken in by these steps: intern_shard for each shard, in parallel; as long as needs_room(), grow() and
  // intern_shard for each again, which goes on where it stopped; number_new().

  /// Looks up one shard's names of a window, adding those that are new, and writes an id for each row.
  void intern_shard(std::size_t shard, std::span<const Chunk> chunks, std::span<std::uint32_t> ids);
  [[nodiscard]] bool needs_room() const noexcept;
  void grow(ThreadPool& pool);
  /// Replaces the provisional ids. Throws when there are too many names.
  void number_new(std::span<std::uint32_t> ids, ThreadPool& pool);

  /// To be called after the last window: number_new leaves the table's own copy of the new ids to the next visit of
  /// each shard.
  void settle(ThreadPool& pool);

  /// The id of a name, or kAbsent; of a settled table.
  [[nodiscard]] std::uint32_t find(std::string_view name) const noexcept;

  /// The names in order of their ids; the table is left empty.
  [[nodiscard]] NameTable release(ThreadPool& pool);

 private:
  static constexpr std::uint32_t kProvisional = 0x80000000U;

  /// Half a cache line, so that a lookup costs one miss: names of up to KeyEntry::kInline bytes are in the slot itself,
  /// longer ones in the shard's text, with their place in words[0].
  struct alignas(32) Slot {
    std::uint64_t words[2];
    std::uint32_t tag;
    std::uint32_t id;
    std::uint32_t size;
    std::uint32_t used;
  };
  struct alignas(64) Shard {
    std::uint32_t names = 0;
    bool full = false;
    bool numbered = false;                       // those unnumbered have numbers now, in final_of_row_
    std::size_t next_chunk = 0, next_entry = 0;  // where to go on
    std::vector<std::uint32_t> unnumbered;       // slots with a provisional id
    Arena text;
  };

  [[nodiscard]] static std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  [[nodiscard]] Slot* slots_of(std::size_t shard) noexcept { return slots_.data() + shard * slots_per_shard_; }
  [[nodiscard]] std::span<const Slot> all_slots_of(std::size_t shard) const noexcept {
    return {slots_.data() + shard * slots_per_shard_, slots_per_shard_};
  }
  static bool holds(const Slot& slot, const KeyEntry& entry) noexcept;
  /// Looks for the entry's name in the slots of the steps [first_step, end_step), puts it into the first free one, and
  /// writes its id. False: others hold them all.
  static bool resolve(Shard& shard, Slot* slots, std::size_t mask, std::size_t first_step, std::size_t end_step,
                      const KeyEntry& entry, std::uint32_t first_row, std::uint32_t* out);
  void settle_shard(std::size_t shard);
  [[nodiscard]] static std::string_view name_of(const Slot& slot) noexcept;

  std::uint64_t seed_;
  std::uint64_t second_seed_;
  std::uint64_t size_ = 0;
  std::size_t slots_per_shard_ = 0;
  // Of all shards in one block: only large blocks get large pages, and with small ones nearly every lookup would wait
  // for the translation of its address.
  HugeVector<Slot> slots_;
  std::array<Shard, kShards> shards_;
  HugeVector<std::uint32_t> final_of_row_;
};

}  // namespace wisecrowd::ingest
