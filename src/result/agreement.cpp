#include "result/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/intervals.hpp"
#include "base/parallel.hpp"
#include "result/probability_sums.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kTasksPerBlock = 16384;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Pairs of answers to one task, and moments of them over tasks.
struct PairSums {
  double tasks = 0, pairs = 0, agreeing = 0;
  double pairs_squared = 0, agreeing_squared = 0, product = 0;
  void add(double p, double a) {
    tasks += 1;
    pairs += p;
    agreeing += a;
    pairs_squared += p * p;
    agreeing_squared += a * a;
    product += p * a;
  }
  void add(const PairSums& other) {
    tasks += other.tasks;
    pairs += other.pairs;
    agreeing += other.agreeing;
    pairs_squared += other.pairs_squared;
    agreeing_squared += other.agreeing_squared;
    product += other.product;
  }
};

/// The votes of one task.
class Votes {
 public:
  explicit Votes(std::size_t classes) : of_(classes, 0) {}

  void count(std::span<const ClassId> labels) {
    said_.clear();
    for (const ClassId label : labels) {
      if (of_[index(label)]++ == 0) said_.push_back(label);
    }
    best_ = second_ = best_ties_ = second_ties_ = 0;
    for (const ClassId k : said_) {
      const std::uint32_t n = of_[index(k)];
      if (n > best_) {
        second_ = best_;
        second_ties_ = best_ties_;
        best_ = n;
        best_ties_ = 1;
      } else if (n == best_) {
        ++best_ties_;
      } else if (n > second_) {
        second_ = n;
        second_ties_ = 1;
      } else if (n == second_) {
        ++second_ties_;
      }
    }
  }
  void clear() {
    for (const ClassId k : said_) of_[index(k)] = 0;
  }
  [[nodiscard]] std::span<const ClassId> said() const noexcept { return said_; }
  [[nodiscard]] std::uint32_t of(ClassId k) const noexcept { return of_[index(k)]; }

  /// What an answer earns that is compared with the most frequent one of the others; ties share.
  [[nodiscard]] double credit(ClassId label) const noexcept {
    const std::uint32_t mine = of(label);
    const bool is_best = mine == best_;
    // The strongest rivals, without this class.
    const std::uint32_t rival = is_best && best_ties_ == 1 ? second_ : best_;
    const std::uint32_t rivals = is_best ? (best_ties_ == 1 ? second_ties_ : best_ties_ - 1) : best_ties_;
    if (mine - 1 < rival || mine == 1) return 0;
    return mine - 1 > rival ? 1.0 : 1.0 / (1.0 + rivals);
  }

 private:
  std::vector<std::uint32_t> of_;
  std::vector<ClassId> said_;
  std::uint32_t best_ = 0, second_ = 0, best_ties_ = 0, second_ties_ = 0;
};

}  // namespace

AgreementFacts agreement_facts(const CategoryAnswers& answers, const RunContext& context) {
  const std::size_t classes = answers.class_count();
  const std::size_t workers = answers.worker_count();
  const auto offsets = answers.task_offsets();
  const Blocks blocks{answers.task_count(), kTasksPerBlock};
  std::vector<PairSums> sums(blocks.count());
  ProbabilitySums by_worker(workers * 2, context.threads());  // credit, answers with others
  ProbabilitySums by_class(classes * 2, context.threads());   // ordered pairs that agree, all of them
  std::vector<Votes> votes(context.threads(), Votes(classes));
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned thread) {
    Votes& here = votes[thread];
    for (std::size_t t = blocks.begin(block); t < blocks.end(block); ++t) {
      const std::uint64_t size = offsets[t + 1] - offsets[t];
      if (size < 2) continue;
      const auto labels = answers.labels_of(TaskId(t));
      const auto who = answers.workers_of(TaskId(t));
      here.count(labels);
      double agreeing = 0;
      for (const ClassId k : here.said()) {
        const std::uint64_t n = here.of(k);
        agreeing += static_cast<double>(n * (n - 1)) / 2;
        by_class.add(thread, index(k) * 2, n * (n - 1));
        by_class.add(thread, index(k) * 2 + 1, n * (size - 1));
      }
      sums[block].add(static_cast<double>(size * (size - 1)) / 2, agreeing);
      for (std::size_t a = 0; a < size; ++a) {
        by_worker.add(thread, index(who[a]) * 2, ProbabilitySums::units(here.credit(labels[a])));
        by_worker.add(thread, index(who[a]) * 2 + 1, 1);
      }
      here.clear();
    }
  });
  PairSums all;
  for (const PairSums& part : sums) all.add(part);

  AgreementFacts facts;
  facts.share = facts.low = facts.high = kUnknown;
  facts.pairs = static_cast<std::uint64_t>(all.pairs);
  if (all.pairs > 0) {
    // A ratio of two means over tasks: linearised (Taylor), with tasks as independent units.
    const double share = all.agreeing / all.pairs;
    const double squares = all.agreeing_squared - 2 * share * all.product + share * share * all.pairs_squared;
    const double error =
        all.tasks > 1 ? std::sqrt(std::max(squares, 0.0) * all.tasks / (all.tasks - 1)) / all.pairs : kUnknown;
    facts.share = share;
    facts.low = std::max(0.0, share - kNormal95 * error);
    facts.high = std::min(1.0, share + kNormal95 * error);
    if (all.tasks < 2) facts.low = facts.high = kUnknown;
  }
  const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : kUnknown; };
  for (std::size_t k = 0; k < classes; ++k) {
    facts.by_class.push_back(
        ratio(static_cast<double>(by_class.total(k * 2)), static_cast<double>(by_class.total(k * 2 + 1))));
  }
  for (std::size_t w = 0; w < workers; ++w) {
    facts.by_worker.push_back(ratio(static_cast<double>(by_worker.total(w * 2)) / ProbabilitySums::kUnit,
                                    static_cast<double>(by_worker.total(w * 2 + 1))));
  }
  return facts;
}

}  // namespace wisecrowd
