#include "trust/shared/group_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "trust/shared/softmax_rows.hpp"

namespace wisecrowd::trust {
namespace {

/// Tables that answers are compared with are hardly smoothed: they should say what the worker did.
constexpr double kMarginalSmoothing = 1e-3;
constexpr double kStartSmoothing = 0.05, kPriorSmoothing = 0.5;
constexpr std::size_t kWorkersPerBlock = 64;

/// softmax of base/numeric.hpp with one exponential per value, and that inlined: most of the time of a fit goes here.
inline double softmax_of_row(double* row, std::size_t bins) {
  double top = row[0];
  for (std::size_t k = 1; k < bins; ++k) top = std::max(top, row[k]);
  double sum = 0;
  for (std::size_t k = 0; k < bins; ++k) row[k] = exp_nonpositive(row[k] - top);
  for (std::size_t k = 0; k < bins; ++k) sum += row[k];
  const double scale = 1 / sum;
  for (std::size_t k = 0; k < bins; ++k) row[k] *= scale;
  return top + log_positive(sum);
}

/// Divides every column (truth) of a said × truth table by its sum.
void normalise_columns(double* table, std::size_t bins) {
  for (std::size_t k = 0; k < bins; ++k) {
    double sum = 0;
    for (std::size_t l = 0; l < bins; ++l) sum += table[l * bins + k];
    for (std::size_t l = 0; l < bins; ++l) table[l * bins + k] /= sum;
  }
}

}  // namespace

Grouping::Grouping(std::span<const std::uint32_t> labels) {
  std::vector<std::uint32_t> place;
  unit.reserve(labels.size());
  for (const std::uint32_t label : labels) {
    if (label >= place.size()) place.resize(label + std::size_t{1}, kNone);
    if (place[label] == kNone) {
      place[label] = static_cast<std::uint32_t>(size.size());
      size.push_back(0);
    }
    unit.push_back(place[label]);
    ++size[unit.back()];
  }
  for (const std::uint32_t members : size) {
    group.push_back(members > 1 ? static_cast<std::uint32_t>(groups++) : kNone);
  }
}

std::vector<std::uint32_t> Grouping::groups_by_size() const {
  std::vector<std::uint32_t> order;
  for (std::uint32_t u = 0; u < size.size(); ++u) {
    if (group[u] != kNone) order.push_back(u);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return size[a] > size[b]; });
  return order;
}

GroupModel::GroupModel(const CrowdSample& sample, Grouping grouping)
    : grouping_(std::move(grouping)), bins_(sample.bins), tasks_(sample.tasks) {
  find_slots(sample);
  q_.resize(tasks_ * bins_);
  log_joint_.resize(tasks_ * bins_);
  message_.resize(slot_group_.size() * bins_);
  hidden_.resize(slot_group_.size() * bins_);
}

void GroupModel::find_slots(const CrowdSample& sample) {
  slot_offsets_.assign(1, 0);
  if (grouping_.groups == 0) {
    slot_offsets_.resize(tasks_ + 1, 0);
    return;
  }
  slot_of_.assign(sample.answers(), Grouping::kNone);
  for (std::size_t t = 0; t < tasks_; ++t) {
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const std::uint32_t group = grouping_.group[grouping_.unit[sample.who[a]]];
      if (group == Grouping::kNone) continue;
      std::size_t slot = slot_offsets_.back();
      while (slot < slot_group_.size() && slot_group_[slot] != group) ++slot;
      if (slot == slot_group_.size()) slot_group_.push_back(group);
      slot_of_[a] = static_cast<std::uint32_t>(slot);
    }
    slot_offsets_.push_back(slot_group_.size());
  }
}

