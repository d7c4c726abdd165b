#include "base/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/rng.hpp"

namespace wisecrowd {
namespace {

TEST(HugePages, AlignedAndUsedAgain) {
  void* const first = allocate_huge_pages(4 * kHugePage);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kHugePage, 0U);
  std::memset(first, 1, 4 * kHugePage);
  const std::size_t before = kept_huge_pages_bytes();
  free_huge_pages(first, 4 * kHugePage);
  EXPECT_EQ(kept_huge_pages_bytes(), before + 4 * kHugePage);
  // In two parts, which are one again afterwards.
  void* const a = allocate_huge_pages(kHugePage);
  void* const b = allocate_huge_pages(3 * kHugePage);
  EXPECT_EQ(kept_huge_pages_bytes(), before);
  free_huge_pages(a, kHugePage);
  free_huge_pages(b, 3 * kHugePage);
  void* const whole = allocate_huge_pages(4 * kHugePage);
  EXPECT_EQ(kept_huge_pages_bytes(), before);
  free_huge_pages(whole, 4 * kHugePage);
}

TEST(HugePages, NothingIsHandedOutTwice) {
  struct Held {
    unsigned char* memory;
    std::size_t pages;
    unsigned char mark;
  };
  std::vector<Held> held;
  Rng rng(8);
  for (int step = 0; step < 600; ++step) {
    if (held.size() < 12 && rng.bernoulli(0.6)) {
      const std::size_t pages = 1 + rng.below(6);
      auto* const memory = static_cast<unsigned char*>(allocate_huge_pages(pages * kHugePage));
      const auto mark = static_cast<unsigned char>(step);
      for (std::size_t p = 0; p < pages; ++p) memory[p * kHugePage] = memory[(p + 1) * kHugePage - 1] = mark;
      held.push_back({memory, pages, mark});
    } else if (!held.empty()) {
      const std::size_t i = rng.below(held.size());
      for (std::size_t p = 0; p < held[i].pages; ++p) {
        ASSERT_EQ(held[i].memory[p * kHugePage], held[i].mark);
        ASSERT_EQ(held[i].memory[(p + 1) * kHugePage - 1], held[i].mark);
      }
      free_huge_pages(held[i].memory, held[i].pages * kHugePage);
      held[i] = held.back();
      held.pop_back();
    }
  }
  for (const Held& h : held) free_huge_pages(h.memory, h.pages * kHugePage);
  EXPECT_LE(kept_huge_pages_bytes(), std::size_t{256} << 20);
}

TEST(HugePages, TooMuchIsRefused) {
  EXPECT_THROW(static_cast<void>(allocate_huge_pages(std::size_t{1} << 56)), std::bad_alloc);
}

}  // namespace
}  // namespace wisecrowd
