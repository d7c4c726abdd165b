// The E-step of GroupModel: most of the time of a search goes here, and most of that to exponentials and logarithms.
// They are computed for a few tasks at a time in loops that compilers vectorise.

#include <algorithm>
#include <limits>

#include "base/numeric.hpp"
#include "trust/shared/group_model.hpp"
#include "trust/shared/softmax_rows.hpp"

namespace wisecrowd::trust {
namespace {

/// ln of the probability of what is known to be wrong.
constexpr double kImpossible = -1e6;
constexpr std::size_t kTasksPerBlock = 4096, kTasksAtATime = 64;

void logarithms_of(const double* values, std::size_t count, std::vector<double>& logs) {
  logs.resize(count);
  for (std::size_t i = 0; i < count; ++i) logs[i] = log_positive(values[i]);
}

}  // namespace

/// The tasks [first, last) of the sample, what is added up of them, and room to compute in.
struct GroupModel::FewTasks {
  const CrowdSample& sample;
  std::size_t first = 0, last = 0;
  std::vector<double> xi;     ///< counts of the groups' tables
  double log_likelihood = 0;  ///< of tasks with answers
  std::vector<double> largest{}, sums{}, logs{};
  std::vector<double> slot_sums{};  ///< slot × truth k: Σ_h ξ_kh said_h
};

/// ln P(answers of single workers | truth), and of each group ln P(answers | its hidden answer).
template <std::size_t kBins>
void GroupModel::add_up_answers(const FewTasks& tasks) {
  const std::size_t bins = kBins == 0 ? bins_ : kBins;
  const CrowdSample& sample = tasks.sample;
  std::fill(hidden_.begin() + static_cast<std::ptrdiff_t>(slot_offsets_[tasks.first] * bins),
            hidden_.begin() + static_cast<std::ptrdiff_t>(slot_offsets_[tasks.last] * bins), 0.0);
  for (std::size_t t = tasks.first; t < tasks.last; ++t) {
    double* const joint = log_joint_.data() + t * bins;
    std::copy_n(sample.log_prior.empty() ? log_prior_.data() : sample.log_prior.data() + t * bins, bins, joint);
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const double* const row = log_tables_.data() + row_of(sample, a);
      const std::size_t slot = slot_of(a);
      double* const sum = slot == Grouping::kNone ? joint : hidden_.data() + slot * bins;
      for (std::size_t k = 0; k < bins; ++k) sum[k] += row[k];
    }
  }
}

/// Of a group's hidden answer h, `hidden_` has exp(ln P(answers | h) − the largest of these) after this: few
/// exponentials, and the message to the truth k is ln Σ_h ξ_kh of that, plus that largest.
template <std::size_t kBins>
void GroupModel::find_messages(FewTasks& tasks) {
  const std::size_t bins = kBins == 0 ? bins_ : kBins;
  const std::size_t from = slot_offsets_[tasks.first], slots = slot_offsets_[tasks.last] - from;
  double* const hidden = hidden_.data() + from * bins;
  exponentiate_rows<kBins>(hidden, slots, bins, tasks.largest);
  tasks.slot_sums.resize(slots * bins);
  for (std::size_t s = 0; s < slots; ++s) {
    const double* const table = xi_.data() + slot_group_[from + s] * bins * bins;
    const double* const said = hidden + s * bins;
    for (std::size_t k = 0; k < bins; ++k) {
      double sum = 0;
      for (std::size_t h = 0; h < bins; ++h) sum += table[k * bins + h] * said[h];
      tasks.slot_sums[s * bins + k] = std::max(sum, std::numeric_limits<double>::min());
    }
  }
  logarithms_of(tasks.slot_sums.data(), slots * bins, tasks.logs);
  for (std::size_t t = tasks.first; t < tasks.last; ++t) {
    double* const joint = log_joint_.data() + t * bins;
    for (std::size_t s = slot_offsets_[t]; s < slot_offsets_[t + 1]; ++s) {
      for (std::size_t k = 0; k < bins; ++k) {
        message_[s * bins + k] = tasks.largest[s - from] + tasks.logs[(s - from) * bins + k];
        joint[k] += message_[s * bins + k];
      }
    }
  }
}