/// From the posterior, or else the vote in which each group counts once; its hidden answer is what its members say.
void GroupModel::start(const CrowdSample& sample, std::span<const double> posterior) {
  std::fill(hidden_.begin(), hidden_.end(), 0.0);
  std::fill(q_.begin(), q_.end(), kStartSmoothing);
  for (std::size_t t = 0; t < tasks_; ++t) {
    double* const q = q_.data() + t * bins_;
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      if (slot_of(a) == Grouping::kNone) {
        q[sample.bin[a]] += 1;
      } else {
        hidden_[slot_of_[a] * bins_ + sample.bin[a]] += 1;
      }
    }
    for (std::size_t s = slot_offsets_[t]; s < slot_offsets_[t + 1]; ++s) {
      const auto votes = std::span(hidden_).subspan(s * bins_, bins_);
      normalise(votes);
      for (std::size_t k = 0; k < bins_; ++k) q[k] += votes[k];
    }
    normalise({q, bins_});
  }
  if (!posterior.empty()) std::copy(posterior.begin(), posterior.end(), q_.begin());
  for (std::size_t t = 0; t < sample.known.size(); ++t) {
    if (sample.known[t] == CrowdSample::kUnknown) continue;
    std::fill_n(q_.begin() + static_cast<std::ptrdiff_t>(t * bins_), bins_, 0.0);
    q_[t * bins_ + sample.known[t]] = 1;
  }
  xi_counts_.assign(grouping_.groups * bins_ * bins_, 0.0);
  for (std::size_t t = 0; t < tasks_; ++t) {
    for (std::size_t s = slot_offsets_[t]; s < slot_offsets_[t + 1]; ++s) {
      for (std::size_t k = 0; k < bins_; ++k) {
        for (std::size_t h = 0; h < bins_; ++h) {
          xi_counts_[(slot_group_[s] * bins_ + k) * bins_ + h] += q_[t * bins_ + k] * hidden_[s * bins_ + h];
        }
      }
    }
  }
}

void GroupModel::smooth_group_tables(const GroupModelOptions& options) {
  xi_ = xi_counts_;
  log_xi_.resize(xi_.size());
  for (std::size_t row = 0; row < grouping_.groups * bins_; ++row) {
    const auto cells = std::span(xi_).subspan(row * bins_, bins_);
    const auto more = [&](std::size_t h) {
      return options.smoothing + (h == row % bins_ ? options.more_on_diagonal : 0);
    };
    for (std::size_t h = 0; h < bins_; ++h) cells[h] += more(h);
    normalise(cells);
    for (std::size_t h = 0; h < bins_; ++h) {
      log_xi_[row * bins_ + h] = math::log(std::max(cells[h], std::numeric_limits<double>::min()));
      log_table_prior_ += more(h) * log_xi_[row * bins_ + h];
    }
  }
}

/// Adds the worker's answers to its table: by the truth, or by its group's hidden answer.
template <std::size_t kBins>
void GroupModel::count_beliefs(const CrowdSample& sample, std::size_t worker, double* table) const {
  const std::size_t bins = kBins == 0 ? bins_ : kBins;
  const bool alone = grouping_.group[grouping_.unit[worker]] == Grouping::kNone;
  for (std::uint64_t i = sample.worker_offsets[worker]; i < sample.worker_offsets[worker + 1]; ++i) {
    const std::uint64_t a = sample.answer_of[i];
    const double* const belief =
        alone ? q_.data() + sample.task_of[i] * bins : hidden_.data() + std::size_t{slot_of_[a]} * bins;
    double* const row = table + sample.bin[a] * bins;
    for (std::size_t k = 0; k < bins; ++k) row[k] += belief[k];
  }
}

