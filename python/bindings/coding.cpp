#include "coding.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <numeric>
#include <utility>

#include "names_sort.hpp"
#include "str_object.hpp"
#include "value_table.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::python {
namespace {

constexpr std::size_t kBatch = 128;

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

/// Remembers objects met before: equal pointers are equal texts. Tables read from files often share the objects of
/// equal values; where they do not, it is switched off.
class Recent {
 public:
  explicit Recent(std::size_t rows) : pairs_(std::clamp(std::bit_ceil(rows / 4), kLeastPairs, kMostPairs)) {
    shift_ = static_cast<unsigned>(64 - std::countr_zero(pairs_.size()));
  }
  [[nodiscard]] bool is_on() const noexcept { return on_; }
  /// The number of the object, or ValueTable::kAbsent.
  [[nodiscard]] std::uint32_t find(const PyObject* object) noexcept {
    const auto& [first, second] = pairs_[place(object)];
    // Which of the two it is cannot be foreseen, so it is computed without a branch.
    const auto if_same = [&](const Entry& e) { return e.object == object ? ~std::uint32_t{0} : 0U; };
    const std::uint32_t number = (first.number & if_same(first)) | (second.number & if_same(second));
    misses_ += number == ValueTable::kAbsent ? 1 : 0;
    if (++asked_ == kTrial) {
      on_ = misses_ * 4 <= kTrial * 3;
      asked_ = misses_ = 0;
    }
    return number;
  }
  void add(const PyObject* object, std::uint32_t number) noexcept {
    auto& pair = pairs_[place(object)];
    pair[1] = std::exchange(pair[0], {object, number});
  }

 private:
  struct Entry {
    const PyObject* object = nullptr;
    std::uint32_t number = ValueTable::kAbsent;
  };
  static constexpr std::size_t kLeastPairs = 64, kMostPairs = std::size_t{1} << 14;
  static constexpr std::size_t kTrial = 4 * kMostPairs;
  [[nodiscard]] std::size_t place(const PyObject* object) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(object) * 0x9E3779B97F4A7C15U) >> shift_;
  }
  std::vector<std::array<Entry, 2>> pairs_;  // the newer one first
  unsigned shift_ = 0;
  std::size_t asked_ = 0, misses_ = 0;
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

/// Positions in the order of their keys, and of their texts where these are equal; see sort_ranked.
template <class KeyOf, class Text>
std::vector<std::uint32_t> sorted_by_key(std::size_t count, const KeyOf& key_of, std::size_t known, const Text& text) {
  std::vector<Ranked> entries(count), other(count);
  std::uint64_t varying = 0;
  for (std::size_t i = 0; i < count; ++i) {
    entries[i] = {key_of(i), static_cast<std::uint32_t>(i), 0};
    varying |= entries[i].key ^ entries[0].key;
  }
  const Squeezer squeezed(varying);
  for (Ranked& entry : entries) entry.key = squeezed(entry.key);
  sort_ranked<Text>(entries, other, squeezed.bits(), known, text);
  std::vector<std::uint32_t> order(count);
  for (std::size_t r = 0; r < count; ++r) order[r] = entries[r].number;
  return order;
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
  Recent recent(values.size());
  Coded coded;
  coded.codes = PlainArray<std::uint32_t>(values.size());

  struct Pending {
    std::size_t row;
    Key key;
    std::uint64_t hash;
    std::string_view text;
  };
  std::array<Pending, kBatch> pending;
  std::array<std::string, kBatch> scratches;

  // Objects and slots lie anywhere in memory. So a batch of rows goes through three steps, and what the next step needs
  // is fetched meanwhile.
  for (std::size_t begin = 0; begin < values.size(); begin += kBatch) {
    const std::size_t end = std::min(begin + kBatch, values.size());
    std::size_t waiting = 0;
    for (std::size_t row = begin; row < end; ++row) {
      if (recent.is_on()) {
        if (const std::uint32_t number = recent.find(values[row]); number != ValueTable::kAbsent) {
          coded.codes[row] = number - 1;
          continue;
        }
      }
      prefetch_text(values[row]);
      pending[waiting++].row = row;
    }
    for (std::size_t i = 0; i < waiting; ++i) {
      Pending& one = pending[i];
      const auto text = quick_text_of(values[one.row], scratches[i]);
      if (!text) return one.row;
      one.key = key_of(*text);
      one.hash = one.key.hash();
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
  coded.codes = PlainArray<std::uint32_t>(values.size());
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
    // Turned sign bit: negative numbers come first.
    order = sorted_by_key(
        found.size(), [&](std::size_t i) { return static_cast<std::uint64_t>(found[i]) ^ (1ULL << 63); },
        sizeof(std::int64_t), [](const Ranked&, std::string&) { return std::string_view(); });  // no two are equal
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
    common = common_beginning(names[0], names[i], common);
    rising = rising && names[i - 1] < names[i];
  }
  if (rising) return order;
  return sorted_by_key(
      names.size(), [&](std::size_t i) { return sort_key(names[i], common); }, common + 8,
      [&](const Ranked& entry, std::string&) { return names[entry.number]; });
}

}  // namespace wisecrowd::python
