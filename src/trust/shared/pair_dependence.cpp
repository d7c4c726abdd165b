#include "trust/shared/pair_dependence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/numeric.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::size_t kWorkersPerBlock = 16;
/// Rates of copying that are tried.
constexpr std::array kRates = {0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95};
constexpr double kHighestUsual = 0.9;
/// The crowd's usual excess counts as so many partners of a worker.
constexpr double kCrowdAsPartners = 5;
constexpr double kLeastProbability = 1e-3;

/// Walks over the answers of pairs of workers, with the posterior of the task that leaves both units out.
class PairWalk {
 public:
  PairWalk(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model)
      : sample_(sample), pairs_(pairs), model_(model) {}

  /// visit(thread, pair, own, other, q) for the answers `own` and `other` of every pair with wanted(pair). Pairs of one
  /// worker are visited by one thread, so sums per pair need no care. Before them, begin(thread, worker, pair) is
  /// called for each of that worker's pairs.
  template <class Wanted, class Begin, class Visit>
  void run(const RunContext& context, const Wanted& wanted, const Begin& begin, const Visit& visit) const {
    const Blocks blocks{sample_.workers, kWorkersPerBlock};
    std::vector<std::vector<std::size_t>> places(context.threads());
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
      if (context.cancelled()) return;
      auto& place = places[thread];
      place.resize(sample_.workers, kNowhere);
      std::vector<double> q(model_.bins());
      for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
        bool any = false;
        for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
          if (!wanted(p)) continue;
          begin(thread, j, p);
          place[pairs_.other[p]] = p;
          any = true;
        }
        if (any) walk(thread, j, place, q, visit);
        for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) place[pairs_.other[p]] = kNowhere;
      }
    });
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  template <class Visit>
  void walk(unsigned thread, std::size_t j, const std::vector<std::size_t>& place, std::vector<double>& q,
            const Visit& visit) const {
    const std::size_t bins = model_.bins();
    std::vector<double> without(bins);
    for (std::uint64_t i = sample_.worker_offsets[j]; i < sample_.worker_offsets[j + 1]; ++i) {
      const std::uint64_t own = sample_.answer_of[i], end = sample_.offsets[sample_.task_of[i] + 1];
      const double* const joint = model_.log_joint(sample_.task_of[i]);
      const double* const said = model_.message(sample_, own);
      for (std::size_t k = 0; k < bins; ++k) without[k] = joint[k] - said[k];
      for (std::uint64_t b = own + 1; b < end; ++b) {
        const std::size_t pair = place[sample_.who[b]];
        if (pair == kNowhere) continue;
        std::copy(without.begin(), without.end(), q.begin());
        if (!model_.grouping().together(j, sample_.who[b])) {
          const double* const others = model_.message(sample_, b);
          for (std::size_t k = 0; k < bins; ++k) q[k] -= others[k];
        }
        const double top = *std::max_element(q.begin(), q.end());
        double sum = 0;
        for (std::size_t k = 0; k < bins; ++k) sum += q[k] = exp_nonpositive(q[k] - top);
        for (std::size_t k = 0; k < bins; ++k) q[k] /= sum;
        visit(thread, pair, own, b, q);
      }
    }
  }

  const CrowdSample& sample_;
  const WorkerPairs& pairs_;
  const GroupModel& model_;
};

/// The excess of a pair and how much it counts: the root of the number of common tasks.
using Weighted = std::pair<double, double>;

/// What the middle one has when they are put in order; 0 for none.
double weighted_median(std::vector<Weighted>& valued) {
  if (valued.empty()) return 0;
  std::sort(valued.begin(), valued.end());
  double all = 0, sum = 0;
  for (const auto& [value, weight] : valued) all += weight;
  for (const auto& [value, weight] : valued) {
    sum += weight;
    if (sum >= all / 2) return value;
  }
  return valued.back().first;
}

