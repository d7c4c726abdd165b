#include "learn/shared/torch_plugin.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

/// Asks for an export with the plugin at a given place, and ends the process with what came of it.
[[noreturn]] void export_with_plugin_at(const char* path) {
  setenv("WISECROWD_TORCH_PLUGIN", path, 1);
  try {
    export_dense_torchscript("never_written.pt", 1, std::vector<std::size_t>{1}, std::vector<float>{1, 2}, {});
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(error.code() == ErrorCode::unsupported ? 3 : 4);
  }
  std::_Exit(0);
}

TEST(TorchPluginDeathTest, SaysWhatIsWrongWithIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process where the right one is not loaded yet
  EXPECT_EXIT(export_with_plugin_at("/no/such/plugin.so"), ::testing::ExitedWithCode(3),
              "cannot be loaded: .*no/such/plugin.so");
  Dl_info library{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&std::fputs), &library), 0);
  EXPECT_EXIT(export_with_plugin_at(library.dli_fname), ::testing::ExitedWithCode(3), "is not the libtorch plugin of");
}

TEST(TorchPlugin, IsNotNeededToRefuseAModel) {
  const RunContext context;
  Features rows;
  rows.rows = 1;
  rows.shape = {3};
  rows.dense = {1, 2, 3};
  for (const char* kind : {"cnn", "resnet", "no/such/file.pt"}) {
    try {
      (void)make_torch_network({.kind = kind}, rows, 2, 1, context);
      ADD_FAILURE() << kind << " was not refused";
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::unsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find(kind), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("mlp"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace wisecrowd
