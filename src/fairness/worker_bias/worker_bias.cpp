#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/intervals.hpp"
#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "fairness/shared/draws.hpp"
#include "wisecrowd/fairness.hpp"

namespace wisecrowd {
namespace {

using fairness::interval_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Added to every cell of a Dirichlet distribution, so that none is empty.
constexpr double kCellCount = 1e-2;
/// Cells that are drawn in all at most: some ten seconds of work.
constexpr double kMostCells = 1e8;
constexpr std::size_t kFewestDraws = 200;

/// Rates that are compared: per positive class a false and a true positive rate, and at the end the accuracy.
class Rates {
 public:
  Rates(const GroupFit& fit, std::span<const ClassId> positive)
      : classes_(fit.class_count), positive_(positive), shares_(fit.class_prior) {}
  [[nodiscard]] std::size_t count() const noexcept { return 2 * positive_.size() + 1; }

  void of_table(std::span<const double> table, std::span<double> out) const {
    sum(out, [&](std::size_t k, std::size_t l, double weight) { return weight * table[k * classes_ + l]; });
  }

 private:
  template <class Term>
  void sum(std::span<double> out, const Term& term) const {
    for (std::size_t p = 0; p < positive_.size(); ++p) {
      const std::size_t positive = index(positive_[p]);
      double others = 0;
      for (std::size_t k = 0; k < classes_; ++k) others += k == positive ? 0 : shares_[k];
      double rate = 0;
      for (std::size_t k = 0; k < classes_; ++k) {
        if (k != positive) rate += term(k, positive, others > 0 ? shares_[k] / others : 1.0 / (classes_ - 1.0));
      }
      out[2 * p] = rate;
      out[2 * p + 1] = term(positive, positive, 1.0);
    }
    double right = 0;
    for (std::size_t k = 0; k < classes_; ++k) right += term(k, k, shares_[k]);
    out[2 * positive_.size()] = right;
  }

  std::size_t classes_;
  std::span<const ClassId> positive_;
  std::span<const double> shares_;
};

/// What is known of one worker in one group.
struct Known {
  std::vector<double> values;      // per rate
  std::vector<double> draws;       // draws × rates
  std::vector<double> said;        // per class: answers that named it
  std::span<const double> counts;  // truth × label: expected answers
  std::uint64_t answers = 0;
};

/// Answers of a group that name a class beyond what both groups together would let one expect, for one truth or
/// several.
struct Excess {
  double difference = 0, variance = 0;

  [[nodiscard]] static Excess of(std::span<const double> group, std::span<const double> reference, std::size_t label) {
    const double own = std::accumulate(group.begin(), group.end(), 0.0);
    const double other = std::accumulate(reference.begin(), reference.end(), 0.0);
    const double both = own + other;
    const double named = group[label] + reference[label];
    if (own <= 0 || other <= 0 || both <= 1) return {};
    return {group[label] - own * named / both,
            std::max(0.0, own * other * named * (both - named) / (both * both * (both - 1)))};
  }
  void add(const Excess& more) {
    difference += more.difference;
    variance += more.variance;
  }
  [[nodiscard]] double square() const { return difference * difference / variance; }
};

struct Judge {
  const GroupFit& fit;
  const WorkerBiasOptions& options;
  Rates rates;
  std::vector<ClassId> positive;
  std::size_t draws;