/// By worker: the median excess with others, drawn towards the crowd's.
void find_usual(const WorkerPairs& pairs, const Grouping& grouping, PairDependence& found) {
  const std::size_t workers = pairs.row.size() - 1;
  const auto value_of = [&](std::size_t p) {
    return Weighted{found.excess(pairs, p), std::sqrt(static_cast<double>(pairs.common[p]))};
  };
  const auto for_each = [&](const auto& visit) {
    for (std::size_t j = 0; j < workers; ++j) {
      for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) {
        if (pairs.common[p] >= kLeastForUsual && !grouping.together(j, pairs.other[p])) visit(j, p);
      }
    }
  };
  std::vector<std::size_t> begin(workers + 1, 0);  // of each worker's partners
  for_each([&](std::size_t j, std::size_t p) {
    ++begin[j + 1];
    ++begin[pairs.other[p] + 1];
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Weighted> valued;
  valued.reserve(begin.back() / 2);
  for_each([&](std::size_t, std::size_t p) { valued.push_back(value_of(p)); });
  const double crowd = weighted_median(valued);
  valued = {};
  std::vector<std::size_t> next(begin);
  std::vector<std::uint32_t> partner(begin.back());  // by worker: its pairs
  for_each([&](std::size_t j, std::size_t p) {
    partner[next[j]++] = static_cast<std::uint32_t>(p);
    partner[next[pairs.other[p]]++] = static_cast<std::uint32_t>(p);
  });
  found.usual_of.resize(workers);
  for (std::size_t j = 0; j < workers; ++j) {
    valued.clear();
    for (std::size_t n = begin[j]; n < begin[j + 1]; ++n) valued.push_back(value_of(partner[n]));
    const auto count = static_cast<double>(valued.size());
    found.usual_of[j] = (count * weighted_median(valued) + kCrowdAsPartners * crowd) / (count + kCrowdAsPartners);
  }
}

void find_excess(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model, PairDependence& found,
                 const RunContext& context) {
  const std::size_t bins = model.bins(), cells = bins * bins;
  const std::vector<double>& tables = model.marginal_tables();
  std::vector<std::vector<double>> alike(context.threads());  // of a worker's pairs: P(both say the same | truth)
  PairWalk(sample, pairs, model)
      .run(
          context, [](std::size_t) { return true; },
          [&](unsigned thread, std::size_t j, std::size_t pair) {
            if (pair == pairs.row[j]) alike[thread].assign((pairs.row[j + 1] - pair) * bins, 0.0);
            const double* const first = tables.data() + j * cells;
            const double* const second = tables.data() + pairs.other[pair] * cells;
            double* const same = alike[thread].data() + (pair - pairs.row[j]) * bins;
            for (std::size_t c = 0; c < cells; ++c) same[c % bins] += first[c] * second[c];
          },
          [&](unsigned thread, std::size_t pair, std::uint64_t own, std::uint64_t, const std::vector<double>& q) {
            const double* const same = alike[thread].data() + (pair - pairs.row[sample.who[own]]) * bins;
            double p = 0;
            for (std::size_t k = 0; k < bins; ++k) p += q[k] * same[k];
            found.expected[pair] += p;
            found.variance[pair] += p * (1 - p);
          });
}

/// ln P(answers) with copying at each rate against none: two answers (x, y) have probability
/// (1 − r) P(x, y) + r 1[x = y] √(P(x) P(y)).
class Evidence {
 public:
  explicit Evidence(double usual) : usual_(std::min(std::max(usual, 0.0), kHighestUsual)) {}

  void add(const CrowdSample& sample, const GroupModel& model, std::uint64_t own, std::uint64_t other,
           std::span<const double> q) {
    const double* const first = model.marginal_tables().data() + model.row_of(sample, own);
    const double* const second = model.marginal_tables().data() + model.row_of(sample, other);
    double both = 0, one = 0, two = 0;
    for (std::size_t k = 0; k < q.size(); ++k) {
      both += q[k] * first[k] * second[k];
      one += q[k] * first[k];
      two += q[k] * second[k];
    }
    const bool same = sample.bin[own] == sample.bin[other];
    const double p = std::clamp(both / std::sqrt(one * two), kLeastProbability, 1.0);
    for (std::size_t r = 0; r <= kRates.size(); ++r) {
      const double rate = r < kRates.size() ? kRates[r] : usual_;
      logs_[r] += std::log1p((same ? rate / p : 0.0) - rate);
    }
  }

  [[nodiscard]] double value() const {
    double best = 0;
    for (std::size_t r = 0; r < kRates.size(); ++r) {
      if (kRates[r] > usual_) best = std::max(best, logs_[r] - logs_.back());
    }
    return best;
  }

 private:
  double usual_;
  std::array<double, kRates.size() + 1> logs_{};  // the last: at the usual rate
};

void find_evidence(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model, PairDependence& found,
                   const RunContext& context) {
  std::vector<Evidence> evidence;
  for (std::size_t j = 0; j < sample.workers; ++j) {
    for (std::size_t p = pairs.row[j]; p < pairs.row[j + 1]; ++p) {
      if (pairs.common[p] < kLeastCommon || found.beyond_usual(pairs, j, p) <= kLeastExcess) continue;
      found.evidence.push_back({p, 0});
      evidence.emplace_back(found.usual(pairs, j, p));
    }
  }
  const auto place = [&](std::size_t pair) {
    return static_cast<std::size_t>(
        std::lower_bound(found.evidence.begin(), found.evidence.end(), pair,
                         [](const PairDependence::Evidence& at, std::size_t p) { return at.pair < p; }) -
        found.evidence.begin());
  };
  const auto wanted = [&](std::size_t pair) {
    const std::size_t at = place(pair);
    return at < evidence.size() && found.evidence[at].pair == pair;
  };
  if (evidence.empty()) return;
  std::vector<std::vector<std::size_t>> places(context.threads());  // of a worker's pairs in `evidence`
  PairWalk(sample, pairs, model)
      .run(
          context, wanted,
          [&](unsigned thread, std::size_t j, std::size_t pair) {
            places[thread].resize(pairs.row[j + 1] - pairs.row[j]);
            places[thread][pair - pairs.row[j]] = place(pair);
          },
          [&](unsigned thread, std::size_t pair, std::uint64_t own, std::uint64_t other, const std::vector<double>& q) {
            evidence[places[thread][pair - pairs.row[sample.who[own]]]].add(sample, model, own, other, q);
          });
  for (std::size_t n = 0; n < evidence.size(); ++n) found.evidence[n].value = evidence[n].value();
}

}  // namespace

double evidence_needed(double pairs_tried) { return std::log(std::max(1.0, pairs_tried)) + 5; }

PairDependence expected_agreement(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model,
                                  const RunContext& context) {
  PairDependence found;
  for (auto* sums : {&found.expected, &found.variance}) sums->assign(pairs.size(), 0.0);
  find_excess(sample, pairs, model, found, context);
  return found;
}

PairDependence dependence_of(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model,
                             const RunContext& context) {
  PairDependence found = expected_agreement(sample, pairs, model, context);
  find_usual(pairs, model.grouping(), found);
  find_evidence(sample, pairs, model, found, context);
  return found;
}

}  // namespace wisecrowd::trust
