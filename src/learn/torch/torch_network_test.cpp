#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "learn/shared/dense_network.hpp"
#include "learn/shared/torch_plugin.hpp"
#include "support/crowds.hpp"
#include "wisecrowd/error.hpp"

// The plugin through the same door as the program: nothing here includes libtorch.

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;
using Mode = Network::Mode;

class TorchNetwork : public ::testing::Test {
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

  std::unique_ptr<Network> network(const NetworkSpec& spec, const Features& inputs, std::size_t outputs,
                                   std::uint64_t seed = 1) {
    return make_torch_network(spec, inputs, outputs, seed, context_);
  }

  /// Debian's own interpreter has libtorch's Python side; another first in the path may not.
  int python(const std::string& command) const {
    const std::string script = testing::source_folder() + "/tests/support/torch_modules.py";
    const int status = std::system(("/usr/bin/python3 -B '" + script + "' " + command + " '" + folder_.string() +
                                    "' > '" + file("python.log") + "' 2>&1")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string python_log() const {
    std::ifstream log(file("python.log"));
    return {std::istreambuf_iterator<char>(log), {}};
  }

  fs::path folder_;
  RunContext context_{{.threads = 2}};
};

Features random_rows(std::size_t rows, std::vector<std::size_t> shape, std::uint64_t seed) {
  Features features;
  features.rows = rows;
  features.shape = std::move(shape);
  features.dense.resize(rows * features.columns());
  Rng rng(seed);
  for (float& value : features.dense) value = static_cast<float>(rng.normal());
  return features;
}

std::vector<std::uint32_t> all_rows(const Features& features) {
  std::vector<std::uint32_t> rows(features.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

std::vector<float> run(Network& network, const Features& features, Mode mode) {
  std::vector<float> outputs(features.rows * network.output_size());
  network.forward(features, all_rows(features), mode, outputs);
  return outputs;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

/// The gradient along random directions, each within a tenth of the parameters, against differences of the loss. The
/// tolerance is relative: ReLU and pooling have kinks, and a difference that steps over one is off by a little.
void expect_right_gradient(Network& network, const Features& features, double tolerance) {
  Rng rng(7);
  std::vector<float> weights(features.rows * network.output_size());
  for (float& w : weights) w = static_cast<float>(rng.normal());
  const auto loss = [&] {
    const auto outputs = run(network, features, Mode::train);
    double sum = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) sum += static_cast<double>(outputs[i]) * weights[i];
    return sum;
  };
  const auto gradients = network.gradients();
  std::fill(gradients.begin(), gradients.end(), 0.0F);
  loss();
  network.backward(weights);
  const std::vector<float> once(gradients.begin(), gradients.end());
  loss();
  network.backward(weights);
  double twice = 0;
  for (std::size_t p = 0; p < once.size(); ++p) twice = std::max(twice, std::abs(gradients[p] - 2.0 * once[p]));
  EXPECT_LT(twice, 1e-3) << "backward must add";

  const auto parameters = network.parameters();
  const std::vector<float> start(parameters.begin(), parameters.end());
  constexpr std::size_t kParts = 10;
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::size_t begin = part * start.size() / kParts, end = (part + 1) * start.size() / kParts;
    std::vector<double> direction(end - begin);
    double norm = 0, expected = 0;
    for (double& d : direction) {
      d = rng.normal();
      norm += d * d;
    }
    for (std::size_t p = begin; p < end; ++p) {
      direction[p - begin] /= std::sqrt(norm);
      expected += direction[p - begin] * static_cast<double>(once[p]);
    }
    const double step = 2e-3;
    const auto at = [&](double distance) {
      for (std::size_t p = begin; p < end; ++p) {
        parameters[p] = static_cast<float>(start[p] + distance * direction[p - begin]);
      }
      const double value = loss();
      std::copy(start.begin(), start.end(), parameters.begin());
      return value;
    };
    const double found = (at(step) - at(-step)) / (2 * step);
    double scale = 0;
    for (std::size_t p = begin; p < end; ++p) scale += static_cast<double>(once[p]) * once[p];
    // Of a random direction the share is about 1/√n of the gradient's length.
    const double length = std::sqrt(scale / static_cast<double>(end - begin));
    EXPECT_NEAR(found, expected, tolerance * (std::abs(expected) + length) + 2e-3) << "part " << part;
    EXPECT_GT(length, 0) << "part " << part;
  }
}

TEST_F(TorchNetwork, ConvolutionalGradientIsThatOfDifferences) {
  for (const auto& shape : {std::vector<std::size_t>{9, 8}, {12, 10, 3}, {1, 7}, {46, 47}}) {
    SCOPED_TRACE(shape.size());
    const Features images = random_rows(5, shape, 3);
    const auto cnn = network({.kind = "cnn", .hidden = 12, .dropout = 0}, images, 3);
    expect_right_gradient(*cnn, images, 0.1);
  }
}

TEST_F(TorchNetwork, ConvolutionalHasTheShapeOfTheExperiments) {
  // 150 × 150 × 3: four valid convolutions, 64 · 7 · 7 into the hidden layer.
  const Features photo = random_rows(1, {150, 150, 3}, 4);
  const auto large = network({.kind = "cnn", .hidden = 128, .dropout = 0.5}, photo, 2);
  const std::size_t trunk =
      (3 * 9 * 32 + 32) + (32 + 32) + (32 * 9 * 32 + 32) + (32 * 9 * 64 + 64) + (64 * 9 * 64 + 64);
  EXPECT_EQ(large->parameters().size(), trunk + 64 * 7 * 7 * 128 + 128 + 128 * 2 + 2);
  EXPECT_EQ(large->buffers().size(), 64U);
  // 28 × 28: 14, 7, 3, and 3 again.
  const Features shirt = random_rows(1, {28, 28}, 4);
  const auto small = network({.kind = "cnn", .hidden = 128, .dropout = 0.5}, shirt, 10);
  EXPECT_EQ(small->parameters().size(), trunk - 2 * 9 * 32 + 64 * 3 * 3 * 128 + 128 + 128 * 10 + 10);
}

TEST_F(TorchNetwork, SeedsDecideEverything) {
  const Features images = random_rows(6, {8, 8}, 5);
  const NetworkSpec spec{.kind = "cnn", .hidden = 32, .dropout = 0.5};
  const auto a = network(spec, images, 3, 11), b = network(spec, images, 3, 11), c = network(spec, images, 3, 12);
  EXPECT_EQ(run(*a, images, Mode::predict), run(*b, images, Mode::predict));
  EXPECT_NE(run(*a, images, Mode::predict), run(*c, images, Mode::predict));
  // Two that take turns draw what each would draw alone.
  std::vector<std::vector<float>> alone, in_turn;
  for (int i = 0; i < 3; ++i) alone.push_back(run(*a, images, Mode::sample));
  for (int i = 0; i < 3; ++i) {
    in_turn.push_back(run(*b, images, Mode::sample));
    run(*c, images, Mode::sample);
  }
  EXPECT_EQ(alone, in_turn);
  EXPECT_NE(alone[0], alone[1]);
  a->reseed(99);
  const auto again = run(*a, images, Mode::sample);
  EXPECT_NE(again, alone[0]);
  a->reseed(99);
  EXPECT_EQ(run(*a, images, Mode::sample), again);
}

TEST_F(TorchNetwork, TrainingTwiceGivesTheSameBits) {
  const Features images = random_rows(32, {12, 12, 3}, 5);
  const auto trained = [&] {
    const auto cnn = network({.kind = "cnn", .hidden = 32, .dropout = 0.5}, images, 3, 11);
    for (int step = 0; step < 4; ++step) {
      std::vector<float> gradient = run(*cnn, images, Mode::train);
      for (float& g : gradient) g = (g - 1) / 32;
      cnn->backward(gradient);
      const auto parameters = cnn->parameters(), gradients = cnn->gradients();
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        parameters[p] -= 0.01F * gradients[p];
        gradients[p] = 0;
      }
    }
    return std::vector<float>(cnn->parameters().begin(), cnn->parameters().end());
  };
  EXPECT_EQ(trained(), trained());
}

TEST_F(TorchNetwork, SamplingDropsButDoesNotNormaliseByTheBatch) {
  const Features images = random_rows(6, {8, 8}, 5);
  const auto cnn = network({.kind = "cnn", .hidden = 16, .dropout = 0}, images, 3);
  const auto before = cnn->buffers();
  const auto predicted = run(*cnn, images, Mode::predict);
  EXPECT_EQ(run(*cnn, images, Mode::sample), predicted) << "without dropout a sample is the prediction";
  EXPECT_EQ(cnn->buffers(), before);
  EXPECT_NE(run(*cnn, images, Mode::train), predicted);
  EXPECT_NE(cnn->buffers(), before) << "training keeps running means";
}

TEST_F(TorchNetwork, ParametersAndBuffersAreTheWholeState) {
  const Features images = random_rows(6, {8, 8, 2}, 6);
  const NetworkSpec spec{.kind = "cnn", .hidden = 16, .dropout = 0.3};
  const auto a = network(spec, images, 3, 1), b = network(spec, images, 3, 2);
  run(*a, images, Mode::train);
  std::copy(a->parameters().begin(), a->parameters().end(), b->parameters().begin());
  b->set_buffers(a->buffers());
  EXPECT_EQ(run(*a, images, Mode::predict), run(*b, images, Mode::predict));
  EXPECT_THROW(b->set_buffers(std::vector<float>(3)), Error);
}

TEST_F(TorchNetwork, ManyRowsAreAsOneByOne) {
  const Features images = random_rows(300, {6, 6}, 8);
  const auto cnn = network({.kind = "cnn", .hidden = 8, .dropout = 0.5}, images, 2);
  const auto together = run(*cnn, images, Mode::predict);
  for (const std::uint32_t row : {0U, 127U, 128U, 299U}) {
    std::vector<float> alone(2);
    cnn->forward(images, std::vector{row}, Mode::predict, alone);
    EXPECT_NEAR(alone[0], together[row * 2], 1e-5);
    EXPECT_NEAR(alone[1], together[row * 2 + 1], 1e-5);
  }
}

TEST_F(TorchNetwork, ThreadsChangeTheTimeOnly) {
  const Features images = random_rows(16, {12, 12, 3}, 8);
  const NetworkSpec spec{.kind = "cnn", .hidden = 16, .dropout = 0.5};
  const RunContext one({.threads = 1});
  const auto a = make_torch_network(spec, images, 4, 3, one), b = network(spec, images, 4, 3);
  const std::vector<float> ones(16 * 4, 1.0F);
  EXPECT_LT(largest_difference(run(*a, images, Mode::train), run(*b, images, Mode::train)), 1e-5);
  a->backward(ones);
  b->backward(ones);
  EXPECT_LT(largest_difference(a->gradients(), b->gradients()), 1e-3);
}

/// DenseNetwork keeps weights as inputs × outputs, libtorch the other way round.
std::vector<float> as_script(std::span<const float> block, std::size_t inputs, std::span<const std::size_t> widths) {
  std::vector<float> result;
  std::size_t place = 0;
  for (const std::size_t width : widths) {
    for (std::size_t o = 0; o < width; ++o) {
      for (std::size_t i = 0; i < inputs; ++i) result.push_back(block[place + i * width + o]);
    }
    place += inputs * width;
    for (std::size_t o = 0; o < width; ++o) result.push_back(block[place + o]);
    place += width;
    inputs = width;
  }
  return result;
}

TEST_F(TorchNetwork, ExportedLayersComputeAndLearnTheSame) {
  const Features rows = random_rows(20, {7}, 9);
  const std::vector<std::size_t> widths{11, 6, 3};
  DenseNetwork native(7, widths, 0, 5, context_.pool());
  native.export_torchscript(file("dense.pt"), {});
  const auto script = network({.kind = file("dense.pt")}, rows, 3);
  EXPECT_LT(largest_difference(run(native, rows, Mode::train), run(*script, rows, Mode::train)), 1e-5);
  Rng rng(3);
  std::vector<float> gradient(20 * 3);
  for (float& g : gradient) g = static_cast<float>(rng.normal());
  native.backward(gradient);
  script->backward(gradient);
  EXPECT_LT(largest_difference(as_script(native.parameters(), 7, widths), script->parameters()), 1e-7);
  EXPECT_LT(largest_difference(as_script(native.gradients(), 7, widths), script->gradients()), 1e-4);
  expect_right_gradient(*script, rows, 0.03);
}

TEST_F(TorchNetwork, SparseRowsAreTheSameAsDenseOnes) {
  Features dense;
  dense.rows = 3;
  dense.shape = {5};
  dense.dense = {0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, -1};
  Features sparse;
  sparse.rows = 3;
  sparse.shape = {5};
  sparse.offsets = {0, 2, 2, 4};
  sparse.indices = {1, 3, 0, 4};
  sparse.values = {1, 2, 3, -1};
  DenseNetwork native(5, {4, 2}, 0, 5, context_.pool());
  native.export_torchscript(file("dense.pt"), {});
  const auto script = network({.kind = file("dense.pt")}, sparse, 2);
  EXPECT_EQ(run(*script, sparse, Mode::predict), run(*script, dense, Mode::predict));
}

TEST_F(TorchNetwork, AnExportIsWrittenWholeOrNotAtAll) {
  const DenseNetwork native(5, {2}, 0, 5, context_.pool());
  native.export_torchscript(file("a.pt"), {});
  EXPECT_THROW(native.export_torchscript(file("no/such/folder/a.pt"), {}), Error);
  fs::create_directory(file("taken"));
  std::ofstream(file("taken/file")) << "x";
  EXPECT_THROW(native.export_torchscript(file("taken"), {}), Error);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a.pt", "taken"})) << "something was left behind";
}

/// What a call is refused with.
template <class Call>
std::string refusal(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "was not refused";
}

TEST_F(TorchNetwork, RefusesWhatIsNoModel) {
  const Features rows = random_rows(4, {5}, 1);
  const auto ask = [&](ErrorCode code, const std::string& kind) {
    return refusal(code, [&] { (void)network({.kind = kind}, rows, 3); });
  };
  EXPECT_NE(ask(ErrorCode::bad_input, "cnn").find("needs images"), std::string::npos);
  EXPECT_NE(ask(ErrorCode::io, file("none.pt")).find("no such file"), std::string::npos);
  EXPECT_NE(ask(ErrorCode::io, folder_.string()).find("is a folder"), std::string::npos);
  std::ofstream(file("text.pt")) << "not a model";
  EXPECT_NE(ask(ErrorCode::bad_input, file("text.pt")).find("torch.jit.script"), std::string::npos);
  DenseNetwork(5, {2}, 0, 5, context_.pool()).export_torchscript(file("two.pt"), {});
  const std::string wrong = ask(ErrorCode::bad_input, file("two.pt"));
  EXPECT_NE(wrong.find("(2, 2)"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("(batch, 3)"), std::string::npos) << wrong;
  DenseNetwork(6, {3}, 0, 5, context_.pool()).export_torchscript(file("six.pt"), {});
  const std::string narrow = ask(ErrorCode::bad_input, file("six.pt"));
  EXPECT_NE(narrow.find("2x5 and 6x3"), std::string::npos) << narrow;
}

/// Rows and outputs as text, for Python to compare: the shape in the first line, one row per line.
void write_rows(const std::string& path, std::span<const std::size_t> shape, std::span<const float> values) {
  std::ofstream out(path);
  out.precision(9);
  for (const std::size_t extent : shape) out << extent << ' ';
  const std::size_t rows = shape[0], columns = values.size() / rows;
  for (std::size_t i = 0; i < values.size(); ++i) out << (i % columns == 0 ? '\n' : ' ') << values[i];
  out << '\n';
}

TEST_F(TorchNetwork, GoesToPythonAndBack) {
  const int made = python("make");
  if (made == 77) GTEST_SKIP() << "Python has no torch: " << python_log();
  ASSERT_EQ(made, 0) << python_log();

  // From Python: trained here.
  const Features rows = random_rows(12, {4}, 1);
  for (const char* name : {"mlp.pt", "tied.pt", "frozen_layer.pt", "traced.pt"}) {
    SCOPED_TRACE(name);
    const auto script = network({.kind = file(name)}, rows, 3);
    expect_right_gradient(*script, rows, 0.01);
  }
  EXPECT_EQ(network({.kind = file("tied.pt")}, rows, 3)->parameters().size(), 4U * 4 + 4 * 3 + 3);
  EXPECT_EQ(network({.kind = file("frozen_layer.pt")}, rows, 3)->parameters().size(), 5U * 3 + 3);
  EXPECT_EQ(network({.kind = file("frozen_layer.pt")}, rows, 3)->buffers().size(), 4U * 5 + 5);

  // Batch normalisation and dropout of another's making.
  const auto full = network({.kind = file("dropout.pt"), .hidden = 0}, rows, 3);
  const auto still = full->buffers();
  EXPECT_NE(run(*full, rows, Mode::sample), run(*full, rows, Mode::sample));
  EXPECT_EQ(run(*full, rows, Mode::predict), run(*full, rows, Mode::predict));
  EXPECT_EQ(full->buffers(), still);
  run(*full, rows, Mode::train);
  EXPECT_NE(full->buffers(), still);

  const auto ask = [&](const std::string& name) {
    return refusal(ErrorCode::bad_input, [&] { (void)network({.kind = file(name)}, rows, 3); });
  };
  EXPECT_NE(ask("no_parameters.pt").find("no parameters"), std::string::npos);
  EXPECT_NE(ask("double.pt").find("Double"), std::string::npos);
  EXPECT_NE(ask("throws.pt").find("only on Tuesdays"), std::string::npos) << ask("throws.pt");
  EXPECT_NE(ask("three_dim.pt").find("(2, 1, 3)"), std::string::npos);
  EXPECT_NE(ask("pair.pt").find("not a tensor"), std::string::npos) << ask("pair.pt");
  EXPECT_NE(ask("state_dict.pt").find("torch.jit.script"), std::string::npos);

  // To Python: rows as read in, our outputs out.
  const auto send = [&](const std::string& name, Network& trained, const Features& raw, const Scaling& scaling) {
    std::vector<std::size_t> shape{raw.rows};
    shape.insert(shape.end(), raw.shape.begin(), raw.shape.end());
    Features inputs = raw;
    for (std::size_t v = 0; v < inputs.dense.size() && !scaling.empty(); ++v) {
      const std::size_t c = v % scaling.shift.size();
      inputs.dense[v] = (inputs.dense[v] - scaling.shift[c]) * scaling.factor[c];
    }
    const auto outputs = run(trained, inputs, Mode::predict);
    write_rows(file(name + ".rows"), shape, raw.dense);
    write_rows(file(name + ".outputs"), std::vector{raw.rows, trained.output_size()}, outputs);
    trained.export_torchscript(file(name + ".pt"), scaling);
    // And back into C++: the network inside takes scaled rows.
    EXPECT_LT(
        largest_difference(
            run(*network({.kind = file(name + ".pt")}, inputs, trained.output_size()), inputs, Mode::predict), outputs),
        1e-5)
        << name;
  };
  const auto pixels = [](std::size_t count, std::vector<std::size_t> shape) {
    Features images = random_rows(count, std::move(shape), 4);
    for (float& value : images.dense) value = std::round(std::clamp(128 + 60 * value, 0.0F, 255.0F));
    return images;
  };
  const Features gray = pixels(7, {9, 8}), colour = pixels(5, {8, 10, 3});
  const Scaling one{{120.5F}, {0.02F}}, three{{120.5F, 90.0F, 100.0F}, {0.02F, 0.01F, 0.03F}};
  const Scaling columns{{0.5F, -1.0F, 2.0F, 0.0F}, {1.5F, 0.5F, 3.0F, 1.0F}};
  DenseNetwork linear(4, {3}, 0, 5, context_.pool()), mlp(4, {16, 3}, 0.5, 5, context_.pool());
  DenseNetwork on_gray(72, {8, 2}, 0.5, 5, context_.pool()), on_colour(240, {8, 2}, 0.5, 5, context_.pool());
  const auto cnn_gray = network({.kind = "cnn", .hidden = 8}, gray, 2);
  const auto cnn_colour = network({.kind = "cnn", .hidden = 8}, colour, 2);
  run(*cnn_gray, gray, Mode::train);  // running means that differ from where they began
  send("linear", linear, rows, columns);
  send("plain", linear, rows, {});
  send("dense", mlp, rows, columns);
  send("user", *full, rows, columns);
  send("on_gray", on_gray, gray, one);
  send("on_colour", on_colour, colour, three);
  send("cnn_gray", *cnn_gray, gray, one);
  send("cnn_colour", *cnn_colour, colour, three);
  EXPECT_EQ(python("check"), 0) << python_log();
  EXPECT_NE(python_log().find("8 modules agree"), std::string::npos) << python_log();
}

}  // namespace
}  // namespace wisecrowd
