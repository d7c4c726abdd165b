#include "wisecrowd/covariance_spammers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "trust/covariance/low_rank.hpp"

namespace wisecrowd {
namespace {

/// More entries than this take too much memory (12 bytes each) for a look at the crowd.
constexpr double kMostPairs = 4e7;
constexpr double kMostAdditions = 4e9;
constexpr std::size_t kFewestWorkers = 5, kFewestOthers = 3;
constexpr std::size_t kWorkersPerBlock = 64;
constexpr int kRounds = 4;

/// How the answers of a worker vary with the shares of the votes of those that stay: the Frobenius norm of the
/// covariances of "it says l" and "the others say l'", squared, and what chance alone would give.
struct Variation {
  double tasks = 0, squared = 0, by_chance = 0;
  [[nodiscard]] double strength() const { return std::sqrt(std::max(squared - by_chance, 0.0)); }
  [[nodiscard]] bool significant() const { return squared > 4 * by_chance; }
};

Variation variation_of(const CategoryAnswers& answers, WorkerId self, const std::vector<std::uint8_t>& left_out) {
  const std::size_t classes = answers.class_count();
  const auto tasks = answers.tasks_of(self);
  const auto own = answers.answers_of(self);
  const auto labels = answers.labels();
  std::vector<double> joint(classes * classes, 0.0), said(classes, 0.0), others(classes, 0.0), votes(classes);
  double n = 0, squares = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::fill(votes.begin(), votes.end(), 0.0);
    double voters = 0;
    const auto who = answers.workers_of(tasks[i]);
    const auto what = answers.labels_of(tasks[i]);
    for (std::size_t a = 0; a < who.size(); ++a) {
      if (who[a] == self || left_out[index(who[a])] != 0) continue;
      votes[index(what[a])] += 1;
      voters += 1;
    }
    if (voters == 0) continue;
    n += 1;
    const std::size_t l = index(labels[own[i]]);
    said[l] += 1;
    for (std::size_t k = 0; k < classes; ++k) {
      const double share = votes[k] / voters;
      joint[l * classes + k] += share;
      others[k] += share;
      squares += share * share;
    }
  }
  Variation variation{.tasks = n};
  if (n < 2) return variation;
  double own_variance = 1, others_variance = squares / n;
  for (std::size_t l = 0; l < classes; ++l) {
    own_variance -= said[l] * said[l] / (n * n);
    others_variance -= others[l] * others[l] / (n * n);
    for (std::size_t k = 0; k < classes; ++k) {
      const double c = joint[l * classes + k] / n - said[l] * others[k] / (n * n);
      variation.squared += c * c;
    }
  }
  variation.by_chance = own_variance * others_variance / n;
  return variation;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The weight of the pairs that are there, as a share of all: for the worker of a mean answer.
double covered_share(const CategoryAnswers& answers, const trust::PairCovariances& pairs, double thin_pair) {
  const std::size_t workers = pairs.worker_count();
  const auto offsets = answers.worker_offsets();
  double sum = 0;
  for (std::size_t j = 0; j < workers; ++j) {
    double evidence = 0;
    for (std::uint64_t e = pairs.first[j]; e < pairs.first[j + 1]; ++e) {
      evidence += pairs.common[e] / (pairs.common[e] + thin_pair);
    }
    sum += evidence * static_cast<double>(offsets[j + 1] - offsets[j]);
  }
  return sum / (static_cast<double>(workers - 1) * static_cast<double>(answers.answer_count()));
}

struct Split {
  std::vector<std::uint8_t> near_zero;  ///< per worker
  double separation = 0;
};

/// Clusters by how far their centres are from 0. Those before the first gap, where the next is more than so many times
/// farther, hold the suspects: with many classes noise makes several clusters of them.
Split split_rows(const RowMatrix& v, std::size_t clusters, const CovarianceSpammerOptions& options) {
  const trust::Clusters found = trust::cluster_rows(v, clusters, options.starts);
  std::vector<std::pair<double, std::uint32_t>> norms;
  for (std::size_t g = 0; g < clusters; ++g) {
    norms.emplace_back(found.centres.row(static_cast<Eigen::Index>(g)).norm(), static_cast<std::uint32_t>(g));
  }
  std::sort(norms.begin(), norms.end());
  Split split;
  std::vector<std::uint8_t> near(clusters, 0);
  for (std::size_t i = 0; i + 1 < clusters; ++i) {
    const double ratio =
        norms[i].first > 0 ? norms[i + 1].first / norms[i].first : std::numeric_limits<double>::infinity();
    split.separation = std::max(split.separation, ratio);
    if (!(ratio > options.least_separation)) continue;
    for (std::size_t j = 0; j <= i; ++j) near[norms[j].second] = 1;
    break;
  }
  for (const std::uint32_t g : found.cluster) split.near_zero.push_back(near[g]);
  return split;
}

std::vector<Variation> variations(const CategoryAnswers& answers, const std::vector<std::uint8_t>& left_out,
                                  const RunContext& context) {
  std::vector<Variation> all(answers.worker_count());
  static_cast<void>(answers.worker_offsets());  // built here, not by the threads
  const Blocks blocks{all.size(), kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      all[j] = variation_of(answers, WorkerId{static_cast<std::uint32_t>(j)}, left_out);
    }
  });
  return all;
}

