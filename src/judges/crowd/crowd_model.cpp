#include "judges/crowd/crowd_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "wisecrowd/worker_tables.hpp"

namespace wisecrowd::judges {
namespace {

/// Before any answer: people are mostly right, machines more often than not. In answers per class.
constexpr double kKindAnswers = 5, kHumanRight = 0.8, kMachineRight = 0.65;
/// Of the share of answers that are the family's: a weak pull away from 0 and 1.
constexpr double kCopyingPrior = 0.5;
/// To begin with, a person counts so many times a family.
constexpr double kPersonVotes = 2;

}  // namespace

CrowdModel::CrowdModel(const JudgeData& data, const MixedCrowdOptions& options)
    : data_(data),
      options_(options),
      voices_(data),
      classes_(data.class_count()),
      mirrored_(data.kind == JudgedKind::comparisons),
      soft_(data.workers.size(), 0),
      copying_(data.workers.size(), 0.5),
      calibration_(data.workers.size(), Calibration{1, std::vector<double>(classes_, 0.0)}) {
  for (std::size_t v = 0; v < voices_.size(); ++v) {
    if (voices_[v].soft) soft_[voices_[v].worker] = 1;
  }
  find_families();
  start();
}

/// Families of one are none.
void CrowdModel::find_families() {
  family_.assign(data_.workers.size(), kAlone);
  if (!options_.families) return;
  std::map<std::string_view, std::vector<std::size_t>> members;
  for (std::size_t w = 0; w < data_.workers.size(); ++w) {
    const JudgeInfo& info = data_.judges[w];
    if (!info.family.empty() && info.kind == WorkerKind::machine) members[info.family].push_back(w);
  }
  for (const auto& [name, list] : members) {
    if (list.size() < 2) continue;
    for (const std::size_t w : list) family_[w] = static_cast<std::uint32_t>(families_);
    ++families_;
  }
}

/// The vote in which people count more than families, and each family once.
void CrowdModel::start() {
  const std::size_t tasks = voices_.tasks();
  q_.assign(tasks * classes_, 0.0);
  prior_.assign(classes_, 1.0 / static_cast<double>(classes_));
  std::map<std::uint32_t, std::size_t> present;
  for (std::size_t t = 0; t < tasks; ++t) {
    const std::span row(q_.data() + t * classes_, classes_);
    present.clear();
    for (std::size_t v = voices_.begin_of(t); v < voices_.end_of(t); ++v) ++present[family_[voices_[v].worker]];
    for (std::size_t v = voices_.begin_of(t); v < voices_.end_of(t); ++v) {
      const std::uint32_t family = family_[voices_[v].worker];
      const bool person = data_.judges[voices_[v].worker].kind == WorkerKind::human;
      const double weight = person ? kPersonVotes : family == kAlone ? 1 : 1.0 / static_cast<double>(present[family]);
      for (std::size_t k = 0; k < classes_; ++k) row[k] += weight * voices_.shares(v)[k];
    }
    for (double& value : row) value += 0.5 / static_cast<double>(classes_);
    normalise(row);
    const ClassId gold = data_.gold_of(TaskId(t));
    if (gold == kNoClass) continue;
    std::fill(row.begin(), row.end(), 0.0);
    row[index(gold)] = 1;
  }
  clear_counts();
  for (std::size_t v = 0; v < voices_.size(); ++v) {
    const auto q = std::span<const double>(q_).subspan(voices_[v].task * classes_, classes_);
    for (std::size_t z = 0; z < classes_; ++z) {
      prior_counts_[z] += q[z];
      for (std::size_t k = 0; k < classes_; ++k) {
        const double count = q[z] * voices_.shares(v)[k];
        if (!voices_[v].soft) counts_[(voices_[v].worker * classes_ + z) * classes_ + k] += count;
        add_target(v, z, k == 0 ? q[z] : 0);
        const std::uint32_t family = family_[voices_[v].worker];
        if (family != kAlone) family_counts_[(family * classes_ + z) * classes_ + k] += count;
      }
    }
  }
  maximise();
}

void CrowdModel::clear_counts() {
  const std::size_t cells = classes_ * classes_;
  prior_counts_.assign(classes_, 0.0);
  counts_.assign(data_.workers.size() * cells, 0.0);
  family_counts_.assign(families_ * cells, 0.0);
  copied_.assign(data_.workers.size(), 0.0);
  could_copy_.assign(data_.workers.size(), 0.0);
  targets_.assign(voices_.size() * classes_, 0.0);
}

void CrowdModel::find_evidence() {
  of_truth_.assign(voices_.size() * classes_, 0.0);
  of_hidden_.resize(voices_.size() * classes_);
  for (std::size_t v = 0; v < voices_.size(); ++v) {
    if (voices_[v].soft) {
      find_soft_evidence(v);
      continue;
    }
    const auto share = voices_.shares(v);
    for (std::size_t z = 0; z < classes_; ++z) {
      of_hidden_[v * classes_ + z] = share[z];
      const double* const row = tables_.data() + (voices_[v].worker * classes_ + z) * classes_;
      for (std::size_t k = 0; k < classes_; ++k) of_truth_[v * classes_ + z] += share[k] * row[k];
    }
  }
}

void CrowdModel::find_soft_evidence(std::size_t v) {
  const std::uint32_t family = family_[voices_[v].worker];
  const std::span<double> truth(of_truth_.data() + v * classes_, classes_);
  calibration_[voices_[v].worker].apply(voices_.log_shares(v), truth);
  for (std::size_t k = 0; k < classes_; ++k) {
    double hidden = 0;
    for (std::size_t z = 0; z < classes_ && family != kAlone; ++z) {
      hidden += prior_[z] * family_tables_[(family * classes_ + z) * classes_ + k];
    }
    const double p = math::exp(truth[k]);
    truth[k] = p / prior_[k];
    of_hidden_[v * classes_ + k] = family == kAlone ? 0 : p / hidden;
  }
}

void CrowdModel::add_target(std::size_t v, std::size_t k, double weight) {
  if (voices_[v].soft) targets_[v * classes_ + k] += weight;
}

/// An answer of its own, of a truth that is `truth` with so much probability.
void CrowdModel::count_own(std::size_t v, std::size_t truth, double weight) {
  if (voices_[v].soft) return add_target(v, truth, weight);
  const std::size_t row = (voices_[v].worker * classes_ + truth) * classes_;
  const double each = weight / of_truth_[v * classes_ + truth];
  const auto share = voices_.shares(v);
  for (std::size_t k = 0; k < classes_; ++k) counts_[row + k] += each * share[k] * tables_[row + k];
}

void CrowdModel::count_alone(std::size_t v, std::span<const double> q) {
  for (std::size_t z = 0; z < classes_; ++z) count_own(v, z, q[z]);
}

void CrowdModel::family_message(std::uint32_t family, const Members& members, std::vector<double>& joint,
                                std::vector<double>& message) const {
  joint.resize(classes_ * classes_);
  message.resize(classes_);
  for (std::size_t z = 0; z < classes_; ++z) {
    for (std::size_t h = 0; h < classes_; ++h) {
      double product = family_tables_[(family * classes_ + z) * classes_ + h];
      double log = 0;
      for (const std::uint32_t v : members) {
        const double s = copying_[voices_[v].worker];
        product *= s * of_hidden_[v * classes_ + h] + (1 - s) * of_truth_[v * classes_ + z];
        if (product > 1e-200 && product < 1e200) continue;
        log += math::log(std::max(product, 1e-290));  // large families: before it leaves the range
        product = 1;
      }
      joint[z * classes_ + h] = log + math::log(product);
    }
    message[z] = log_sum_exp(std::span(joint).subspan(z * classes_, classes_));
  }
}

void CrowdModel::count_family(std::uint32_t family, const Members& members, const std::vector<double>& joint,
                              std::span<const double> message, std::span<const double> q) {
  for (std::size_t z = 0; z < classes_; ++z) {
    for (std::size_t h = 0; h < classes_; ++h) {
      const double r = q[z] * math::exp(joint[z * classes_ + h] - message[z]);
      family_counts_[(family * classes_ + z) * classes_ + h] += r;
      for (const std::uint32_t v : members) {
        const std::size_t worker = voices_[v].worker;
        const double s = copying_[worker];
        const double theirs = s * of_hidden_[v * classes_ + h], own = (1 - s) * of_truth_[v * classes_ + z];
        const double copied = r * theirs / std::max(theirs + own, kProbabilityFloor);
        copied_[worker] += copied;
        could_copy_[worker] += r;
        add_target(v, h, copied);
        count_own(v, z, r - copied);
      }
    }
  }
}

double CrowdModel::expect() {
  clear_counts();
  find_evidence();
  double log_likelihood = 0;
  std::vector<double> row(classes_);
  std::vector<Members> by_family(families_);
  std::vector<std::vector<double>> joints(families_), messages(families_);
  Members alone;
  for (std::size_t t = 0; t < voices_.tasks(); ++t) {
    if (voices_.begin_of(t) == voices_.end_of(t)) continue;
    alone.clear();
    for (auto& members : by_family) members.clear();
    for (std::size_t z = 0; z < classes_; ++z) row[z] = math::log(prior_[z]);
    for (auto v = static_cast<std::uint32_t>(voices_.begin_of(t)); v < voices_.end_of(t); ++v) {
      const std::uint32_t family = family_[voices_[v].worker];
      (family == kAlone ? alone : by_family[family]).push_back(v);
    }
    for (const std::uint32_t v : alone) {
      for (std::size_t z = 0; z < classes_; ++z) {
        row[z] += math::log(std::max(of_truth_[v * classes_ + z], kProbabilityFloor));
      }
    }
    for (std::uint32_t f = 0; f < families_; ++f) {
      if (by_family[f].empty()) continue;
      family_message(f, by_family[f], joints[f], messages[f]);
      for (std::size_t z = 0; z < classes_; ++z) row[z] += messages[f][z];
    }
    const ClassId gold = data_.gold_of(TaskId(t));
    if (gold != kNoClass) {
      log_likelihood += row[index(gold)];
      std::fill(row.begin(), row.end(), 0.0);
      row[index(gold)] = 1;
    } else {
      log_likelihood += softmax(row);
    }
    for (std::size_t z = 0; z < classes_; ++z) {
      q_[t * classes_ + z] = row[z];
      prior_counts_[z] += row[z];
    }
    for (const std::uint32_t v : alone) count_alone(v, row);
    for (std::uint32_t f = 0; f < families_; ++f) {
      if (!by_family[f].empty()) count_family(f, by_family[f], joints[f], messages[f], row);
    }
  }
  return log_likelihood;
}

/// What workers of a kind have in common: the mean of their tables.
std::vector<double> CrowdModel::kind_table(WorkerKind kind) const {
  const double right = kind == WorkerKind::human ? kHumanRight : kMachineRight;
  std::vector<double> table(classes_ * classes_);
  for (std::size_t z = 0; z < classes_; ++z) {
    for (std::size_t k = 0; k < classes_; ++k) {
      const double expected = z == k ? right : (1 - right) / static_cast<double>(classes_ - 1);
      double& cell = table[z * classes_ + k];
      cell = kKindAnswers * expected;
      for (std::size_t w = 0; w < data_.workers.size(); ++w) {
        if (data_.judges[w].kind == kind) cell += counts_[(w * classes_ + z) * classes_ + k];
      }
    }
  }
  normalise_rows(table, classes_);
  return table;
}

void CrowdModel::maximise() {
  const std::size_t cells = classes_ * classes_;
  const auto mirror = [&](std::vector<double>& counts) {
    if (!mirrored_) return;
    for (std::size_t first = 0; first < counts.size(); first += cells) {
      const std::vector<double> old(counts.begin() + static_cast<std::ptrdiff_t>(first),
                                    counts.begin() + static_cast<std::ptrdiff_t>(first + cells));
      for (std::size_t c = 0; c < cells; ++c) {
        const std::size_t other = mirrored_class(c / classes_) * classes_ + mirrored_class(c % classes_);
        counts[first + c] = (old[c] + old[other]) / 2;
      }
    }
  };
  mirror(counts_);
  mirror(family_counts_);
  if (mirrored_) prior_counts_[0] = prior_counts_[1] = (prior_counts_[0] + prior_counts_[1]) / 2;
  prior_ = prior_counts_;
  for (double& value : prior_) value += 1;
  normalise(prior_);
  const std::vector<double> human = kind_table(WorkerKind::human), machine = kind_table(WorkerKind::machine);
  tables_ = counts_;
  for (std::size_t w = 0; w < data_.workers.size(); ++w) {
    const auto& common = data_.judges[w].kind == WorkerKind::human ? human : machine;
    for (std::size_t c = 0; c < cells; ++c) tables_[w * cells + c] += options_.strength * common[c];
    if (could_copy_[w] > 0) {
      copying_[w] = (copied_[w] + kCopyingPrior) / (could_copy_[w] + 2 * kCopyingPrior);
    }
  }
  normalise_rows(tables_, classes_);
  family_tables_ = family_counts_;
  for (std::size_t c = 0; c < family_tables_.size(); ++c) {
    family_tables_[c] += options_.strength * machine[c % cells];
  }
  normalise_rows(family_tables_, classes_);
  for (std::size_t w = 0; w < data_.workers.size(); ++w) {
    if (soft_[w] == 0) continue;
    std::vector<double> log_p, targets;
    for (const std::uint32_t v : voices_.of_worker(w)) {
      if (!voices_[v].soft) continue;
      const auto logs = voices_.log_shares(v);
      log_p.insert(log_p.end(), logs.begin(), logs.end());
      const auto target = std::span<const double>(targets_).subspan(v * classes_, classes_);
      targets.insert(targets.end(), target.begin(), target.end());
    }
    improve_calibration(log_p, targets, classes_, mirrored_, calibration_[w]);
  }
}

std::vector<double> CrowdModel::marginal_table(std::size_t worker) const {
  const std::size_t cells = classes_ * classes_;
  std::vector<double> table(tables_.begin() + static_cast<std::ptrdiff_t>(worker * cells),
                            tables_.begin() + static_cast<std::ptrdiff_t>((worker + 1) * cells));
  if (soft_[worker] != 0) {  // what it would say if it had to choose, counted
    std::fill(table.begin(), table.end(), 0.5 / static_cast<double>(classes_));
    for (const std::uint32_t v : voices_.of_worker(worker)) {
      for (std::size_t z = 0; z < classes_; ++z) {
        table[z * classes_ + index(voices_[v].said)] += q_[voices_[v].task * classes_ + z];
      }
    }
    normalise_rows(table, classes_);
    return table;
  }
  if (family_[worker] == kAlone) return table;
  const double s = copying_[worker];
  for (std::size_t c = 0; c < cells; ++c) {
    table[c] = (1 - s) * table[c] + s * family_tables_[family_[worker] * cells + c];
  }
  return table;
}

}  // namespace wisecrowd::judges
