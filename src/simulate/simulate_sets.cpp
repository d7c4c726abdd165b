#include "wisecrowd/simulate_sets.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/rng.hpp"
#include "simulate/draw_names.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

constexpr double kMostSets = 4e9;

/// How often classes are true in each profile: profiles × classes.
std::vector<double> draw_profiles(const SetSimulationSize& size, const Parameters& parameters, Rng rng) {
  const auto profiles = static_cast<std::size_t>(parameters.integer("profiles"));
  const double prevalence = parameters.real("prevalence"), contrast = parameters.real("contrast");
  const double usual = math::log(prevalence / (1 - prevalence));
  std::vector<double> own(size.classes);
  for (double& k : own) k = parameters.real("prevalence_spread") * rng.normal();
  std::vector<double> probability;
  for (std::size_t g = 0; g < profiles; ++g) {
    for (std::size_t k = 0; k < size.classes; ++k) {
      probability.push_back(sigmoid(usual + own[k] + (profiles > 1 ? contrast * rng.normal() : 0)));
    }
  }
  return probability;
}

/// Sensitivities or specificities: what is usual, what the worker and the class add, and what both together do.
std::vector<double> draw_rates(const SetSimulationSize& size, const Parameters& parameters, double usual, Rng rng) {
  const auto effects = [&](const char* spread, std::size_t count) {
    std::vector<double> drawn(count);
    for (double& effect : drawn) effect = parameters.real(spread) * rng.normal();
    return drawn;
  };
  const auto workers = effects("worker_spread", size.workers), classes = effects("class_spread", size.classes);
  std::vector<double> rates;
  for (std::size_t w = 0; w < size.workers; ++w) {
    for (std::size_t k = 0; k < size.classes; ++k) {
      const double alone = parameters.real("pair_spread") * rng.normal();
      rates.push_back(sigmoid(math::log(usual / (1 - usual)) + workers[w] + classes[k] + alone));
    }
  }
  return rates;
}

/// Guessers name every class as often where it is true as where it is not.
void draw_workers_of_sets(const SetSimulationSize& size, const Parameters& parameters, const RunContext& context,
                          SetSimulation& out) {
  out.sensitivity = draw_rates(size, parameters, parameters.real("sensitivity"), context.rng("simulate sensitivity"));
  out.specificity = draw_rates(size, parameters, parameters.real("specificity"), context.rng("simulate specificity"));
  Rng rng = context.rng("simulate workers");
  for (std::size_t w = 0; w < size.workers; ++w) {
    const bool guesses = rng.uniform() < parameters.real("guessers");
    out.worker_kind.emplace_back(guesses ? "guesser" : "honest");
    for (std::size_t k = 0; guesses && k < size.classes; ++k) {
      out.sensitivity[w * size.classes + k] = parameters.real("prevalence");
      out.specificity[w * size.classes + k] = 1 - parameters.real("prevalence");
    }
  }
}

}  // namespace

std::string set_simulation_summary() {
  return "Answers are sets of classes that occur together; workers differ in what they miss and what they make up.";
}

const std::vector<ParameterSpec>& set_simulation_parameters() {
  static const std::vector<ParameterSpec> specs = {
      ParameterSpec::real("prevalence", 0.2, 0.001, 0.999, "share of the tasks that have a typical class"),
      ParameterSpec::real("prevalence_spread", 0.5, 0, 5, "how much classes differ in it: deviation of the log odds"),
      ParameterSpec::integer("profiles", 4, 1, 1000, "kinds of tasks with other frequent classes; 1: independent"),
      ParameterSpec::real("contrast", 1.5, 0, 10, "how much profiles differ: deviation of the log odds"),
      ParameterSpec::real("sensitivity", 0.75, 0.001, 0.999, "share of the true classes that a typical worker names"),
      ParameterSpec::real("specificity", 0.95, 0.001, 0.999, "share of the others that it leaves out"),
      ParameterSpec::real("worker_spread", 0.7, 0, 5, "how much workers differ in both: deviation of the log odds"),
      ParameterSpec::real("class_spread", 0.5, 0, 5, "the same for classes"),
      ParameterSpec::real("pair_spread", 0.3, 0, 5, "the same for a worker with a class"),
      ParameterSpec::real("guessers", 0, 0, 1, "share of the workers who name classes whatever the task"),
  };
  return specs;
}

SetSimulation simulate_sets(const SetSimulationSize& size, const Parameters& parameters, const RunContext& context) {
  if (size.classes == 0 || size.classes >= kMaxClasses) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} classes: there must be at least 1, and fewer than {}", size.classes, kMaxClasses));
  }
  if (size.answers_per_task > size.workers) {
    throw Error(ErrorCode::bad_parameter,
                fmt::format("{} answers per task need as many workers, not {}", size.answers_per_task, size.workers));
  }
  if (static_cast<double>(size.tasks) * static_cast<double>(size.answers_per_task) > kMostSets) {
    throw Error(ErrorCode::unsupported,
                "more answers than one data set can hold: take fewer tasks or answers per task");
  }
  SetSimulation out;
  out.size = size;
  out.seed = context.seed();
  for (const auto& [name, value] : parameters.all()) out.parameters.emplace_back(name, value);
  draw_workers_of_sets(size, parameters, context, out);
  const auto probability = draw_profiles(size, parameters, context.rng("simulate profiles"));
  const std::size_t profiles = probability.size() / size.classes;

  std::vector<std::vector<ClassId>> sets;
  std::vector<SetAnswer> answers;
  std::vector<std::uint32_t> chosen;
  const Rng stream = context.rng("simulate answers");
  for (std::size_t t = 0; t < size.tasks; ++t) {
    if (context.cancelled()) {
      out.status = Status::cancelled;
      out.data = {};
      return out;
    }
    Rng rng = stream.fork("task", t);
    const std::size_t profile = rng.below(profiles);
    std::vector<ClassId> truth;
    std::vector<bool> is(size.classes);
    for (std::size_t k = 0; k < size.classes; ++k) {
      is[k] = rng.bernoulli(probability[profile * size.classes + k]);
      if (is[k]) truth.push_back(ClassId(k));
    }
    draw_workers(rng, size.workers, size.answers_per_task, chosen);
    for (const std::uint32_t w : chosen) {
      std::vector<ClassId>& set = sets.emplace_back();
      for (std::size_t k = 0; k < size.classes; ++k) {
        const std::size_t cell = w * size.classes + k;
        if (rng.bernoulli(is[k] ? out.sensitivity[cell] : 1 - out.specificity[cell])) set.push_back(ClassId(k));
      }
      answers.push_back({TaskId(t), WorkerId(w), {}});
    }
    out.data.gold.emplace_back(std::move(truth));
  }
  for (std::size_t a = 0; a < answers.size(); ++a) answers[a].classes = sets[a];
  std::vector<std::string> classes;
  for (std::size_t k = 0; k < size.classes; ++k) classes.push_back(fmt::format("class_{:02}", k + 1));
  out.data.answers = make_set_answers(
      answers, {numbered_names("task", size.tasks), numbered_names("worker", size.workers), NameTable(classes)});
  return out;
}

}  // namespace wisecrowd
