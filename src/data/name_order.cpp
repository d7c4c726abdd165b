#include "data/name_order.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/huge_vector.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kNamesPerBlock = std::size_t{1} << 14;
/// Names are dealt to so many buckets at most by the first bits in which they differ; a bucket is sorted by one thread.
constexpr unsigned kMostBucketBits = 14;

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// A run of digits without its leading zeros.
struct Run {
  std::string_view digits;
  std::size_t end;
};

Run run_at(std::string_view name, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < name.size() && is_digit(name[end])) ++end;
  while (at < end && name[at] == '0') ++at;
  return {name.substr(at, end - at), end};
}

/// The first eight bytes of a text whose order by bytes is that of names. A run of digits is its length and its digits:
/// the length in bytes from '0' to '9', the last of which says that more of it follows.
class Prefix {
 public:
  explicit Prefix(std::string_view name) noexcept {
    for (std::size_t at = 0; at < name.size() && room_ > 0;) {
      if (!is_digit(name[at])) {
        add(name[at++]);
        continue;
      }
      const Run run = run_at(name, at);
      std::size_t length = run.digits.size();
      for (; length >= 9; length -= 9) add('9');
      add(static_cast<char>('0' + length));
      for (const char digit : run.digits) add(digit);
      at = run.end;
    }
  }
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }

 private:
  void add(char c) noexcept {
    if (room_ == 0) return;
    room_ -= 8;
    bits_ |= std::uint64_t{static_cast<unsigned char>(c)} << room_;
  }
  std::uint64_t bits_ = 0;
  unsigned room_ = 64;
};

/// Bytes that all names begin with. It never ends inside of a number.
std::size_t common_prefix(const NameTable& names, ThreadPool& pool) {
  const std::string_view first = names[0];
  const Blocks blocks{names.size(), kNamesPerBlock};
  std::vector<std::size_t> shortest(blocks.count());
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    std::size_t length = first.size();
    for (std::size_t i = blocks.begin(b); i < blocks.end(b) && length > 0; ++i) {
      const std::string_view name = names[i];
      length = std::min(length, name.size());
      if (std::memcmp(name.data(), first.data(), length) == 0) continue;
      length = static_cast<std::size_t>(std::mismatch(name.begin(), name.begin() + length, first.begin()).first -
                                        name.begin());
    }
    shortest[b] = length;
  });
  std::size_t length = *std::min_element(shortest.begin(), shortest.end());
  while (length > 0 && is_digit(first[length - 1])) --length;
  return length;
}

bool in_order(const NameTable& names, ThreadPool& pool) {
  const Blocks blocks{names.size(), kNamesPerBlock};
  std::atomic<bool> sorted = true;
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = std::max<std::size_t>(blocks.begin(b), 1); i < blocks.end(b); ++i) {
      if (!comes_before(names[i], names[i - 1])) continue;
      sorted.store(false, std::memory_order_relaxed);
      return;
    }
  });
  return sorted;
}

struct Key {
  std::uint64_t prefix;
  std::uint32_t id;
};

/// The bits of a number that a mask selects, moved together.
class BitGatherer {
 public:
  BitGatherer(std::uint64_t varying, unsigned most) noexcept {
    for (; varying != 0 && width_ < most; ++width_) {
      const int top = 63 - std::countl_zero(varying);
      places_[width_] = static_cast<unsigned>(top);
      varying &= ~(std::uint64_t{1} << top);
    }
  }
  [[nodiscard]] std::size_t buckets() const noexcept { return std::size_t{1} << width_; }
  [[nodiscard]] std::size_t operator()(std::uint64_t key) const noexcept {
    std::size_t gathered = 0;
    for (unsigned i = 0; i < width_; ++i) gathered = (gathered << 1) | ((key >> places_[i]) & 1);
    return gathered;
  }

 private:
  unsigned places_[64] = {};
  unsigned width_ = 0;
};

