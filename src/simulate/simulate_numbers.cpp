#include "wisecrowd/simulate_numbers.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/math.hpp"
#include "base/rng.hpp"
#include "simulate/draw_names.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kMostNumbers = 4e9;

NameTable dimension_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < count; ++d) names.push_back(count == 1 ? "value" : fmt::format("value_{}", d + 1));
  return NameTable(names);
}

/// The noise of a worker in a pair: part of it is shared with the partner, whose number differs in the last bit. The
/// second of a pair has the opposite sign where the correlation is negative.
double with_partner(const Rng& task, std::size_t worker, std::size_t dimension, double correlation, double own) {
  Rng shared = task.fork("shared noise", worker / 2 * 1000 + dimension);
  const double sign = correlation < 0 && worker % 2 == 1 ? -1 : 1;
  return sign * std::sqrt(std::abs(correlation)) * shared.normal() + std::sqrt(1 - std::abs(correlation)) * own;
}

}  // namespace

std::string number_simulation_summary() {
  return "Answers are numbers: the truth, a bias and noise of each worker's own; some only guess.";
}

const std::vector<ParameterSpec>& number_simulation_parameters() {
  static const std::vector<ParameterSpec> specs = {
      ParameterSpec::real("mean", 50, -1e12, 1e12, "mean of the truth"),
      ParameterSpec::real("deviation", 20, 0, 1e12, "standard deviation of the truth"),
      ParameterSpec::real("bias", 3, 0, 1e12, "standard deviation of the workers' biases"),
      ParameterSpec::real("noise", 5, 0, 1e12, "noise of the typical worker, as a standard deviation"),
      ParameterSpec::real("noise_spread", 0.5, 0, 10, "how much workers differ in it: deviation of its logarithm"),
      ParameterSpec::real("guessers", 0, 0, 1, "share of the workers whose answers have nothing to do with the task"),
      ParameterSpec::real("correlated", 0, 0, 1, "share of the workers who come in pairs whose errors go together"),
      ParameterSpec::real("correlation", 0.9, -1, 1, "correlation of the errors in such a pair"),
      ParameterSpec::real("outliers", 0, 0, 1, "share of the answers whose noise is ten times as large"),
  };
  return specs;
}

NumberSimulation simulate_numbers(const NumberSimulationSize& size, const Parameters& parameters,
                                  const RunContext& context) {
  if (size.dimensions == 0) throw Error(ErrorCode::bad_parameter, "numbers need at least one dimension");
  if (size.answers_per_task > size.workers) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} answers per task need as many workers, not {}", size.answers_per_task, size.workers));
  }
  if (static_cast<double>(size.tasks) * static_cast<double>(size.answers_per_task) > kMostNumbers) {
    throw Error(ErrorCode::unsupported,
                "more answers than one data set can hold: take fewer tasks or answers per task");
  }
  NumberSimulation out;
  out.size = size;
  out.seed = context.seed();
  for (const auto& [name, value] : parameters.all()) out.parameters.emplace_back(name, value);

  Rng worker_rng = context.rng("simulate workers");
  for (std::size_t w = 0; w < size.workers; ++w) {
    const bool guesses = worker_rng.uniform() < parameters.real("guessers");
    const bool paired =
        w / 2 * 2 + 1 < size.workers &&
        static_cast<double>(w / 2 * 2 + 2) <= parameters.real("correlated") * static_cast<double>(size.workers);
    out.worker_kind.emplace_back(guesses ? "guesser" : paired ? "correlated" : "honest");
    out.scale.push_back(parameters.real("noise") * math::exp(parameters.real("noise_spread") * worker_rng.normal()));
    for (std::size_t d = 0; d < size.dimensions; ++d) out.bias.push_back(parameters.real("bias") * worker_rng.normal());
  }
  const double outliers = parameters.real("outliers");
  const auto draw_truth = [&](Rng& rng) {
    return parameters.real("mean") + parameters.real("deviation") * rng.normal();
  };
  std::vector<double> values;
  std::vector<NumberAnswer> answers;
  values.reserve(size.tasks * size.answers_per_task * size.dimensions);
  std::vector<std::uint32_t> chosen;
  const Rng stream = context.rng("simulate answers");
  for (std::size_t t = 0; t < size.tasks; ++t) {
    if (context.cancelled()) {
      out.status = Status::cancelled;
      out.data = {};
      return out;
    }
    Rng rng = stream.fork("task", t);
    const std::size_t first = out.data.gold.size();
    for (std::size_t d = 0; d < size.dimensions; ++d) out.data.gold.push_back(draw_truth(rng));
    draw_workers(rng, size.workers, size.answers_per_task, chosen);
    for (const std::uint32_t w : chosen) {
      for (std::size_t d = 0; d < size.dimensions; ++d) {
        double noise = rng.normal();
        if (out.worker_kind[w] == "correlated") noise = with_partner(rng, w, d, parameters.real("correlation"), noise);
        if (outliers > 0 && rng.fork("outlier", w * size.dimensions + d).uniform() < outliers) noise *= 10;
        const double honest = out.data.gold[first + d] + out.bias[w * size.dimensions + d] + out.scale[w] * noise;
        values.push_back(out.worker_kind[w] == "guesser" ? draw_truth(rng) : honest);
      }
      answers.push_back({TaskId(t), WorkerId(w), {}});
    }
  }
  for (std::size_t a = 0; a < answers.size(); ++a) {
    answers[a].value = std::span(values).subspan(a * size.dimensions, size.dimensions);
  }
  out.data.answers = make_number_answers(
      answers,
      {numbered_names("task", size.tasks), numbered_names("worker", size.workers), dimension_names(size.dimensions)});
  return out;
}

}  // namespace wisecrowd
