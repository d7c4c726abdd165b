#include "ingest/windows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ingest/byte_block.hpp"

namespace wisecrowd::ingest {

WindowReader::WindowReader(ByteSource& source) : source_(source) {}

void WindowReader::fill(std::size_t wanted) {
  const std::size_t kept = end_ - begin_;
  if (kept >= wanted || at_end_) return;
  if (buffer_.size() < wanted + kScanPadding) {
    HugeVector<char> larger(wanted + kScanPadding);
    if (kept > 0) std::memcpy(larger.data(), buffer_.data() + begin_, kept);
    buffer_ = std::move(larger);
  } else if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  }
  begin_ = 0;
  end_ = kept + source_.read(buffer_.data() + kept, wanted - kept);
  at_end_ = end_ < wanted;
  std::memset(buffer_.data() + end_, 0, kScanPadding);
}

namespace {

bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

/// The end of the row whose line end stands at `at`, or 0 when the text stops in the middle of a CR LF pair.
std::size_t row_end_after(std::string_view text, std::size_t at, bool at_end) noexcept {
  if (text[at] == '\n') return at + 1;
  if (at + 1 == text.size()) return at_end ? at + 1 : 0;
  return text[at + 1] == '\n' ? at + 2 : at + 1;
}

std::vector<std::size_t> cut_unquoted(std::string_view text, bool at_end, std::size_t chunk_bytes) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  while (text.size() - begin > chunk_bytes) {
    std::size_t at = begin + chunk_bytes;
    while (at < text.size() && !is_line_end(text[at])) ++at;
    if (at == text.size()) break;
    const std::size_t end = row_end_after(text, at, at_end);
    if (end == 0) break;
    ends.push_back(begin = end);
  }
  if (at_end) {
    if (begin < text.size()) ends.push_back(text.size());
    return ends;
  }
  for (std::size_t at = text.size(); at > begin; --at) {
    if (!is_line_end(text[at - 1])) continue;
    const std::size_t end = row_end_after(text, at - 1, at_end);
    if (end == 0) continue;
    ends.push_back(end);
    break;
  }
  return ends;
}

/// Follows the quoting from the first byte on, by the rules of the row parser: a quote opens a field only at its start,
/// two quotes inside stand for one.
std::vector<std::size_t> cut_quoted(std::string_view text, bool at_end, std::size_t chunk_bytes, char delimiter) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0;     // of the current stretch
  std::size_t last_end = 0;  // of the last whole row seen
  bool inside = false;
  std::size_t skip_to = 0;  // the second half of a doubled quote
  for (std::size_t base = 0; base < text.size(); base += 64) {
    const ByteBlock block(text.data() + base);
    const std::uint64_t quotes = block.equal('"');
    std::uint64_t bits = quotes | (block.equal('\n') | block.equal('\r'));
    if (text.size() - base < 64) bits &= (std::uint64_t{1} << (text.size() - base)) - 1;
    for (; bits != 0; bits &= bits - 1) {
      const std::size_t at = base + static_cast<std::size_t>(std::countr_zero(bits));
      if (at < skip_to) continue;
      if (text[at] != '"') {
        if (inside) continue;
        const std::size_t end = row_end_after(text, at, at_end);
        if (end == 0) continue;
        last_end = end;
        if (last_end - begin >= chunk_bytes) ends.push_back(begin = last_end);
      } else if (!inside) {
        inside = at == 0 || text[at - 1] == delimiter || is_line_end(text[at - 1]);
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        skip_to = at + 2;
      } else {
        inside = false;
      }
    }
  }
  const std::size_t stop = at_end ? text.size() : last_end;
  if (stop > begin) ends.push_back(stop);
  return ends;
}

}  // namespace

std::vector<std::size_t> cut_rows(std::string_view text, bool at_end, std::size_t chunk_bytes, char delimiter,
                                  bool quotes) {
  // A row end closes a stretch even when the stretch is shorter than asked for; an empty one never arises.
  const std::size_t size = std::max<std::size_t>(chunk_bytes, 1);
  return quotes ? cut_quoted(text, at_end, size, delimiter) : cut_unquoted(text, at_end, size);
}

}  // namespace wisecrowd::ingest
