#include "coding.hpp"

#include <Python.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#if defined(__BMI2__)
#include <immintrin.h>
#endif

#include "value_table.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::python {
namespace {

constexpr std::size_t kBatch = 32;          // rows whose keys are made before the first of them is looked up
constexpr std::size_t kAhead = 2 * kBatch;  // how far ahead objects are fetched

/// Different texts in the order in which they came.
class Texts {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return std::string_view(characters_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  void add(std::string_view text) {
    if (size() == UINT32_MAX - 1) throw Error(ErrorCode::bad_input, "more than four thousand million different names");
    characters_.append(text);
    offsets_.push_back(characters_.size());
  }
  void reserve(std::size_t names, std::size_t characters) {
    offsets_.reserve(names + 1);
    characters_.reserve(characters);
  }
  [[nodiscard]] NameTable table() && { return NameTable(std::move(characters_), std::move(offsets_)); }

 private:
  std::string characters_;
  std::vector<std::uint64_t> offsets_{0};
};

/// Remembers objects met a moment ago: equal pointers are equal texts. Tables read from files often share the objects
/// of equal values; where they do not, it is switched off.
class Recent {
 public:
  [[nodiscard]] bool is_on() const noexcept { return on_; }
  /// The number of the object, or ValueTable::kAbsent.
  [[nodiscard]] std::uint32_t find(const PyObject* object) noexcept {
    const Entry& entry = entries_[place(object)];
    const bool hit = entry.object == object;
    hits_ += hit ? 1 : 0;
    if (++asked_ == kTrial) {
      on_ = hits_ * 4 >= kTrial;
      asked_ = hits_ = 0;
    }
    return hit ? entry.number : ValueTable::kAbsent;
  }
  void add(const PyObject* object, std::uint32_t number) noexcept { entries_[place(object)] = {object, number}; }

 private:
  struct Entry {
    const PyObject* object = nullptr;
    std::uint32_t number = 0;
  };
  static constexpr std::size_t kTrial = 4096;
  static std::size_t place(const PyObject* object) noexcept {
    return (reinterpret_cast<std::uintptr_t>(object) * 0x9E3779B97F4A7C15U) >> 56;
  }
  std::array<Entry, 256> entries_;
  std::size_t asked_ = 0, hits_ = 0;
  bool on_ = true;
};

void append_utf8(std::string& text, Py_UCS4 c) {
  const auto add = [&](Py_UCS4 byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6), add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12), add(0x80 | (c >> 6 & 0x3F)), add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | c >> 18), add(0x80 | (c >> 12 & 0x3F)), add(0x80 | (c >> 6 & 0x3F)), add(0x80 | (c & 0x3F));
  }
}

/// A key and the position that it belongs to.
using Ranked = std::pair<std::uint64_t, std::uint32_t>;

/// Leaves out of all keys the bits in which none differ from the others, which keeps their order: the digits of a
/// number, for example, are four bits each.
void squeeze([[maybe_unused]] std::vector<Ranked>& entries) {
#if defined(__BMI2__)
  std::uint64_t varying = 0;
  for (const Ranked& entry : entries) varying |= entry.first ^ entries[0].first;
  for (Ranked& entry : entries) entry.first = _pext_u64(entry.first, varying);
#endif
}

/// Sorts by key, eleven bits at a time from the last, leaving out those that are the same everywhere.
void radix_sort(std::vector<Ranked>& entries) {
  constexpr unsigned kBits = 11, kPasses = 6;
  constexpr std::uint64_t kMask = (1U << kBits) - 1;
  squeeze(entries);
  std::vector<std::array<std::uint32_t, kMask + 1>> counts(kPasses);
  for (const Ranked& entry : entries) {
    for (unsigned pass = 0; pass < kPasses; ++pass) ++counts[pass][entry.first >> (kBits * pass) & kMask];
  }
  std::vector<Ranked> other(entries.size());
  for (unsigned pass = 0; pass < kPasses; ++pass) {
    auto& count = counts[pass];
    if (count[entries[0].first >> (kBits * pass) & kMask] == entries.size()) continue;
    std::uint32_t sum = 0;
    for (auto& c : count) sum += std::exchange(c, sum);
    for (const Ranked& entry : entries) other[count[entry.first >> (kBits * pass) & kMask]++] = entry;
    entries.swap(other);
  }
}