template <std::size_t kBins>
void GroupModel::find_posterior(FewTasks& tasks) {
  const std::size_t bins = kBins == 0 ? bins_ : kBins;
  const std::size_t count = tasks.last - tasks.first;
  const CrowdSample& sample = tasks.sample;
  for (std::size_t t = tasks.first; t < tasks.last && !sample.known.empty(); ++t) {
    if (sample.known[t] == CrowdSample::kUnknown) continue;
    for (std::size_t k = 0; k < bins; ++k) log_joint_[t * bins + k] += k == sample.known[t] ? 0 : kImpossible;
  }
  double* const q = q_.data() + tasks.first * bins;
  std::copy_n(log_joint_.data() + tasks.first * bins, count * bins, q);
  exponentiate_rows<kBins>(q, count, bins, tasks.largest);
  std::vector<double>& sums = tasks.sums;
  sums.assign(count, 0.0);
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t k = 0; k < bins; ++k) sums[n] += q[n * bins + k];
    const double scale = 1 / sums[n];
    for (std::size_t k = 0; k < bins; ++k) q[n * bins + k] *= scale;
  }
  logarithms_of(sums.data(), count, tasks.logs);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t t = tasks.first + n;
    if (sample.offsets[t] < sample.offsets[t + 1]) tasks.log_likelihood += tasks.largest[n] + tasks.logs[n];
  }
}

/// Turns `hidden_` into the posterior of the hidden answers, and counts truth × hidden answer.
template <std::size_t kBins>
void GroupModel::count_hidden_answers(FewTasks& tasks) {
  const std::size_t bins = kBins == 0 ? bins_ : kBins;
  double* weight = tasks.slot_sums.data();
  for (std::size_t t = tasks.first; t < tasks.last; ++t) {
    const double* const q = q_.data() + t * bins;
    for (std::size_t s = slot_offsets_[t]; s < slot_offsets_[t + 1]; ++s, weight += bins) {
      const std::size_t at = slot_group_[s] * bins * bins;
      double* const said = hidden_.data() + s * bins;
      for (std::size_t k = 0; k < bins; ++k) weight[k] = q[k] / weight[k];
      for (std::size_t h = 0; h < bins; ++h) {
        double total = 0;
        for (std::size_t k = 0; k < bins; ++k) {
          const double p = weight[k] * xi_[at + k * bins + h] * said[h];
          tasks.xi[at + k * bins + h] += p;
          total += p;
        }
        said[h] = total;
      }
    }
  }
}

template <std::size_t kBins>
void GroupModel::expect_tasks(FewTasks& tasks) {
  add_up_answers<kBins>(tasks);
  find_messages<kBins>(tasks);
  find_posterior<kBins>(tasks);
  count_hidden_answers<kBins>(tasks);
}

void GroupModel::expect(const CrowdSample& sample, const RunContext& context) {
  const std::size_t cells = grouping_.groups * bins_ * bins_;
  const Blocks blocks{tasks_, kTasksPerBlock};
  std::vector<std::vector<double>> counts(blocks.count());
  std::vector<double> logs(blocks.count(), 0.0);
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    FewTasks tasks{.sample = sample, .xi = std::vector<double>(cells, 0.0)};
    with_bins(bins_, [&](auto bins) {
      for (std::size_t t = blocks.begin(block); t < blocks.end(block); t = tasks.last) {
        tasks.first = t;
        tasks.last = std::min(t + kTasksAtATime, blocks.end(block));
        expect_tasks<bins()>(tasks);
      }
    });
    logs[block] = tasks.log_likelihood;
    counts[block] = std::move(tasks.xi);
  });
  xi_counts_.assign(cells, 0.0);
  log_likelihood_ = 0;
  for (std::size_t b = 0; b < blocks.count(); ++b) {
    log_likelihood_ += logs[b];
    for (std::size_t c = 0; c < cells; ++c) xi_counts_[c] += counts[b][c];
  }
}

}  // namespace wisecrowd::trust