/// Deals the keys to buckets that are in order. Returns where each bucket begins.
std::vector<std::size_t> deal(const HugeVector<Key>& keys, std::uint64_t varying, HugeVector<Key>& dealt,
                              ThreadPool& pool) {
  const auto wanted = static_cast<unsigned>(std::bit_width(keys.size() / 64));
  const BitGatherer bucket_of(varying, std::min(wanted, kMostBucketBits));
  const Blocks blocks{keys.size(), std::max(kNamesPerBlock, keys.size() / 64 + 1)};
  std::vector<std::vector<std::size_t>> cursor(blocks.count());
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    cursor[b].assign(bucket_of.buckets(), 0);
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) ++cursor[b][bucket_of(keys[i].prefix)];
  });
  std::vector<std::size_t> begin(bucket_of.buckets() + 1, keys.size());
  std::size_t running = 0;
  for (std::size_t bucket = 0; bucket < bucket_of.buckets(); ++bucket) {
    begin[bucket] = running;
    for (auto& counts : cursor) running += std::exchange(counts[bucket], running);
  }
  dealt.resize(keys.size());
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i)
      dealt[cursor[b][bucket_of(keys[i].prefix)]++] = keys[i];
  });
  return begin;
}

}  // namespace

bool comes_before(std::string_view a, std::string_view b) noexcept {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const Run left = run_at(a, i), right = run_at(b, j);
      if (left.digits.size() != right.digits.size()) return left.digits.size() < right.digits.size();
      if (const int order = left.digits.compare(right.digits); order != 0) return order < 0;
      i = left.end;
      j = right.end;
      continue;
    }
    if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
    ++i;
    ++j;
  }
  if (i < a.size() || j < b.size()) return i == a.size();
  return a < b;
}

std::vector<std::uint32_t> ranks_in_order(const NameTable& names, ThreadPool& pool) {
  if (names.size() < 2 || in_order(names, pool)) return {};
  const std::size_t shared = common_prefix(names, pool);
  HugeVector<Key> keys(names.size()), dealt;
  const Blocks blocks{names.size(), kNamesPerBlock};
  std::atomic<std::uint64_t> varying = 0;
  const std::uint64_t first = Prefix(names[0].substr(shared)).bits();
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    std::uint64_t differing = 0;
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      keys[i] = {Prefix(names[i].substr(shared)).bits(), static_cast<std::uint32_t>(i)};
      differing |= keys[i].prefix ^ first;
    }
    varying.fetch_or(differing, std::memory_order_relaxed);
  });
  const auto begin = deal(keys, varying, dealt, pool);
  HugeVector<Key>().swap(keys);

  std::vector<std::uint32_t> ranks(names.size());
  constexpr std::size_t kBucketsPerBlock = 16;
  const Blocks buckets{begin.size() - 1, kBucketsPerBlock};
  pool.for_each_block(buckets.count(), [&](std::size_t b, unsigned) {
    for (std::size_t bucket = buckets.begin(b); bucket < buckets.end(b); ++bucket) {
      const std::span own(dealt.data() + begin[bucket], begin[bucket + 1] - begin[bucket]);
      std::sort(own.begin(), own.end(), [&](const Key& left, const Key& right) {
        if (left.prefix != right.prefix) return left.prefix < right.prefix;
        const std::string_view l = names[left.id], r = names[right.id];
        return l == r ? left.id < right.id : comes_before(l, r);
      });
      for (std::size_t i = 0; i < own.size(); ++i) {
        ranks[own[i].id] = static_cast<std::uint32_t>(begin[bucket] + i);
      }
    }
  });
  return ranks;
}

NameTable reordered(NameTable names, std::span<const std::uint32_t> ranks, ThreadPool& pool) {
  if (ranks.empty()) return names;
  std::vector<std::uint64_t> offsets(names.size() + 1, 0);
  const Blocks blocks{names.size(), kNamesPerBlock};
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) offsets[ranks[i] + 1] = names[i].size();
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::string characters(offsets.back(), '\0');
  pool.for_each_block(blocks.count(), [&](std::size_t b, unsigned) {
    for (std::size_t i = blocks.begin(b); i < blocks.end(b); ++i) {
      std::memcpy(characters.data() + offsets[ranks[i]], names[i].data(), names[i].size());
    }
  });
  return {std::move(characters), std::move(offsets)};
}

}  // namespace wisecrowd
