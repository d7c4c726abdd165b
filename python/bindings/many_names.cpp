#include "many_names.hpp"

#include <algorithm>
#include <array>

namespace wisecrowd::python {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

/// The text that a whole key holds.
std::string_view decoded(std::uint64_t low, std::uint64_t high, std::uint32_t length, std::array<char, 16>& bytes) {
  if (length >= 8) {
    std::memcpy(bytes.data(), &low, 8);
    std::memcpy(bytes.data() + length - 8, &high, 8);
  } else if (length >= 4) {
    const auto first = static_cast<std::uint32_t>(low), last = static_cast<std::uint32_t>(low >> 32);
    std::memcpy(bytes.data(), &first, 4);
    std::memcpy(bytes.data() + length - 4, &last, 4);
  } else {
    for (std::size_t i = 0; i < length; ++i) {
      bytes[i] = static_cast<char>(i == 0 ? low : i + 1 == length ? low >> 16 : low >> 8);
    }
  }
  return {bytes.data(), length};
}

}  // namespace

bool ManyNames::fits(std::span<Object* const> values) {
  constexpr std::size_t kLeastRows = std::size_t{1} << 18;
  constexpr std::size_t kSample = std::size_t{1} << 13;
  if (values.size() < kLeastRows) return false;
  Coded coded;
  // Not from the top: the first rows of a file may be special. Neighbours tell whether rows are grouped.
  const auto sample = values.subspan(values.size() / 2, kSample);
  return !code_strings(sample, coded) && coded.names.size() * 4 > kSample * 3;
}

ManyNames::ManyNames(std::span<Object* const> values) : values_(values), parts_(kParts), foreign_(kNone) {
  coded_.codes.resize(values.size());
}

void ManyNames::begin_round(std::size_t round) {
  round_begin_ = round * kRound;
  round_end_ = std::min(values_.size(), round_begin_ + kRound);
  dealt_.clear();
  dealt_.resize(blocks());
}

void ManyNames::deal(std::size_t block) {
  constexpr std::size_t kAhead = 48;
  const std::size_t begin = round_begin_ + block * kBlock;
  const std::size_t end = std::min(round_end_, begin + kBlock);
  std::unique_ptr<Dealt[]> rows(new Dealt[end - begin]);
  std::unique_ptr<std::uint8_t[]> part_of(new std::uint8_t[end - begin]);
  std::vector<std::uint32_t> offsets(kParts + 1, 0);
  std::string scratch;
  for (std::size_t row = begin; row < end; ++row) {
    if (row + kAhead < end) {
      const char* const later = reinterpret_cast<const char*>(values_[row + kAhead]);
      __builtin_prefetch(later);
      __builtin_prefetch(later + 64);
    }
    const auto text = text_of(values_[row], scratch);
    if (!text) {
      for (std::size_t known = foreign_.load(); row < known && !foreign_.compare_exchange_weak(known, row);) {
      }
      return;  // nothing of this column will be used
    }
    const Key key = key_of(*text);
    rows[row - begin] = {key.low, key.high, key.length, static_cast<std::uint32_t>(row)};
    const auto part = static_cast<std::uint8_t>(key.hash() >> (64 - kPartBits));
    part_of[row - begin] = part;
    ++offsets[part + 1];
  }
  for (std::size_t p = 0; p < kParts; ++p) offsets[p + 1] += offsets[p];
  Block& made = dealt_[block];
  made.rows.reset(new Dealt[end - begin]);
  std::array<std::uint32_t, kParts> next;
  std::copy_n(offsets.begin(), kParts, next.begin());
  for (std::size_t i = 0; i < end - begin; ++i) made.rows[next[part_of[i]]++] = rows[i];
  made.offsets = std::move(offsets);
}

void ManyNames::code(std::size_t p) {
  constexpr std::size_t kSoon = 8;
  if (foreign()) return;
  Part& part = parts_[p];
  std::string scratch, other;
  for (const Block& block : dealt_) {
    const std::uint32_t end = block.offsets[p + 1];
    for (std::uint32_t i = block.offsets[p]; i < end; ++i) {
      if (i + kSoon < end) {
        const Dealt& later = block.rows[i + kSoon];
        part.table.prefetch(Key{later.low, later.high, later.length}.hash());
      }
      Dealt& one = block.rows[i];
      const Key key{one.low, one.high, one.length};
      auto& slot = part.table.find(key, key.hash(), [&](std::uint32_t number) {
        return *text_of(values_[part.found[number - 1].row], other) == *text_of(values_[one.row], scratch);
      });
      std::uint32_t number = slot.number;
      if (number == ValueTable::kAbsent) {
        part.found.push_back(one);
        number = static_cast<std::uint32_t>(part.found.size());
        part.table.fill(slot, key, number);
      }
      // Numbers of the parts interleave: so they are final before it is known how many each part has.
      one.length = static_cast<std::uint32_t>((number - 1) * kParts + p);
    }
  }
}

void ManyNames::settle(std::size_t block) {
  if (foreign()) return;
  const Block& made = dealt_[block];
  for (std::uint32_t i = 0; i < made.offsets[kParts]; ++i) coded_.codes[made.rows[i].row] = made.rows[i].length;
}

std::optional<std::size_t> ManyNames::foreign() const {
  const std::size_t row = foreign_.load();
  return row == kNone ? std::nullopt : std::optional(row);
}

void ManyNames::sort() {
  dealt_.clear();
  std::size_t most = 0, count = 0, characters = 0;
  for (const Part& part : parts_) {
    most = std::max(most, part.found.size());
    count += part.found.size();
    for (const Dealt& one : part.found) characters += one.length;
  }
  std::string names, scratch;
  std::vector<std::uint64_t> offsets{0};
  names.reserve(characters);
  offsets.reserve(count + 1);
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint64_t> first_rows;
  numbers.reserve(count);
  first_rows.reserve(count);
  std::array<char, 16> bytes;
  for (std::size_t p = 0; p < kParts; ++p) {
    const auto& found = parts_[p].found;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Dealt& one = found[i];
      names.append(one.length <= Key::kInline ? decoded(one.low, one.high, one.length, bytes)
                                              : *text_of(values_[one.row], scratch));
      offsets.push_back(names.size());
      numbers.push_back(static_cast<std::uint32_t>(i * kParts + p));
      first_rows.push_back(one.row);
    }
  }
  parts_.clear();
  unsorted_ = NameTable(std::move(names), std::move(offsets));
  order_ = sorted_order(unsorted_);
  ranks_.resize(most * kParts);
  coded_.first_rows.resize(count);
  for (std::size_t r = 0; r < count; ++r) {
    ranks_[numbers[order_[r]]] = static_cast<std::uint32_t>(r);
    coded_.first_rows[r] = first_rows[order_[r]];
  }
}

void ManyNames::rank(std::size_t block) {
  const std::size_t begin = block * kBlock, end = std::min(values_.size(), begin + kBlock);
  for (std::size_t row = begin; row < end; ++row) coded_.codes[row] = ranks_[coded_.codes[row]];
}

void ManyNames::name() { coded_.names = reordered(unsorted_, order_); }

}  // namespace wisecrowd::python