void GroupModel::maximise(const CrowdSample& sample, const GroupModelOptions& options, const RunContext& context) {
  prior_.assign(bins_, kPriorSmoothing);
  for (std::size_t t = 0; t < tasks_; ++t) {
    if (sample.offsets[t] == sample.offsets[t + 1]) continue;
    for (std::size_t k = 0; k < bins_; ++k) prior_[k] += q_[t * bins_ + k];
  }
  normalise(prior_);
  log_table_prior_ = 0;
  log_prior_ = prior_;
  for (double& p : log_prior_) log_table_prior_ += kPriorSmoothing * (p = math::log(p));
  smooth_group_tables(options);
  const std::size_t cells = bins_ * bins_;
  log_tables_.resize(sample.workers * cells);
  const Blocks blocks{sample.workers, kWorkersPerBlock};
  std::vector<double> log_priors(blocks.count(), 0.0);
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      double* const table = log_tables_.data() + j * cells;
      std::fill(table, table + cells, options.smoothing);
      for (std::size_t k = 0; k < bins_; ++k) table[k * (bins_ + 1)] += options.more_on_diagonal;
      with_bins(bins_, [&](auto bins) { count_beliefs<bins()>(sample, j, table); });
      normalise_columns(table, bins_);
      for (std::size_t c = 0; c < cells; ++c) table[c] = std::max(table[c], std::numeric_limits<double>::min());
      for (std::size_t c = 0; c < cells; ++c) table[c] = log_positive(table[c]);
      double all = 0, diagonal = 0;
      for (std::size_t c = 0; c < cells; ++c) all += table[c];
      for (std::size_t k = 0; k < bins_; ++k) diagonal += table[k * (bins_ + 1)];
      log_priors[block] += options.smoothing * all + options.more_on_diagonal * diagonal;
    }
  });
  for (const double part : log_priors) log_table_prior_ += part;
}

void GroupModel::find_marginal_tables(const CrowdSample& sample, const RunContext& context) {
  const std::size_t cells = bins_ * bins_;
  marginal_.assign(sample.workers * cells, kMarginalSmoothing);
  const Blocks blocks{sample.workers, kWorkersPerBlock};
  context.pool().for_each_block(blocks.count(), [&](std::size_t block, unsigned) {
    for (std::size_t j = blocks.begin(block); j < blocks.end(block); ++j) {
      double* const table = marginal_.data() + j * cells;
      for (std::uint64_t i = sample.worker_offsets[j]; i < sample.worker_offsets[j + 1]; ++i) {
        const double* const q = q_.data() + sample.task_of[i] * bins_;
        double* const row = table + sample.bin[sample.answer_of[i]] * bins_;
        for (std::size_t k = 0; k < bins_; ++k) row[k] += q[k];
      }
      normalise_columns(table, bins_);
    }
  });
}

GroupModel GroupModel::fit(const CrowdSample& sample, const Grouping& grouping, const GroupModelOptions& options,
                           const RunContext& context, std::span<const double> start) {
  GroupModel model(sample, grouping);
  model.start(sample, start);
  double before = -std::numeric_limits<double>::infinity();
  const std::size_t most = std::max<std::size_t>(options.max_iterations, 1);
  for (std::size_t iteration = 0; iteration < most; ++iteration) {
    if (iteration > 0 && context.cancelled()) break;
    model.maximise(sample, options, context);
    model.expect(sample, context);
    model.trace_.push_back(model.log_likelihood_ + model.log_table_prior_);
    const double step = std::abs(model.log_likelihood_ - before);
    before = model.log_likelihood_;
    model.converged_ = step < options.tolerance * std::max(1.0, std::abs(before));
    const double left = static_cast<double>(most - 1 - iteration);
    if (model.converged_ || model.score() + left * step < options.least_score) break;
  }
  model.find_marginal_tables(sample, context);
  return model;
}

