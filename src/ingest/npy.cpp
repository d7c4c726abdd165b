#include "ingest/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "ingest/problems.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kLongestHeader = std::size_t{1} << 20;
constexpr std::size_t kMostValues = std::size_t{1} << 40;

static_assert(std::endian::native == std::endian::little, "the reader copies little-endian numbers as they are");

enum class Kind { f4, f8, u1, i1, u2, i2, u4, i4, u8, i8, boolean };

struct Header {
  Kind kind = Kind::f4;
  std::size_t item_bytes = 4;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::size_t values = 1;  // product of the shape
  std::size_t bytes = 0;   // where the data begin
};

[[noreturn]] void refuse(const std::string& file, std::size_t byte, const std::string& what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: byte {}: {}", file, byte, what));
}

/// The header is the text of a Python dictionary with three known keys.
class HeaderText {
 public:
  HeaderText(std::string_view text, std::size_t first_byte, const std::string& file)
      : text_(text), first_byte_(first_byte), file_(file) {}

  Header read() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        read_type(header);
      } else if (key == "fortran_order" && !order) {
        order = true;
        header.fortran_order = read_boolean();
      } else if (key == "shape" && !shape) {
        shape = true;
        read_shape(header);
      } else {
        fail(fmt::format("the header has an unexpected key '{}'", printable(key, 30)));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    blanks();
    if (at_ != text_.size()) fail("text follows the header's dictionary");
    if (!descr || !order || !shape) fail("the header lacks one of descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse(file_, first_byte_ + at_, what + ": the file is damaged, or was not written by numpy.save");
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("the header is no dictionary: '{}' is missing", c));
  }
  std::string_view quoted() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("a quoted text of the header never ends");
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + 1;
    return inside;
  }
  bool read_boolean() {
    blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True"sv : "False"sv;
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail("fortran_order is neither True nor False");
  }
  void read_type(Header& header) {
    blanks();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      refuse(file_, first_byte_ + at_,
             "this is a structured array: save its numbers as one plain array, for example of type float32");
    }
    const std::size_t place = first_byte_ + at_;
    const std::string_view type = quoted();
    struct Known {
      std::string_view name;
      Kind kind;
      std::size_t bytes;
    };
    static constexpr Known kKnown[] = {{"f4", Kind::f4, 4}, {"f8", Kind::f8, 8},     {"u1", Kind::u1, 1},
                                       {"i1", Kind::i1, 1}, {"u2", Kind::u2, 2},     {"i2", Kind::i2, 2},
                                       {"u4", Kind::u4, 4}, {"i4", Kind::i4, 4},     {"u8", Kind::u8, 8},
                                       {"i8", Kind::i8, 8}, {"b1", Kind::boolean, 1}};
    const bool marked = !type.empty() && "<>|="sv.find(type[0]) != std::string_view::npos;
    const std::string_view name = type.substr(marked ? 1 : 0);
    const auto* known =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
    if (name.starts_with('O')) {
      refuse(file_, place,
             "this is an array of Python objects, which only Python can read: save it as numbers, with "
             "array.astype('float32')");
    }
    if (known == std::end(kKnown)) {
      refuse(file_, place,
             fmt::format("the type '{}' cannot be read: save the array as float32, float64 or uint8, with "
                         "array.astype('float32')",
                         printable(type, 30)));
    }
    if (type[0] == '>' && known->bytes > 1) {
      refuse(file_, place,
             fmt::format("the numbers are big-endian ('{}'): save them as little-endian, with array.astype('<f4')",
                         printable(type, 30)));
    }
    header.kind = known->kind;
    header.item_bytes = known->bytes;
  }
  void read_shape(Header& header) {
    expect('(');
    while (!take(')')) {
      blanks();
      std::size_t extent = 0;
      const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (code != std::errc()) fail("the shape holds something that is no size");
      at_ = static_cast<std::size_t>(end - text_.data());
      if (extent > 0 && header.values > kMostValues / extent) {
        fail(fmt::format("the shape promises more than {} numbers", kMostValues));
      }
      header.values *= extent;
      header.shape.push_back(extent);
      if (header.shape.size() > 32) fail("the shape has more than 32 dimensions");
      take('L');  // Python 2 wrote 3L
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  std::size_t first_byte_;
  const std::string& file_;
  std::size_t at_ = 0;
};

std::string shape_text(const std::vector<std::size_t>& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

Header read_header(ByteSource& source, const std::string& file) {
  char head[12] = {};
  const auto truncated = [&](std::size_t byte) {
    refuse(file, byte, "the file ends inside its header: it was cut off, copy it again");
  };
  const std::size_t got = source.read(head, 10);
  if (got == 0)
    throw Error(ErrorCode::bad_input, fmt::format("{}: the file is empty: save the array again with numpy.save", file));
  if (std::string_view(head, std::min(got, kMagic.size())) != kMagic.substr(0, got)) {
    refuse(file, 0, "this is no .npy file: save the array with numpy.save");
  }
  if (got < 10) truncated(got);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(head[i])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0) {
    refuse(
        file, 6,
        fmt::format("version {}.{} of the .npy format is not known: versions 1.0, 2.0 and 3.0 are", version, byte(7)));
  }
  std::size_t length = byte(8) | (byte(9) << 8);
  std::size_t begin = 10;
  if (version > 1) {
    if (source.read(head + 10, 2) < 2) truncated(10);
    length |= (byte(10) << 16) | (byte(11) << 24);
    begin = 12;
  }
  if (length > kLongestHeader) {
    refuse(file, 8, fmt::format("the header would be {} bytes long: the file is damaged", length));
  }
  std::string text(length, '\0');
  const std::size_t there = source.read(text.data(), length);
  if (there < length) truncated(begin + there);
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    refuse(file, begin + nul, "the header holds a NUL byte: the file is damaged");
  }
  Header header = HeaderText(text, begin, file).read();
  header.bytes = begin + length;
  return header;
}