  [[nodiscard]] Known know(std::size_t block, Rng rng) const {
    const std::size_t classes = fit.class_count;
    const std::size_t cells = classes * classes;
    const GroupTables::Block& of = fit.by_group.blocks[block];
    const auto counts = fit.by_group.counts_of(block);
    const auto pooled = fit.confusion_of(of.worker);
    Known known;
    known.answers = of.answers;
    known.said.assign(classes, 0.0);
    for (std::size_t c = 0; c < cells; ++c) known.said[c % classes] += counts[c];
    known.values.resize(rates.count());
    known.counts = counts;
    rates.of_table(fit.by_group.table(block), known.values);
    std::vector<double> table(pooled.begin(), pooled.end());
    known.draws.resize(draws * rates.count());
    if (std::isinf(fit.kappa)) {
      for (std::size_t d = 0; d < draws; ++d) rates.of_table(table, draw_of(known, d));
      return known;
    }
    std::vector<double> alpha(cells);
    for (std::size_t c = 0; c < cells; ++c) alpha[c] = kCellCount + fit.kappa * pooled[c] + counts[c];
    for (std::size_t d = 0; d < draws; ++d) {
      for (std::size_t k = 0; k < classes; ++k) {
        rng.dirichlet(std::span(alpha).subspan(k * classes, classes), std::span(table).subspan(k * classes, classes));
      }
      rates.of_table(table, draw_of(known, d));
    }
    return known;
  }
  [[nodiscard]] std::span<double> draw_of(Known& known, std::size_t d) const {
    return std::span(known.draws).subspan(d * rates.count(), rates.count());
  }

  [[nodiscard]] Estimate difference(const Known& group, const Known& reference, std::size_t rate) const {
    std::vector<double> values(draws);
    for (std::size_t d = 0; d < draws; ++d) {
      values[d] = group.draws[d * rates.count() + rate] - reference.draws[d * rates.count() + rate];
    }
    return interval_of(group.values[rate] - reference.values[rate], values, 0.95);
  }
  /// How probable it is without bias that answers of the two groups differ as much, given the truth: for a shift in one
  /// direction over all truths (Mantel and Haenszel), or for any in false and true positives; the smaller, doubled. It
  /// looks at counts, not at tables, which are drawn towards each other.
  [[nodiscard]] double tail(const Known& group, const Known& reference, ClassId label) const {
    const std::size_t classes = fit.class_count;
    Excess all, of_kind[2];  // of kind 1: where the class is the truth
    for (std::size_t k = 0; k < classes; ++k) {
      const Excess here = Excess::of(group.counts.subspan(k * classes, classes),
                                     reference.counts.subspan(k * classes, classes), index(label));
      all.add(here);
      of_kind[k == index(label) ? 1 : 0].add(here);
    }
    if (all.variance <= 0) return 1;
    const double shift = 2 * normal_below(-std::sqrt(all.square()));
    if (of_kind[0].variance <= 0 || of_kind[1].variance <= 0) return shift;
    const double either =
        math::exp(-(of_kind[0].square() + of_kind[1].square()) / 2);  // χ² with two degrees of freedom
    return std::min(1.0, 2 * std::min(shift, either));
  }
  /// Of the shares of answers that name the class, by Jeffreys' posterior.
  [[nodiscard]] Estimate said_more(const Known& group, const Known& reference, ClassId label, Rng rng) const {
    const auto share = [&](const Known& known) {
      return known.said[index(label)] / static_cast<double>(known.answers);
    };
    const auto draw = [&](const Known& known) {
      const double yes = std::clamp(known.said[index(label)], 0.0, static_cast<double>(known.answers));
      return rng.beta(yes + 0.5, static_cast<double>(known.answers) - yes + 0.5);
    };
    std::vector<double> values(draws);
    for (double& value : values) {
      const double of_group = draw(group);
      value = of_group - draw(reference);
    }
    return interval_of(share(group) - share(reference), values, 0.95);
  }

