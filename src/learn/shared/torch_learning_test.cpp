#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "learn/shared/cnn_plan.hpp"
#include "learn/shared/dense_network.hpp"
#include "learn/shared/torch_plugin.hpp"
#include "support/learning.hpp"

// What learners and saved models do with networks of libtorch.

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

class TorchLearning : public ::testing::Test {
 protected:
  void SetUp() override {
    if (torch_plugin_path().empty()) GTEST_SKIP() << "the libtorch plugin is not built";
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "OpenMP's own synchronisation is invisible to the thread sanitizer";
#endif
    std::string pattern = (fs::temp_directory_path() / "wisecrowd-torch-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  /// A linear module of two features and classes as TorchScript.
  [[nodiscard]] std::string module(float first_weight) {
    DenseNetwork network(2, {2}, 0, 5, context_.pool());
    network.parameters()[0] = first_weight;
    network.export_torchscript(file("net.pt"), {});
    return file("net.pt");
  }
  [[nodiscard]] static testing::FeatureCrowd crowd() {
    return testing::gaussian_crowd(5, 60, 10, 2, 1.5, {{{.8, .2, .2, .8}, -1}, {{.7, .3, .1, .9}, -1}});
  }

  fs::path folder_;
  RunContext context_{{.threads = 1}};
};

TEST_F(TorchLearning, AModuleThatGivesNoNumbersIsSaid) {
  const std::string broken = module(std::numeric_limits<float>::quiet_NaN());
  for (const char* held_out : {"0", "0.2"}) {
    try {
      (void)testing::run_learner(crowd().data, "two_stage", {{"epochs", "2"}, {"held_out", held_out}}, {.kind = broken},
                                 1);
      ADD_FAILURE() << "NaN became a result";
    } catch (const Diverged& error) {
      EXPECT_NE(std::string(error.what()).find("before it is trained at all: mend the module"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(TorchLearning, AModelWithItsOwnNetworkWantsTrust) {
  const auto data = crowd();
  const Learned learned = testing::run_learner(data.data, "two_stage", {{"epochs", "2"}}, {.kind = module(0.5F)}, 1);
  fs::create_directory(file("model"));
  learned.classifier->save(file("model"));
  EXPECT_TRUE(fs::exists(file("model/network.pt")));
  EXPECT_THROW((void)load_classifier(file("model"), context_), Error);
  const auto loaded = load_classifier(file("model"), context_, {.trust = true});
  EXPECT_EQ(loaded->predict(data.data.features, context_), learned.classifier->predict(data.data.features, context_));
}

TEST_F(TorchLearning, WeightsOfConvolutionsAreCountedBeforeTheyAreMade) {
  for (const std::vector<std::size_t>& shape :
       {std::vector<std::size_t>{9, 8}, {8, 10, 3}, {46, 50, 3}, {60, 47}, {1, 3}, {28, 28, 1}}) {
    Features images;
    images.rows = 1;
    images.shape = shape;
    images.dense.assign(images.columns(), 0.5F);
    const auto network = make_torch_network({.kind = "cnn", .hidden = 7}, images, 3, 1, context_);
    EXPECT_EQ(static_cast<double>(network->parameters().size()), cnn_weight_count(shape, 7, 3)) << images.columns();
  }
}

TEST_F(TorchLearning, SavedConvolutionsNeedNoTrust) {
  auto data = crowd();
  data.data.features.shape = {1, 2};
  const Learned learned =
      testing::run_learner(data.data, "two_stage", {{"epochs", "1"}}, {.kind = "cnn", .hidden = 4}, 1);
  fs::create_directory(file("model"));
  learned.classifier->save(file("model"));
  const auto loaded = load_classifier(file("model"), context_);
  EXPECT_EQ(loaded->predict(data.data.features, context_), learned.classifier->predict(data.data.features, context_));
}

}  // namespace
}  // namespace wisecrowd
