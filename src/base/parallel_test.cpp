#include "base/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

TEST(ThreadPool, EveryBlockRunsOnceOnAThreadOfTheTeam) {
  for (const unsigned threads : {1U, 2U, 5U}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const std::size_t blocks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(blocks);
      pool.for_each_block(blocks, [&](std::size_t block, unsigned thread) {
        EXPECT_LT(thread, threads);
        ++runs.at(block);
      });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, TheCallerIsThreadZero) {
  ThreadPool pool(3);
  const auto caller = std::this_thread::get_id();
  pool.for_each_block(
      500, [&](std::size_t, unsigned thread) { EXPECT_EQ(thread == 0, std::this_thread::get_id() == caller); });
}

TEST(ThreadPool, MoreThanOneThreadTakesPart) {
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  // Two blocks that wait for one another: with one thread this would never end.
  pool.for_each_block(2, [&](std::size_t, unsigned) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 2);
}

TEST(ThreadPool, NoThreadsMeansOne) {
  ThreadPool pool(0);
  EXPECT_EQ(pool.size(), 1U);
  int runs = 0;
  pool.for_each_block(3, [&](std::size_t, unsigned) { ++runs; });
  EXPECT_EQ(runs, 3);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(ThreadPool, GoesOnWithTheThreadsThatStarted) {
  // Without memory for further stacks no thread can start; in a process of its own, because the limit stays.
  const auto work_without_memory = [] {
    const rlimit nothing{1, 1};
    if (setrlimit(RLIMIT_AS, &nothing) != 0) std::_Exit(2);
    ThreadPool pool(64);
    std::atomic<int> runs{0};
    pool.for_each_block(100, [&](std::size_t, unsigned thread) { runs += thread < pool.size() ? 1 : 0; });
    std::_Exit(pool.size() < 64 && runs == 100 ? 0 : 1);
  };
  EXPECT_EXIT(work_without_memory(), testing::ExitedWithCode(0), "");
}
#endif

TEST(ThreadPool, RethrowsAndStaysUsable) {
  for (const unsigned threads : {1U, 4U}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      std::atomic<std::size_t> ran{0};
      try {
        pool.for_each_block(100000, [&](std::size_t block, unsigned) {
          ++ran;
          if (block == 17) throw Error(ErrorCode::bad_input, "block seventeen");
          // Slow enough that the thread which throws is heard, however late the machine lets it run.
          if (block > 17) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
        FAIL() << "nothing was thrown";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_input);
        EXPECT_STREQ(error.what(), "block seventeen");
      }
      EXPECT_LT(ran, 100000U);  // the rest is not worked off in vain
      std::atomic<std::size_t> after{0};
      pool.for_each_block(64, [&](std::size_t, unsigned) { ++after; });
      EXPECT_EQ(after, 64U);
    }
  }
}

TEST(ThreadPool, OneFailureOfManyIsReported) {
  ThreadPool pool(4);
  EXPECT_THROW(
      pool.for_each_block(100, [](std::size_t block, unsigned) { throw std::runtime_error(std::to_string(block)); }),
      std::runtime_error);
}

TEST(ThreadPool, ManyShortJobsDoNotHang) {
  ThreadPool pool(3);
  std::atomic<std::uint64_t> sum{0};
  for (int job = 0; job < 5000; ++job) {
    pool.for_each_block(3, [&](std::size_t block, unsigned) { sum += block; });
  }
  EXPECT_EQ(sum, 15000U);
}

TEST(Blocks, CutARangeWithoutGapsOrOverlaps) {
  for (const std::size_t total : {0, 1, 9, 10, 11, 100}) {
    for (const std::size_t size : {1, 3, 10, 1000}) {
      const Blocks blocks{total, size};
      std::size_t next = 0;
      for (std::size_t b = 0; b < blocks.count(); ++b) {
        EXPECT_EQ(blocks.begin(b), next);
        EXPECT_GT(blocks.end(b), blocks.begin(b));
        EXPECT_LE(blocks.end(b) - blocks.begin(b), size);
        next = blocks.end(b);
      }
      EXPECT_EQ(next, total);
    }
  }
}

}  // namespace
}  // namespace wisecrowd
