#include "learn/shared/dense_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/parallel.hpp"

namespace wisecrowd {
namespace {

Features random_rows(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Features features;
  features.rows = rows;
  features.shape = {columns};
  Rng rng(seed);
  for (std::size_t v = 0; v < rows * columns; ++v) features.dense.push_back(static_cast<float>(rng.normal()));
  return features;
}

/// The same rows, written as sparse ones.
Features as_sparse(const Features& dense) {
  Features sparse;
  sparse.rows = dense.rows;
  sparse.shape = dense.shape;
  sparse.offsets.push_back(0);
  for (std::size_t r = 0; r < dense.rows; ++r) {
    for (std::size_t c = 0; c < dense.columns(); ++c) {
      if (dense.row(r)[c] == 0) continue;
      sparse.indices.push_back(static_cast<std::uint32_t>(c));
      sparse.values.push_back(dense.row(r)[c]);
    }
    sparse.offsets.push_back(sparse.values.size());
  }
  return sparse;
}

std::vector<std::uint32_t> all_rows(const Features& features) {
  std::vector<std::uint32_t> rows(features.rows);
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

/// Plain loops in double precision.
std::vector<double> slow_forward(DenseNetwork& network, const Features& features, std::size_t row) {
  std::vector<double> in(features.row(row).begin(), features.row(row).end());
  std::size_t place = 0;
  for (std::size_t l = 0; l < network.widths().size(); ++l) {
    const std::size_t width = network.widths()[l];
    std::vector<double> out(width);
    for (std::size_t h = 0; h < width; ++h) {
      out[h] = network.parameters()[place + in.size() * width + h];
      for (std::size_t d = 0; d < in.size(); ++d) out[h] += in[d] * network.parameters()[place + d * width + h];
      if (l + 1 < network.widths().size()) out[h] = std::max(out[h], 0.0);
    }
    place += in.size() * width + width;
    in = out;
  }
  return in;
}

TEST(DenseNetwork, AgreesWithPlainLoopsDenseAndSparse) {
  ThreadPool pool(2);
  for (const std::vector<std::size_t>& widths : {std::vector<std::size_t>{3}, {7, 3}, {9, 5, 4}}) {
    DenseNetwork network(11, widths, 0.5, 3, pool);
    const Features features = random_rows(70, 11, 4);
    const auto rows = all_rows(features);
    std::vector<float> outputs(rows.size() * widths.back()), sparse(outputs.size());
    network.forward(features, rows, Network::Mode::predict, outputs);
    network.forward(as_sparse(features), rows, Network::Mode::predict, sparse);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const auto expected = slow_forward(network, features, r);
      for (std::size_t k = 0; k < widths.back(); ++k) {
        EXPECT_NEAR(outputs[r * widths.back() + k], expected[k], 1e-5);
        EXPECT_NEAR(sparse[r * widths.back() + k], expected[k], 1e-5);
      }
    }
  }
}

TEST(DenseNetwork, GradientsAgreeWithDifferences) {
  ThreadPool pool(2);
  for (const bool sparse : {false, true}) {
    for (const std::vector<std::size_t>& widths : {std::vector<std::size_t>{2}, {6, 2}, {6, 5, 2}}) {
      DenseNetwork network(4, widths, 0, 7, pool);
      const Features dense = random_rows(40, 4, 5);
      const Features features = sparse ? as_sparse(dense) : dense;
      const auto rows = all_rows(features);
      // Loss: Σ c_rk · out_rk with fixed c, in double precision.
      Rng rng(1);
      std::vector<float> weights(rows.size() * 2);
      for (float& c : weights) c = static_cast<float>(rng.normal());
      std::vector<float> outputs(weights.size());
      network.forward(features, rows, Network::Mode::train, outputs);
      network.backward(weights);
      const std::vector<float> gradients(network.gradients().begin(), network.gradients().end());
      const auto loss = [&] {
        double sum = 0;
        for (std::size_t r = 0; r < rows.size(); ++r) {
          const auto out = slow_forward(network, dense, r);
          for (std::size_t k = 0; k < 2; ++k) sum += weights[r * 2 + k] * out[k];
        }
        return sum;
      };
      for (std::size_t p = 0; p < gradients.size(); ++p) {
        const float kept = network.parameters()[p];
        constexpr float kChange = 1e-5F;
        network.parameters()[p] = kept + kChange;
        const double up = network.parameters()[p], above = loss();
        network.parameters()[p] = kept - kChange;
        const double down = network.parameters()[p], below = loss();
        network.parameters()[p] = kept;
        EXPECT_NEAR(gradients[p], (above - below) / (up - down), 0.02 + 0.01 * std::abs(gradients[p]))
            << "parameter " << p;
      }
    }
  }
}

TEST(DenseNetwork, DropoutKeepsTheMeanAndFollowsItsSeed) {
  ThreadPool pool(1);
  DenseNetwork network(4, {64, 1}, 0.5, 2, pool);
  const Features features = random_rows(1, 4, 9);
  const std::vector<std::uint32_t> row{0};
  std::vector<float> plain(1), draw(1), again(1);
  network.forward(features, row, Network::Mode::predict, plain);
  double sum = 0;
  bool differs = false;
  for (int i = 0; i < 20000; ++i) {
    network.forward(features, row, Network::Mode::sample, draw);
    differs = differs || draw[0] != plain[0];
    sum += draw[0];
  }
  EXPECT_TRUE(differs);
  EXPECT_NEAR(sum / 20000, plain[0], 0.02);
  network.reseed(5);
  network.forward(features, row, Network::Mode::sample, draw);
  network.reseed(5);
  network.forward(features, row, Network::Mode::sample, again);
  EXPECT_EQ(draw[0], again[0]);
}

TEST(DenseNetwork, TheNumberOfThreadsChangesNothing) {
  const Features features = random_rows(300, 200, 5);
  const auto rows = all_rows(features);
  std::vector<std::vector<float>> outputs, gradients;
  for (const unsigned threads : {1U, 2U, 3U}) {
    ThreadPool pool(threads);
    DenseNetwork network(200, {96, 5}, 0.5, 3, pool);
    outputs.emplace_back(rows.size() * 5);
    network.forward(features, rows, Network::Mode::train, outputs.back());
    network.backward(outputs.back());
    gradients.emplace_back(network.gradients().begin(), network.gradients().end());
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  EXPECT_EQ(outputs[0], outputs[2]);
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(gradients[0], gradients[2]);
}

}  // namespace
}  // namespace wisecrowd
