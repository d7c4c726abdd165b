#include "learn/shared/dense_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/parallel.hpp"
#include "support/features.hpp"

namespace wisecrowd {
namespace {

using testing::as_sparse;
using testing::random_rows;

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

/// Draws one by one, 16 bits for each value, every row beginning with a new draw.
TEST(DenseNetwork, InputDropoutHidesWhatItsStreamSays) {
  constexpr std::size_t kRows = 70, kColumns = 10;
  const float keep = 0.75F;
  const Features features = random_rows(kRows, kColumns, 6);
  const auto rows = all_rows(features);
  for (const unsigned threads : {1U, 3U}) {
    ThreadPool pool(threads);
    DenseNetwork network(kColumns, {kColumns}, 0, 3, pool);  // linear: the identity shows its inputs
    std::fill(network.parameters().begin(), network.parameters().end(), 0.0F);
    for (std::size_t c = 0; c < kColumns; ++c) network.parameters()[c * kColumns + c] = 1;
    network.drop_inputs(1 - keep);
    network.reseed(8);
    Rng stream(8);
    std::size_t hidden = 0;
    for (int batch = 0; batch < 2; ++batch) {
      std::vector<float> outputs(kRows * kColumns);
      network.forward(features, rows, Network::Mode::train, outputs);
      for (std::size_t r = 0; r < kRows; ++r) {
        std::uint64_t bits = 0;
        for (std::size_t c = 0; c < kColumns; ++c, bits >>= 16U) {
          if (c % 4 == 0) bits = stream.next();
          const bool kept = (bits & 0xFFFFU) < static_cast<std::uint64_t>(keep * 65536);
          hidden += kept ? 0 : 1;
          ASSERT_EQ(outputs[r * kColumns + c], kept ? features.row(r)[c] * (1 / keep) : 0.0F);
        }
      }
    }
    // A draw of MC-dropout drops units, and there are none here.
    std::vector<float> drawn(kRows * kColumns);
    network.forward(features, rows, Network::Mode::sample, drawn);
    EXPECT_EQ(drawn, features.dense);
    EXPECT_NEAR(static_cast<double>(hidden), 0.25 * 2 * kRows * kColumns, 5 * std::sqrt(0.1875 * 2 * kRows * kColumns));
  }
}

TEST(DenseNetwork, GradientsGoThroughDropout) {
  ThreadPool pool(2);
  const Features features = random_rows(40, 4, 5);
  const auto rows = all_rows(features);
  DenseNetwork network(4, {6, 2}, 0.5, 7, pool);
  network.drop_inputs(0.25);
  Rng rng(1);
  std::vector<float> weights(rows.size() * 2), outputs(weights.size());
  for (float& c : weights) c = static_cast<float>(rng.normal());
  const auto loss = [&](Network::Mode mode) {  // Σ c_rk · out_rk, always with the same draws
    network.reseed(11);
    network.forward(features, rows, mode, outputs);
    double sum = 0;
    for (std::size_t v = 0; v < outputs.size(); ++v) sum += static_cast<double>(weights[v]) * outputs[v];
    return sum;
  };
  loss(Network::Mode::train);
  network.backward(weights);
  for (std::size_t p = 0; p < network.parameters().size(); ++p) {
    const float kept = network.parameters()[p];
    constexpr float kChange = 1e-3F;
    network.parameters()[p] = kept + kChange;
    const double above = loss(Network::Mode::train);
    network.parameters()[p] = kept - kChange;
    const double below = loss(Network::Mode::train);
    network.parameters()[p] = kept;
    EXPECT_NEAR(network.gradients()[p], (above - below) / (2 * kChange), 0.05) << "parameter " << p;
  }
}

TEST(DenseNetwork, RowsInOrderAreReadWhereTheyLie) {
  ThreadPool pool(2);
  DenseNetwork network(11, {7, 3}, 0.5, 3, pool);
  const Features features = random_rows(70, 11, 4);
  std::vector<std::uint32_t> in_order(20), others;
  std::iota(in_order.begin(), in_order.end(), 30U);
  others = in_order;
  std::swap(others[4], others[5]);
  std::vector<float> outputs(20 * 3), swapped(20 * 3);
  network.forward(features, others, Network::Mode::predict, swapped);
  network.forward(features, in_order, Network::Mode::predict, outputs);
  std::swap_ranges(swapped.begin() + 4 * 3, swapped.begin() + 5 * 3, swapped.begin() + 5 * 3);
  for (std::size_t v = 0; v < outputs.size(); ++v) EXPECT_NEAR(outputs[v], swapped[v], 1e-6);
}

TEST(DenseNetwork, TheNumberOfThreadsChangesNothing) {
  const Features features = random_rows(300, 200, 5);
  const auto rows = all_rows(features);
  std::vector<std::vector<float>> outputs, gradients;
  for (const unsigned threads : {1U, 2U, 3U}) {
    ThreadPool pool(threads);
    DenseNetwork network(200, {96, 5}, 0.5, 3, pool);
    network.drop_inputs(0.5);
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
