#include "ingest/npy.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>

#include "wisecrowd/error.hpp"

namespace wisecrowd::ingest {
namespace {

using namespace std::string_literals;

std::string header(const std::string& dictionary, int version = 1) {
  std::string text = dictionary + "\n";
  std::string head = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i) head += static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  return head + text;
}
std::string described(const std::string& type, const std::string& shape, bool fortran = false, int version = 1) {
  return header(
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran ? "True" : "False", shape),
      version);
}
template <class Number>
std::string raw(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}
Features read(const std::string& bytes, const Tuning& tuning = {}) {
  const RunContext context({.threads = 1});
  return read_npy({"a.npy", bytes}, tuning, context);
}

template <class Number>
void expect_type(const std::string& type) {
  const std::vector<Number> numbers = {Number{0}, Number{1}, Number{1}, Number{0}, Number{1}, Number{0}};
  for (const std::size_t window : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
    const Features features = read(described(type, "(3, 2)") + raw(numbers), {.window_bytes = window});
    EXPECT_EQ(features.rows, 3U);
    EXPECT_EQ(features.shape, std::vector<std::size_t>{2});
    EXPECT_EQ(features.dense, (std::vector<float>{0, 1, 1, 0, 1, 0})) << type;
  }
}

TEST(Npy, EveryType) {
  expect_type<float>("<f4");
  expect_type<double>("<f8");
  expect_type<std::uint8_t>("|u1");
  expect_type<std::int8_t>("|i1");
  expect_type<std::uint16_t>("<u2");
  expect_type<std::int16_t>("<i2");
  expect_type<std::uint32_t>("<u4");
  expect_type<std::int32_t>("<i4");
  expect_type<std::uint64_t>("<u8");
  expect_type<std::int64_t>("<i8");
  expect_type<std::uint8_t>("|b1");
}

TEST(Npy, ValuesAreKept) {
  EXPECT_EQ(read(described("<f8", "(1, 3)") + raw<double>({-1.5, 1e-3, 7e8})).dense,
            (std::vector<float>{-1.5F, 1e-3F, 7e8F}));
  EXPECT_EQ(read(described("|u1", "(1, 3)") + "\x00\x7F\xFF"s).dense, (std::vector<float>{0, 127, 255}));
  EXPECT_EQ(read(described("|i1", "(1, 2)") + "\x80\x7F"s).dense, (std::vector<float>{-128, 127}));
  EXPECT_EQ(read(described("|b1", "(1, 2)") + "\x00\x05"s).dense, (std::vector<float>{0, 1}));
}

TEST(Npy, VersionsAndDimensions) {
  const std::vector<float> numbers(24, 2.0F);
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(read(described("<f4", "(24, 1)", false, version) + raw(numbers)).rows, 24U);
  }
  EXPECT_EQ(read(described("<f4", "(2, 3, 4)") + raw(numbers)).shape, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(read(described("<f4", "(2, 2, 2, 3)") + raw(numbers)).shape, (std::vector<std::size_t>{2, 2, 3}));
  EXPECT_EQ(read(header("{\"shape\":(2L,12L),'fortran_order':False,'descr':'=f4'}") + raw(numbers)).rows, 2U);
}

TEST(Npy, FortranOrderIsTurned) {
  // Element (i, j, k, l) holds 1000 i + 100 j + 10 k + l.
  const std::vector<std::size_t> shape = {3, 2, 4, 2};
  std::vector<float> fortran;
  for (std::size_t l = 0; l < shape[3]; ++l) {
    for (std::size_t k = 0; k < shape[2]; ++k) {
      for (std::size_t j = 0; j < shape[1]; ++j) {
        for (std::size_t i = 0; i < shape[0]; ++i) {
          fortran.push_back(static_cast<float>(1000 * i + 100 * j + 10 * k + l));
        }
      }
    }
  }
  const Features features = read(described("<f4", "(3, 2, 4, 2)", true) + raw(fortran));
  std::size_t at = 0;
  for (std::size_t i = 0; i < shape[0]; ++i) {
    for (std::size_t j = 0; j < shape[1]; ++j) {
      for (std::size_t k = 0; k < shape[2]; ++k) {
        for (std::size_t l = 0; l < shape[3]; ++l) {
          EXPECT_EQ(features.dense[at++], static_cast<float>(1000 * i + 100 * j + 10 * k + l));
        }
      }
    }
  }
}

