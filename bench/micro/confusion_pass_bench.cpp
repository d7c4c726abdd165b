#include <benchmark/benchmark.h>

#include <cmath>

#include "aggregate/categories/shared/confusion_pass.hpp"
#include "crowd.hpp"

namespace wisecrowd {
namespace {

/// One fused E-step of the Dawid–Skene family: log tables to posteriors to counts.
void confusion_sweep(benchmark::State& state) {
  const bench::CrowdSize size{.tasks = static_cast<std::size_t>(state.range(0)),
                              .workers = static_cast<std::size_t>(state.range(1)),
                              .classes = static_cast<std::size_t>(state.range(2)),
                              .answers_per_task = 5};
  const RunContext context({.threads = static_cast<unsigned>(state.range(3))});
  const CategoryData data{.answers = build_annotations(bench::draw_pieces(size, 16), bench::names_of(size),
                                                       DuplicatePolicy::keep_last, context.pool(), nullptr)};
  ConfusionPass pass(data, context);
  const std::size_t k_count = size.classes;
  std::vector<double> rows(k_count * pass.stride(), 0.0);
  for (std::size_t l = 0; l < k_count; ++l) {
    for (std::size_t k = 0; k < k_count; ++k) {
      rows[l * pass.stride() + k] = std::log(l == k ? 0.7 : 0.3 / static_cast<double>(k_count - 1));
    }
  }
  for (std::size_t w = 0; w < size.workers; ++w) pass.set_log_rows(w, rows.data());
  pass.set_log_prior(std::vector<double>(k_count, -std::log(static_cast<double>(k_count))));

  const auto first = pass.sweep(true);
  double mass = 0;
  for (const double m : first.class_mass) mass += m;
  if (std::abs(mass - static_cast<double>(size.tasks)) > 1e-6 * static_cast<double>(size.tasks)) {
    state.SkipWithError("posteriors do not sum to the number of tasks");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(pass.sweep(true).log_likelihood);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * data.answers.answer_count()));
}
BENCHMARK(confusion_sweep)
    ->ArgNames({"tasks", "workers", "classes", "threads"})
    ->Args({100'000, 1'000, 4, 1})
    ->Args({100'000, 1'000, 4, 2})
    ->Args({1'000'000, 10'000, 4, 2})
    ->Args({1'000'000, 100'000, 10, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace wisecrowd
