#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "base/numeric.hpp"
#include "base/rng.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kValues = 4096;  // 64 kB in and out: stays in the second-level cache

std::vector<double> draw(double low, double high) {
  Rng rng(1);
  std::vector<double> values(kValues);
  for (double& value : values) value = rng.uniform(low, high);
  return values;
}

/// Times `ours` over an array, after checking it against the standard library's `reference`.
template <class Ours, class Reference>
void over_array(benchmark::State& state, double low, double high, Ours ours, Reference reference) {
  const auto in = draw(low, high);
  std::vector<double> out(kValues);
  for (const double x : in) {
    if (std::abs(ours(x) - reference(x)) > 4e-15 * std::max(1.0, std::abs(reference(x)))) {
      state.SkipWithError("wrong answer");
      return;
    }
  }
  for (auto _ : state) {
#pragma omp simd
    for (std::size_t i = 0; i < kValues; ++i) out[i] = ours(in[i]);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kValues));
}

double standard_exp(double x) { return std::exp(x); }
double standard_log(double x) { return std::log(x); }

void exp_ours(benchmark::State& state) {
  over_array(
      state, -40, 0, [](double x) { return exp_nonpositive(x); }, standard_exp);
}
void exp_standard(benchmark::State& state) { over_array(state, -40, 0, standard_exp, standard_exp); }
void log_ours(benchmark::State& state) {
  over_array(
      state, 1e-9, 1, [](double x) { return log_positive(x); }, standard_log);
}
void log_standard(benchmark::State& state) { over_array(state, 1e-9, 1, standard_log, standard_log); }
BENCHMARK(exp_ours);
BENCHMARK(exp_standard);
BENCHMARK(log_ours);
BENCHMARK(log_standard);

void softmax_rows(benchmark::State& state) {
  const auto classes = static_cast<std::size_t>(state.range(0));
  const auto in = draw(-30, 0);
  auto row = in;
  for (auto _ : state) {
    row = in;
    for (std::size_t i = 0; i + classes <= kValues; i += classes) {
      benchmark::DoNotOptimize(softmax(std::span(row).subspan(i, classes)));
    }
  }
  double sum = 0;
  for (std::size_t k = 0; k < classes; ++k) sum += row[k];
  if (std::abs(sum - 1) > 1e-12) state.SkipWithError("a row does not sum to 1");
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * (kValues / classes)));
}
BENCHMARK(softmax_rows)->Arg(2)->Arg(4)->Arg(10);

}  // namespace
}  // namespace wisecrowd