void require_rows(const Header& header, const std::string& file) {
  const std::string shape = shape_text(header.shape);
  if (header.shape.size() < 2 || header.shape.size() > 4) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the array has {} dimension{} {}: features need rows × columns, images rows × height × "
                            "width [× channels]{}",
                            file, header.shape.size(), header.shape.size() == 1 ? "" : "s", shape,
                            header.shape.size() == 1 ? "; for one column use array.reshape(-1, 1)" : ""));
  }
  if (header.values == 0) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: the array has shape {}, so it is empty", file, shape));
  }
  if (header.shape[0] >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} rows are more than can be numbered: split the file", file, header.shape[0]));
  }
}

template <class Number>
void convert_as(const char* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, from + i * sizeof(Number), sizeof(Number));
    to[i] = static_cast<float>(number);
  }
}

void convert(Kind kind, const char* from, std::size_t count, float* to) {
  switch (kind) {
    case Kind::f4: std::memcpy(to, from, count * sizeof(float)); break;
    case Kind::f8: convert_as<double>(from, count, to); break;
    case Kind::u1: convert_as<std::uint8_t>(from, count, to); break;
    case Kind::i1: convert_as<std::int8_t>(from, count, to); break;
    case Kind::u2: convert_as<std::uint16_t>(from, count, to); break;
    case Kind::i2: convert_as<std::int16_t>(from, count, to); break;
    case Kind::u4: convert_as<std::uint32_t>(from, count, to); break;
    case Kind::i4: convert_as<std::int32_t>(from, count, to); break;
    case Kind::u8: convert_as<std::uint64_t>(from, count, to); break;
    case Kind::i8: convert_as<std::int64_t>(from, count, to); break;
    case Kind::boolean:
      for (std::size_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? 1.0F : 0.0F;
      break;
  }
}

/// First index fastest becomes last index fastest.
std::vector<float> to_row_major(const std::vector<float>& from, const std::vector<std::size_t>& shape) {
  std::vector<std::size_t> stride(shape.size(), 1);
  for (std::size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * shape[d - 1];
  std::vector<float> to(from.size());
  std::vector<std::size_t> at(shape.size(), 0);
  std::size_t source = 0;
  for (float& value : to) {
    value = from[source];
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += stride[d];
      if (++at[d] < shape[d]) break;
      source -= stride[d] * shape[d];
      at[d] = 0;
    }
  }
  return to;
}

}  // namespace

bool looks_like_npy(std::string_view first_bytes) noexcept { return first_bytes.starts_with(kMagic); }

Features read_npy(ByteSource& source, const std::string& file, const Tuning& tuning, const RunContext& context) {
  const Header header = read_header(source, file);
  require_rows(header, file);
  Features features;
  features.rows = header.shape[0];
  features.shape.assign(header.shape.begin() + 1, header.shape.end());

  std::vector<float>& values = features.dense;
  // Of a packed file the size says little; the vector then grows as it is filled.
  values.reserve(std::min<std::size_t>(header.values, source.size() / header.item_bytes));
  const std::size_t step = std::max<std::size_t>(tuning.window_bytes / header.item_bytes, 1);
  std::vector<char> buffer(std::min(step, header.values) * header.item_bytes);
  while (values.size() < header.values) {
    if (context.cancelled()) throw Cancelled();
    const std::size_t wanted = std::min(step, header.values - values.size());
    const std::size_t got = source.read(buffer.data(), wanted * header.item_bytes);
    const std::size_t whole = got / header.item_bytes;
    const std::size_t before = values.size();
    values.resize(before + whole);
    convert(header.kind, buffer.data(), whole, values.data() + before);
    if (whole < wanted) {
      refuse(file, header.bytes + before * header.item_bytes + got,
             fmt::format("the file ends after {} of the {} numbers that its shape {} promises: it was cut off, copy it "
                         "again",
                         values.size(), header.values, shape_text(header.shape)));
    }
    context.report({.stage = "reading features",
                    .done = static_cast<double>(values.size()),
                    .total = static_cast<double>(header.values)});
  }
  char more = 0;
  if (source.read(&more, 1) > 0) {
    refuse(file, header.bytes + header.values * header.item_bytes,
           fmt::format("more follows after the {} numbers that its shape {} promises: the file is damaged, or holds "
                       "several arrays",
                       header.values, shape_text(header.shape)));
  }
  if (header.fortran_order) values = to_row_major(values, header.shape);
  return features;
}

Features read_npy(const Input& input, const Tuning& tuning, const RunContext& context) {
  const auto source = open_input(input, context);
  return read_npy(*source, display_name(input), tuning, context);
}

}  // namespace wisecrowd::ingest
