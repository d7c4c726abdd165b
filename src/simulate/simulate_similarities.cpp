#include "wisecrowd/simulate_similarities.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/rng.hpp"
#include "data/similarity_column.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kMostSimilarities = 4e9;

NameTable numbered(const char* prefix, std::size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}_{:06}", prefix, i));
  return NameTable(names);
}

/// An error rate around a mean, beta distributed.
double draw_rate(Rng& rng, double mean, double spread) {
  if (spread <= 0 || mean <= 0 || mean >= 1) return mean;
  const double strength = 1 / (spread * spread);
  return rng.beta(mean * strength, (1 - mean) * strength);
}

void check_size(const SimilaritySimulationSize& size) {
  if (size.items < 2) throw Error(ErrorCode::bad_parameter, "pairs need two items at least");
  if (size.clusters == 0 || size.clusters > size.items) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} clusters of {} items: take one at least, and no more than there are items",
                            size.clusters, size.items));
  }
  if (size.workers == 0) throw Error(ErrorCode::bad_parameter, "answers need one worker at least");
  if (static_cast<double>(size.items) * static_cast<double>(size.answers_per_item) > 2 * kMostSimilarities) {
    throw Error(ErrorCode::unsupported,
                "more answers than one data set can hold: take fewer items or answers per item");
  }
}

}  // namespace

std::string similarity_simulation_summary() {
  return "Answers say whether two items are the same: clusters of items, workers with error rates of their own.";
}

const std::vector<ParameterSpec>& similarity_simulation_parameters() {
  static const std::vector<ParameterSpec> specs = {
      ParameterSpec::real("false_different", 0.2, 0, 1, "mean rate at which workers call different what is the same"),
      ParameterSpec::real("false_same", 0.2, 0, 1, "mean rate at which workers call the same what is different"),
      ParameterSpec::real("spread", 0.2, 0, 1, "how much workers differ in these rates"),
      ParameterSpec::real("guessers", 0, 0, 1, "share of the workers who say either, whatever they see"),
      ParameterSpec::real("size_spread", 0, 0, 10, "how much clusters differ in size: deviation of its logarithm"),
  };
  return specs;
}

SimilaritySimulation simulate_similarities(const SimilaritySimulationSize& asked, const Parameters& parameters,
                                           const RunContext& context, const SimilarityData* given) {
  SimilaritySimulation out;
  out.size = asked;
  if (given != nullptr) {
    out.size.items = given->answers.item_count();
    out.size.clusters = given->gold_clusters.size();
  }
  const SimilaritySimulationSize& size = out.size;
  check_size(size);
  out.seed = context.seed();
  for (const auto& [name, value] : parameters.all()) out.parameters.emplace_back(name, value);
  Rng item_rng = context.rng("simulate items");
  if (given != nullptr) {
    out.data.gold = given->gold;
    out.data.gold_clusters = given->gold_clusters;
  } else {
    std::vector<double> shares;
    for (std::size_t c = 0; c < size.clusters; ++c) {
      shares.push_back(math::exp(parameters.real("size_spread") * item_rng.normal()));
    }
    for (std::size_t i = 0; i < size.items; ++i) {
      const std::size_t own = i < size.clusters ? i : item_rng.categorical(shares);  // none stays empty
      out.data.gold.push_back(static_cast<std::uint32_t>(own));
    }
    item_rng.shuffle(std::span(out.data.gold));
    out.data.gold_clusters = numbered("cluster", size.clusters);
  }
  Rng worker_rng = context.rng("simulate workers");
  for (std::size_t w = 0; w < size.workers; ++w) {
    const bool guesses = worker_rng.uniform() < parameters.real("guessers");
    const double spread = parameters.real("spread");
    const double different = draw_rate(worker_rng, parameters.real("false_different"), spread);
    const double same = draw_rate(worker_rng, parameters.real("false_same"), spread);
    out.worker_kind.emplace_back(guesses ? "guesser" : "honest");
    out.false_different.push_back(guesses ? 0.5 : different);
    out.false_same.push_back(guesses ? 0.5 : same);
  }
  const std::size_t answers = size.items * size.answers_per_item / 2;
  std::vector<SimilarityRow> rows;
  rows.reserve(answers);
  Rng rng = context.rng("simulate answers");
  for (std::size_t a = 0; a < answers; ++a) {
    if (context.cancelled()) {
      out.status = Status::cancelled;
      out.data = {};
      return out;
    }
    const auto left = static_cast<std::uint32_t>(rng.below(size.items));
    auto right = static_cast<std::uint32_t>(rng.below(size.items - 1));
    if (right >= left) ++right;
    const auto worker = static_cast<std::uint32_t>(rng.below(size.workers));
    const bool same = out.data.gold[left] == out.data.gold[right];
    const bool errs = rng.uniform() < (same ? out.false_different[worker] : out.false_same[worker]);
    rows.push_back({left, right, worker, static_cast<std::uint8_t>(same != errs ? 1 : 0)});
  }
  ThreadPool pool(1);
  NameTable items = given != nullptr ? given->answers.item_names() : numbered("item", size.items);
  out.data.answers = build_similarity_answers(rows, std::move(items), numbered("worker", size.workers),
                                              DuplicatePolicy::keep_last, pool, nullptr);
  return out;
}

}  // namespace wisecrowd
