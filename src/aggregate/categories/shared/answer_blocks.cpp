#include "wisecrowd/answer_blocks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "aggregate/categories/shared/accuracy_tables.hpp"
#include "aggregate/categories/shared/fixed_smoothing.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorCode::bad_input, fmt::format("a block of answers is damaged: {}", what));
}

std::int64_t in_units(double value, double unit) { return static_cast<std::int64_t>(std::llround(value / unit)); }

/// From logarithms to probabilities in place; returns the logarithm of their sum.
double normalise_logs(std::span<double> p) {
  const double top = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& x : p) {
    x = exp_nonpositive(x - top);
    sum += x;
  }
  for (double& x : p) x /= sum;
  return top + log_positive(sum);
}

}  // namespace

void add_block(const AnswerBlock& block, std::size_t classes, std::span<const double> log_rows,
               std::span<const double> log_prior, BlockSums& sums, std::span<double> posterior) {
  const std::size_t cells = classes * classes;
  const bool votes = log_rows.empty();
  const std::size_t workers = cells == 0 ? 0 : sums.counts.size() / cells;
  if (block.offsets.empty() || block.offsets.back() != block.workers.size() ||
      block.labels.size() != block.workers.size()) {
    refuse("its columns differ in length");
  }
  if (!votes && (log_rows.size() != sums.counts.size() || log_prior.size() != classes))
    refuse("the tables are others'");
  const std::size_t tasks = block.offsets.size() - 1;
  if (!posterior.empty() && posterior.size() != tasks * classes) refuse("there is no room for its posterior");
  std::vector<double> p(classes);
  for (std::size_t i = 0; i < tasks; ++i) {
    const std::size_t begin = block.offsets[i], end = block.offsets[i + 1];
    if (end < begin || end > block.workers.size()) refuse("its tasks are not in order");
    if (votes) {
      std::fill(p.begin(), p.end(), 0.0);
    } else {
      std::copy(log_prior.begin(), log_prior.end(), p.begin());
    }
    for (std::size_t a = begin; a < end; ++a) {
      if (block.workers[a] >= workers || block.labels[a] >= classes)
        refuse("it names a worker or a class that is not there");
      if (votes) {
        p[block.labels[a]] += 1;
        continue;
      }
      const double* const row = log_rows.data() + block.workers[a] * cells + block.labels[a] * classes;
      for (std::size_t k = 0; k < classes; ++k) p[k] += row[k];
    }
    if (end > begin || !votes) {
      if (votes) {
        for (double& x : p) x /= static_cast<double>(end - begin);
      } else {
        sums.log_likelihood += in_units(normalise_logs(p), kLogUnit);
      }
    }
    if (!posterior.empty()) std::copy(p.begin(), p.end(), posterior.begin() + static_cast<std::ptrdiff_t>(i * classes));
    if (end == begin) continue;
    ++sums.answered_tasks;
    for (std::size_t k = 0; k < classes; ++k) {
      const std::int64_t mass = in_units(p[k], kCountUnit);
      sums.class_mass[k] += mass;
      for (std::size_t a = begin; a < end; ++a) {
        sums.counts[block.workers[a] * cells + block.labels[a] * classes + k] += mass;
      }
    }
  }
}

double update_rows(const BlockModel& model, std::size_t classes, std::span<const std::int64_t> counts,
                   std::span<double> log_rows) {
  const std::size_t cells = classes * classes;
  if (log_rows.size() != counts.size() || cells == 0 || counts.size() % cells != 0) refuse("the tables are others'");
  const FixedSmoothing smoothing(classes, classes, model.first, model.second);
  std::vector<double> own(cells);
  double objective = 0;
  for (std::size_t begin = 0; begin < counts.size(); begin += cells) {
    std::transform(counts.begin() + static_cast<std::ptrdiff_t>(begin),
                   counts.begin() + static_cast<std::ptrdiff_t>(begin + cells), own.begin(),
                   [](std::int64_t count) { return static_cast<double>(count) * kCountUnit; });
    double* const rows = log_rows.data() + begin;
    if (model.kind == BlockModel::Kind::confusion) {
      objective += smoothing.update(0, own.data(), rows);
      continue;
    }
    double right = 0, all = 0;
    for (std::size_t l = 0; l < classes; ++l) {
      right += own[l * classes + l];
      for (std::size_t k = 0; k < classes; ++k) all += own[l * classes + k];
    }
    const AccuracyLogs logs = accuracy_logs(right, all - right, model.first, model.second, classes);
    for (std::size_t l = 0; l < classes; ++l) {
      for (std::size_t k = 0; k < classes; ++k) rows[l * classes + k] = k == l ? logs.right : logs.each_wrong;
    }
    objective += logs.objective;
  }
  return objective;
}

}  // namespace wisecrowd
