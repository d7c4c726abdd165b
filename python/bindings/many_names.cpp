#include "many_names.hpp"

#include <algorithm>
#include <numeric>

#include "str_object.hpp"

namespace wisecrowd::python {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::size_t kSoon = 8;  // how far ahead what lies anywhere is fetched

/// The text that a whole key holds.
std::string_view decoded(std::uint64_t low, std::uint64_t high, std::uint32_t length, std::string& scratch) {
  scratch.resize(Key::kInline);
  char* const bytes = scratch.data();
  if (length >= 8) {
    std::memcpy(bytes, &low, 8);
    std::memcpy(bytes + length - 8, &high, 8);
  } else if (length >= 4) {
    const auto first = static_cast<std::uint32_t>(low), last = static_cast<std::uint32_t>(low >> 32);
    std::memcpy(bytes, &first, 4);
    std::memcpy(bytes + length - 4, &last, 4);
  } else {
    for (std::size_t i = 0; i < length; ++i) {
      bytes[i] = static_cast<char>(i == 0 ? low : i + 1 == length ? low >> 16 : low >> 8);
    }
  }
  return {bytes, length};
}

}  // namespace

bool ManyNames::fits(std::span<Object* const> values) {
  constexpr std::size_t kLeastRows = std::size_t{1} << 18;
  constexpr std::size_t kMostRows = std::size_t{1} << 30;  // numbers of names have 32 bits, with gaps
  constexpr std::size_t kSample = std::size_t{1} << 13;
  if (values.size() < kLeastRows || values.size() > kMostRows) return false;
  Coded coded;
  // Not from the top: the first rows of a file may be special. Neighbours tell whether rows are grouped.
  const auto sample = values.subspan(values.size() / 2, kSample);
  return !code_strings(sample, coded) && coded.names.size() * 4 > kSample * 3;
}

ManyNames::ManyNames(std::span<Object* const> values, const Team& team)
    : values_(values),
      team_(team),
      scratch_(team.size()),
      dealt_(values.size()),
      part_begin_(blocks()),
      foreign_(kNone),
      found_(kParts) {}

void ManyNames::deal(std::size_t block, unsigned worker) {
  constexpr std::size_t kAhead = 48;
  const std::size_t begin = block * kBlock, count = rows_in(block);
  Scratch& own = scratch_[worker];
  own.rows.resize(kBlock);
  own.part_of.resize(kBlock);
  auto& offsets = part_begin_[block];
  offsets.fill(0);
  std::string scratch;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = begin + i;
    if (row + kAhead < values_.size()) prefetch_text(values_[row + kAhead]);
    const auto text = quick_text_of(values_[row], scratch);
    if (!text) {
      for (std::size_t known = foreign_.load(); row < known && !foreign_.compare_exchange_weak(known, row);) {
      }
      offsets.fill(0);  // nothing of this column will be used
      return;
    }
    const Key key = key_of(*text);
    own.rows[i] = {key.low, key.high, key.length, static_cast<std::uint32_t>(row)};
    const auto part = static_cast<std::uint8_t>(key.hash() >> (64 - kPartBits));
    own.part_of[i] = part;
    ++offsets[part + 1];
  }
  for (std::size_t p = 0; p < kParts; ++p) offsets[p + 1] += offsets[p];
  std::array<std::uint32_t, kParts> next;
  std::copy_n(offsets.begin(), kParts, next.begin());
  Dealt* const made = dealt_.data() + begin;
  for (std::size_t i = 0; i < count; ++i) made[next[own.part_of[i]]++] = own.rows[i];
}

void ManyNames::code(std::size_t p, unsigned worker) {
  ValueTable& table = scratch_[worker].table;
  table.clear();
  std::vector<Dealt>& found = found_[p];
  std::string scratch, other;
  for (std::size_t block = 0; block < blocks(); ++block) {
    Dealt* const rows = dealt_.data() + block * kBlock;
    const std::uint32_t end = part_begin_[block][p + 1];
    for (std::uint32_t i = part_begin_[block][p]; i < end; ++i) {
      if (i + kSoon < end) {
        const Dealt& later = rows[i + kSoon];
        table.prefetch(Key{later.low, later.high, later.length}.hash());
      }
      Dealt& one = rows[i];
      const Key key{one.low, one.high, one.length};
      auto& slot = table.find(key, key.hash(), [&](std::uint32_t number) {
        return *text_of(values_[found[number - 1].row], other) == *text_of(values_[one.row], scratch);
      });
      std::uint32_t number = slot.number;
      if (number == ValueTable::kAbsent) {
        found.push_back(one);
        number = static_cast<std::uint32_t>(found.size());
        table.fill(slot, key, number);
      }
      // Numbers of the parts interleave: so they are final before it is known how many each part has.
      one.length = static_cast<std::uint32_t>((number - 1) * kParts + p);
    }
  }
}

std::string_view ManyNames::text_of_name(const Dealt& name, std::string& scratch) const {
  if (name.length <= Key::kInline) return decoded(name.low, name.high, name.length, scratch);
  return *text_of(values_[name.row], scratch);
}

/// What all names begin with does not tell them apart; the eight bytes after it mostly do.
void ManyNames::find_common_beginning() {
  std::string scratch;
  const std::string first(*text_of(values_[0], scratch));
  std::array<std::size_t, kParts> common;
  team_.run(kParts, [&](std::size_t p, unsigned) {
    std::string own;
    common[p] = first.size();
    for (const Dealt& name : found_[p]) {
      common[p] = common_beginning(first, text_of_name(name, own), common[p]);
    }
  });
  common_ = *std::min_element(common.begin(), common.end());
}