double GroupModel::gain_of_joining(const CrowdSample& sample, std::size_t worker, std::uint32_t group,
                                   const std::vector<std::uint32_t>& slot_at) const {
  const bool member = grouping_.group[grouping_.unit[worker]] == group;
  const std::size_t cells = bins_ * bins_;
  std::vector<double> tables(2 * cells, kMarginalSmoothing);  // said × truth, said × the group's hidden answer
  std::vector<double> truth(bins_), hidden(bins_);
  // What others say of the truth and of the group's hidden answer; false if none of them spoke for the group.
  const auto look = [&](std::uint64_t i) {
    const std::uint64_t a = sample.answer_of[i];
    const std::uint32_t slot = slot_at[sample.task_of[i]];
    if (slot == Grouping::kNone) return false;
    const double* const said = log_tables_.data() + row_of(sample, a);
    const double* const joint = log_joint(sample.task_of[i]);
    for (std::size_t k = 0; k < bins_; ++k) {
      truth[k] = member ? joint[k] : joint[k] - message(sample, a)[k];
      hidden[k] = std::max(hidden_[slot * bins_ + k], kProbabilityFloor);
      if (member) hidden[k] /= math::exp(said[k]);
    }
    softmax_of_row(truth.data(), bins_);
    normalise(hidden);
    return true;
  };
  const auto from = sample.worker_offsets[worker], to = sample.worker_offsets[worker + 1];
  for (std::uint64_t i = from; i < to; ++i) {
    if (!look(i)) continue;
    const std::size_t row = sample.bin[sample.answer_of[i]] * bins_;
    for (std::size_t k = 0; k < bins_; ++k) tables[row + k] += truth[k];
    for (std::size_t k = 0; k < bins_; ++k) tables[cells + row + k] += hidden[k];
  }
  normalise_columns(tables.data(), bins_);
  normalise_columns(tables.data() + cells, bins_);
  double gain = 0;
  for (std::uint64_t i = from; i < to; ++i) {
    if (!look(i)) continue;
    const std::size_t row = sample.bin[sample.answer_of[i]] * bins_;
    double alone = 0, following = 0;
    for (std::size_t k = 0; k < bins_; ++k) {
      alone += truth[k] * tables[row + k];
      following += hidden[k] * tables[cells + row + k];
    }
    gain += math::log(std::max(following, kProbabilityFloor)) - math::log(std::max(alone, kProbabilityFloor));
  }
  return gain;
}

std::vector<std::uint32_t> GroupModel::reassigned(const CrowdSample& sample) const {
  std::vector<std::uint32_t> labels(grouping_.unit.size()), slot_at(tasks_);
  std::vector<double> best(labels.size(), 0.0);
  auto next = static_cast<std::uint32_t>(grouping_.groups);
  for (std::uint32_t& label : labels) label = next++;
  for (std::uint32_t group = 0; group < grouping_.groups; ++group) {
    for (std::size_t t = 0; t < tasks_; ++t) {
      slot_at[t] = Grouping::kNone;
      for (std::size_t s = slot_offsets_[t]; s < slot_offsets_[t + 1]; ++s) {
        if (slot_group_[s] == group) slot_at[t] = static_cast<std::uint32_t>(s);
      }
    }
    for (std::size_t j = 0; j < labels.size(); ++j) {
      const double gain = gain_of_joining(sample, j, group, slot_at);
      if (gain <= best[j]) continue;
      best[j] = gain;
      labels[j] = group;
    }
  }
  return Grouping(labels).unit;
}

double GroupModel::predicted(std::size_t task, std::size_t worker, std::size_t bin) const {
  const double* const said = log_tables_.data() + (worker * bins_ + bin) * bins_;
  const double* const q = q_.data() + task * bins_;
  const std::uint32_t group = grouping_.group[grouping_.unit[worker]];
  double p = 0;
  if (group == Grouping::kNone) {
    for (std::size_t k = 0; k < bins_; ++k) p += q[k] * math::exp(said[k]);
    return p;
  }
  for (std::size_t s = slot_offsets_[task]; s < slot_offsets_[task + 1]; ++s) {
    if (slot_group_[s] != group) continue;
    for (std::size_t h = 0; h < bins_; ++h) p += hidden_[s * bins_ + h] * math::exp(said[h]);
    return p;
  }
  for (std::size_t k = 0; k < bins_; ++k) {  // the group has not said anything of this task
    for (std::size_t h = 0; h < bins_; ++h) p += q[k] * xi_[(group * bins_ + k) * bins_ + h] * math::exp(said[h]);
  }
  return p;
}

bool GroupModel::Informedness::sure(std::size_t unit) const {
  constexpr double kSure = 2;  // standard errors, about
  return std::abs(value[unit]) * std::sqrt(answers[unit]) > kSure;
}

