#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "crowd.hpp"
#include "data/interner.hpp"

namespace wisecrowd {
namespace {

void intern_names(benchmark::State& state) {
  const auto distinct = static_cast<std::size_t>(state.range(0));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < distinct; ++i) names.push_back(fmt::format("task_{:08}", i));
  Rng rng(3);
  std::vector<std::uint32_t> order(1 << 20);
  for (auto& at : order) at = static_cast<std::uint32_t>(rng.below(distinct));
  for (auto _ : state) {
    Interner interner;
    for (const std::uint32_t at : order) benchmark::DoNotOptimize(interner.intern(names[at]));
    for (const std::uint32_t at : order) {
      if (interner[interner.find(names[at])] == names[at]) break;
      state.SkipWithError("a name was not found again");
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * order.size()));
}
BENCHMARK(intern_names)->Arg(1000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void build_csr(benchmark::State& state) {
  const bench::CrowdSize size{
      .tasks = static_cast<std::size_t>(state.range(0)), .workers = 10'000, .classes = 4, .answers_per_task = 5};
  const auto pieces = bench::draw_pieces(size, 16);
  ThreadPool pool(static_cast<unsigned>(state.range(1)));
  for (auto _ : state) {
    state.PauseTiming();
    auto copy = pieces;
    auto names = bench::names_of(size);
    state.ResumeTiming();
    BuildReport report;
    const auto built =
        build_category_answers(std::move(copy), std::move(names), DuplicatePolicy::keep_last, pool, &report);
    if (built.answer_count() + report.duplicates_dropped != size.tasks * size.answers_per_task) {
      state.SkipWithError("answers got lost");
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * size.tasks * size.answers_per_task));
}
BENCHMARK(build_csr)
    ->ArgsProduct({{100'000, 1'000'000}, {1, 2}})
    ->ArgNames({"tasks", "threads"})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace wisecrowd
