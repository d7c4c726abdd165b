#include "trust/spammer_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::size_t kWorkersPerBlock = 256;
constexpr int kIterations = 30;
constexpr double kSettled = 1e-3;  // of the share of honest workers
constexpr double kNothing = 1e-6;  // of an answer; with many classes most cells hold less
/// Before anything is known: four of five workers look at their tasks, with the weight of ten workers.
constexpr double kHonestBefore = 8, kSpammersBefore = 2;
/// Their accuracies, with the weight of four workers.
constexpr double kWorkersBefore = 4, kAccuracyBefore = 0.75, kVarianceBefore = 0.0375;
constexpr double kLeastConcentration = 2, kMostConcentration = 50, kMostOfRow = 10;
/// Ways to be honest: one accuracy for all classes; a table that is mostly right; any table (swapped classes).
constexpr double kOneCoin = 0.6, kGoodTable = 0.38, kAnyTable = 0.02;

double log_beta(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }

/// What a worker's answers say of it.
struct Evidence {
  double answers = 0, right = 0;
  double spammer = 0;    ///< ln P(answers | they do not depend on the truth)
  double any_table = 0;  ///< ln P(answers | any table)
};

Evidence evidence_of(std::span<const double> counts, std::size_t classes) {
  const auto k_classes = static_cast<double>(classes);
  Evidence found;
  std::vector<double> said(classes, 1.0), row(classes);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t l = 0; l < classes; ++l) {
      const double n = counts[k * classes + l];
      said[l] += n;
      row[l] = 1 + n;
      found.answers += n;
      if (k == l) found.right += n;
    }
    found.any_table += wisecrowd::log_beta(row) + log_gamma(k_classes);
  }
  // Half of them guess evenly, half say some classes more than others.
  const std::array ways = {-found.answers * math::log(k_classes), wisecrowd::log_beta(said) + log_gamma(k_classes)};
  found.spammer = log_sum_exp(ways) + math::log(0.5);
  return found;
}

/// ln P(answers | the worker looks at the tasks).
double honest(const Evidence& evidence, std::span<const double> counts, std::size_t classes, double accuracy,
              double concentration) {
  const double others = static_cast<double>(classes - 1);
  const double a = accuracy * concentration, b = (1 - accuracy) * concentration;
  const double wrong = evidence.answers - evidence.right;
  const double coin = log_beta(a + evidence.right, b + wrong) - log_beta(a, b) - wrong * math::log(others);
  const double weight = std::min(concentration, kMostOfRow);
  const double diagonal = weight * accuracy, beside = weight * (1 - accuracy) / others;
  double table = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    double sum = 0;
    for (std::size_t l = 0; l < classes; ++l) {
      const double n = counts[k * classes + l], before = k == l ? diagonal : beside;
      sum += n;
      if (n > kNothing) table += log_gamma(before + n) - log_gamma(before);
    }
    table += log_gamma(weight) - log_gamma(weight + sum);
  }
  const std::array ways = {math::log(kOneCoin) + coin, math::log(kGoodTable) + table,
                           math::log(kAnyTable) + evidence.any_table};
  return log_sum_exp(ways);
}

}  // namespace

SpammerEvidence spammer_evidence(std::span<const double> counts, std::size_t classes, const RunContext& context) {
  const std::size_t cells = classes * classes, workers = counts.size() / cells;
  SpammerEvidence result{std::vector<double>(workers, kSpammersBefore / (kHonestBefore + kSpammersBefore)),
                         kAccuracyBefore, kAccuracyBefore * (1 - kAccuracyBefore) / kVarianceBefore - 1};
  if (classes < 2) return result;
  const Blocks blocks{workers, kWorkersPerBlock};
  std::vector<Evidence> evidence(workers);
  const auto of_all = [&](const auto& work) {
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
      for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) work(j, counts.subspan(j * cells, cells));
    });
  };
  of_all([&](std::size_t j, std::span<const double> own) { evidence[j] = evidence_of(own, classes); });
  double share = kHonestBefore / (kHonestBefore + kSpammersBefore);
  for (int iteration = 0; iteration < kIterations && !context.cancelled(); ++iteration) {
    const double odds = math::log(share / (1 - share));
    of_all([&](std::size_t j, std::span<const double> own) {
      const double gain =
          honest(evidence[j], own, classes, result.accuracy, result.concentration) - evidence[j].spammer;
      result.spammer[j] = sigmoid(-odds - gain);
    });
    double spoke = 0, trusted = 0, sum = kWorkersBefore * kAccuracyBefore;
    for (std::size_t j = 0; j < workers; ++j) {
      if (evidence[j].answers <= 0) continue;
      spoke += 1;
      trusted += 1 - result.spammer[j];
      sum += (1 - result.spammer[j]) * evidence[j].right / evidence[j].answers;
    }
    const double before = share;
    share = (kHonestBefore + trusted) / (kHonestBefore + kSpammersBefore + spoke);
    const double mean = sum / (kWorkersBefore + trusted);
    // The spread of the accuracies is what is left when chance is taken off.
    double spread = kWorkersBefore * kVarianceBefore;
    for (std::size_t j = 0; j < workers; ++j) {
      if (evidence[j].answers <= 0) continue;
      const double rate = evidence[j].right / evidence[j].answers;
      spread += (1 - result.spammer[j]) * ((rate - mean) * (rate - mean) - rate * (1 - rate) / evidence[j].answers);
    }
    const double most = mean * (1 - mean);
    const double variance = std::max(spread / (kWorkersBefore + trusted), most / (kMostConcentration + 1));
    result.accuracy = mean;
    result.concentration = std::clamp(most / variance - 1, kLeastConcentration, kMostConcentration);
    if (std::abs(share - before) < kSettled) break;
  }
  return result;
}

}  // namespace wisecrowd::trust
