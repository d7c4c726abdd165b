#include "aggregate/sequences/shared/tag_workers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/math.hpp"
#include "base/numeric.hpp"
#include "base/parallel.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd::sequences {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 29;  // 4 GiB of counts

/// ln B of a Dirichlet with one parameter `one` and `others` parameters `other`.
double log_beta_of_prior(double one, double other, std::size_t others) {
  const auto n = static_cast<double>(others);
  return log_gamma(one) + n * log_gamma(other) - log_gamma(one + n * other);
}

}  // namespace

TagWorkers::TagWorkers(const SequenceData& data, WorkerModel model, const WorkerPrior& prior)
    : data_(data),
      model_(model),
      prior_(prior),
      tags_(data.answers.tag_count()),
      contexts_(model == WorkerModel::seq ? tags_ : 1) {
  const std::size_t workers = data.answers.worker_count();
  if (workers > kMostCells / worker_size()) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} tables of {} × {} × {} tags do not fit in memory: choose the worker model cm or cv, or "
                            "fewer types of spans",
                            workers, contexts_, tags_, tags_));
  }
  counts_.resize(workers * worker_size());
  tables_.resize(counts_.size());
}

void TagWorkers::count(std::span<const double> posterior, const RunContext& context) {
  const SequenceAnswers& answers = data_.answers;
  const auto offsets = answers.token_offsets();
  (void)answers.worker_offsets();  // built before threads ask for it
  context.pool().for_each_block(answers.worker_count(), [&](std::size_t w, unsigned) {
    double* const own = counts_.data() + w * worker_size();
    std::fill_n(own, worker_size(), 0.0);
    const auto list = answers.answers_of(WorkerId(w));
    const auto documents = answers.tasks_of(WorkerId(w));
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto tags = answers.tags(list[i]);
      const double* q = posterior.data() + (offsets[index(documents[i])] + answers.first(list[i])) * tags_;
      TagId before = kOutside;
      for (std::size_t t = 0; t < tags.size(); ++t, q += tags_) {
        if (tags[t] == kNoTag) {
          before = kOutside;
          continue;
        }
        const std::size_t table = model_ == WorkerModel::seq ? index(before) : 0;
        double* const row = own + (table * tags_ + index(tags[t])) * tags_;
        for (std::size_t k = 0; k < tags_; ++k) row[k] += q[k];
        before = tags[t];
      }
    }
  });
}

void TagWorkers::speak(std::span<const double> tables, WorkerId worker, std::uint32_t first,
                       std::span<const TagId> tags, std::span<double> log_weights) const {
  const double* const own = tables.data() + index(worker) * worker_size();
  double* weights = log_weights.data() + first * tags_;
  TagId before = kOutside;
  for (std::size_t t = 0; t < tags.size(); ++t, weights += tags_) {
    if (tags[t] == kNoTag) {
      before = kOutside;
      continue;
    }
    const std::size_t table = model_ == WorkerModel::seq ? index(before) : 0;
    const double* const row = own + (table * tags_ + index(tags[t])) * tags_;
    for (std::size_t k = 0; k < tags_; ++k) weights[k] += row[k];
    before = tags[t];
  }
}

double TagWorkers::update_tables(std::size_t worker) {
  const bool bayes = prior_.estimation == Estimation::bayes;
  double gain = 0;
  for (std::size_t c = 0; c < contexts_; ++c) {
    const double* const n = counts_.data() + worker * worker_size() + c * tags_ * tags_;
    double* const out = tables_.data() + worker * worker_size() + c * tags_ * tags_;
    const double prior_beta = bayes ? log_beta_of_prior(prior_.right, prior_.wrong, tags_ - 1) : 0;
    for (std::size_t k = 0; k < tags_; ++k) {
      double total = 0, beta = 0;
      const auto cell = [&](std::size_t l) {
        return n[l * tags_ + k] + (!bayes ? prior_.pseudo_count : l == k ? prior_.right : prior_.wrong);
      };
      for (std::size_t l = 0; l < tags_; ++l) total += cell(l);
      const double base = bayes ? digamma(total) : math::log(total);
      for (std::size_t l = 0; l < tags_; ++l) {
        const double b = cell(l);
        const double log_weight = (bayes ? digamma(b) : math::log(b)) - base;
        out[l * tags_ + k] = log_weight;
        if (bayes) {
          beta += log_gamma(b);
          gain -= n[l * tags_ + k] * log_weight;
        } else {
          gain += prior_.pseudo_count * log_weight;
        }
      }
      if (bayes) gain += beta - log_gamma(total) - prior_beta;
    }
  }
  return gain;
}