void ManyNames::make_keys() {
  for (std::size_t p = 0; p < kParts; ++p) found_begin_[p + 1] = found_begin_[p] + found_[p].size();
  keys_ = PlainArray<Ranked>(found_begin_[kParts]);
  std::array<std::uint64_t, kParts> varying{};
  std::string scratch;
  const std::uint64_t first = sort_key(*text_of(values_[0], scratch), common_);
  team_.run(kParts, [&](std::size_t p, unsigned) {
    std::string own;
    Ranked* const keys = keys_.data() + found_begin_[p];
    for (std::size_t i = 0; i < found_[p].size(); ++i) {
      const Dealt& name = found_[p][i];
      const std::uint64_t key = sort_key(text_of_name(name, own), common_);
      varying[p] |= key ^ first;
      keys[i] = {key, static_cast<std::uint32_t>(i * kParts + p), name.row};
    }
  });
  squeezed_ = Squeezer(std::reduce(varying.begin(), varying.end(), std::uint64_t{0}, std::bit_or<>()));
}

/// Puts the keys into buckets by their first bits, in the order of buckets: each can be sorted by itself then.
void ManyNames::distribute() {
  constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;
  const unsigned shift = bucket_shift_ = squeezed_.bits() > kBucketBits ? squeezed_.bits() - kBucketBits : 0;
  std::vector<std::array<std::uint32_t, kBuckets>> next(kParts);
  team_.run(kParts, [&](std::size_t p, unsigned) {
    next[p].fill(0);
    for (std::size_t i = found_begin_[p]; i < found_begin_[p + 1]; ++i) {
      keys_[i].key = squeezed_(keys_[i].key);
      ++next[p][keys_[i].key >> shift];
    }
  });
  bucket_begin_.assign(kBuckets + 1, 0);
  std::uint32_t sum = 0;
  for (std::size_t b = 0; b < kBuckets; ++b) {
    bucket_begin_[b] = sum;
    for (auto& at : next) sum += std::exchange(at[b], sum);
  }
  bucket_begin_[kBuckets] = sum;
  sorted_ = PlainArray<Ranked>(sum);
  team_.run(kParts, [&](std::size_t p, unsigned) {
    for (std::size_t i = found_begin_[p]; i < found_begin_[p + 1]; ++i) {
      sorted_[next[p][keys_[i].key >> shift]++] = keys_[i];
    }
  });
}

void ManyNames::sort_bucket(std::size_t bucket, unsigned worker, Coded& coded) {
  const std::size_t begin = bucket_begin_[bucket], end = bucket_begin_[bucket + 1];
  std::vector<Ranked>& other = scratch_[worker].ranked;
  if (other.size() < end - begin) other.resize(end - begin);
  sort_ranked(
      {sorted_.data() + begin, end - begin}, other, bucket_shift_, common_ + 8,
      [&](const Ranked& entry, std::string& text) -> std::string_view { return text_of_name(name_of(entry), text); });
  std::uint64_t characters = 0;
  std::string scratch;
  for (std::size_t r = begin; r < end; ++r) {
    if (r + kSoon < end) __builtin_prefetch(&name_of(sorted_[r + kSoon]));
    const Ranked& entry = sorted_[r];
    ranks_[entry.number] = static_cast<std::uint32_t>(r);
    coded.first_rows[r] = entry.row;
    const Dealt& name = name_of(entry);
    characters += name.length <= Key::kInline ? name.length : text_of(values_[name.row], scratch)->size();
  }
  characters_begin_[bucket + 1] = characters;
}

void ManyNames::name_bucket(std::size_t bucket, char* characters, std::uint64_t* offsets) const {
  std::string scratch;
  std::uint64_t at = characters_begin_[bucket];
  const std::size_t end = bucket_begin_[bucket + 1];
  for (std::size_t r = bucket_begin_[bucket]; r < end; ++r) {
    if (r + kSoon < end) __builtin_prefetch(&name_of(sorted_[r + kSoon]));
    const std::string_view text = text_of_name(name_of(sorted_[r]), scratch);
    std::copy(text.begin(), text.end(), characters + at);
    at += text.size();
    offsets[r + 1] = at;
  }
}

void ManyNames::give_codes(std::size_t block, Coded& coded) const {
  const Dealt* const rows = dealt_.data() + block * kBlock;
  for (std::size_t i = 0; i < rows_in(block); ++i) coded.codes[rows[i].row] = ranks_[rows[i].length];
}

std::optional<std::size_t> ManyNames::finish(Coded& result) {
  if (const std::size_t row = foreign_.load(); row != kNone) return row;
  team_.run(kParts, [&](std::size_t p, unsigned worker) { code(p, worker); });
  find_common_beginning();
  make_keys();
  distribute();
  const std::size_t names = found_begin_[kParts], buckets = bucket_begin_.size() - 1;
  Coded coded;
  coded.codes = PlainArray<std::uint32_t>(values_.size());
  coded.first_rows.resize(names);
  std::size_t most = 0;
  for (const auto& found : found_) most = std::max(most, found.size());
  ranks_ = PlainArray<std::uint32_t>(most * kParts);
  characters_begin_.assign(buckets + 1, 0);
  team_.run(buckets, [&](std::size_t b, unsigned worker) { sort_bucket(b, worker, coded); });
  std::partial_sum(characters_begin_.begin(), characters_begin_.end(), characters_begin_.begin());
  std::string characters(characters_begin_.back(), '\0');
  std::vector<std::uint64_t> offsets(names + 1, 0);
  team_.run(blocks() + buckets, [&](std::size_t job, unsigned) {
    if (job < blocks()) {
      give_codes(job, coded);
    } else {
      name_bucket(job - blocks(), characters.data(), offsets.data());
    }
  });
  coded.names = NameTable(std::move(characters), std::move(offsets));
  result = std::move(coded);
  return std::nullopt;
}

}  // namespace wisecrowd::python