/// Adds every answer to the table (truth × said) of its unit, by what the other units say of the task.
template <std::size_t kBins>
void GroupModel::count_by_others(const CrowdSample& sample, std::vector<double>& counts) const {
  constexpr std::uint64_t kAtATime = 64;
  const std::size_t bins = kBins == 0 ? bins_ : kBins;
  std::vector<double> rows, largest;
  for (std::size_t t = 0; t < tasks_; ++t) {
    for (std::uint64_t from = sample.offsets[t], to = from; from < sample.offsets[t + 1]; from = to) {
      to = std::min(from + kAtATime, sample.offsets[t + 1]);
      rows.resize((to - from) * bins);
      for (std::uint64_t a = from; a < to; ++a) {
        const double* const said = message(sample, a);
        for (std::size_t k = 0; k < bins; ++k) rows[(a - from) * bins + k] = log_joint(t)[k] - said[k];
      }
      exponentiate_rows<kBins>(rows.data(), to - from, bins, largest);
      for (std::uint64_t a = from; a < to; ++a) {
        const double* const q = rows.data() + (a - from) * bins;
        double sum = 0;
        for (std::size_t k = 0; k < bins; ++k) sum += q[k];
        const double scale = 1 / sum;
        double* const cell = counts.data() + grouping_.unit[sample.who[a]] * bins * bins + sample.bin[a];
        for (std::size_t k = 0; k < bins; ++k) cell[k * bins] += q[k] * scale;
      }
    }
  }
}

GroupModel::Informedness GroupModel::informedness(const CrowdSample& sample) const {
  const std::size_t units = grouping_.size.size(), cells = bins_ * bins_;
  std::vector<double> counts(units * cells, 0.0);  // truth × said
  with_bins(bins_, [&](auto bins) { count_by_others<bins()>(sample, counts); });
  Informedness found;
  const auto classes = static_cast<double>(bins_);
  for (std::size_t u = 0; u < units; ++u) {
    double trace = 0, answers = 0;
    for (std::size_t k = 0; k < bins_; ++k) {
      double row = 0;
      for (std::size_t l = 0; l < bins_; ++l) row += counts[u * cells + k * bins_ + l];
      trace += (counts[u * cells + k * (bins_ + 1)] + 0.5 / classes) / (row + 0.5);
      answers += row;
    }
    found.value.push_back((trace - 1) / (classes - 1));
    found.answers.push_back(answers);
  }
  return found;
}

GroupModel GroupModel::fit_oriented(const CrowdSample& sample, const Grouping& grouping,
                                    const GroupModelOptions& options, const RunContext& context,
                                    std::span<const double> start) {
  GroupModel model = fit(sample, grouping, options, context, start);
  const auto tally = [&](const Informedness& found) {
    std::pair<std::size_t, std::size_t> count{0, 0};  // for, against
    for (std::size_t u = 0; u < found.value.size(); ++u) {
      if (found.sure(u)) ++(found.value[u] > 0 ? count.first : count.second);
    }
    return count;
  };
  const Informedness found = model.informedness(sample);
  const auto [forward, against] = tally(found);
  if (against <= forward || forward + against < 3) return model;
  std::vector<double> votes(sample.tasks * sample.bins, kStartSmoothing);
  for (std::size_t t = 0; t < sample.tasks; ++t) {
    for (std::uint64_t a = sample.offsets[t]; a < sample.offsets[t + 1]; ++a) {
      const std::uint32_t unit = grouping.unit[sample.who[a]];
      if (found.value[unit] < 0) votes[t * sample.bins + sample.bin[a]] += 1.0 / grouping.size[unit];
    }
    normalise(std::span(votes).subspan(t * sample.bins, sample.bins));
  }
  GroupModel turned = fit(sample, grouping, options, context, votes);
  const auto [now_forward, now_against] = tally(turned.informedness(sample));
  return now_against < now_forward ? turned : model;
}

GroupModel GroupModel::applied_to(const CrowdSample& sample, const RunContext& context) const {
  GroupModel model(sample, grouping_);
  model.prior_ = prior_;
  model.log_prior_ = log_prior_;
  model.log_tables_ = log_tables_;
  model.xi_ = xi_;
  model.log_xi_ = log_xi_;
  model.expect(sample, context);
  model.find_marginal_tables(sample, context);
  return model;
}

double GroupModel::score() const noexcept {
  const auto bins = static_cast<double>(bins_);
  const double penalty = 0.5 * bins * (bins - 1) * math::log(std::max<double>(static_cast<double>(tasks_), 2));
  return log_likelihood_ - penalty * static_cast<double>(grouping_.groups);
}

}  // namespace wisecrowd::trust
