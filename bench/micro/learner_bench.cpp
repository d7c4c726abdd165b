#include <benchmark/benchmark.h>

#include <string>

#include "base/rng.hpp"
#include "wisecrowd/learn.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kRows = 1000, kColumns = 512, kWorkers = 59, kClasses = 8, kAnswers = 2547;

/// Random data of LabelMe's size, as in bench/learn/peer_loops.py.
LearningData crowd() {
  Rng rng(1);
  std::vector<float> centres(kClasses * kColumns);
  for (float& value : centres) value = static_cast<float>(rng.normal());
  LearningData data;
  data.features.rows = kRows;
  data.features.shape = {kColumns};
  std::vector<std::string> names;
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < kClasses; ++k) classes.push_back(std::to_string(k));
  CategoryAnswersBuilder builder(classes);
  for (std::size_t r = 0; r < kRows; ++r) {
    names.push_back(std::to_string(r));
    builder.add_task(names.back());
    const std::size_t truth = r % kClasses;
    for (std::size_t c = 0; c < kColumns; ++c) {
      data.features.dense.push_back(centres[truth * kColumns + c] + 3 * static_cast<float>(rng.normal()));
    }
    // Different workers for one task, 2 or 3 of them, 2547 in all.
    const std::size_t answers = (r + 1) * kAnswers / kRows - r * kAnswers / kRows, first = rng.below(kWorkers);
    for (std::size_t a = 0; a < answers; ++a) {
      const std::size_t label = rng.bernoulli(0.7) ? truth : rng.below(kClasses);
      builder.add(names.back(), std::to_string((first + a) % kWorkers), std::to_string(label));
    }
    data.row_of_task.push_back(static_cast<std::uint32_t>(r));
  }
  data.row_names = NameTable(names);
  data.split.assign(kRows, Split::train);
  data.crowd.answers = builder.build();
  return data;
}

/// A whole fit of many epochs. The rate is in samples (tasks) per second; the peer is bench/learn/peer_loops.py.
void fit(benchmark::State& state, const std::string& method) {
  constexpr std::size_t kEpochs = 30;
  const LearningData data = crowd();
  const RunContext context({.seed = 1, .threads = static_cast<unsigned>(state.range(0))});
  const LearnerInfo* found = nullptr;
  for (const LearnerInfo& info : learning_methods()) {
    if (info.name == method) found = &info;
  }
  if (found == nullptr) {
    state.SkipWithError("there is no such learner");
    return;
  }
  Parameters parameters(found->parameters);
  parameters.set("epochs", std::to_string(kEpochs));
  parameters.set("batch", "64");
  parameters.set("held_out", "0");                             // one run of training, as the peer
  if (method == "ccem") parameters.set("solver", "gradient");  // likewise
  const auto learner = make_learner(method, parameters);
  for (auto _ : state) {
    const Learned learned = learner->fit(data, {.kind = "mlp", .hidden = 128, .dropout = 0.5}, context);
    if (learned.curve.size() != kEpochs || !(learned.curve.back().objective < learned.curve.front().objective)) {
      state.SkipWithError("does not learn");
      return;
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEpochs * kRows));
}

BENCHMARK_CAPTURE(fit, crowd_layer, "crowd_layer")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(fit, ccem, "ccem")->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(fit, max_mig, "max_mig")->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace wisecrowd