double TagWorkers::update_vector(std::size_t worker) {
  const bool bayes = prior_.estimation == Estimation::bayes;
  const double others = static_cast<double>(std::max<std::size_t>(tags_, 2) - 1);
  const double right0 = bayes ? prior_.right : prior_.pseudo_count;
  const double wrong0 = others * (bayes ? prior_.wrong : prior_.pseudo_count);
  const double* const n = counts_.data() + worker * worker_size();
  double* const out = tables_.data() + worker * worker_size();
  double gain = 0;
  for (std::size_t k = 0; k < tags_; ++k) {
    double right = 0, wrong = 0;
    for (std::size_t l = 0; l < tags_; ++l) (l == k ? right : wrong) += n[l * tags_ + k];
    const double a = right + right0, b = wrong + wrong0;
    const double base = bayes ? digamma(a + b) : math::log(a + b);
    const double log_right = (bayes ? digamma(a) : math::log(a)) - base;
    const double log_wrong = (bayes ? digamma(b) : math::log(b)) - base;
    for (std::size_t l = 0; l < tags_; ++l) out[l * tags_ + k] = l == k ? log_right : log_wrong - math::log(others);
    if (bayes) {
      gain += log_gamma(a) + log_gamma(b) - log_gamma(a + b) -
              (log_gamma(right0) + log_gamma(wrong0) - log_gamma(right0 + wrong0)) - right * log_right -
              wrong * log_wrong;
    } else {
      gain += right0 * log_right + wrong0 * log_wrong;
    }
  }
  return gain;
}

double TagWorkers::update(const RunContext& context) {
  std::vector<double> gains(data_.answers.worker_count());
  context.pool().for_each_block(gains.size(), [&](std::size_t w, unsigned) {
    gains[w] = model_ == WorkerModel::cv ? update_vector(w) : update_tables(w);
  });
  double gain = 0;
  for (const double own : gains) gain += own;
  return gain;
}

std::vector<double> TagWorkers::log_means(const RunContext& context) const {
  if (prior_.estimation == Estimation::point) return tables_;
  std::vector<double> means(tables_.size());
  const double others = static_cast<double>(std::max<std::size_t>(tags_, 2) - 1);
  context.pool().for_each_block(data_.answers.worker_count() * contexts_, [&](std::size_t block, unsigned) {
    const double* const n = counts_.data() + block * tags_ * tags_;
    double* const out = means.data() + block * tags_ * tags_;
    for (std::size_t k = 0; k < tags_; ++k) {
      double total = prior_.right + static_cast<double>(tags_ - 1) * prior_.wrong;
      for (std::size_t l = 0; l < tags_; ++l) total += n[l * tags_ + k];
      const double right = (n[k * tags_ + k] + prior_.right) / total;
      for (std::size_t l = 0; l < tags_; ++l) {
        const double own = l == k                      ? right
                           : model_ == WorkerModel::cv ? (1 - right) / others
                                                       : (n[l * tags_ + k] + prior_.wrong) / total;
        out[l * tags_ + k] = math::log(own);
      }
    }
  });
  return means;
}

std::vector<double> TagWorkers::mean_tables() const {
  const std::size_t cells = tags_ * tags_;
  std::vector<double> out(data_.answers.worker_count() * cells);
  const bool bayes = prior_.estimation == Estimation::bayes;
  const double others = static_cast<double>(std::max<std::size_t>(tags_, 2) - 1);
  for (std::size_t w = 0; w < data_.answers.worker_count(); ++w) {
    const double* const n = counts_.data() + w * worker_size();
    double* const table = out.data() + w * cells;
    for (std::size_t k = 0; k < tags_; ++k) {
      double total = 0;
      for (std::size_t l = 0; l < tags_; ++l) {
        double own = !bayes ? prior_.pseudo_count : l == k ? prior_.right : prior_.wrong;
        for (std::size_t c = 0; c < contexts_; ++c) own += n[c * cells + l * tags_ + k];
        table[k * tags_ + l] = own;
        total += own;
      }
      for (std::size_t l = 0; l < tags_; ++l) {
        table[k * tags_ + l] = total > 0 ? table[k * tags_ + l] / total : 1 / static_cast<double>(tags_);
      }
      const double right = table[k * tags_ + k];
      for (std::size_t l = 0; l < tags_ && model_ == WorkerModel::cv; ++l) {
        if (l != k) table[k * tags_ + l] = (1 - right) / others;
      }
    }
  }
  return out;
}

std::vector<double> TagWorkers::accuracy() const {
  std::vector<double> out;
  for (std::size_t w = 0; w < data_.answers.worker_count(); ++w) {
    double right = 0, all = 0;
    for (std::size_t c = 0; c < contexts_; ++c) {
      const double* const n = counts_.data() + w * worker_size() + c * tags_ * tags_;
      for (std::size_t l = 0; l < tags_; ++l) {
        for (std::size_t k = 0; k < tags_; ++k) all += n[l * tags_ + k];
        right += n[l * tags_ + l];
      }
    }
    out.push_back(all > 0 ? std::min(right / all, 1.0) : std::numeric_limits<double>::quiet_NaN());
  }
  return out;
}

}  // namespace wisecrowd::sequences
