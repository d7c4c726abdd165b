#include "wisecrowd/worker_information.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/trust.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd {
namespace {

constexpr std::size_t kInformedWorkersPerBlock = 16;
constexpr double kLeastOwnCell = 1e-6;
constexpr double kCapacityTolerance = 1e-6;

struct Told {
  double capacity = 0, information = 0;
};

/// What the table of these counts tells. A truth that the worker never met says nothing: its row is as the others'.
Told told_by(std::vector<double> counts, std::span<const double> shares) {
  const std::size_t classes = shares.size();
  std::vector<double> said(classes, 0.0);
  for (std::size_t c = 0; c < counts.size(); ++c) said[c % classes] += counts[c];
  for (std::size_t k = 0; k < classes; ++k) {
    const auto row = std::span(counts).subspan(k * classes, classes);
    double sum = 0;
    for (const double n : row) sum += n;
    if (sum <= kProbabilityFloor) std::copy(said.begin(), said.end(), row.begin());
  }
  normalise_rows(counts, classes);
  return {channel_capacity(counts, classes, kCapacityTolerance).nats, M_LN2 * mutual_information_bits(shares, counts)};
}

WorkerInformation judge_information(const CategoryAnswers& answers, WorkerId worker, std::span<const double> posterior,
                                    std::span<const double> table, std::span<const double> shares,
                                    std::size_t permutations, Rng rng) {
  const std::size_t classes = shares.size();
  const auto tasks = answers.tasks_of(worker);
  const auto own = answers.answers_of(worker);
  WorkerInformation result;
  if (own.empty()) return result;
  std::vector<double> q(own.size() * classes);
  std::vector<ClassId> labels(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    labels[i] = answers.labels()[own[i]];
    const auto row = std::span(q).subspan(i * classes, classes);
    for (std::size_t k = 0; k < classes; ++k) {
      row[k] = posterior[index(tasks[i]) * classes + k] /
               std::max(table.empty() ? 1.0 : table[k * classes + index(labels[i])], kLeastOwnCell);
    }
    normalise(row);
  }
  const auto tell = [&] {
    std::vector<double> counts(classes * classes, 0.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      for (std::size_t k = 0; k < classes; ++k) counts[k * classes + index(labels[i])] += q[i * classes + k];
    }
    return told_by(std::move(counts), shares);
  };
  const Told as_they_are = tell();
  result.capacity = as_they_are.capacity;
  result.information = as_they_are.information;
  std::size_t reached = 1;
  for (std::size_t p = 0; p < permutations; ++p) {
    rng.shuffle(std::span(labels));
    const Told dealt = tell();
    result.capacity_by_chance += dealt.capacity / static_cast<double>(permutations);
    result.information_by_chance += dealt.information / static_cast<double>(permutations);
    reached += dealt.capacity >= as_they_are.capacity ? 1 : 0;
  }
  result.tail = static_cast<double>(reached) / static_cast<double>(permutations + 1);
  return result;
}

}  // namespace

double weighted_spammer_score(std::span<const double> table, std::span<const double> class_shares) {
  const std::size_t classes = class_shares.size();
  if (table.size() != classes * classes) {
    throw Error(ErrorCode::bad_input,
                fmt::format("a table of {} cells does not fit {} classes", table.size(), classes));
  }
  double sum = 0, weights = 0;
  for (std::size_t a = 0; a < classes; ++a) {
    for (std::size_t b = a + 1; b < classes; ++b) {
      const double weight = class_shares[a] * class_shares[b];
      weights += weight;
      for (std::size_t l = 0; l < classes; ++l) {
        const double d = table[a * classes + l] - table[b * classes + l];
        sum += weight * d * d;
      }
    }
  }
  return weights > 0 ? sum / (2 * weights) : 0;
}

double WorkerInformation::capacity_above_chance() const noexcept {
  return std::max(capacity - capacity_by_chance, 0.0);
}
double WorkerInformation::information_above_chance() const noexcept {
  return std::max(information - information_by_chance, 0.0);
}

std::vector<WorkerInformation> worker_information(const CategoryAnswers& answers, std::span<const double> posterior,
                                                  std::span<const double> tables, std::span<const double> class_shares,
                                                  const InformationOptions& options, const RunContext& context) {
  const std::size_t workers = answers.worker_count(), classes = class_shares.size(), cells = classes * classes;
  if (classes != answers.class_count() || posterior.size() != answers.task_count() * classes ||
      (!tables.empty() && tables.size() != workers * cells)) {
    throw Error(ErrorCode::bad_input,
                fmt::format("a posterior of {} cells and tables of {} do not fit {} tasks, {} "
                            "workers and {} classes",
                            posterior.size(), tables.size(), answers.task_count(), workers, answers.class_count()));
  }
  std::vector<WorkerInformation> all(workers);
  static_cast<void>(answers.worker_offsets());  // built here, not by the threads
  const Rng base = context.rng("worker information");
  const Blocks blocks{workers, kInformedWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block) && !context.cancelled(); ++j) {
      const auto own = tables.empty() ? std::span<const double>{} : tables.subspan(j * cells, cells);
      all[j] = judge_information(answers, WorkerId{static_cast<std::uint32_t>(j)}, posterior, own, class_shares,
                                 options.permutations, base.fork("worker", j));
    }
  });
  return all;
}

}  // namespace wisecrowd