struct Bad {
  std::string bytes;
  std::string expected;
};

TEST(Npy, RefusesWithAReason) {
  const std::string good = described("<f4", "(2, 2)");
  const std::vector<Bad> table = {
      {"", "a.npy: the file is empty"},
      {"task,x\n1,2\n", "a.npy: byte 0: this is no .npy file: save the array with numpy.save"},
      {"\x93NUM", "a.npy: byte 4: the file ends inside its header"},
      {"\x93NUMPY\x04\x00\x10\x00"s, "byte 6: version 4.0 of the .npy format is not known"},
      {good.substr(0, 30), "the file ends inside its header: it was cut off"},
      {"\x93NUMPY\x02\x00\xFF\xFF\xFF\x7F"s, "byte 8: the header would be 2147483647 bytes long"},
      {header("{'descr': '<f4'}"), "the header lacks one of descr, fortran_order and shape"},
      {header("hello"), "byte 10: the header is no dictionary: '{' is missing"},
      {header("{'descr': '<f4', 'shape': (1, 1), 'fortran_order': False, 'x': 1}"), "an unexpected key 'x'"},
      {header("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1, 1)}"), "neither True nor False"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1)}"), "something that is no size"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)} x"), "text follows the header's dictionary"},
      {header("{'descr': '<f4, 'fortran_order'"), "the type '<f4, ' cannot be read"},
      {header("{'descr': '<f4"), "a quoted text of the header never ends"},
      {header("{'descr': '<f4', \0 }"s), "the header holds a NUL byte"},
      {header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2)}"), "no size"},
      {described("<f4", "(4294967296, 4294967296)"), "promises more than 1099511627776 numbers"},
      {described("|O", "(2, 2)"), "an array of Python objects, which only Python can read: save it as numbers"},
      {header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"), "a structured array"},
      {described(">f4", "(2, 2)"), "the numbers are big-endian ('>f4'): save them as little-endian"},
      {described("<c8", "(2, 2)"), "the type '<c8' cannot be read: save the array as float32, float64 or uint8"},
      {described("<f2", "(2, 2)"), "the type '<f2' cannot be read"},
      {described("<f4", "(4,)") + raw<float>({1, 2, 3, 4}), "1 dimension (4): features need rows × columns"},
      {described("<f4", "()") + raw<float>({1}), "0 dimensions"},
      {described("<f4", "(1, 1, 1, 1, 1)") + raw<float>({1}), "5 dimensions"},
      {described("<f4", "(0, 3)"), "shape (0, 3), so it is empty"},
      {described("<f4", "(3, 0)"), "shape (3, 0), so it is empty"},
      {described("<f4", "(4294967295, 2)"), "4294967295 rows are more than can be numbered"},
      {good + raw<float>({1, 2, 3}), "the file ends after 3 of the 4 numbers that its shape (2, 2) promises"},
      {good + raw<float>({1, 2, 3}) + "ab", "the file ends after 3 of the 4 numbers"},
      {good + raw<float>({1, 2, 3, 4}) + "x", "more follows after the 4 numbers that its shape (2, 2) promises"},
      {described("<f8", "(100000000, 1000)"), "the file ends after 0 of the 100000000000 numbers"},
      {"PK\x03\x04 rest of a zip", "a.npy: this is a zip archive"},
  };
  for (const Bad& bad : table) {
    try {
      (void)read(bad.bytes, {.window_bytes = 64});
      ADD_FAILURE() << "was accepted; wanted: " << bad.expected;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(bad.expected), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
    }
  }
}

}  // namespace
}  // namespace wisecrowd::ingest