/// Calls suspects spammers who do not vary with the others in any way, and so those others of whom nothing of the kind
/// can be seen: noise may put them into a cluster of their own. False if the others do not vary together themselves.
bool judge_suspects(const CategoryAnswers& answers, std::vector<std::uint8_t> suspect,
                    const CovarianceSpammerOptions& options, const RunContext& context, CovarianceSpammers& result) {
  const std::size_t workers = suspect.size();
  for (int round = 0; round < kRounds; ++round) {
    const auto varies = variations(answers, suspect, context);
    std::vector<double> of_others;
    std::size_t sure = 0;
    for (std::size_t j = 0; j < workers; ++j) {
      if (suspect[j] != 0 || varies[j].tasks < options.least_answers) continue;
      of_others.push_back(varies[j].strength());
      sure += varies[j].significant() ? 1 : 0;
    }
    const double usual = median(of_others);
    if (of_others.size() < kFewestOthers || 2 * sure < of_others.size() || usual <= 0) return false;
    bool more = false;
    for (std::size_t j = 0; j < workers; ++j) {
      const double strength = result.strength[j] = varies[j].strength() / usual;
      const bool known = varies[j].tasks >= options.least_answers;
      const bool blank = known && !varies[j].significant() && strength < options.least_strength / 2;
      result.spammer[j] = known && (blank || (suspect[j] != 0 && strength < options.least_strength)) ? 1 : 0;
      more = more || (blank && suspect[j] == 0);
      if (blank) suspect[j] = 1;
    }
    if (!more) break;
  }
  return true;
}

}  // namespace

CovarianceSpammers spammers_by_covariance(const CategoryAnswers& answers, const CovarianceSpammerOptions& options,
                                          const RunContext& context) {
  const std::size_t workers = answers.worker_count(), classes = answers.class_count();
  CovarianceSpammers result;
  result.spammer.assign(workers, 0);
  result.strength.assign(workers, std::numeric_limits<double>::quiet_NaN());
  const auto nobody = [&](std::string why, bool applies = true) {
    result.why = std::move(why);
    result.applies = applies;
    return result;
  };
  if (classes < 2) return nobody("there are less than two classes", false);
  if (workers < std::max(kFewestWorkers, classes + 1)) {
    return nobody(fmt::format("{} workers are too few to compare them", workers), false);
  }
  const double additions = trust::most_pairs(answers);
  const auto square = static_cast<double>(workers) * static_cast<double>(workers);
  if (additions > kMostAdditions || std::min(additions, square) > kMostPairs) {
    return nobody(fmt::format("{} workers share too many tasks to compare all pairs of them", workers), false);
  }
  const trust::PairCovariances pairs = trust::pair_covariances(answers, context);
  const double covered = covered_share(answers, pairs, options.thin_pair);
  if (covered < options.least_covered) {
    return nobody(fmt::format("workers share tasks with too few others ({:.0f} % of the pairs)", 100 * covered), false);
  }
  const RowMatrix v =
      trust::low_rank_of(pairs, classes, options.thin_pair, options.max_iterations, options.tolerance, context);
  const Split split = split_rows(v, classes, options);
  result.separation = split.separation;
  if (context.cancelled()) return nobody("stopped");
  if (!(split.separation > options.least_separation)) {
    return nobody(
        fmt::format("nobody stands apart: the answers of those that vary least with the others' do so only "
                    "{:.1f} times less",
                    split.separation));
  }
  if (!judge_suspects(answers, split.near_zero, options, context, result)) {
    return nobody("the answers of the other workers hardly vary together");
  }
  if (std::find(result.spammer.begin(), result.spammer.end(), 1) == result.spammer.end()) {
    return nobody("those whose answers vary least with the others' have too few answers, or vary in another way");
  }
  return result;
}

}  // namespace wisecrowd
