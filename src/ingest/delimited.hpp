#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "ingest/byte_block.hpp"
#include "ingest/chunk.hpp"

namespace wisecrowd::ingest {

/// One row of a CSV or TSV table. Fields are cut but not unquoted until asked for.
class DelimitedRow {
 public:
  DelimitedRow(std::string_view raw, const char* const* ends, std::size_t count, bool unclosed, Arena& store) noexcept
      : raw_(raw), ends_(ends), count_(count), unclosed_(unclosed), store_(store) {}

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// A quoted field never ends.
  [[nodiscard]] bool unclosed() const noexcept { return unclosed_; }
  [[nodiscard]] std::string_view raw() const noexcept { return raw_; }
  [[nodiscard]] std::string_view raw_field(std::size_t i) const noexcept {
    return {i == 0 ? raw_.data() : ends_[i - 1] + 1, ends_[i]};
  }
  [[nodiscard, gnu::always_inline]] Field field(std::size_t i) const {
    const std::string_view text = raw_field(i);
    if (text.empty() || text.front() != '"') [[likely]]
      return {text};
    return unquote(text);
  }

  /// Wide tables: calls visit(worker, hash of its name, field) for every column but the task's.
  template <class Visit>
  void for_each_worker(const TableContext& table, const Visit& visit) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (table.plan.names_worker(i)) visit(std::string_view(table.plan.names[i]), table.column_hashes[i], field(i));
    }
  }

 private:
  [[nodiscard, gnu::noinline]] Field unquote(std::string_view text) const {
    std::size_t close = text.find('"', 1);
    if (close == text.size() - 1) return {text.substr(1, close - 1)};
    char* const copy = store_.allocate(text.size());
    std::size_t size = 0;
    std::size_t from = 1;
    for (; close != std::string_view::npos; close = text.find('"', from)) {
      const bool doubled = close + 1 < text.size() && text[close + 1] == '"';
      const std::string_view part = text.substr(from, close - from + (doubled ? 1 : 0));
      std::copy(part.begin(), part.end(), copy + size);
      size += part.size();
      if (!doubled) {
        return {{copy, size}, close + 1 == text.size() ? Field::State::ok : Field::State::text_after_quote};
      }
      from = close + 2;
    }
    return {{copy, size}, Field::State::text_after_quote};
  }

  std::string_view raw_;
  const char* const* ends_;
  std::size_t count_;
  bool unclosed_;
  Arena& store_;
};

/// Steps through the characters that mean something, 64 bytes at a time.
template <bool kQuotes>
class SpecialBytes {
 public:
  SpecialBytes(const char* begin, const char* end, char delimiter) noexcept
      : block_(begin), end_(end), delimiter_(delimiter) {
    load();
  }
  /// The next one, or the end.
  [[nodiscard]] const char* next() noexcept {
    while (bits_ == 0) {
      if (end_ - block_ <= 64) return end_;
      block_ += 64;
      load();
    }
    const char* const found = block_ + std::countr_zero(bits_);
    bits_ &= bits_ - 1;
    return found;
  }
  /// Goes on from `place`.
  void seek(const char* place) noexcept {
    if (place - block_ < 64) {
      bits_ &= ~std::uint64_t{0} << (place - block_);
      return;
    }
    block_ = place;
    if (block_ < end_) {
      load();
    } else {
      bits_ = 0;
    }
  }

 private:
  void load() noexcept {
    const ByteBlock block(block_);
    bits_ = (block.equal(delimiter_) | block.equal('\n')) | block.equal('\r');
    if constexpr (kQuotes) bits_ |= block.equal('"');
    if (end_ - block_ < 64) bits_ &= (std::uint64_t{1} << (end_ - block_)) - 1;
  }

  const char* block_;
  const char* end_;
  std::uint64_t bits_ = 0;
  char delimiter_;
};

/// The quote that closes a field opened before `from`, or the end. Counts the line ends on the way.
inline const char* closing_quote(const char* from, const char* end, std::uint64_t& lines) noexcept {
  for (const char* at = from; at < end; ++at) {
    if (*at == '"') {
      if (at + 1 == end || at[1] != '"') return at;
      ++at;
    } else if (*at == '\n' || (*at == '\r' && (at + 1 == end || at[1] != '\n'))) {
      ++lines;
    }
  }
  return end;
}

/// Cuts `text` into rows and calls handle(row, line) for each that is not blank; lines count from 0. LF, CR LF and CR
/// end a row. `most_fields` limits how many fields of a row are kept, not how many are counted. Handle returns false to
/// stop; the result is the number of bytes taken.
template <bool kQuotes, class Handle>
std::size_t parse_delimited(std::string_view text, char delimiter, std::size_t most_fields,
                            std::vector<const char*>& ends, Arena& store, std::uint64_t& lines, Handle&& handle) {
  if (text.empty()) return 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  if (ends.size() < most_fields) ends.resize(most_fields);
  SpecialBytes<kQuotes> special(begin, end, delimiter);
  const char* row_begin = begin;
  const char* field_begin = begin;
  std::size_t fields = 0;
  std::uint64_t inner_lines = 0;
  bool unclosed = false;
  const auto end_field = [&](const char* at) {
    if (fields < most_fields) ends[fields] = at;
    ++fields;
  };
  for (;;) {
    const char* const at = special.next();
    if (at != end && *at == delimiter) {
      end_field(at);
      field_begin = at + 1;
      continue;
    }
    if constexpr (kQuotes) {
      if (at != end && *at == '"') {
        if (at != field_begin) continue;  // inside an unquoted field a quote is a character like others
        const char* const close = closing_quote(at + 1, end, inner_lines);
        unclosed = close == end;
        special.seek(unclosed ? end : close + 1);
        continue;
      }
    }
    if (at != row_begin) {
      end_field(at);
      const std::string_view raw(row_begin, static_cast<std::size_t>(at - row_begin));
      if (!handle(DelimitedRow(raw, ends.data(), fields, unclosed, store), lines)) {
        return static_cast<std::size_t>(at - begin) + (at == end ? 0 : 1);
      }
    }
    if (at == end) return text.size();
    lines += inner_lines + (*at == '\n' || at + 1 == end || at[1] != '\n' ? 1 : 0);
    inner_lines = 0;
    fields = 0;
    row_begin = field_begin = at + 1;
  }
}

}  // namespace wisecrowd::ingest
