#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "base/rng.hpp"
#include "learn/shared/network.hpp"
#include "learn/shared/optimiser.hpp"
#include "learn/shared/torch_plugin.hpp"

namespace wisecrowd {
namespace {

/// One step of training: forward, backward, Adam. The peer is bench/learn/peer_loops.py --method step.
void training_step(benchmark::State& state, const NetworkSpec& spec, const std::vector<std::size_t>& shape,
                   std::size_t outputs, std::size_t batch) {
  if (spec.kind == "cnn" && torch_plugin_path().empty()) {
    state.SkipWithError("the libtorch plugin is not built");
    return;
  }
  Features features;
  features.rows = 4 * batch;
  features.shape = shape;
  features.dense.resize(features.rows * features.columns());
  Rng rng(1);
  for (float& value : features.dense) value = static_cast<float>(rng.normal());
  const RunContext context({.threads = static_cast<unsigned>(state.range(0))});
  const auto network = make_network(spec, features, outputs, 1, context);
  Optimiser optimiser({}, network->parameters().size());
  std::vector<std::uint32_t> rows(batch);
  std::vector<float> out(batch * outputs), gradient(batch * outputs);
  std::size_t number = 0;
  const auto step = [&] {  // towards outputs of 1
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(batch * (number++ % 4)));
    network->forward(features, rows, Network::Mode::train, out);
    double loss = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      gradient[i] = (out[i] - 1) / static_cast<float>(out.size());
      loss += static_cast<double>(gradient[i]) * gradient[i];
    }
    network->backward(gradient);
    optimiser.step(network->parameters(), network->gradients(), 1, context.pool());
    return loss;
  };
  const double first = step();
  for (int i = 0; i < 20; ++i) step();
  if (!(step() < first)) {
    state.SkipWithError("does not learn");
    return;
  }
  for (auto _ : state) step();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch));
}

void mlp_512_128_8(benchmark::State& state) { training_step(state, {.kind = "mlp", .hidden = 128}, {512}, 8, 64); }
void mlp_8192_128_8(benchmark::State& state) { training_step(state, {.kind = "mlp", .hidden = 128}, {8192}, 8, 64); }
void mlp_1248_100_2(benchmark::State& state) { training_step(state, {.kind = "mlp", .hidden = 100}, {1248}, 2, 128); }
void cnn_28_28(benchmark::State& state) { training_step(state, {.kind = "cnn"}, {28, 28}, 10, 64); }
void cnn_32_32_3(benchmark::State& state) { training_step(state, {.kind = "cnn"}, {32, 32, 3}, 10, 64); }

BENCHMARK(mlp_512_128_8)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK(mlp_8192_128_8)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK(mlp_1248_100_2)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK(cnn_28_28)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK(cnn_32_32_3)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace wisecrowd