  [[nodiscard]] WorkerBias compare(const Known& group, const Known& reference, std::size_t p, Rng rng) const {
    WorkerBias bias;
    bias.false_positive_rate = difference(group, reference, 2 * p);
    bias.true_positive_rate = difference(group, reference, 2 * p + 1);
    bias.accuracy = difference(group, reference, 2 * positive.size());
    bias.positive_rate = said_more(group, reference, positive[p], rng);
    bias.tail = tail(group, reference, positive[p]);
    return bias;
  }
};

/// Marks those whose tail is small among all (Benjamini and Hochberg).
void find_biased(std::vector<WorkerBias>& biases, double rate) {
  std::vector<double> tails;
  for (const WorkerBias& bias : biases) {
    if (bias.false_positive_rate.value == bias.false_positive_rate.value) tails.push_back(bias.tail);
  }
  std::sort(tails.begin(), tails.end());
  double below = -1;
  for (std::size_t i = 0; i < tails.size(); ++i) {
    if (tails[i] <= rate * static_cast<double>(i + 1) / static_cast<double>(tails.size())) below = tails[i];
  }
  for (WorkerBias& bias : biases) {
    bias.biased = bias.tail <= below && bias.false_positive_rate.value == bias.false_positive_rate.value;
  }
}

}  // namespace

GroupId largest_group(const TaskGroups& groups) {
  std::vector<std::uint64_t> tasks(groups.count(), 0);
  for (const GroupId group : groups.of_task) {
    if (group != kNoGroup) ++tasks[index(group)];
  }
  return GroupId(tasks.empty() ? 0 : std::max_element(tasks.begin(), tasks.end()) - tasks.begin());
}

std::vector<ClassId> positive_classes(std::span<const ClassId> positive, std::size_t classes) {
  if (!positive.empty()) return {positive.begin(), positive.end()};
  if (classes == 2) return {ClassId{1}};
  std::vector<ClassId> all;
  for (std::size_t k = 0; k < classes; ++k) all.push_back(ClassId(k));
  return all;
}

std::vector<WorkerBias> worker_biases(const GroupFit& fit, const CategoryAnswers& answers, const TaskGroups& groups,
                                      const WorkerBiasOptions& options, const RunContext& context) {
  if (fit.class_count < 2 || groups.count() < 2) return {};
  const GroupId reference = options.reference == kNoGroup ? largest_group(groups) : options.reference;
  const std::vector<ClassId> positive = positive_classes(options.positive, fit.class_count);
  const double cells = static_cast<double>(fit.by_group.counts.size());
  const auto affordable = static_cast<std::size_t>(kMostCells / std::max(cells, 1.0));
  const Judge judge{fit, options, Rates(fit, positive), positive,
                    std::clamp(affordable, std::min(kFewestDraws, options.draws), options.draws)};

  const std::size_t rows_per_worker = (groups.count() - 1) * positive.size();
  std::vector<WorkerBias> biases(answers.worker_count() * rows_per_worker);
  context.pool().for_each_block(answers.worker_count(), [&](std::size_t w, unsigned) {
    if (context.cancelled()) return;
    const auto worker = WorkerId(w);
    const Rng rng = context.rng("fairness worker bias", w);
    const auto know = [&](GroupId group) -> std::optional<Known> {
      const std::size_t block = fit.by_group.find(worker, group);
      if (block == fit.by_group.blocks.size()) return std::nullopt;
      return judge.know(block, rng.fork("tables", index(group)));
    };
    const std::optional<Known> base = know(reference);
    std::size_t row = w * rows_per_worker;
    for (std::size_t g = 0; g < groups.count(); ++g) {
      if (GroupId(g) == reference) continue;
      const std::optional<Known> known = know(GroupId(g));
      for (std::size_t p = 0; p < positive.size(); ++p, ++row) {
        WorkerBias bias;
        if (known && base) {
          bias = judge.compare(*known, *base, p, rng.fork("shares", g * positive.size() + p));
        } else {
          bias.positive_rate = bias.false_positive_rate = bias.true_positive_rate = bias.accuracy = {kNaN, kNaN, kNaN};
        }
        bias.worker = worker;
        bias.group = GroupId(g);
        bias.positive = positive[p];
        bias.answers = known ? known->answers : 0;
        bias.reference_answers = base ? base->answers : 0;
        biases[row] = bias;
      }
    }
  });
  find_biased(biases, options.false_discovery_rate);
  return biases;
}

}  // namespace wisecrowd
