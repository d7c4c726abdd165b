#include "wisecrowd/simulate_comparisons.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kMostComparisons = 4e9;

NameTable numbered(const char* prefix, std::size_t count) {
  std::vector<std::string> names;
  names.reserve(count);
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}_{:06}", prefix, i));
  return NameTable(names);
}

/// What one worker says of two items, the first of which is shown on the left.
Outcome draw_outcome(Rng& rng, double difference, const std::string& kind, double reliability, double ties) {
  const double closeness = ties > 0 ? ties / (ties + 2 * std::cosh(difference / 2)) : 0;  // Davidson's
  if (rng.bernoulli(closeness)) return Outcome::tie;
  if (kind == "one-sided") return rng.bernoulli(0.95) ? Outcome::left : Outcome::right;
  bool left = rng.bernoulli(sigmoid(difference));
  if (!rng.bernoulli(reliability)) left = !left;
  return left ? Outcome::left : Outcome::right;
}

void draw_judges(const Parameters& parameters, Rng rng, ComparisonSimulation& out) {
  for (std::size_t w = 0; w < out.size.workers; ++w) {
    const double u = rng.uniform();
    const double adversaries = parameters.real("adversaries"), one_sided = parameters.real("one_sided");
    const bool adversary = u < adversaries, sided = !adversary && u < adversaries + one_sided;
    const double honest = rng.beta(parameters.real("reliability_a"), parameters.real("reliability_b"));
    out.worker_kind.emplace_back(adversary ? "adversary" : sided ? "one-sided" : "honest");
    out.reliability.push_back(adversary ? 1 - honest : honest);
  }
}

}  // namespace

std::string comparison_simulation_summary() {
  return "Answers say which of two items is better; some workers answer the opposite, or name one side.";
}

const std::vector<ParameterSpec>& comparison_simulation_parameters() {
  static const std::vector<ParameterSpec> specs = {
      ParameterSpec::real("deviation", 1.5, 0, 100, "standard deviation of the items' scores, in log odds"),
      ParameterSpec::real("reliability_a", 18, 1e-3, 1e6, "Beta distribution of an honest worker's reliability: a"),
      ParameterSpec::real("reliability_b", 2, 1e-3, 1e6, "Beta distribution of an honest worker's reliability: b"),
      ParameterSpec::real("adversaries", 0, 0, 1, "share of the workers who say the opposite"),
      ParameterSpec::real("one_sided", 0, 0, 1, "share of the workers who name the left item, whatever it is"),
      ParameterSpec::real("ties", 0, 0, 100, "how readily workers call a tie: Davidson's ν, 0 for never"),
  };
  return specs;
}

ComparisonSimulation simulate_comparisons(const ComparisonSimulationSize& size, const Parameters& parameters,
                                          const RunContext& context) {
  if (size.items < 2) throw Error(ErrorCode::bad_parameter, "comparisons need at least two items");
  if (size.answers_per_pair > size.workers) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} answers per pair need as many workers, not {}", size.answers_per_pair, size.workers));
  }
  if (static_cast<double>(size.pairs) * static_cast<double>(size.answers_per_pair) > kMostComparisons) {
    throw Error(ErrorCode::unsupported,
                "more answers than one data set can hold: take fewer pairs or answers per pair");
  }
  ComparisonSimulation out;
  out.size = size;
  out.seed = context.seed();
  for (const auto& [name, value] : parameters.all()) out.parameters.emplace_back(name, value);
  Rng item_rng = context.rng("simulate items");
  std::vector<double> scores(size.items);
  for (double& score : scores) score = parameters.real("deviation") * item_rng.normal();
  draw_judges(parameters, context.rng("simulate workers"), out);
  std::vector<ComparisonAnswer> answers;
  answers.reserve(size.pairs * size.answers_per_pair);
  std::vector<std::uint32_t> chosen;
  const Rng stream = context.rng("simulate answers");
  for (std::size_t p = 0; p < size.pairs; ++p) {
    if (context.cancelled()) {
      out.status = Status::cancelled;
      return out;
    }
    Rng rng = stream.fork("pair", p);
    const std::size_t left = rng.below(size.items), right = (left + 1 + rng.below(size.items - 1)) % size.items;
    chosen.clear();
    for (std::size_t last = size.workers - size.answers_per_pair; last < size.workers; ++last) {  // Floyd's algorithm
      const auto pick = static_cast<std::uint32_t>(rng.below(last + 1));
      const bool taken = std::find(chosen.begin(), chosen.end(), pick) != chosen.end();
      chosen.push_back(taken ? static_cast<std::uint32_t>(last) : pick);
    }
    for (const std::uint32_t w : chosen) {
      const bool turned = rng.bernoulli(0.5);
      const std::size_t shown_left = turned ? right : left, shown_right = turned ? left : right;
      const Outcome said = draw_outcome(rng, scores[shown_left] - scores[shown_right], out.worker_kind[w],
                                        out.reliability[w], parameters.real("ties"));
      answers.push_back({TaskId{0}, WorkerId{w}, ItemId(shown_left), ItemId(shown_right), said});
    }
  }
  out.data.answers = make_comparison_answers(answers, {numbered("item", size.items), numbered("worker", size.workers)});
  for (const ItemPair& pair : out.data.answers.pairs()) {
    const double ahead = scores[index(pair.first)] - scores[index(pair.second)];
    out.data.gold.emplace_back(ahead > 0 ? Outcome::left : ahead < 0 ? Outcome::right : Outcome::tie);
  }
  out.data.gold_scores = std::move(scores);
  return out;
}

}  // namespace wisecrowd
