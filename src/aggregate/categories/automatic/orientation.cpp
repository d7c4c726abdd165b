#include "aggregate/categories/automatic/orientation.hpp"

#include <cmath>

#include "base/numeric.hpp"

namespace wisecrowd::automatic {
namespace {

constexpr double kSure = 2;  // standard errors, about
/// Fewer workers of whom one can be sure do not tell which way round is right.
constexpr std::size_t kFewest = 3;
constexpr double kStartSmoothing = 0.05;

/// (trace of the table − 1)/(K − 1): 1 if always right, 0 if nothing is told, negative if wrong more often than by
/// chance.
double informedness(const CategoryFit& fit, std::uint32_t worker) {
  const auto table = fit.confusion_of(WorkerId{worker});
  double trace = 0;
  for (std::size_t k = 0; k < fit.class_count; ++k) trace += table[k * (fit.class_count + 1)];
  return (trace - 1) / static_cast<double>(fit.class_count - 1);
}

}  // namespace

Sides sides_of(const CategoryData& data, const CategoryFit& fit) {
  std::vector<std::uint32_t> given(data.answers.worker_count(), 0);
  for (const WorkerId worker : data.answers.workers()) ++given[index(worker)];
  const auto count = [&](std::uint32_t worker, Sides& sides) {
    const double told = informedness(fit, worker);
    if (std::abs(told) * std::sqrt(given[worker]) > kSure) ++(told > 0 ? sides.with : sides.against);
  };
  Sides sides;
  for (const WorkerId worker : data.trusted) count(static_cast<std::uint32_t>(index(worker)), sides);
  if (sides.with + sides.against > 0) return sides;
  for (std::uint32_t w = 0; w < given.size(); ++w) count(w, sides);
  return sides;
}

std::optional<std::vector<double>> votes_of_those_against(const CategoryData& data, const CategoryFit& fit) {
  const std::size_t classes = fit.class_count;
  if (classes < 2 || data.has_gold() || !data.task_priors.empty() || fit.confusion.empty()) return std::nullopt;
  const Sides sides = sides_of(data, fit);
  if (sides.against <= sides.with || (data.trusted.empty() && sides.with + sides.against < kFewest)) {
    return std::nullopt;
  }
  std::vector<bool> against;
  for (std::uint32_t w = 0; w < data.answers.worker_count(); ++w) against.push_back(informedness(fit, w) < 0);
  std::vector<double> votes(fit.task_count * classes, kStartSmoothing);
  for (std::uint32_t t = 0; t < fit.task_count; ++t) {
    const auto row = std::span(votes).subspan(t * classes, classes);
    const auto who = data.answers.workers_of(TaskId{t});
    const auto labels = data.answers.labels_of(TaskId{t});
    for (std::size_t a = 0; a < who.size(); ++a) {
      if (against[index(who[a])]) row[index(labels[a])] += 1;
    }
    normalise(row);
  }
  return votes;
}

}  // namespace wisecrowd::automatic
