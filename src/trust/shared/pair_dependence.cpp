#include "trust/shared/pair_dependence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "trust/shared/softmax_rows.hpp"

namespace wisecrowd::trust {
namespace {

constexpr std::size_t kWorkersPerBlock = 16;
/// Rates of copying that are tried.
constexpr std::array kRates = {0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95};
constexpr double kHighestUsual = 0.9;
/// The crowd's usual excess counts as so many partners of a worker.
constexpr double kCrowdAsPartners = 5;
constexpr double kLeastProbability = 1e-3;

/// Two answers of a pair of workers to one task, and the posterior of the task that leaves both units out.
struct AnswersOfPair {
  std::size_t pair;
  std::uint64_t own, other;
  const double* q;
};

/// Walks over the answers of pairs of workers.
class PairWalk {
 public:
  PairWalk(const CrowdSample& sample, const WorkerPairs& pairs, const GroupModel& model)
      : sample_(sample), pairs_(pairs), model_(model) {}

  /// visit(thread, bins, answers) for every pair with wanted(pair), the number of bins as in `with_bins`. Pairs of one
  /// worker are visited by one thread, so sums per pair need no care. Before them, begin(thread, worker, pair) is
  /// called for each of that worker's pairs.
  template <class Wanted, class Begin, class Visit>
  void run(const RunContext& context, const Wanted& wanted, const Begin& begin, const Visit& visit) const {
    const Blocks blocks{sample_.workers, kWorkersPerBlock};
    std::vector<Scratch> scratches(context.threads());
    context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
      if (context.cancelled()) return;
      Scratch& scratch = scratches[thread];
      scratch.place.resize(sample_.workers, kNowhere);
      scratch.q.resize(kAtATime * model_.bins());
      for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
        bool any = false;
        for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) {
          if (!wanted(p)) continue;
          begin(thread, j, p);
          scratch.place[pairs_.other[p]] = p;
          any = true;
        }
        if (!any) continue;
        with_bins(model_.bins(), [&](auto bins) { walk(bins, thread, j, scratch, visit); });
        for (std::size_t p = pairs_.row[j]; p < pairs_.row[j + 1]; ++p) scratch.place[pairs_.other[p]] = kNowhere;
      }
    });
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  static constexpr std::size_t kAtATime = 64;  ///< posteriors

  struct Scratch {
    std::vector<std::size_t> place;  ///< of each worker: its pair with the one at hand, or kNowhere
    std::vector<AnswersOfPair> answers;
    std::vector<double> q, largest;
  };

  template <class Bins, class Visit>
  void walk(Bins known_bins, unsigned thread, std::size_t j, Scratch& scratch, const Visit& visit) const {
    const std::size_t bins = known_bins() == 0 ? model_.bins() : known_bins();
    for (std::uint64_t i = sample_.worker_offsets[j]; i < sample_.worker_offsets[j + 1]; ++i) {
      const std::uint64_t own = sample_.answer_of[i], end = sample_.offsets[sample_.task_of[i] + 1];
      const double* const joint = model_.log_joint(sample_.task_of[i]);
      const double* const said = model_.message(sample_, own);
      for (std::uint64_t b = own + 1; b < end; ++b) {
        const std::size_t pair = scratch.place[sample_.who[b]];
        if (pair == kNowhere) continue;
        double* const q = scratch.q.data() + scratch.answers.size() * bins;
        for (std::size_t k = 0; k < bins; ++k) q[k] = joint[k] - said[k];
        if (!model_.grouping().together(j, sample_.who[b])) {
          const double* const others = model_.message(sample_, b);
          for (std::size_t k = 0; k < bins; ++k) q[k] -= others[k];
        }
        scratch.answers.push_back({pair, own, b, q});
        if (scratch.answers.size() == kAtATime) visit_all(known_bins, thread, scratch, visit);
      }
    }
    visit_all(known_bins, thread, scratch, visit);
  }

  template <class Bins, class Visit>
  void visit_all(Bins known_bins, unsigned thread, Scratch& scratch, const Visit& visit) const {
    const std::size_t bins = known_bins() == 0 ? model_.bins() : known_bins();
    const std::size_t count = scratch.answers.size();
    exponentiate_rows<Bins::value>(scratch.q.data(), count, bins, scratch.largest);
    for (std::size_t n = 0; n < count; ++n) {
      double* const q = scratch.q.data() + n * bins;
      double sum = 0;
      for (std::size_t k = 0; k < bins; ++k) sum += q[k];
      for (std::size_t k = 0; k < bins; ++k) q[k] /= sum;
      visit(thread, known_bins, scratch.answers[n]);
    }
    scratch.answers.clear();
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
          [&](unsigned thread, auto known_bins, const AnswersOfPair& at) {
            const std::size_t row = known_bins() == 0 ? bins : known_bins();
            const double* const same = alike[thread].data() + (at.pair - pairs.row[sample.who[at.own]]) * row;
            double p = 0;
            for (std::size_t k = 0; k < row; ++k) p += at.q[k] * same[k];
            found.expected[at.pair] += p;
            found.variance[at.pair] += p * (1 - p);
          });
}

/// ln P(answers) with copying at each rate against none: two answers (x, y) have probability
/// (1 − r) P(x, y) + r 1[x = y] √(P(x) P(y)).
class Evidence {
 public:
  explicit Evidence(double usual) {
    std::copy(kRates.begin(), kRates.end(), rates_.begin());
    rates_.back() = std::min(std::max(usual, 0.0), kHighestUsual);
  }

  void add(const CrowdSample& sample, const GroupModel& model, const AnswersOfPair& at) {
    if (sample.bin[at.own] != sample.bin[at.other]) {
      ++differ_;
      return;
    }
    const double* const first = model.marginal_tables().data() + model.row_of(sample, at.own);
    const double* const second = model.marginal_tables().data() + model.row_of(sample, at.other);
    double both = 0, one = 0, two = 0;
    for (std::size_t k = 0; k < model.bins(); ++k) {
      both += at.q[k] * first[k] * second[k];
      one += at.q[k] * first[k];
      two += at.q[k] * second[k];
    }
    const double p = std::clamp(both / std::sqrt(one * two), kLeastProbability, 1.0);
    for (std::size_t r = 0; r < rates_.size(); ++r) logs_[r] += log_positive(1 - rates_[r] + rates_[r] / p);
  }

  [[nodiscard]] double value() const {
    const auto at = [&](std::size_t r) { return logs_[r] + differ_ * math::log1p(-rates_[r]); };
    double best = 0;
    for (std::size_t r = 0; r < kRates.size(); ++r) {
      if (rates_[r] > rates_.back()) best = std::max(best, at(r) - at(kRates.size()));
    }
    return best;
  }

 private:
  std::array<double, kRates.size() + 1> rates_{}, logs_{};  // the last: the usual rate
  double differ_ = 0;                                       // answers that are not the same
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
          [&](unsigned thread, auto, const AnswersOfPair& at) {
            evidence[places[thread][at.pair - pairs.row[sample.who[at.own]]]].add(sample, model, at);
          });
  for (std::size_t n = 0; n < evidence.size(); ++n) found.evidence[n].value = evidence[n].value();
}

}  // namespace

double evidence_needed(double pairs_tried) { return math::log(std::max(1.0, pairs_tried)) + 5; }

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