/// Gives the codes, which are numbers in the order of appearance, their ranks in `order`.
void rank(std::span<const std::uint32_t> order, std::span<std::uint32_t> codes,
          std::vector<std::uint64_t>& first_rows) {
  std::vector<std::uint32_t> ranks(order.size());
  for (std::size_t r = 0; r < order.size(); ++r) ranks[order[r]] = static_cast<std::uint32_t>(r);
  for (std::uint32_t& code : codes) code = ranks[code];
  std::vector<std::uint64_t> sorted_rows(order.size());
  for (std::size_t r = 0; r < order.size(); ++r) sorted_rows[r] = first_rows[order[r]];
  first_rows = std::move(sorted_rows);
}

bool is_identity(std::span<const std::uint32_t> order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

}  // namespace

/// The names come from everywhere, so those that are needed soon are fetched ahead.
NameTable reordered(const NameTable& names, std::span<const std::uint32_t> order) {
  constexpr std::size_t kSoon = 16;
  Texts sorted;
  sorted.reserve(names.size(), static_cast<std::size_t>(names[names.size() - 1].data() - names[0].data()) +
                                   names[names.size() - 1].size());
  for (std::size_t r = 0; r < order.size(); ++r) {
    if (r + kSoon < order.size()) __builtin_prefetch(names[order[r + kSoon]].data());
    sorted.add(names[order[r]]);
  }
  return std::move(sorted).table();
}

std::optional<std::string_view> text_of(PyObject* value, std::string& scratch) {
  if (!PyUnicode_CheckExact(value)) return std::nullopt;
#if PY_VERSION_HEX < 0x030C0000
  if (!PyUnicode_IS_READY(value)) return std::nullopt;
#endif
  if (PyUnicode_IS_COMPACT_ASCII(value)) {
    return std::string_view(static_cast<const char*>(PyUnicode_DATA(value)),
                            static_cast<std::size_t>(PyUnicode_GET_LENGTH(value)));
  }
  scratch.clear();
  const auto kind = PyUnicode_KIND(value);
  const void* const data = PyUnicode_DATA(value);
  for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(value); ++i) append_utf8(scratch, PyUnicode_READ(kind, data, i));
  return scratch;
}

std::optional<std::size_t> code_strings(std::span<PyObject* const> values, Coded& result) {
  ValueTable table;
  Texts texts;
  Recent recent;
  Coded coded;
  coded.codes.resize(values.size());

  struct Pending {
    Key key;
    std::uint64_t hash;
    std::size_t row;
    std::string_view text;
  };
  std::array<Pending, kBatch> pending;
  std::array<std::string, kBatch> scratches;

  for (std::size_t begin = 0; begin < values.size(); begin += kBatch) {
    const std::size_t end = std::min(begin + kBatch, values.size());
    std::size_t waiting = 0;
    for (std::size_t row = begin; row < end; ++row) {
      if (row + kAhead < values.size()) {
        const char* const later = reinterpret_cast<const char*>(values[row + kAhead]);
        __builtin_prefetch(later);
        __builtin_prefetch(later + 64);
      }
      PyObject* const value = values[row];
      if (recent.is_on()) {
        if (const std::uint32_t number = recent.find(value); number != ValueTable::kAbsent) {
          coded.codes[row] = number - 1;
          continue;
        }
      }
      const auto text = text_of(value, scratches[waiting]);
      if (!text) return row;
      Pending& one = pending[waiting++];
      one.key = key_of(*text);
      one.hash = one.key.hash();
      one.row = row;
      one.text = *text;
      table.prefetch(one.hash);
    }
    for (std::size_t i = 0; i < waiting; ++i) {
      const Pending& one = pending[i];
      auto& slot = table.find(one.key, one.hash, [&](std::uint32_t number) { return texts[number - 1] == one.text; });
      std::uint32_t number = slot.number;
      if (number == ValueTable::kAbsent) {
        texts.add(one.text);
        coded.first_rows.push_back(one.row);
        number = static_cast<std::uint32_t>(texts.size());
        table.fill(slot, one.key, number);
      }
      coded.codes[one.row] = number - 1;
      if (recent.is_on()) recent.add(values[one.row], number);
    }
  }

  coded.names = std::move(texts).table();
  const auto order = sorted_order(coded.names);
  if (!is_identity(order)) {
    rank(order, coded.codes, coded.first_rows);
    coded.names = reordered(coded.names, order);
  }
  result = std::move(coded);
  return std::nullopt;
}

