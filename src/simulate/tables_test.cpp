#include "simulate/tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "wisecrowd/simulate.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kClasses = 4;
using Table = std::array<double, kClasses * kClasses>;

std::size_t largest(const Table& table, std::size_t row) {
  const auto* begin = table.data() + row * kClasses;
  return static_cast<std::size_t>(std::max_element(begin, begin + kClasses) - begin);
}

void expect_rows_sum_to_one(const Table& table) {
  for (std::size_t k = 0; k < kClasses; ++k) {
    double sum = 0;
    for (std::size_t l = 0; l < kClasses; ++l) sum += table[k * kClasses + l];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Tables, ShapesOfTheFamilies) {
  Rng rng(3);
  Table table{};
  bool off_diagonal_seen = false;
  for (int draw = 0; draw < 200; ++draw) {
    tables::random(table, kClasses, rng);
    expect_rows_sum_to_one(table);
    off_diagonal_seen = off_diagonal_seen || largest(table, 0) != 0;

    tables::better_than_random(table, kClasses, 1, rng);
    expect_rows_sum_to_one(table);
    for (std::size_t k = 0; k < kClasses; ++k) EXPECT_EQ(largest(table, k), k);

    tables::diagonal_dominant(table, kClasses, 0.5, rng);
    expect_rows_sum_to_one(table);
    for (std::size_t k = 0; k < kClasses; ++k) EXPECT_GT(table[k * kClasses + k], 1 / (1 + 0.5 * kClasses));

    tables::adversary(table, kClasses, rng);
    expect_rows_sum_to_one(table);
    for (std::size_t k = 0; k < kClasses; ++k) EXPECT_NE(largest(table, k), k);

    tables::spammer(table, kClasses, rng);
    expect_rows_sum_to_one(table);
    for (std::size_t c = kClasses; c < table.size(); ++c) EXPECT_EQ(table[c], table[c % kClasses]);

    tables::class_expert(table, kClasses, 2, rng);
    expect_rows_sum_to_one(table);
    for (std::size_t k = 0; k < kClasses; ++k) EXPECT_EQ(table[k * kClasses + 2], k == 2 ? 1 : 0);
  }
  EXPECT_TRUE(off_diagonal_seen);
}

TEST(Tables, LevelMultipliesTheOddsOfTheDiagonal) {
  Table one{};
  Table three{};
  Rng rng(5);
  Rng same(5);
  tables::better_than_random(one, kClasses, 1, rng);
  tables::better_than_random(three, kClasses, 3, same);
  for (std::size_t k = 0; k < kClasses; ++k) {
    const double p = one[k * kClasses + k];
    const double q = three[k * kClasses + k];
    EXPECT_NEAR(q / (1 - q), 3 * p / (1 - p), 1e-9);
  }
}

TEST(Tables, ChoicesOfTheDawidSkeneKind) {
  const auto draw = [](const char* family) {
    Parameters parameters(simulation_kind("dawid_skene").parameters);
    parameters.set("tables", std::string_view(family));
    parameters.set("spammer_share", "0.1");
    parameters.set("adversary_share", "0.2");
    return simulate("dawid_skene", {10, 50, kClasses, 5}, parameters, RunContext());
  };
  const auto table = [](const Simulation& s, std::size_t w) {
    Table copy{};
    std::copy_n(s.confusion.begin() + static_cast<std::ptrdiff_t>(w * copy.size()), copy.size(), copy.begin());
    return copy;
  };
  Table perfect{};
  tables::identity(perfect, kClasses);
  for (const char* family : {"random", "better_than_random", "diagonal_dominant", "separable", "symmetric_flip",
                             "class_experts", "two_coin", "spammer", "adversary"}) {
    const Simulation s = draw(family);
    const auto kinds = [&](const char* kind) { return std::count(s.worker_kind.begin(), s.worker_kind.end(), kind); };
    const std::string name = family;
    EXPECT_EQ(kinds("spammer"), name == "spammer" ? 40 : 5) << family;
    EXPECT_EQ(kinds("adversary"), name == "adversary" ? 45 : 10) << family;
    EXPECT_EQ(kinds("expert"), name == "separable" ? 1 : 0) << family;
    for (std::size_t k = 0; k < kClasses; ++k) {
      EXPECT_EQ(kinds(("expert for " + std::to_string(k)).c_str()), name == "class_experts" ? 1 : 0);
    }
    std::size_t identities = 0;
    for (std::size_t w = 0; w < 50; ++w) {
      const Table t = table(s, w);
      identities += t == perfect ? 1 : 0;
      if (s.worker_kind[w] == "expert") {
        EXPECT_EQ(t, perfect);
      }
      if (s.worker_kind[w].starts_with("expert for ")) {
        const std::size_t k = static_cast<std::size_t>(s.worker_kind[w].back() - '0');
        EXPECT_EQ(t[k * kClasses + k], 1);
      }
      if (s.worker_kind[w] != "honest") continue;
      if (name == "symmetric_flip") {
        // Rows sum to 1: the wrong classes share the flips among K − 1, not K.
        EXPECT_DOUBLE_EQ(t[0], 0.7);
        for (std::size_t l = 1; l < kClasses; ++l) EXPECT_DOUBLE_EQ(t[l], 0.1);
      } else if (name == "two_coin") {
        EXPECT_NE(t[0], t[kClasses + 1]);
        EXPECT_DOUBLE_EQ(t[1], (1 - t[0]) / 3);
        EXPECT_DOUBLE_EQ(t[kClasses], (1 - t[kClasses + 1]) / 3);
      }
    }
    EXPECT_EQ(identities, name == "separable" ? 1U : 0U) << family;
  }
}

}  // namespace
}  // namespace wisecrowd
