#include "learn/shared/posterior_powers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/numeric.hpp"
#include "learn/shared/trainer.hpp"

namespace wisecrowd {
namespace {

// The first of each is what others are compared with.
constexpr std::array kNetworkPowers = {1.0, 0.5, 0.7, 1.4, 2.0, 2.8};
constexpr std::array kAnswerPowers = {1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.1};
constexpr std::size_t kEnoughTasks = 5000, kEnoughAnswers = 5000;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double floored_log(double probability) { return std::log(std::max(probability, kProbabilityFloor)); }

/// exp(power · values), each row scaled to a largest entry of 1.
std::vector<double> raised(MatrixView<const double> values, double power) {
  std::vector<double> result(values.rows * values.columns);
  for (std::size_t i = 0; i < values.rows; ++i) {
    const auto row = values.row(i);
    const double top = *std::max_element(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) result[i * values.columns + k] = std::exp(power * (row[k] - top));
  }
  return result;
}

/// log Σ_k f_k g_k / π_k of every task; f has rows that sum to 1, g is known up to a factor per row and to π.
std::vector<double> information(std::span<const double> f, std::span<const double> likelihoods, std::size_t classes) {
  const std::size_t tasks = f.size() / classes;
  std::vector<double> prior(classes, 0.0), result(tasks);
  for (std::size_t cell = 0; cell < f.size(); ++cell) prior[cell % classes] += f[cell] / static_cast<double>(tasks);
  for (std::size_t i = 0; i < tasks; ++i) {
    double own = 0, any = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      own += f[i * classes + k] * likelihoods[i * classes + k];
      any += prior[k] * likelihoods[i * classes + k];
    }
    result[i] = floored_log(own) - floored_log(any);
  }
  return result;
}

}  // namespace

void temper(const AnswerModel& model, std::span<const double> outputs, const PosteriorPowers& powers,
            std::span<double> posterior) {
  std::vector<double> f(posterior.size());
  model.classify(outputs, f);
  for (std::size_t k = 0; k < f.size(); ++k) {
    posterior[k] = (powers.network - powers.answers) * floored_log(f[k]) + powers.answers * floored_log(posterior[k]);
  }
  softmax(posterior);
}

PosteriorPowers most_informative(MatrixView<const double> log_network, MatrixView<const double> log_likelihoods) {
  const std::size_t classes = log_network.columns;
  std::array<std::vector<double>, kAnswerPowers.size()> likelihoods;
  for (std::size_t p = 0; p < likelihoods.size(); ++p) likelihoods[p] = raised(log_likelihoods, kAnswerPowers[p]);
  PosteriorPowers best;
  std::vector<double> untouched;
  double most = 0;
  for (const double power : kNetworkPowers) {
    std::vector<double> f = raised(log_network, power);
    for (std::size_t i = 0; i < log_network.rows; ++i) normalise(std::span(f).subspan(i * classes, classes));
    for (std::size_t p = 0; p < likelihoods.size(); ++p) {
      const std::vector<double> found = information(f, likelihoods[p], classes);
      if (untouched.empty()) {
        untouched = found;  // both powers 1
        most = mean(untouched);
      } else if (mean(found) > most && advantage(found, untouched) > kClearAdvantage) {
        most = mean(found);
        best = {power, kAnswerPowers[p]};
      }
    }
  }
  return best;
}

double most_foretelling(const AnswerModel& model, const TrainingSet& hidden, std::span<const double> outputs) {
  const std::size_t classes = hidden.class_count, width = model.outputs();
  std::array<double, kAnswerPowers.size()> sums{};
  std::vector<std::uint32_t> workers, labels;
  std::vector<double> full(classes), q(classes);
  std::size_t judged = 0;
  for (std::size_t i = 0; i < hidden.task_count() && judged < kEnoughAnswers; ++i) {
    const std::uint32_t begin = hidden.offset[i], end = hidden.offset[i + 1];
    if (end - begin < 2) continue;
    const auto row = outputs.subspan(i * width, width);
    for (std::uint32_t a = begin; a < end; ++a, ++judged) {
      workers.clear();
      labels.clear();
      for (std::uint32_t other = begin; other < end; ++other) {
        if (other == a) continue;
        workers.push_back(hidden.worker[other]);
        labels.push_back(hidden.label[other]);
      }
      model.posterior(row, {workers, labels, hidden.task[i], hidden.row[i]}, full);
      for (std::size_t p = 0; p < kAnswerPowers.size(); ++p) {
        q = full;
        temper(model, row, {1, kAnswerPowers[p]}, q);
        for (double& value : q) value = floored_log(value);
        sums[p] += floored_log(model.answer_probability_at(hidden.row[i], q, hidden.worker[a], hidden.label[a]));
      }
    }
  }
  return kAnswerPowers[static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin())];
}

PosteriorPowers learned_powers(const AnswerModel& model, const TrainingSet& hidden, std::span<const double> outputs) {
  if (!model.can_be_tempered()) return {};
  const std::size_t classes = hidden.class_count, width = model.outputs();
  std::vector<double> log_network, log_likelihoods, f(classes), posterior(classes);
  for (std::size_t i = 0; i < std::min(hidden.task_count(), kEnoughTasks); ++i) {
    if (hidden.workers_of(i).empty()) continue;
    const auto row = outputs.subspan(i * width, width);
    model.classify(row, f);
    model.posterior(row, {hidden.workers_of(i), hidden.labels_of(i), hidden.task[i], hidden.row[i]}, posterior);
    for (std::size_t k = 0; k < classes; ++k) {
      log_network.push_back(floored_log(f[k]));
      log_likelihoods.push_back(floored_log(posterior[k]) - log_network.back());
    }
  }
  if (log_network.empty()) return {};
  const std::size_t tasks = log_network.size() / classes;
  const PosteriorPowers informed =
      most_informative({log_network.data(), tasks, classes}, {log_likelihoods.data(), tasks, classes});
  const double foretelling = most_foretelling(model, hidden, outputs);
  return foretelling * informed.network <= informed.answers ? PosteriorPowers{1, foretelling} : informed;
}

}  // namespace wisecrowd