Coded code_integers(std::span<const std::int64_t> values) {
  ValueTable table;
  std::vector<std::int64_t> found;
  Coded coded;
  coded.codes.resize(values.size());
  constexpr std::size_t kFar = 16;
  const auto key_at = [&](std::size_t row) {
    return Key{.low = static_cast<std::uint64_t>(values[row]), .high = 0, .length = 8};
  };
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (row + kFar < values.size()) table.prefetch(key_at(row + kFar).hash());
    const Key key = key_at(row);
    auto& slot = table.find(key, key.hash(), [](std::uint32_t) { return true; });
    std::uint32_t number = slot.number;
    if (number == ValueTable::kAbsent) {
      found.push_back(values[row]);
      coded.first_rows.push_back(row);
      number = static_cast<std::uint32_t>(found.size());
      table.fill(slot, key, number);
    }
    coded.codes[row] = number - 1;
  }
  std::vector<std::uint32_t> order(found.size());
  std::iota(order.begin(), order.end(), 0U);
  if (!std::is_sorted(found.begin(), found.end())) {
    std::vector<Ranked> entries;
    entries.reserve(found.size());
    // Turned sign bit: negative numbers come first.
    for (const std::uint32_t i : order) entries.emplace_back(static_cast<std::uint64_t>(found[i]) ^ (1ULL << 63), i);
    radix_sort(entries);
    for (std::size_t r = 0; r < order.size(); ++r) order[r] = entries[r].second;
    rank(order, coded.codes, coded.first_rows);
  }
  Texts texts;
  std::array<char, 24> digits;
  for (const std::uint32_t i : order) {
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), found[i]).ptr;
    texts.add({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  coded.names = std::move(texts).table();
  return coded;
}

std::vector<std::uint32_t> sorted_order(const NameTable& names) {
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0U);
  if (names.size() < 2) return order;
  // What all names begin with does not tell them apart; the eight bytes after it mostly do.
  std::size_t common = names[0].size();
  bool rising = true;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::string_view a = names[0], b = names[i];
    std::size_t same = 0;
    const std::size_t most = std::min(common, b.size());
    while (same < most && a[same] == b[same]) ++same;
    common = same;
    rising = rising && names[i - 1] < b;
  }
  if (rising) return order;
  std::vector<Ranked> entries;
  entries.reserve(names.size());
  for (const std::uint32_t i : order) {
    std::array<char, 8> bytes{};
    const std::string_view rest = names[i].substr(common, 8);
    std::copy(rest.begin(), rest.end(), bytes.begin());
    entries.emplace_back(__builtin_bswap64(eight_bytes(bytes.data())), i);
  }
  radix_sort(entries);
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = entries[r].second;
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end].first == entries[begin].first) ++end;
    if (end - begin > 1) {
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end),
                [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
    }
    begin = end;
  }
  return order;
}

}  // namespace wisecrowd::python
