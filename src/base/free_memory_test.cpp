#include "base/free_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like the root of a system.
class FreeMemory : public testing::Test {
 protected:
  void SetUp() override {
    root_ = (fs::temp_directory_path() / ("free_memory_test_" + std::to_string(getpid()))).string();
    write("/proc/meminfo", "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

constexpr std::uint64_t kAvailable = 8'000'000ULL * 1024;

TEST_F(FreeMemory, IsWhatTheKernelCallsAvailable) { EXPECT_EQ(free_memory(root_), kAvailable); }

TEST_F(FreeMemory, UnifiedGroupsLimitIt) {
  write("/proc/self/cgroup", "0::/jobs/mine\n");
  write("/sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  write("/sys/fs/cgroup/jobs/mine/memory.current", "1000000\n");
  EXPECT_EQ(free_memory(root_), kAvailable) << "no limit";
  write("/sys/fs/cgroup/jobs/memory.max", "3000000\n");
  write("/sys/fs/cgroup/jobs/memory.current", "2000000\n");
  write("/sys/fs/cgroup/jobs/memory.stat", "anon 1500000\ninactive_file_old 7\ninactive_file 400000\n");
  EXPECT_EQ(free_memory(root_), 1'400'000U) << "a group above, whose cached files can go";
  write("/sys/fs/cgroup/jobs/mine/memory.max", "500000\n");
  EXPECT_EQ(free_memory(root_), 0U) << "more in use than allowed";
}

TEST_F(FreeMemory, FirstVersionGroupsLimitIt) {
  write("/proc/self/cgroup", "12:cpu,cpuacct:/a\n4:memory:/a\n0::/\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000000\n");
  write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000000\n");
  write("/sys/fs/cgroup/memory/a/memory.stat", "total_inactive_file 250000\n");
  EXPECT_EQ(free_memory(root_), 4'250'000U);
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(free_memory(root_), kAvailable);
}

TEST_F(FreeMemory, UnknownWhereTheSystemDoesNotSay) {
  fs::remove_all(root_);
  EXPECT_FALSE(free_memory(root_));
}

TEST(MemoryText, IsShort) {
  EXPECT_EQ(memory_text(850e6), "850 MB");
  EXPECT_EQ(memory_text(17.28e9), "17.3 GB");
  EXPECT_EQ(memory_text(1), "1 MB");
  EXPECT_EQ(memory_text(3.2e12), "3200 GB");
}

}  // namespace
}  // namespace wisecrowd
